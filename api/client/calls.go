package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"benchd/worker/bench"
)

// Submit posts a request for a run, a JSON document as POST /v1/runs takes it. With a key
// that is not empty the same request can be submitted again and gives the same run; then a
// connection that breaks is tried again.
func (c *Client) Submit(ctx context.Context, request []byte, key string) (bench.Run, error) {
	k := call{method: http.MethodPost, path: "/v1/runs", body: request, header: http.Header{"Content-Type": {"application/json"}}}
	if key == "" {
		return ask[bench.Run](ctx, c, k)
	}
	k.header["Idempotency-Key"] = []string{key}
	var run bench.Run
	err := patiently(ctx, submitPatience, func() (err error) {
		run, err = ask[bench.Run](ctx, c, k)
		return err
	})
	return run, err
}

// Run gets a run as it is now.
func (c *Client) Run(ctx context.Context, id string) (bench.Run, error) {
	return c.poll(ctx, id, 0)
}

// poll gets a run at its next change of state, or after the time given.
func (c *Client) poll(ctx context.Context, id string, wait time.Duration) (bench.Run, error) {
	k := call{method: http.MethodGet, path: runPath(id)}
	if wait > 0 {
		k.query = url.Values{"wait": {wait.String()}}
	}
	return ask[bench.Run](ctx, c, k)
}

// Cancel asks for a run's cancellation and gives the run as it is then.
func (c *Client) Cancel(ctx context.Context, id string) (bench.Run, error) {
	return ask[bench.Run](ctx, c, call{method: http.MethodDelete, path: runPath(id)})
}

// Result gets what a run measured. A run that is not over gives a not_finished error.
func (c *Client) Result(ctx context.Context, id string) (bench.Result, error) {
	return ask[bench.Result](ctx, c, call{method: http.MethodGet, path: runPath(id) + "/results"})
}

// ResultBody gets a result as the service writes it in a format, "json" or "" for JSON.
func (c *Client) ResultBody(ctx context.Context, id, format string) ([]byte, error) {
	k := call{method: http.MethodGet, path: runPath(id) + "/results"}
	if format != "" {
		k.query = url.Values{"format": {format}}
	}
	return c.raw(ctx, k)
}

// A Filter chooses runs. Its zero value means all of them.
type Filter struct {
	States []bench.State
	Host   string
	Kernel string
	Suite  string
	Labels map[string]string // all must match
	Since  time.Time         // created then or later
	Limit  int               // of a page; 0 for the service's default
	Cursor string            // the Next of the page before
}

// Runs gets one page of runs, newest first and without their trials.
func (c *Client) Runs(ctx context.Context, f Filter) (bench.RunPage, error) {
	return ask[bench.RunPage](ctx, c, call{method: http.MethodGet, path: "/v1/runs", query: f.query()})
}

func (f Filter) query() url.Values {
	q := make(url.Values)
	for _, s := range f.States {
		q.Add("state", string(s))
	}
	for name, v := range f.Labels {
		q.Add("label", name+"="+v)
	}
	set := func(name, v string) {
		if v != "" {
			q.Set(name, v)
		}
	}
	set("host", f.Host)
	set("kernel", f.Kernel)
	set("suite", f.Suite)
	set("cursor", f.Cursor)
	if !f.Since.IsZero() {
		q.Set("since", f.Since.UTC().Format(time.RFC3339Nano))
	}
	if f.Limit > 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return q
}

// Kernels lists what can be measured.
func (c *Client) Kernels(ctx context.Context) ([]bench.KernelInfo, error) {
	list, err := ask[bench.KernelList](ctx, c, call{method: http.MethodGet, path: "/v1/kernels"})
	return list.Kernels, err
}

// Suites lists the named lists of cases.
func (c *Client) Suites(ctx context.Context) ([]bench.Suite, error) {
	list, err := ask[bench.SuiteList](ctx, c, call{method: http.MethodGet, path: "/v1/suites"})
	return list.Suites, err
}

// Hosts lists every host that was ever seen.
func (c *Client) Hosts(ctx context.Context) ([]bench.Host, error) {
	list, err := ask[bench.HostList](ctx, c, call{method: http.MethodGet, path: "/v1/hosts"})
	return list.Hosts, err
}

// Host gets one host.
func (c *Client) Host(ctx context.Context, name string) (bench.Host, error) {
	return ask[bench.Host](ctx, c, call{method: http.MethodGet, path: "/v1/hosts/" + url.PathEscape(name)})
}

func runPath(id string) string { return "/v1/runs/" + url.PathEscape(id) }
