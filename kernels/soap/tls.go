package soap

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// handshakeTime is how long a TLS handshake may take on either side.
const handshakeTime = 10 * time.Second

// protocol is the only one offered inside TLS (RFC 7301): neither side speaks HTTP/2.
const protocol = "http/1.1"

// Validity is how long the certificates of an embedded service are good for. They live no
// longer than its process, so there is nothing to renew.
const Validity = 30 * 24 * time.Hour

// clockSkew is how far behind a client's clock may be.
const clockSkew = time.Hour

// An authority is the certificate authority of one embedded service. Its key signs one
// certificate, is never written anywhere, and is forgotten then.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the key of a certificate authority: %w", err)
	}
	template, err := certificate("benchd authority")
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
	template.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make a certificate authority: %w", err)
	}
	return &authority{cert, key}, nil
}

// certificate returns what every certificate of ours begins with. Its number is random, as
// clients want it who meet the authorities of several services (RFC 5280, section 4.1.2.2).
func certificate(name string) (*x509.Certificate, error) {
	number, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("make the number of a certificate: %w", err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: number, Subject: pkix.Name{CommonName: name, SerialNumber: number.Text(16)},
		NotBefore: now.Add(-clockSkew), NotAfter: now.Add(Validity),
	}, nil
}

// issue makes the certificate of a server with these names and addresses.
func (a *authority) issue(hosts []string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make the key of a server: %w", err)
	}
	template, err := certificate("benchd")
	if err != nil {
		return tls.Certificate{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make the certificate of a server: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: key}, nil
}

// serverTLS makes the settings of a service with these names, and the authority, in DER, that
// its clients are to believe. There are no session tickets: every new connection pays for a whole
// handshake, so that what a handshake costs can be measured with keepalive false.
func serverTLS(hosts []string) (*tls.Config, []byte, error) {
	a, err := newAuthority()
	if err != nil {
		return nil, nil, err
	}
	own, err := a.issue(hosts)
	if err != nil {
		return nil, nil, err
	}
	return &tls.Config{
		Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12, NextProtos: []string{protocol},
		SessionTicketsDisabled: true,
	}, a.cert.Raw, nil
}

// clientTLS makes the settings of a client of the server with this name. Without roots it
// believes the authorities of its system. It keeps no sessions to resume.
func clientTLS(name string, roots *x509.CertPool) *tls.Config {
	return &tls.Config{ServerName: name, RootCAs: roots, MinVersion: tls.VersionTLS12, NextProtos: []string{protocol}}
}

// isTLS tells whether an error is one of TLS itself, after or in the handshake: an alert of
// either side, which comes as an error of the network, or bytes that are not TLS.
func isTLS(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error") {
		return true
	}
	var record tls.RecordHeaderError
	var verify *tls.CertificateVerificationError
	return errors.As(err, &record) || errors.As(err, &verify)
}
