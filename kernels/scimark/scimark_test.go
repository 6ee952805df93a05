package scimark_test

import (
	"context"
	"testing"

	"benchd/kernels"
	"benchd/kernels/kerneltest"
	"benchd/kernels/scimark"
)

// TestConformance leaves the large sizes to TestLarge: what they add to the small ones is
// time.
func TestConformance(t *testing.T) {
	large := kerneltest.Skip(func(p kernels.Params) bool { return p.Word("size") == "large" })
	for _, k := range scimark.Family().Kernels {
		t.Run(k.Info().Name, func(t *testing.T) { kerneltest.Run(t, k, large) })
	}
}

func TestLarge(t *testing.T) {
	t.Parallel()
	for _, k := range scimark.Family().Kernels {
		t.Run(k.Info().Name, func(t *testing.T) {
			t.Parallel()
			trial := open(t, k, "large")
			if err := trial.Do(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			checker, ok := trial.(kernels.Checker)
			if !ok {
				t.Fatal("the trial checks nothing")
			}
			if err := checker.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFlops holds the counts that scores are made of against the original's formulas,
// worked out by hand.
func TestFlops(t *testing.T) {
	t.Parallel()
	want := map[string][2]float64{
		"scimark.fft":        {53230, 106954714},
		"scimark.sor":        {58806, 5988006},
		"scimark.montecarlo": {4, 4},
		"scimark.sparse":     {10000, 2000000},
		"scimark.lu":         {2e6 / 3, 2e9 / 3},
	}
	for _, k := range scimark.Family().Kernels {
		name := k.Info().Name
		for i, size := range []string{"small", "large"} {
			c, ok := open(t, k, size).(kernels.Counter)
			if !ok {
				t.Fatalf("%s does not count its work", name)
			}
			near(t, name+" "+size, c.Count().Flops, want[name][i])
		}
	}
}

func TestUnknownSize(t *testing.T) {
	t.Parallel()
	for _, k := range scimark.Family().Kernels {
		if _, err := k.Open(t.Context(), kernels.Params{"size": "huge"}); err == nil {
			t.Errorf("%s opened a huge trial", k.Info().Name)
		}
	}
}

// TestCheckFails shows that every check notices a wrong number.
func TestCheckFails(t *testing.T) {
	t.Parallel()
	for _, k := range scimark.Family().Kernels {
		trial := open(t, k, "small")
		if err := trial.Do(t.Context(), 100); err != nil {
			t.Fatal(err)
		}
		c, ok := trial.(kernels.Checker)
		if !ok {
			t.Fatalf("%s checks nothing", k.Info().Name)
		}
		if err := c.Check(); err != nil {
			t.Errorf("%s: %v", k.Info().Name, err)
		}
		scimark.Spoil(trial)
		if c.Check() == nil {
			t.Errorf("%s finds its answer right after it was spoilt", k.Info().Name)
		}
	}
}

func TestAllocations(t *testing.T) {
	for _, k := range scimark.Family().Kernels {
		trial := open(t, k, "small")
		n := testing.AllocsPerRun(10, func() {
			if err := trial.Do(context.Background(), 3); err != nil {
				t.Error(err)
			}
		})
		if n != 0 {
			t.Errorf("%s allocates %v times in three operations", k.Info().Name, n)
		}
	}
}

// open opens a trial of one thread and closes it at the end of the test.
func open(tb testing.TB, k kernels.Kernel, size string) kernels.Trial {
	tb.Helper()
	trial, err := k.Open(tb.Context(), k.Info().Defaults().With("size", size))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := trial.Close(); err != nil {
			tb.Error(err)
		}
	})
	return trial
}
