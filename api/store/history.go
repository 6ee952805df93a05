package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"benchd/kernels"
	"benchd/worker/bench"
)

// A SeriesFilter says which series to look at. Its zero value means all.
type SeriesFilter struct {
	Kernel string            // of this kernel, or of this family
	Host   string            // on this host
	Params map[string]string // with these parameters; others may be any
	Labels map[string]string // only points of runs with all of these labels
	Limit  int               // series at most
}

// Bounds of a series that History reads. The oldest point that it gives stays the same while
// the next five hundred come in: change points are found by going through the points from the
// first on, and would move about if each new point pushed out an old one.
const (
	windowMost = 1500
	windowStep = 500
)

// History gives the series that fit the filter with their newest points, oldest first, and
// whether there are more series than the limit. Those measured last come first; a series
// without a point is left out. The number of points of each is at most windowMost, its Total
// counts all.
func (s *Store) History(ctx context.Context, f SeriesFilter) (series []bench.HistorySeries, more bool, err error) {
	err = s.read(ctx, "read history", func(t *tx) error {
		keys, err := t.findSeries(f)
		if err != nil {
			return err
		}
		labels, err := t.pointFilter(f.Labels)
		if err != nil {
			return err
		}
		for _, k := range keys {
			b := k.HistorySeries
			if err := t.addPoints(&b, k.id, labels); err != nil {
				return err
			}
			if len(b.Points) == 0 {
				continue
			}
			if more = len(series) == f.Limit; more {
				return nil
			}
			series = append(series, b)
		}
		return nil
	})
	return series, more, err
}

// A keyedSeries is a series without points, with its key.
type keyedSeries struct {
	id int64
	bench.HistorySeries
}

// findSeries gives the series that fit a filter, those measured last first. There are as many
// as hosts have cases, so that parameters can be compared here.
func (t *tx) findSeries(f SeriesFilter) ([]keyedSeries, error) {
	query := "SELECT id, host, kernel, params, operations, ramp, pin, awake, metric, unit, better FROM series WHERE 1 = 1"
	var args []any
	if f.Kernel != "" {
		query += " AND (kernel = ? OR kernel >= ? AND kernel < ?)"
		args = append(args, f.Kernel, f.Kernel+".", f.Kernel+"/") // "/" follows "." in ASCII
	}
	if f.Host != "" {
		query, args = query+" AND host = ?", append(args, f.Host)
	}
	var found []keyedSeries
	err := t.each(query+" ORDER BY latest DESC, id DESC", args, func(r *sql.Rows) error {
		k, err := scanSeries(r)
		if err == nil && hasParams(k.Params, f.Params) {
			found = append(found, k)
		}
		return err
	})
	return found, err
}

// scanSeries reads a row of findSeries.
func scanSeries(r *sql.Rows) (k keyedSeries, err error) {
	var params string
	if err := r.Scan(&k.id, &k.Host, &k.Kernel, &params, &k.Operations, &k.Ramp, &k.Pin, &k.Awake, &k.Metric, &k.Unit, &k.Better); err != nil {
		return k, err
	}
	k.Params, err = parseParams(params)
	return k, err
}

// hasParams tells whether a case has all the parameters wanted.
func hasParams(have kernels.Params, want map[string]string) bool {
	for name, v := range want {
		if got, ok := have[name]; !ok || got != v && !sameSize(got, v) {
			return false
		}
	}
	return true
}

// sameSize tells whether two texts are the same number of bytes: "1KB" and "1024".
func sameSize(a, b string) bool {
	m, errA := kernels.ParseSize(a)
	n, errB := kernels.ParseSize(b)
	return errA == nil && errB == nil && m == n
}

// pointColumns are what scanPoint reads.
const pointColumns = "r.id, s.repeat, s.finished, s.value, s.low, s.high, s.confidence, s.n, s.valid, s.fingerprint, s.slice, s.warmup, r.label_commit"

