package stats_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"benchd/worker/stats"
)

var full = flag.Bool("full", false, "simulate at full length")

// A cell is one kind of trial whose interval is tried: slices of forks around 100, with 2 %
// of noise within a fork and a ratio of that between forks.
type cell struct {
	noise         string
	ratio         float64
	forks, slices int
}

// deviation draws one sample's noise; its spread is about 1.
func (c cell) deviation(rng *rand.Rand) float64 {
	switch z := rng.NormFloat64(); c.noise {
	case "heavy": // Student's t with three degrees of freedom, scaled to variance 1
		chi := 0.0
		for range 3 {
			x := rng.NormFloat64()
			chi += x * x
		}
		return z / math.Sqrt(chi)
	case "lognormal": // a long tail on one side, the median at 0
		return (math.Exp(0.7*z) - 1) / 1.03
	default:
		return z
	}
}

func (c cell) trial(rng *rand.Rand) [][]float64 {
	forks := make([][]float64, c.forks)
	for i := range forks {
		level := c.ratio * rng.NormFloat64()
		for range c.slices {
			forks[i] = append(forks[i], 100+2*(level+c.deviation(rng)))
		}
	}
	return forks
}

// truth is the median of a great many samples of a great many forks.
func (c cell) truth(rng *rand.Rand) float64 {
	if c.noise != "lognormal" || c.ratio == 0 {
		return 100
	}
	c.forks, c.slices = 400_000, 1
	all := slices.Concat(c.trial(rng)...)
	slices.Sort(all)
	return all[len(all)/2]
}

// covered is the share of trials whose 95 % interval holds the truth.
func (c cell) covered(trials int) (share, width float64) {
	rng := rand.New(rand.NewPCG(uint64(c.forks*1000+c.slices), math.Float64bits(c.ratio)+uint64(len(c.noise))))
	truth, hits := c.truth(rng), 0
	for range trials {
		f := stats.Median(c.trial(rng), 0.95)
		if *f.Low <= truth && truth <= *f.High {
			hits++
		}
		width += (*f.High - *f.Low) / 2 / float64(trials)
	}
	return float64(hits) / float64(trials), width
}

// TestCoverage: of a hundred intervals at 95 %, about 95 hold the true median, whether forks
// differ or not, whatever the noise, with few forks as with many. The whole table is at
// 95 ± 1; a single cell of the short simulation has a standard error of 1.3 %.
func TestCoverage(t *testing.T) {
	t.Parallel()
	trials, least, most := 300, 0.92, 0.99
	switch {
	case *full:
		trials, least, most = 2000, 0.93, 0.975
	case raced: // what is looked for then is not in the figures
		trials, least, most = 20, 0.5, 1
	}
	var wg sync.WaitGroup
	lines, sums := make([]string, 12), make([]float64, 12)
	for i := range lines {
		wg.Go(func() {
			noise, ratio := []string{"normal", "heavy", "lognormal"}[i/4], []float64{0, 0.5, 1, 2}[i%4]
			lines[i] = fmt.Sprintf("%-9s %3g ", noise, ratio)
			for _, forks := range []int{3, 5, 10} {
				for _, n := range []int{10, 20, 60} {
					c := cell{noise, ratio, forks, n}
					share, width := c.covered(trials)
					if share < least || share > most {
						t.Errorf("%+v: %.1f %% of the intervals hold the true median", c, 100*share)
					}
					lines[i] += fmt.Sprintf("  %4.1f ±%4.1f", 100*share, width)
					sums[i] += share / 9
				}
			}
		})
	}
	wg.Wait()
	whole := 0.0
	for _, s := range sums {
		whole += s / float64(len(sums))
	}
	t.Logf("coverage in %% ± mean half-width in %%, %d trials a cell; forks x slices: 3x10 3x20 3x60 5x10 5x20 5x60 10x10 10x20 10x60\n%s", trials, strings.Join(lines, "\n"))
	t.Logf("all cells: %.2f %%", 100*whole)
	if whole < 0.94 || whole > 0.97 {
		t.Errorf("%.2f %% of all intervals hold the true median", 100*whole)
	}
}

// TestCoverageOfOneFork: with one fork the interval is for the slices, and says so.
func TestCoverageOfOneFork(t *testing.T) {
	t.Parallel()
	for _, noise := range []string{"normal", "heavy", "lognormal"} {
		line := noise
		for _, n := range []int{6, 10, 20, 60} {
			trials := 1000
			if raced {
				trials = 200
			}
			share, _ := cell{noise, 0, 1, n}.covered(trials)
			if share < 0.91 || share > 0.99 && !raced {
				t.Errorf("%s, %d slices: %.1f %% of the intervals hold the true median", noise, n, 100*share)
			}
			line += fmt.Sprintf(" %d slices: %.1f", n, 100*share)
		}
		t.Log(line)
	}
	f := stats.Median(cell{"normal", 0, 1, 20}.trial(rand.New(rand.NewPCG(1, 1))), 0.95)
	if !strings.HasPrefix(f.Note, "one fork: ") || f.Reason != "" {
		t.Errorf("note %q, reason %q", f.Note, f.Reason)
	}
}
