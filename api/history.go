package api

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"benchd/api/store"
	"benchd/worker/bench"
	"benchd/worker/stats/changes"
)

// Bounds of a history's answer.
const (
	maxSeries     = 50
	maxPoints     = 1000
	defaultPoints = 200
)

// history shows how scores went over time.
//
//	@Summary		Follow scores over time
//	@ID				getHistory
//	@Description	A series for each case on each host in each placement, those that were measured last first, at most 50. Each has its points, oldest first, the points where its level changed, and its noise. Points change nothing in a change that is confirmed. Narrow it down by parameters of the case, param.NAME=VALUE, and by labels of the run, label.NAME=VALUE.
//	@Tags			figures
//	@Produce		json
//	@Param			kernel	query		string		false	"only this kernel, or the kernels of this family"
//	@Param			host	query		string		false	"only this host"
//	@Param			label	query		[]string	false	"only points of runs with this label, as name=value; may be repeated, all must match"	collectionFormat(multi)
//	@Param			since	query		string		false	"only points finished at or after this time (RFC 3339)"	Format(date-time)
//	@Param			limit	query		int			false	"points of a series, the newest ones"	minimum(1)	maximum(1000)	default(200)
//	@Success		200		{object}	bench.History
//	@Failure		422		{object}	bench.Problem	"a parameter that cannot be right"
//	@Failure		503		{object}	bench.Problem	"the store is away"
//	@Router			/v1/history [get]
func (s *Server) history(c echo.Context) error {
	q, err := parseQuery(c, "kernel", "host", "param.", "label", "label.", "since", "limit")
	if err != nil {
		return err
	}
	f := store.SeriesFilter{Kernel: q.one("kernel"), Host: q.one("host"), Params: q.named("param."), Labels: q.allLabels(), Limit: maxSeries}
	since, limit := q.time("since"), q.number("limit", defaultPoints, 1, maxPoints)
	if q.err != nil {
		return q.err
	}
	ctx := c.Request().Context()
	list, more, err := s.config.Past.History(ctx, f)
	if err != nil {
		return err
	}
	h := bench.History{Series: make([]bench.HistorySeries, 0, len(list)), Cut: more}
	for _, b := range list {
		b, err := s.follow(ctx, b, since, limit)
		if err != nil {
			return err
		}
		if len(b.Points) > 0 {
			h.Series = append(h.Series, b)
		}
	}
	return writeJSON(c, http.StatusOK, h)
}

// follow finds the changes of a series and its noise, and cuts it to the points asked for. The
// changes are those of all its points, so that they do not depend on how many are shown.
func (s *Server) follow(ctx context.Context, b bench.HistorySeries, since time.Time, limit int) (bench.HistorySeries, error) {
	points := b.Points
	values := make([]float64, len(points))
	early := 0
	for i, p := range points {
		values[i] = p.Value
		if p.Finished.Before(since) {
			early = i + 1
		}
	}
	if !since.IsZero() && early > 0 {
		b.Total = len(points) - early
	}
	first := max(early, len(points)-limit)
	b.Points, b.Cut, b.Changes = points[first:], b.Total > len(points)-first, []bench.ChangePoint{}
	if len(b.Points) == 0 {
		return b, nil
	}
	for _, ch := range changes.Find(values, changes.Options{}) {
		if ch.Index >= first {
			b.Changes = append(b.Changes, bench.ChangePoint{
				Index: ch.Index - first, Run: points[ch.Index].Run, Before: ch.Before, After: ch.After, Change: ch.Change, P: ch.P, Confirmed: ch.Confirmed,
			})
		}
	}
	var err error
	last := points[len(points)-1]
	b.Noise, b.Reason, err = s.noise(ctx, store.PastKey{
		Host: b.Host, Case: b.Case(), Operations: b.Operations, Ramp: b.Ramp, Pin: b.Pin, Awake: b.Awake,
		Metric: b.Metric, Unit: b.Unit, Better: b.Better, Fingerprint: last.Fingerprint, Slice: last.Slice, Warmup: last.Warmup,
	})
	return b, err
}
