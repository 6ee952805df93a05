package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"benchd/worker/bench"
)

// A Question asks for a comparison of two runs. A zero figure leaves the rule to the service.
type Question struct {
	Base, Head string   // ids of runs
	MinEffect  *float64 // a smaller relative change is the same
	Q          float64  // false alarms allowed
	Confidence float64  // level of the intervals
	Across     []string // facts that are meant to differ
}

// Compare tells what changed from one run to another, with the noise that the service knows.
func (c *Client) Compare(ctx context.Context, ask Question) (bench.Comparison, error) {
	q := url.Values{"base": {ask.Base}, "head": {ask.Head}}
	if ask.MinEffect != nil {
		q.Set("min_effect", figure(*ask.MinEffect))
	}
	if ask.Q > 0 {
		q.Set("q", figure(ask.Q))
	}
	if ask.Confidence > 0 {
		q.Set("confidence", figure(ask.Confidence))
	}
	q["across"] = ask.Across
	return get[bench.Comparison](ctx, c, "/v1/compare", q)
}

// figure writes a number so that it is read back as the same.
func figure(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// A SeriesFilter chooses series of scores. Its zero value means all of them.
type SeriesFilter struct {
	Kernel string
	Host   string
	Params map[string]string // all must match
	Labels map[string]string // of the runs; all must match
	Since  time.Time         // points finished then or later
	Limit  int               // points of a series; 0 for the service's default
}

// History gets how scores went over time.
func (c *Client) History(ctx context.Context, f SeriesFilter) (bench.History, error) {
	q := f.query()
	for name, v := range f.Labels {
		q.Set("label."+name, v)
	}
	if !f.Since.IsZero() {
		q.Set("since", f.Since.UTC().Format(time.RFC3339Nano))
	}
	if f.Limit > 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return get[bench.History](ctx, c, "/v1/history", q)
}

// Leaderboard gets the best scores of each host and case. Of the filter, kernel, host and
// parameters count.
func (c *Client) Leaderboard(ctx context.Context, f SeriesFilter) (bench.Leaderboard, error) {
	return get[bench.Leaderboard](ctx, c, "/v1/leaderboard", f.query())
}

// References gets published figures of a kernel, a composite or a family; all when it is empty.
func (c *Client) References(ctx context.Context, kernel string) (bench.ReferenceList, error) {
	return get[bench.ReferenceList](ctx, c, "/v1/references", SeriesFilter{Kernel: kernel}.query())
}

// query is the part of the filter that every question about cases has. A parameter of a case
// becomes one of the query, under its name after "param.".
func (f SeriesFilter) query() url.Values {
	q := make(url.Values)
	if f.Kernel != "" {
		q.Set("kernel", f.Kernel)
	}
	if f.Host != "" {
		q.Set("host", f.Host)
	}
	for name, v := range f.Params {
		q.Set("param."+name, v)
	}
	return q
}

// get asks for the JSON at a path.
func get[T any](ctx context.Context, c *Client, path string, q url.Values) (T, error) {
	return ask[T](ctx, c, call{method: http.MethodGet, path: path, query: q})
}