// scanPoint reads pointColumns. Whose point it is the caller knows.
func scanPoint(scan func(...any) error) (p bench.Point, err error) {
	var finished, slice, warmup int64
	err = scan(&p.Run, &p.Repeat, &finished, &p.Value, &p.Low, &p.High, &p.Confidence, &p.N, &p.Valid, &p.Fingerprint, &slice, &warmup, &p.Commit)
	p.Slice, p.Warmup = bench.Duration(time.Duration(slice)*time.Microsecond), warmupOf(warmup)
	p.Finished = timeOf(finished)
	return p, err
}

// addPoints reads the newest points of a series, from the same first one on for a while.
func (t *tx) addPoints(b *bench.HistorySeries, id int64, p pointFilter) error {
	query, args := p.query("count(*)", "", id)
	if err := t.row(query, args...).Scan(&b.Total); err != nil {
		return err
	}
	first := max(0, b.Total-windowMost+windowStep-1) / windowStep * windowStep
	query, _ = p.query(pointColumns, " JOIN runs r ON r.seq = s.run", id)
	err := t.each(query+" ORDER BY s.finished DESC, s.run DESC, s.ordinal DESC LIMIT ?", append(args, b.Total-first), func(r *sql.Rows) error {
		p, err := scanPoint(r.Scan)
		b.Points = append(b.Points, p)
		return err
	})
	slices.Reverse(b.Points)
	return err
}

// A pointFilter is the labels that the runs of points must have.
type pointFilter struct {
	labels []tag
	rare   bool // few runs have the first of them
}

// rareMost is how many runs have a label that is rare: so many are sought out one by one
// sooner than each point of a long series is asked for its labels.
const rareMost = 10_000

// pointFilter puts the rarest label first.
func (t *tx) pointFilter(labels map[string]string) (pointFilter, error) {
	var f pointFilter
	least := rareMost
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		l := tag{tagLabel + name, labels[name]}
		f.labels = append(f.labels, l)
		var n int
		if err := t.row("SELECT count(*) FROM (SELECT 1 FROM tags WHERE kind = ? AND value = ? LIMIT ?) AS x", l.kind, l.value, rareMost).Scan(&n); err != nil {
			return f, err
		}
		if n < least {
			least, f.rare = n, true
			last := len(f.labels) - 1
			f.labels[0], f.labels[last] = f.labels[last], f.labels[0]
		}
	}
	return f, nil
}

// query asks for columns of the points of a series, with or without a join to their runs.
// CROSS JOIN and the sign keep SQLite from walking the series where the label was to lead.
func (f pointFilter) query(columns, join string, id int64) (query string, args []any) {
	rest := f.labels
	query = "SELECT " + columns + " FROM scores s" + join + " WHERE s.series = ?"
	if f.rare {
		query = "SELECT " + columns + " FROM tags d CROSS JOIN scores s" + join + " WHERE d.kind = ? AND d.value = ? AND s.run = d.run AND +s.series = ?"
		args = append(args, rest[0].kind, rest[0].value)
		rest = rest[1:]
	}
	args = append(args, id)
	for _, l := range rest {
		query += " AND EXISTS (SELECT 1 FROM tags e WHERE e.kind = ? AND e.value = ? AND e.run = s.run)"
		args = append(args, l.kind, l.value)
	}
	return query, args
}

// Leaders gives the best score of each series that fits the filter, as a series of one point,
// and whether there are more series than the limit. A score without doubts is better than
// any with.
func (s *Store) Leaders(ctx context.Context, f SeriesFilter) (best []bench.HistorySeries, more bool, err error) {
	err = s.read(ctx, "read leaders", func(t *tx) error {
		keys, err := t.findSeries(f)
		if err != nil {
			return err
		}
		if more = len(keys) > f.Limit; more {
			keys = keys[:f.Limit]
		}
		for _, k := range keys {
			p, err := t.bestPoint(k)
			if isNoRows(err) {
				continue // its runs are gone
			}
			if err != nil {
				return err
			}
			k.Points = []bench.Point{p}
			best = append(best, k.HistorySeries)
		}
		return nil
	})
	return best, more, err
}

