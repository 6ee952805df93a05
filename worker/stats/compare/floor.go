package compare

import (
	"fmt"
	"math"

	"benchd/worker/bench"
)

// floorLevel is the share of pairs of equal runs that differ by no more than the floor.
const floorLevel = 0.99

// minRuns is the least number of runs that a noise floor is made of.
const minRuns = 3

// FloorOf works out the noise of one case on one host from runs of it between which nothing
// changed, each with the samples of its forks. It tells nothing of fewer than three runs,
// nor where a figure is not positive. Who and where is left to the caller to fill in.
//
// A run's figure varies because its forks do, and because the host was another one, a little,
// at another time. A comparison has forks to see the first by; only runs show the second.
func FloorOf(runs [][][]float64) (bench.NoiseFloor, bool) {
	var figures []float64
	var forks spread
	inverse, share := 0.0, 0.0
	for _, run := range runs {
		run = filled(run)
		if len(run) == 0 || !positive(run) {
			continue
		}
		figures = append(figures, mean(levels(run)))
		forks = pool(forks, within(levels(run)))
		inverse += 1 / float64(len(run))
		share += shareOf(float64(len(run)))
	}
	if len(figures) < minRuns {
		return bench.NoiseFloor{}, false
	}
	n := float64(len(figures))
	h := history{figures: within(figures), forks: forks, share: share / n}
	low, high := extremes(figures)
	floor := bench.NoiseFloor{
		Runs: len(figures), Pairs: len(figures) * (len(figures) - 1) / 2, Forks: n / inverse,
		MeanSD: math.Sqrt(h.figures.variance), RunSD: math.Sqrt(h.runs()), ForksDF: int(forks.df),
		Largest: math.Expm1(high - low), Level: floorLevel,
	}
	if forks.df > 0 {
		sd := math.Sqrt(forks.variance)
		floor.ForkSD = &sd
	}
	v := h.figure(n/inverse, prior{})
	floor.Value = math.Expm1(quantile(1-floorLevel, v.df) * math.Sqrt(2*v.variance))
	floor.Source = fmt.Sprintf("%d runs between which nothing changed: two of them differ by more than %s once in a hundred; the largest difference seen was %s",
		floor.Runs, percent(floor.Value), percent(floor.Largest))
	return floor, true
}

// A history is what repeated runs tell of a case: how their figures vary, and how the forks
// within each do. share is shareOf the forks of a run.
type history struct {
	figures, forks spread
	share          float64
}

// historyOf reads back what FloorOf wrote.
func historyOf(f bench.NoiseFloor) history {
	h := history{figures: spread{f.MeanSD * f.MeanSD, float64(f.Runs - 1)}}
	h.share = shareOf(f.Forks)
	if f.ForkSD != nil {
		h.forks = spread{*f.ForkSD * *f.ForkSD, float64(f.ForksDF)}
	}
	return h
}

// runs is the variance between runs beyond what their forks explain.
func (h history) runs() float64 {
	return max(0, h.figures.variance-h.forks.variance*h.share)
}

// figure is the variance of the figure of one run of so many forks. The other cases tell how
// much more runs differ than their forks explain.
func (h history) figure(forks float64, p prior) spread {
	figures := h.figures
	if h.forks.df > 0 && p.df > 0 {
		df := 1 / (1/p.df + 1/h.forks.df)
		figures = pool(figures, spread{h.forks.variance * h.share * p.variance, df})
	}
	more := h.forks.variance * (shareOf(forks) - h.share)
	return spread{max(figures.variance+more, h.forks.variance*shareOf(forks)), figures.df}
}
