package compare

import (
	"fmt"
	"math"
	"slices"

	"benchd/worker/bench"
)

// floorLevel is the share of pairs of equal runs that differ by no more than the floor.
const floorLevel = 0.99

// MinRuns is the least number of runs that a noise floor is made of.
const MinRuns = 3

// FloorOf works out the noise of one case on one host from runs of it between which nothing
// changed, each with the samples of its forks. It tells nothing of fewer than three runs;
// runs whose samples are not all above zero are left out. Who and where is left to the
// caller to fill in.
//
// A run's figure varies because its forks do, and because the host was another one, a
// little, at another time. A comparison has forks to see the first by; only repeated runs
// show the second.
func FloorOf(runs [][][]float64) (bench.NoiseFloor, bool) {
	var figures []float64
	var forks spread
	inverse := 0.0
	for _, run := range runs {
		run = filled(run)
		if len(run) == 0 || !positive(run) {
			continue
		}
		of := levels(run)
		figures = append(figures, mean(of))
		forks = pool(forks, within(of))
		inverse += 1 / float64(len(run))
	}
	n := float64(len(figures))
	if n < MinRuns {
		return bench.NoiseFloor{}, false
	}
	floor := bench.NoiseFloor{
		Runs: len(figures), Pairs: len(figures) * (len(figures) - 1) / 2, Forks: n / inverse, ForksDF: int(forks.df),
		MeanSD: math.Sqrt(within(figures).variance), Level: floorLevel,
		Largest: relative(slices.Max(figures) - slices.Min(figures)),
	}
	if forks.df > 0 {
		sd := math.Sqrt(forks.variance)
		floor.ForkSD = &sd
	}
	h := historyOf(floor)
	floor.RunSD = math.Sqrt(max(0, h.figures.variance-h.forks.variance*h.share))
	v := h.figure(floor.Forks, prior{}).times(2)
	floor.Value = relative(quantile(1-floorLevel, v.df) * math.Sqrt(v.variance))
	floor.Source = fmt.Sprintf("%d runs between which nothing changed: two of them differ by more than %s at most once in a hundred; the largest difference seen is %s",
		floor.Runs, percent(floor.Value), percent(floor.Largest))
	return floor, true
}

// A history is what repeated runs tell of a case: how their figures vary, and how the forks
// within each do.
type history struct {
	figures, forks spread
	share          float64 // shareOf the forks of a run
}

// historyOf reads back what FloorOf wrote.
func historyOf(f bench.NoiseFloor) history {
	h := history{figures: spread{f.MeanSD * f.MeanSD, float64(f.Runs - 1)}, share: shareOf(f.Forks)}
	if f.ForkSD != nil {
		h.forks = spread{*f.ForkSD * *f.ForkSD, float64(f.ForksDF)}
	}
	return h
}

// usable tells whether a floor that comes from outside can be reckoned with.
func usable(f bench.NoiseFloor) bool {
	sd := f.MeanSD
	if f.ForkSD != nil {
		sd += *f.ForkSD
	}
	return f.Runs >= MinRuns && f.Forks >= 1 && sd >= 0 && !math.IsInf(sd, 0)
}

// figure is the variance of the figure of one run of so many forks,
//
//	(1.1 + 1.5/runs) · (how runs varied, and what their forks do not explain for this number)
//
// The other cases tell, by the prior, how much more runs of this suite differ than their
// forks explain, and no case is taken to be steadier than they: a few runs easily miss what
// happens once in ten. The factor makes up for tails that are heavier than those of normal
// noise. Both were chosen by the simulations of this package, where without them more than
// one report in twenty of equal things had a false alarm.
func (h history) figure(forks float64, p prior) spread {
	seen := h.figures
	if h.forks.df > 0 && p.df > 0 {
		typical := spread{h.forks.variance * h.share * p.variance, 1 / (1/p.df + 1/h.forks.df)}
		seen = pool(seen, typical)
		seen.variance = max(seen.variance, typical.variance)
	}
	explained := h.forks.variance * shareOf(forks)
	v := max(seen.variance+explained-h.forks.variance*h.share, explained)
	return spread{v, seen.df}.times(1.1 + 1.5/(h.figures.df+1))
}