// bestPoint looks among the valid scores of a series first, and then among the others.
func (t *tx) bestPoint(k keyedSeries) (p bench.Point, err error) {
	order := " ORDER BY s.value DESC LIMIT 1"
	if k.Better == "lower" {
		order = " ORDER BY s.value LIMIT 1"
	}
	// Two questions instead of one that sorts by both: each is the end of an index.
	for _, valid := range []bool{true, false} {
		p, err = scanPoint(t.row("SELECT "+pointColumns+" FROM scores s JOIN runs r ON r.seq = s.run WHERE s.series = ? AND s.valid = ?"+order, k.id, flag(valid)).Scan)
		if !isNoRows(err) {
			break
		}
	}
	return p, err
}

// A PastKey names what past scores are wanted of: a case on a host that was as it is, in a
// placement, with a metric, measured in slices of a length after a warm-up, in a ramp or not.
type PastKey struct {
	Host        string
	Case        bench.Case
	Operations  int // of the plan
	Ramp        int // of the plan
	Pin         string
	Awake       bool
	Metric      string
	Unit        string
	Better      string
	Fingerprint string
	Slice       bench.Duration
	Warmup      bench.WarmupTime
	Samples     int      // the least behind a score that counts
	Least       int      // fewer scores of calibrations than this do not count
	Except      []string // runs that do not count
}

// A PastScore is what a trial measured before.
type PastScore struct {
	Run    string
	Repeat int
	Value  float64
	Forks  []float64 // median of each fork's samples
}

// How many past scores are read, of calibrations and of other runs. The noise is that of late,
// and whoever takes it from ordinary runs has to look for changes among them, which costs more.
const (
	calibratedMost = 200
	ordinaryMost   = 50
)

// Past gives scores of the past by which the noise of a case can be told, the newest first:
// those of runs that repeated their cases, or, when there are too few, those of any run.
func (s *Store) Past(ctx context.Context, k PastKey) (scores []PastScore, calibrated bool, err error) {
	err = s.read(ctx, "read past scores", func(t *tx) error {
		id, err := t.seriesID(k.Host, seriesKey(k.Case, k.Operations, k.Ramp), k.Pin, k.Awake, bench.Score{Metric: k.Metric, Unit: k.Unit, Better: k.Better})
		if isNoRows(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if scores, err = t.past(id, k, " AND s.repeats > 1", calibratedMost); err != nil || len(scores) >= max(1, k.Least) {
			calibrated = err == nil
			return err
		}
		scores, err = t.past(id, k, "", ordinaryMost)
		return err
	})
	return scores, calibrated, err
}

// past reads the newest scores of a series on a host as it was, those of some kind of run. The
// index of the series is walked backwards and left as soon as there are enough.
func (t *tx) past(series int64, k PastKey, which string, most int) ([]PastScore, error) {
	query := "SELECT r.id, s.repeat, s.value, s.forks FROM scores s JOIN runs r ON r.seq = s.run WHERE s.series = ? AND s.fingerprint = ? AND s.slice = ? AND s.warmup = ? AND s.n >= ?" + which
	args := []any{series, k.Fingerprint, sliceMicros(k.Slice, k.Operations), warmupMicros(k.Warmup), k.Samples}
	if len(k.Except) > 0 {
		query += " AND r.id NOT IN (" + strings.TrimSuffix(strings.Repeat("?,", len(k.Except)), ",") + ")"
		for _, id := range k.Except {
			args = append(args, id)
		}
	}
	var scores []PastScore
	err := t.each(query+" ORDER BY s.finished DESC, s.run DESC, s.ordinal DESC LIMIT ?", append(args, most), func(r *sql.Rows) error {
		var p PastScore
		var forks []byte
		if err := r.Scan(&p.Run, &p.Repeat, &p.Value, &forks); err != nil {
			return err
		}
		if err := json.Unmarshal(forks, &p.Forks); err != nil {
			return fmt.Errorf("read forks of run %s: %w", p.Run, err)
		}
		scores = append(scores, p)
		return nil
	})
	return scores, err
}
