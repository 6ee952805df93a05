package queue_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchd/worker/bench"
	"benchd/worker/queue"
	"benchd/worker/queue/queuetest"
)

func TestOpenOverTLSWithAUser(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t)
	r := queuetest.Own(t, os.Getenv, "--port", "0", "--tls-port", "{port}", "--tls-cert-file", cert, "--tls-key-file", key,
		"--tls-ca-cert-file", cert, "--tls-auth-clients", "no",
		"--user", "bench", "on", ">s3cret", "~*", "&*", "+@all", "--user", "default", "off")
	at := strings.TrimPrefix(r.URL, "redis://")
	rows := []struct {
		name, url string
		ok        bool
	}{
		{"user, password, no look at the certificate", "rediss://bench:s3cret@" + at + "/0?skip_verify=true", true},
		{"wrong password", "rediss://bench:wr0ng@" + at + "?skip_verify=true", false},
		{"no user", "rediss://" + at + "?skip_verify=true", false},
		{"a certificate that nobody vouches for", "rediss://bench:s3cret@" + at, false},
		{"no TLS", "redis://bench:s3cret@" + at, false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			q, err := queue.Open(t.Context(), queue.Options{URL: row.url, Logger: quiet()})
			if err == nil {
				defer q.Close()
			}
			e := bench.AsError(err)
			if (err == nil) != row.ok || err != nil && (e == nil || e.Kind != bench.Unavailable) {
				t.Fatalf("got %v", err)
			}
			if err != nil && (strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "wr0ng")) {
				t.Errorf("the password leaks: %v", err)
			}
		})
	}
}

// certificate makes a certificate that vouches for itself.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "redis"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "EC PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}
