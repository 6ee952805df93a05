package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"benchd/worker/bench"
	"benchd/worker/stats"
)

// addScore writes the score of a trial that succeeded where histories and leaderboards look
// for it. A trial without a score has no row.
func (t *tx) addScore(seq int64, ordinal int, r bench.TrialResult, fingerprint string, at time.Time) error {
	if r.Score == nil || r.Score.Value == nil {
		return nil
	}
	var host, params string
	var c bench.Case
	var repeat, repeats int
	var text []byte
	err := t.row("SELECT t.host, t.kernel, t.params, t.repeat, r.repeat, r.spec FROM trials t JOIN runs r ON r.seq = t.run WHERE t.run = ? AND t.ordinal = ?", seq, ordinal).
		Scan(&host, &c.Kernel, &params, &repeat, &repeats, &text)
	if err != nil {
		return err
	}
	if c.Params, err = parseParams(params); err != nil {
		return err
	}
	spec, err := parseSpec(text)
	if err != nil {
		return err
	}
	plan := spec.PlanOf(c)
	series, err := t.seriesOf(host, c, params, plan, r, at)
	if err != nil {
		return err
	}
	forks, err := json.Marshal(forkMedians(r.Samples()))
	if err != nil {
		return err
	}
	s := r.Score
	_, err = t.exec(`INSERT INTO scores (run, ordinal, series, repeat, repeats, value, low, high, confidence, n, valid, fingerprint, slice, warmup, finished, forks)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		seq, ordinal, series, repeat, repeats, *s.Value, s.Low, s.High, s.Confidence, s.N, flag(r.Validity.Valid), fingerprint, sliceMicros(plan.Slice, plan.Operations), warmupMicros(plan.Warmup), micros(at), string(forks))
	return err
}

// seriesOf gives the key of the series that a score belongs to, making it for its first one.
func (t *tx) seriesOf(host string, c bench.Case, params string, plan bench.Plan, r bench.TrialResult, at time.Time) (id int64, err error) {
	pin, key := placedAt(r.Placement.Pin), seriesKey(c, plan.Operations, plan.Ramp)
	// One statement makes the series or moves its time on, whoever else is doing the same; a
	// report that comes late does not move it back.
	_, err = t.exec(`INSERT INTO series (host, kernel, case_key, params, operations, ramp, pin, awake, metric, unit, better, latest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (host, case_key, pin, awake, metric, unit, better) DO UPDATE SET latest = excluded.latest WHERE series.latest < excluded.latest`,
		host, c.Kernel, key, params, plan.Operations, plan.Ramp, pin, flag(r.Placement.Awake), r.Score.Metric, r.Score.Unit, r.Score.Better, micros(at))
	if err != nil {
		return 0, err
	}
	return t.seriesID(host, key, pin, r.Placement.Awake, *r.Score)
}

// seriesKey names what a series follows: a case, and how it is measured where that makes another
// figure of it. A case in slices of a time and without a ramp has the name that it always had.
func seriesKey(c bench.Case, operations, ramp int) string {
	key := c.Key()
	if operations > 0 {
		key += fmt.Sprintf(" in slices of %d operations", operations)
	}
	if ramp > 0 {
		key += fmt.Sprintf(" in a ramp of %d", ramp)
	}
	return key
}

// sliceMicros is the length of a slice as the tables keep it: 0 where operations end it.
func sliceMicros(d bench.Duration, operations int) int64 {
	if operations > 0 {
		return 0
	}
	return d.Std().Microseconds()
}

// seriesID gives the key of a series that is there, by what makes it one.
func (t *tx) seriesID(host, caseKey, pin string, awake bool, s bench.Score) (id int64, err error) {
	err = t.row("SELECT id FROM series WHERE host = ? AND case_key = ? AND pin = ? AND awake = ? AND metric = ? AND unit = ? AND better = ?",
		host, caseKey, placedAt(pin), flag(awake), s.Metric, s.Unit, s.Better).Scan(&id)
	return id, err
}

// warmupMicros is a warm-up as the tables keep it.
func warmupMicros(w bench.WarmupTime) int64 {
	if w.Auto() {
		return -1
	}
	return time.Duration(w).Microseconds()
}

// warmupOf reads a warm-up from the tables.
func warmupOf(us int64) bench.WarmupTime {
	if us < 0 {
		return bench.WarmupAuto
	}
	return bench.WarmupTime(time.Duration(us) * time.Microsecond)
}

// placedAt is a placement as the tables keep it: a worker that knew none left its process free.
func placedAt(pin string) string {
	if pin == "" {
		return bench.PinFree
	}
	return pin
}

// forkMedians gives the median of each fork's samples, which is what forks of one case differ
// in; a fork without samples has none.
func forkMedians(forks [][]float64) []float64 {
	medians := make([]float64, 0, len(forks))
	for _, samples := range forks {
		if len(samples) == 0 {
			continue
		}
		m := stats.Middle(samples)
		if !math.IsNaN(m) && !math.IsInf(m, 0) {
			medians = append(medians, m)
		}
	}
	return medians
}

// fillBatch is how many results fillScores holds at a time.
const fillBatch = 100

// fillScores makes the scores of all results that an earlier version stored.
func (t *tx) fillScores() error {
	var n int64
	if err := t.row("SELECT count(*) FROM results").Scan(&n); err != nil {
		return fmt.Errorf("count results: %w", err)
	}
	if n > 0 {
		t.store.logger.Info("store: making the scores of stored results, once", "results", n)
	}
	for seq, ordinal := int64(-1), -1; ; {
		batch, err := t.storedResults(seq, ordinal)
		if err != nil {
			return fmt.Errorf("read results: %w", err)
		}
		if len(batch) == 0 {
			return nil
		}
		for _, r := range batch {
			if err := t.fillScore(r); err != nil {
				return err
			}
			seq, ordinal = r.seq, r.ordinal
		}
	}
}

// A storedResult is a row of results with what its trial's row says.
type storedResult struct {
	seq      int64
	ordinal  int
	body     []byte
	state    bench.State
	finished sql.NullInt64
}

// storedResults gives the next results after the one given, by key.
func (t *tx) storedResults(seq int64, ordinal int) ([]storedResult, error) {
	var batch []storedResult
	err := t.each(`SELECT p.run, p.ordinal, p.body, t.state, t.finished FROM results p JOIN trials t ON t.run = p.run AND t.ordinal = p.ordinal
		WHERE (p.run, p.ordinal) > (?, ?) ORDER BY p.run, p.ordinal LIMIT ?`, []any{seq, ordinal, fillBatch}, func(r *sql.Rows) error {
		var s storedResult
		err := r.Scan(&s.seq, &s.ordinal, &s.body, &s.state, &s.finished)
		batch = append(batch, s)
		return err
	})
	return batch, err
}

// fillScore makes the score of one stored result. One that cannot be read is left out, and
// the log says so: it cannot be shown either, and the others can.
func (t *tx) fillScore(r storedResult) error {
	m, err := t.store.codec.unpack(r.body)
	if err != nil {
		t.store.logger.Warn("store: a stored result cannot be read", "run", r.seq, "ordinal", r.ordinal, "error", err)
		return nil
	}
	if r.state != bench.Succeeded || m.Result == nil {
		return nil
	}
	if err := t.addScore(r.seq, r.ordinal, *m.Result, m.Snapshot.Fingerprint, timeOf(r.finished.Int64)); err != nil {
		return fmt.Errorf("make the score of a stored result: %w", err)
	}
	return nil
}
