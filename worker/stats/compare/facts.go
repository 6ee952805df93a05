package compare

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"benchd/worker/bench"
	"benchd/worker/stats"
)

const (
	higherIsBetter = "higher"
	lowerIsBetter  = "lower"
	unknownFact    = "unknown"
)

// Facts of the binary are what a comparison of two versions compares: they are told, and
// make nothing incomparable. All others are facts of the machine.
func ofBinary(fact string) bool {
	return slices.Contains([]string{"build", "go", "arch_level"}, fact)
}

// differences lists what the two sides do not share. A fact that one side does not tell is
// listed, but nobody knows that it differs.
func (p pair) differences(base, head bench.Result, o Options) []bench.Difference {
	out := []bench.Difference{}
	across := slices.Contains(o.Across, AcrossHost)
	b, h := facts(base.Hosts[p.base.host].Facts), facts(head.Hosts[p.head.host].Facts)
	for i := range b {
		if b[i].Base == h[i].Base {
			continue
		}
		told := b[i].Base != unknownFact && h[i].Base != unknownFact
		out = append(out, bench.Difference{
			Fact: b[i].Fact, Base: b[i].Base, Head: h[i].Base, Excluded: told && !across && !ofBinary(b[i].Fact),
		})
	}
	out = append(out, ways(p.base.first(), p.head.first(), base.Spec.PlanOf(p.c), head.Spec.PlanOf(p.c))...)
	for i := range out {
		out[i].Excluded = out[i].Excluded && !slices.Contains(o.Across, out[i].Fact)
	}
	return out
}

// facts lists the facts of a host by their names in JSON, the value as Base.
func facts(f bench.Facts) []bench.Difference {
	v := reflect.ValueOf(f)
	out := make([]bench.Difference, v.NumField())
	for i := range out {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		out[i] = bench.Difference{Fact: name, Base: unknownFact}
		field := v.Field(i)
		if field.IsZero() {
			continue
		}
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		out[i].Base = fmt.Sprint(field.Interface())
	}
	return out
}

// ways lists how the two were measured differently. More forks or slices are more samples
// of the same; another slice, warm-up, ramp or placement makes another figure.
func ways(b, h bench.TrialResult, pb, ph bench.Plan) []bench.Difference {
	var out []bench.Difference
	for _, d := range []bench.Difference{
		{Fact: "metric", Base: metric(b), Head: metric(h), Excluded: true},
		{Fact: "placement.pin", Base: b.Placement.Pin, Head: h.Placement.Pin, Excluded: true},
		{Fact: "placement.awake", Base: fmt.Sprint(b.Placement.Awake), Head: fmt.Sprint(h.Placement.Awake), Excluded: true},
		{Fact: "plan.slice", Base: slice(pb), Head: slice(ph), Excluded: true},
		{Fact: "plan.operations", Base: count(pb, pb.Operations), Head: count(ph, ph.Operations), Excluded: true},
		{Fact: "plan.ramp", Base: count(pb, pb.Ramp), Head: count(ph, ph.Ramp), Excluded: true},
		{Fact: "plan.warmup", Base: pb.Warmup.String(), Head: ph.Warmup.String(), Excluded: true},
		{Fact: "plan.order", Base: string(pb.Order), Head: string(ph.Order)},
	} {
		if d.Base != d.Head && d.Base != "" && d.Head != "" {
			out = append(out, d)
		}
	}
	return out
}

// slice writes the length of a slice, and nothing where the plan is not known or operations
// end its slices.
func slice(p bench.Plan) string {
	if p.Slice == 0 || p.Operations > 0 {
		return ""
	}
	return p.Slice.String()
}

// count writes a number of the plan, 0 for none, and nothing where the plan is not known.
func count(p bench.Plan, n int) string {
	if p.Slice == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// metric names the figure of a trial, and nothing where it has none.
func metric(t bench.TrialResult) string {
	if t.Score == nil {
		return ""
	}
	return fmt.Sprintf("%s in %s, %s is better", t.Score.Metric, t.Score.Unit, t.Score.Better)
}

// first is the trial that stands for the side: the first that succeeded, or the first.
func (s side) first() bench.TrialResult {
	for _, t := range s.trials {
		if t.State == bench.Succeeded && t.Score != nil {
			return t
		}
	}
	return s.trials[0]
}

// describe fills in all that is known of a pair before it is weighed. Its verdict is
// Incomparable or still open.
func (p pair) describe(base, head bench.Result, o Options) bench.CaseChange {
	c := bench.CaseChange{
		Host: p.head.host, Kernel: p.c.Kernel, Params: p.c.Params, Better: higherIsBetter,
		Base: p.base.figure(), Head: p.head.figure(), Confidence: o.Confidence,
		Differs: p.differences(base, head, o),
	}
	if p.base.host != p.head.host {
		c.BaseHost = p.base.host
	}
	for _, t := range []bench.TrialResult{p.base.first(), p.head.first()} {
		if t.Score != nil {
			c.Metric, c.Unit, c.Better = t.Score.Metric, t.Score.Unit, t.Score.Better
		}
	}
	if slices.ContainsFunc(c.Differs, func(d bench.Difference) bool { return d.Excluded }) {
		c.Verdict = bench.Incomparable
	}
	return c
}

// figure shows what the side measured.
func (s side) figure() bench.CaseFigure {
	f := bench.CaseFigure{N: s.n, Forks: len(s.forks), Trials: make([]string, len(s.trials))}
	for i, t := range s.trials {
		f.Trials[i] = t.ID
		f.Doubts = append(f.Doubts, t.Validity.Reasons...)
	}
	switch {
	case s.n == 0:
		f.Reason = s.missing()
	case !positive(s.forks):
		f.Reason = "its samples are not all above zero"
	default:
		v := middle(s.forks)
		f.Value = &v
	}
	return f
}

// middle is the geometric mean of the forks' medians.
func middle(forks [][]float64) float64 {
	if len(forks) == 1 {
		return stats.Middle(forks[0])
	}
	return min(math.MaxFloat64, math.Exp(mean(levels(forks))))
}

// missing says why a side has no samples.
func (s side) missing() string {
	for _, t := range s.trials {
		if t.State != bench.Succeeded {
			text := "the trial " + string(t.State)
			if t.State == bench.Lost || t.State == bench.Canceled {
				text = "the trial was " + string(t.State)
			}
			if t.Error != nil {
				text += ": " + t.Error.Message
			}
			return text
		}
	}
	return "no slice was measured"
}
