package steady_test

import (
	_ "embed"
	"encoding/json"
	"testing"

	"benchd/worker/bench"
	"benchd/worker/stats/steady"
)

//go:embed testdata/real.json
var realSeries []byte

// TestReal classes series of this project's kernels, measured without a warm-up on a virtual
// machine of two CPUs with other work on it: they drift, dip and jump as real ones do. Those
// whose class is clear to the eye are labelled with it and with the slice in which the steady
// part begins.
func TestReal(t *testing.T) {
	t.Parallel()
	var all []struct {
		Kernel  string       `json:"kernel"`
		Slice   string       `json:"slice"`
		Label   bench.Steady `json:"label"`
		From    int          `json:"from"`
		Samples []float64    `json:"samples"`
	}
	if err := json.Unmarshal(realSeries, &all); err != nil {
		t.Fatal(err)
	}
	labelled, counts := 0, make(map[bench.Steady]int)
	for i, s := range all {
		got := steady.Classify(s.Samples)
		if got.Class == nil {
			t.Fatalf("series %d, %s: no class: %s", i, s.Kernel, got.Reason)
		}
		counts[*got.Class]++
		if n := len(got.Changes); *got.Class == bench.NeverSteady && (got.Reason == "" || got.From != 0) ||
			*got.Class != bench.NeverSteady && n > 0 && got.From != got.Changes[n-1] || got.From > len(s.Samples)/2 {
			t.Errorf("series %d, %s: the parts disagree: %+v", i, s.Kernel, got)
		}
		if s.Label == "" {
			continue
		}
		labelled++
		if *got.Class != s.Label || max(got.From-s.From, s.From-got.From) > 3 {
			t.Errorf("series %d, %s: %s from slice %d, to the eye it is %s from %d: %v %q", i, s.Kernel, *got.Class, got.From, s.Label, s.From, got.Changes, got.Reason)
		}
	}
	t.Logf("%d series, %d of them labelled: %v", len(all), labelled, counts)
}
