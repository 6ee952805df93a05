package worker_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"benchd/worker/bench"
)

// TestBandwidth has a kernel that carries 3 MB with each call: beside the calls there are
// the megabytes. One that counts nothing has no such metric.
func TestBandwidth(t *testing.T) {
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	for _, row := range []struct {
		kernel string
		mb     float64 // with each call
	}{{"odd.carrier", 3}, {"odd.sleep", 0}} {
		b.order("blue", row.kernel, row.kernel, nil)
		got := b.next(bench.Finished).Result
		i := slices.IndexFunc(got.Metrics, func(m bench.Score) bool { return m.Metric == "bandwidth" })
		if row.mb == 0 {
			if i >= 0 {
				t.Errorf("%s: %s", row.kernel, show(got.Metrics[i]))
			}
			continue
		}
		if i < 0 {
			t.Fatalf("%s has no bandwidth: %s", row.kernel, show(got.Metrics))
		}
		m := got.Metrics[i]
		if m.Unit != "MB/s" || m.Better != "higher" || m.N != got.Score.N || math.Abs(*m.Value/(row.mb**got.Score.Value)-1) > 1e-9 || *m.Low > *m.Value || *m.High < *m.Value {
			t.Errorf("%s: %s beside %s", row.kernel, show(m), show(got.Score))
		}
	}
}

// TestPlateau has operations of which half take at least as long as a delayed acknowledgement:
// a doubt where most take as long, but not where they are spread around it, nor where they
// carry so much that they may take the time themselves. The doubt names the switch of the
// other side that the kernel knows.
func TestPlateau(t *testing.T) {
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	for kernel, want := range map[string]bool{
		"odd.plateau": true, "odd.quickstart": true, "odd.bulk": false, "odd.wide": false, "odd.below": false, "odd.above": false,
	} {
		b.order("blue", kernel, kernel, func(o *bench.Order) { o.Plan.Slice = bench.Duration(100 * time.Millisecond) })
		got := b.next(bench.Finished).Result
		doubted := slices.ContainsFunc(got.Validity.Reasons, func(r string) bool {
			return strings.HasPrefix(r, "plateau_40ms: ") && strings.HasSuffix(r, "; the switch against that is nodelay = on")
		})
		l := got.Latency
		if l == nil {
			t.Fatalf("%s: %s %+v", kernel, got.State, got.Error)
		}
		// A busy machine sleeps longer than it was asked to.
		if slow := want && l.Percentiles["75"] > 46e6; doubted != want && !slow {
			t.Errorf("%s: %q with %d operations, a median of %d and 75 %% of %d ns", kernel, got.Validity.Reasons, l.Count, l.Percentiles["50"], l.Percentiles["75"])
		}
	}
}
