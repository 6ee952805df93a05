package messaging_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"benchd/kernels"
)

// certificate makes one for the loopback address, which is its own authority.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der := must(x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// secured stands before a broker and speaks TLS to its clients.
func secured(t *testing.T, target string, c tls.Certificate) (hostPort string) {
	t.Helper()
	l := must(tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12}))
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", target)
			if err != nil {
				_ = near.Close()
				continue
			}
			end := func() { _, _ = near.Close(), far.Close() }
			stop := context.AfterFunc(ctx, end)
			all.Go(func() { _, _ = io.Copy(far, near); end() })
			all.Go(func() { _, _ = io.Copy(near, far); end(); stop() })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		cancel()
		all.Wait()
	})
	return l.Addr().String()
}

// TestTLS has clients and brokers agree on TLS and miss each other: over an authority that is
// known all goes well, and everything else is an error in time that says what is wrong.
func TestTLS(t *testing.T) {
	t.Parallel()
	c := certificate(t)
	known := "&ca=" + base64.RawURLEncoding.EncodeToString(c.Certificate[0])
	for broker, scheme := range map[string]string{"redis": "rediss", "stomp": "stomps", "mqtt": "mqtts"} {
		t.Run(broker, func(t *testing.T) {
			t.Parallel()
			addr, _ := serve(t, kernels.Params{"broker": broker})
			plain := hostOf(t, addr)
			secure := secured(t, plain, c)
			_, fragment, _ := strings.Cut(addr, "#")
			for _, row := range []struct{ name, addr, want string }{
				{"known", scheme + "://" + secure + "#" + fragment + known, ""},
				{"an unknown authority", scheme + "://" + secure + "#" + fragment, "certificate signed by unknown authority"},
				{"TLS to a plain port", scheme + "://" + plain + "#" + fragment + known, "speak TLS"},
				{"plain to a port of TLS", broker + "://" + secure + "#" + fragment, "at " + secure},
			} {
				t.Run(row.name, func(t *testing.T) {
					t.Parallel()
					k := kernel(t, "messaging.roundtrip")
					begun := time.Now()
					trial, err := k.Open(t.Context(), with(k, kernels.Params{"broker": broker, kernels.Addr: row.addr}))
					if took := time.Since(begun); took > 20*time.Second {
						t.Errorf("Open took %s", took)
					}
					if row.want == "" && err == nil {
						do(t, trial, 20)
						if err := trial.Close(); err != nil {
							t.Error(err)
						}
						return
					}
					if err == nil || row.want == "" || !strings.Contains(err.Error(), row.want) {
						t.Errorf("Open returned %v; want %q", err, row.want)
					}
				})
			}
		})
	}
}
