package compare

import (
	"fmt"
	"slices"

	"benchd/worker/bench"
)

// FloorsOf works out the noise floors of trials between which nothing changed: repeats of
// one run, or past runs since the last change. There is one for each host, case and
// placement of which there are three trials with figures.
func FloorsOf(trials []bench.TrialResult) []bench.NoiseFloor {
	var order []string
	groups := make(map[string][]bench.TrialResult)
	for _, t := range trials {
		if t.State != bench.Succeeded {
			continue
		}
		key := floorKey(t.Host, t.Case(), t.Placement.Pin, t.Placement.Awake)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], t)
	}
	floors := []bench.NoiseFloor{}
	for _, key := range order {
		var runs [][][]float64
		for _, t := range groups[key] {
			runs = append(runs, t.Samples())
		}
		f, ok := FloorOf(runs)
		if !ok {
			continue
		}
		t := groups[key][0]
		f.Host, f.Kernel, f.Params, f.Pin, f.Awake = t.Host, t.Kernel, t.Params, t.Placement.Pin, t.Placement.Awake
		floors = append(floors, f)
	}
	return floors
}

// Calibrate works out the noise of each case of a run that repeats its cases, and compares
// each repeat with the next one as if they were base and head. The noise that a comparison
// uses is that of the other repeats: no pair is judged by a floor that it is part of.
func Calibrate(r bench.Result, o Options) bench.Calibration {
	out := bench.Calibration{Run: refer(r), Settings: o.settings(), Cases: calibrated(r)}
	repeats := split(r)
	out.Repeats = len(repeats)
	for i := 1; i < len(repeats); i++ {
		var others []bench.TrialResult
		for k, other := range repeats {
			if k != i-1 && k != i {
				others = append(others, other.Trials...)
			}
		}
		c := Results(repeats[i-1], repeats[i], Index(FloorsOf(others)), o)
		if slices.ContainsFunc(c.Cases, func(k bench.CaseChange) bool { return k.P != nil }) {
			out.Comparisons++
		}
		if c.Counts.Better+c.Counts.Worse > 0 {
			out.Alarmed++
		}
		for _, change := range c.Cases {
			out.Counts.Add(change.Verdict)
			at := slices.IndexFunc(out.Cases, func(k bench.CaseCalibration) bool {
				return k.Host == change.Host && k.Kernel == change.Kernel && k.Params.String() == change.Params.String()
			})
			out.Cases[at].Counts.Add(change.Verdict)
		}
	}
	out.Reason = found(&out)
	return out
}

// calibrated lists the cases of the run with their noise, or why they have none.
func calibrated(r bench.Result) []bench.CaseCalibration {
	out := []bench.CaseCalibration{}
	floors := FloorsOf(r.Trials)
	for _, s := range sides(r) {
		c := bench.CaseCalibration{Host: s.host, Kernel: s.trials[0].Kernel, Params: s.trials[0].Params}
		key := s.key(s.host)
		at := slices.IndexFunc(floors, func(f bench.NoiseFloor) bool { return f.Host+"\x00"+f.Case().Key() == key })
		if at >= 0 {
			c.Noise = &floors[at]
		} else {
			c.Reason = fmt.Sprintf("the noise needs %d repeats with figures above zero, there are %d", MinRuns, s.figures())
		}
		out = append(out, c)
	}
	return out
}

// figures counts the trials of the side that have figures.
func (s side) figures() int {
	n := 0
	for _, t := range s.trials {
		if f := filled(t.Samples()); t.State == bench.Succeeded && len(f) > 0 && positive(f) {
			n++
		}
	}
	return n
}

// split makes one result of each repeat, in order.
func split(r bench.Result) []bench.Result {
	byRepeat := make(map[int][]bench.TrialResult)
	var numbers []int
	for _, t := range r.Trials {
		if byRepeat[t.Repeat] == nil {
			numbers = append(numbers, t.Repeat)
		}
		byRepeat[t.Repeat] = append(byRepeat[t.Repeat], t)
	}
	slices.Sort(numbers)
	out := make([]bench.Result, len(numbers))
	for i, n := range numbers {
		out[i] = r
		out[i].Trials = byRepeat[n]
	}
	return out
}

// found says what the calibration found, and sets the rate.
func found(c *bench.Calibration) string {
	switch {
	case c.Comparisons == 0 && c.Repeats > 1:
		return fmt.Sprintf("Of %d repeats no case could be tested against the next one: with one fork that takes noise from three others.", c.Repeats)
	case c.Comparisons == 0:
		return fmt.Sprintf("The run has %d repeat of each case; at least %d are needed to know their noise.", c.Repeats, MinRuns)
	}
	rate := float64(c.Alarmed) / float64(c.Comparisons)
	c.Rate = &rate
	text := fmt.Sprintf("Of %d comparisons of equal repeats, %d had a false alarm: %d better and %d worse.",
		c.Comparisons, c.Alarmed, c.Counts.Better, c.Counts.Worse)
	if c.Repeats < MinRuns+2 {
		text += fmt.Sprintf(" They were judged without measured noise, which takes %d repeats besides the two compared.", MinRuns)
	}
	return text
}
