package soap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"benchd/kernels"
	"benchd/kernels/envelope"
)

var _ kernels.Prober = Echo{}

// descriptionLimit is how much of a description is read, which is far more than it takes to
// see that it is one.
const descriptionLimit = 64 << 10

// Probe asks the service at an address for its description, calls it by both versions of SOAP,
// and times the calls of the first that it takes. That it answers with a fault is an answer
// too: the service need not be one that echoes.
func (Echo) Probe(ctx context.Context, addr string) (kernels.Report, error) {
	to, err := parseAddress(addr, Path, false)
	if err != nil {
		return kernels.Report{}, err
	}
	described, server, err := to.describe(ctx)
	if err != nil {
		return kernels.Report{}, err
	}
	var r kernels.Report
	r.Product, r.Version = productOf(server)
	if described {
		r.Supports = append(r.Supports, "WSDL")
	} else {
		r.Supports = append(r.Supports, "no WSDL at ?wsdl")
	}
	var failed error
	for _, v := range []envelope.Version{envelope.V11, envelope.V12} {
		pace, words, err := calls(ctx, addr, v)
		if err != nil {
			if err = fmt.Errorf("call it by SOAP %s: %w", v, err); failed == nil {
				failed = err
			}
			continue
		}
		if r.Supports = append(r.Supports, words); r.RoundTrip.Count == 0 {
			r.RoundTrip = pace
		}
	}
	if r.RoundTrip.Count == 0 {
		return kernels.Report{}, failed
	}
	if to.tls != nil {
		r.Supports = append(r.Supports, "TLS")
	}
	return r, nil
}

// calls times calls by one version of SOAP, of the smallest message that there is, and says
// in a few words what came of them.
func calls(ctx context.Context, addr string, v envelope.Version) (kernels.Pace, string, error) {
	p := Echo{}.Info().Defaults()
	p["payload"], p["size"], p["version"] = payloadText, "1KB", string(v)
	p[kernels.Addr] = addr
	opened, err := Echo{}.Open(ctx, p)
	if err != nil {
		return kernels.Pace{}, "", err
	}
	defer func() { _ = opened.Close() }()
	words := "SOAP " + string(v)
	pace, err := kernels.Repeat(ctx, func(ctx context.Context) error {
		err := opened.Do(ctx, 1)
		var fault *envelope.Fault
		if !errors.As(err, &fault) || strings.HasPrefix(fault.Code, envelope.CodeVersionMismatch) {
			return err
		}
		words = fmt.Sprintf("SOAP %s, where it answers an echo with the fault %.40s", v, fault.Code)
		return nil
	})
	return pace, words, err
}

// describe asks a service for its description, and tells whether there is one and what the
// service calls itself. Only that nothing speaks HTTP there is an error.
func (e endpoint) describe(ctx context.Context) (described bool, server string, err error) {
	scheme := schemePlain
	if e.tls != nil {
		scheme = schemeTLS
	}
	path, _, _ := strings.Cut(e.uri, "?")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+e.name+path+"?wsdl", http.NoBody)
	if err != nil {
		return false, "", errors.New("ask for the description: the address is none that can be asked")
	}
	if e.auth != "" {
		request.Header.Set("Authorization", e.auth)
	}
	transport := &http.Transport{
		DialContext: (&net.Dialer{}).DialContext, TLSClientConfig: e.tls, TLSHandshakeTimeout: handshakeTime,
		DisableKeepAlives: true, MaxResponseHeaderBytes: headRoom, ResponseHeaderTimeout: handshakeTime,
	}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(request) // which follows nobody elsewhere
	if err != nil {
		return false, "", fmt.Errorf("ask %s for its description: %w", e.host, describeFailure(ctx, err))
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, descriptionLimit))
	if err != nil {
		return false, "", fmt.Errorf("read the description of %s: %w", e.host, describeFailure(ctx, err))
	}
	described = answer.StatusCode == http.StatusOK && strings.Contains(string(text), "definitions")
	return described, answer.Header.Get("Server"), nil
}

// describeFailure is the end of the context where that is what lies behind an error.
func describeFailure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// productOf parts the first product of a Server field from its version (RFC 9110, section
// 10.2.4): "Jetty(9.4.50)", "gSOAP/2.8".
func productOf(field string) (product, version string) {
	field, _, _ = strings.Cut(strings.TrimSpace(field), " ")
	i := strings.IndexAny(field, "/(")
	if i < 0 {
		return field, ""
	}
	return field[:i], strings.TrimRight(field[i+1:], ")")
}
