package soap_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels"
	"benchd/kernels/kerneltest"
	"benchd/kernels/soap"
)

// began starts the embedded services until the test ends.
func began(t *testing.T, s soap.Services) soap.Addresses {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan soap.Addresses, 1), make(chan error, 1)
	s.Model = "stream"
	go func() { ended <- s.Serve(ctx, func(a soap.Addresses) { ready <- a }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case a := <-ready:
		return a
	case <-time.After(10 * time.Second):
		t.Fatal("the services do not start")
		return soap.Addresses{}
	}
}

func probe(t *testing.T, addr string, patience time.Duration) (kernels.Report, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return soap.Echo{}.Probe(ctx, addr)
}

// The embedded services tell of themselves; the one of attachments by its faults.
func TestProbe(t *testing.T) {
	t.Parallel()
	plain, secure := began(t, soap.Services{}), began(t, soap.Services{TLS: true})
	trusted := secure.Echo + "#ca=" + base64.RawURLEncoding.EncodeToString(secure.Authority)
	for _, row := range []struct {
		name, addr string
		want       []string
	}{
		{"echo", plain.Echo, []string{"WSDL", "SOAP 1.1", "SOAP 1.2"}},
		{"by TLS", trusted, []string{"WSDL", "SOAP 1.1", "SOAP 1.2", "TLS"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r, err := probe(t, row.addr, 20*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, r.Supports); diff != "" {
				t.Errorf("supports (-want +got):\n%s", diff)
			}
			if r.RoundTrip.Count < 1 || r.RoundTrip.Median <= 0 || r.Message.Count != 0 {
				t.Errorf("%+v", r)
			}
		})
	}
	t.Run("attachment", func(t *testing.T) {
		t.Parallel()
		r, err := probe(t, plain.Attachment, 20*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(r.Supports, "WSDL") || !strings.Contains(strings.Join(r.Supports, ","), "with the fault Client") {
			t.Errorf("%q", r.Supports)
		}
	})
}

// A service of another's making is named by its Server field.
func TestProbeServerField(t *testing.T) {
	t.Parallel()
	for field, want := range map[string][2]string{
		"gSOAP/2.8":              {"gSOAP", "2.8"},
		"Jetty(9.4.50.v2022)":    {"Jetty", "9.4.50.v2022"},
		"Apache/2.4.57 (Debian)": {"Apache", "2.4.57"},
		"nameless":               {"nameless", ""},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Server", field)
			w.Header().Set("Content-Type", "text/xml")
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><e:Fault><faultcode>e:Server</faultcode><faultstring>no</faultstring></e:Fault></e:Body></e:Envelope>`)
		}))
		r, err := probe(t, s.URL+"/axis", 20*time.Second)
		s.Close()
		if err != nil || r.Product != want[0] || r.Version != want[1] || !slices.Contains(r.Supports, "no WSDL at ?wsdl") {
			t.Errorf("%q: %+v, %v", field, r, err)
		}
	}
}

// What is no SOAP service is an error, which tells nothing of the user.
func TestProbeHostile(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	secure := began(t, soap.Services{TLS: true})
	for _, row := range []struct {
		name, addr string
		talk       func(net.Conn)
	}{
		{"closes at once", "http", func(net.Conn) {}},
		{"no HTTP", "http", func(c net.Conn) { _, _ = io.WriteString(c, "-ERR unknown command\r\n") }},
		{"TLS at a plain port", "https", func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }},
		{"never answers", "http", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }},
		{"never shakes hands", "https", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }},
		{"a page", strings.Replace(web.URL, "://", "://user:hush-hush@", 1), nil},
		{"plain at a port of TLS", strings.Replace(secure.Echo, "https://", "http://user:hush-hush@", 1), nil},
		{"a stranger's authority", secure.Echo, nil},
	} {
		addr := row.addr
		if row.talk != nil {
			addr = fmt.Sprintf("%s://user:hush-hush@%s/", row.addr, kerneltest.Talk(t, row.talk))
		}
		r, err := probe(t, addr, time.Second)
		if err == nil {
			t.Errorf("%s: it was taken for %+v", row.name, r)
		} else if strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: the error tells the password: %v", row.name, err)
		}
	}
}
