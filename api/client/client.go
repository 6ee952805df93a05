// Package client is the Go client of benchd's HTTP interface. The commands use it, and so
// can any program.
//
// An answer that is not a success comes back as a *Failure, which wraps a *bench.Error:
// the service's own sentence, its code and its field errors, as the service made them. A
// service that cannot be reached is a *bench.Error of kind Unavailable.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"benchd/worker/bench"
)

// A Client talks to one service. It is safe for concurrent use.
type Client struct {
	base string
	http *http.Client
}

// New makes a Client of the service at a URL such as "http://127.0.0.1:8080". A nil h means
// http.DefaultClient. A client with a Timeout cuts off long polls: set none, every call
// takes a context.
func New(baseURL string, h *http.Client) *Client {
	if h == nil {
		h = http.DefaultClient
	}
	return &Client{base: strings.TrimRight(baseURL, "/"), http: h}
}

// A Failure is an answer that is not a success.
type Failure struct {
	Status    int    // the HTTP status
	RequestID string // names the request in the service's log
	Err       *bench.Error
}

// Error gives the service's sentence.
func (f *Failure) Error() string { return f.Err.Message }

// Unwrap gives the *bench.Error.
func (f *Failure) Unwrap() error { return f.Err }

// Status gives the HTTP status of the answer behind an error, or 0 when there was none.
func Status(err error) int {
	var f *Failure
	if errors.As(err, &f) {
		return f.Status
	}
	return 0
}

// kindOf is the way back from an HTTP status to a kind of error. What has no kind of its own
// is the request's fault below 500 and the service's from there.
func kindOf(status int) bench.Kind {
	switch status {
	case http.StatusBadRequest:
		return bench.Malformed
	case http.StatusNotFound:
		return bench.NotFound
	case http.StatusConflict:
		return bench.Conflict
	case http.StatusRequestEntityTooLarge:
		return bench.TooLarge
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return bench.Unavailable
	}
	if status < http.StatusInternalServerError {
		return bench.Invalid
	}
	return bench.InternalKind
}

// call is one request.
type call struct {
	method, path string
	query        url.Values
	header       http.Header
	body         []byte
}

// ask sends a request and decodes the JSON of its answer.
func ask[T any](ctx context.Context, c *Client, k call) (T, error) {
	var answer T
	body, err := c.raw(ctx, k)
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return answer, fmt.Errorf("read the answer to %s %s: %w", k.method, k.path, err)
	}
	return answer, nil
}

// raw sends a request and gives the body of its answer.
func (c *Client) raw(ctx context.Context, k call) ([]byte, error) {
	address := c.base + k.path
	if len(k.query) > 0 {
		address += "?" + k.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, k.method, address, bytes.NewReader(k.body))
	if err != nil {
		return nil, bench.Errorf(bench.Invalid, "bad_url", "%s is not the address of a service: %v", c.base, err)
	}
	for name, values := range k.header {
		req.Header[name] = values
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return nil, failure(res, body)
	}
	return body, nil
}

// unreachable says that no whole answer came. A context that ended is the caller's doing.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("ask %s: %w", c.base, ctx.Err())
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without the method and the address, which the sentence has
	}
	return bench.Errorf(bench.Unavailable, "unreachable", "the service at %s does not answer: %v", c.base, err)
}

// failure decodes a problem; an answer of somebody in between, such as a proxy, is told by
// its status alone.
func failure(res *http.Response, body []byte) error {
	f := &Failure{Status: res.StatusCode, RequestID: res.Header.Get("X-Request-Id")}
	var p bench.Problem
	if json.Unmarshal(body, &p) == nil && p.Code != "" {
		f.Err = &bench.Error{Kind: kindOf(res.StatusCode), Code: p.Code, Message: p.Detail, Fields: p.Errors}
		return f
	}
	f.Err = bench.Errorf(kindOf(res.StatusCode), "no_problem", "%s %s was answered with %s and no explanation",
		res.Request.Method, res.Request.URL.Path, res.Status)
	return f
}
