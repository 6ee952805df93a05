// Package compare tells whether one result is faster or slower than another, case by case,
// and how far that can be believed.
//
// It is pure: the same two results and the same noise give the same verdicts.
//
// A verdict of better or worse has to pass three gates. The change is larger than the effect
// that was asked for; it is larger than the noise measured on that host for that case; and it
// is no chance, by a test that is adjusted for the number of cases. That test is the
// Mann-Whitney test over the samples and, since slices of one fork are alike and many of them
// prove nothing about the next fork, also a t-test over forks and runs. The larger of the two
// p-values counts.
//
// How much two runs of equal things differ is known from repeated runs of the case on the
// host. Where there are none, runs are supposed to vary much more than their forks show, so
// that only large changes are told; a change that a calibrated host would show is then
// undecided, and says so.
//
// Doubts about the samples count as far as they explain a change. Samples on two levels, or
// that were never steady, make no better or worse. A host that was disturbed makes none when
// it was so on the slower side alone; when both sides were, or the faster one, the verdict
// stands, and the disturbance is told with it.
package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"benchd/worker/bench"
)

// Options are the rules of a comparison.
type Options struct {
	MinEffect    float64 // a smaller relative change is the same
	Q            float64 // false alarms allowed, adjusted over the report
	Confidence   float64 // level of the intervals
	DefaultFloor float64 // stands in for noise that was never measured
	// Across names facts that are meant to differ, as they stand in a bench.Difference: they
	// are listed and no longer make a case incomparable. AcrossHost stands for all facts of
	// the machine, to compare two of them.
	Across []string
}

// AcrossHost in Options.Across stands for all facts of a host.
const AcrossHost = "host"

// DefaultOptions are the rules of a comparison that is not asked for others.
func DefaultOptions() Options {
	return Options{MinEffect: 0.01, Q: 0.05, Confidence: 0.95, DefaultFloor: 0.05}
}

// Check tells what is wrong with the options, as an *bench.Error of kind Invalid.
func (o Options) Check() error {
	if !(o.MinEffect >= 0 && o.MinEffect < 10) {
		return bench.Errorf(bench.Invalid, "out_of_range", "min_effect must be from 0 to less than 10, such as 0.02 for 2 %%, not %v", o.MinEffect)
	}
	for _, f := range []struct {
		name  string
		value float64
	}{{"q", o.Q}, {"confidence", o.Confidence}} {
		if !(f.value > 0.0001 && f.value < 0.9999) {
			return bench.Errorf(bench.Invalid, "out_of_range", "%s must be between 0.0001 and 0.9999, not %v", f.name, f.value)
		}
	}
	if !(o.DefaultFloor >= 0 && o.DefaultFloor < 10) {
		return bench.Errorf(bench.Invalid, "out_of_range", "the default floor must be from 0 to less than 10, not %v", o.DefaultFloor)
	}
	known := Across()
	for _, fact := range o.Across {
		if !slices.Contains(known, fact) {
			e := bench.Errorf(bench.Invalid, "unknown_fact", "there is no fact %q to compare across; there are %s", fact, strings.Join(known, ", "))
			e.Fields = []bench.FieldError{{Parameter: "across", Code: e.Code, Message: e.Message, Allowed: known}}
			return e
		}
	}
	return nil
}

// valid gives the default rules for ones that are none, so that no figure becomes infinite.
func (o Options) valid() Options {
	if o.Check() == nil {
		return o
	}
	d := DefaultOptions()
	d.Across = o.Across
	return d
}

func (o Options) settings() bench.CompareSettings {
	return bench.CompareSettings{
		MinEffect: o.MinEffect, Q: o.Q, Confidence: o.Confidence, DefaultFloor: o.DefaultFloor, Across: o.Across,
	}
}

// Noise tells the noise of a case on a host in a placement, where it was measured.
type Noise interface {
	Floor(host string, c bench.Case, p bench.Placement) (bench.NoiseFloor, bool)
}

// Floors is a list of noise floors as a Noise. Of several for one case the last one counts.
type Floors map[string]bench.NoiseFloor

// Index makes Floors of a list.
func Index(list []bench.NoiseFloor) Floors {
	f := make(Floors, len(list))
	for _, n := range list {
		f[floorKey(n.Host, n.Case(), n.Pin, n.Awake)] = n
	}
	return f
}

// Floor finds the noise floor of a case.
func (f Floors) Floor(host string, c bench.Case, p bench.Placement) (bench.NoiseFloor, bool) {
	n, ok := f[floorKey(host, c, p.Pin, p.Awake)]
	return n, ok
}

func floorKey(host string, c bench.Case, pin string, awake bool) string {
	return fmt.Sprintf("%s\x00%s\x00%s\x00%t", host, c.Key(), pin, awake)
}

// Results compares the head with the base. Noise may be nil. It always has an answer: what
// cannot be told is undecided or incomparable, with a reason.
func Results(base, head bench.Result, noise Noise, o Options) bench.Comparison {
	if noise == nil {
		noise = Floors{}
	}
	o = o.valid()
	pairs, onlyBase, onlyHead := match(base, head)
	out := bench.Comparison{
		Base: refer(base), Head: refer(head), Settings: o.settings(),
		OnlyBase: onlyBase, OnlyHead: onlyHead, Cases: make([]bench.CaseChange, len(pairs)),
	}
	list := make([]evidence, len(pairs))
	for i, p := range pairs {
		out.Cases[i] = p.describe(base, head, o)
		list[i] = p.weigh(noise)
	}
	borrow(list)
	var tested []float64
	for i := range list {
		if list[i].testable() && out.Cases[i].Verdict != bench.Incomparable {
			list[i].test(o)
			tested = append(tested, list[i].p)
		}
	}
	adjusted := Adjust(tested)
	for i, e := range list {
		p := 1.0
		if e.tested {
			p, adjusted = adjusted[0], adjusted[1:]
		}
		e.judge(&out.Cases[i], p, len(tested), o)
		out.Counts.Add(out.Cases[i].Verdict)
	}
	out.Speed = speed(out.Cases, list, o.Confidence)
	out.Verdict, out.Reason = whole(out)
	return out
}

func refer(r bench.Result) bench.RunRef {
	return bench.RunRef{ID: r.ID, State: r.State, Created: r.Created, Labels: r.Spec.Labels}
}

// speed takes the changes of all compared cases together.
func speed(cases []bench.CaseChange, list []evidence, confidence float64) *bench.SpeedChange {
	s := bench.SpeedChange{Confidence: confidence}
	sum, known := 0.0, spread{}
	bounded := true
	for i, e := range list {
		if !e.measured || cases[i].Verdict == bench.Incomparable {
			continue
		}
		s.Cases++
		change := e.change
		if cases[i].Better == lowerIsBetter {
			change = -change
		}
		sum += change
		bounded = bounded && e.tested
		known = known.add(e.spread)
	}
	if s.Cases == 0 {
		return nil
	}
	n := float64(s.Cases)
	s.Change = relative(sum / n)
	if !bounded {
		s.Reason = "the noise of one or more of its cases is not known"
		return &s
	}
	half := quantile(1-confidence, known.df) * math.Sqrt(known.variance) / n
	s.Low, s.High = relativeOf(sum/n-half), relativeOf(sum/n+half)
	return &s
}

// whole gives the verdict of all cases together, and how it came about.
func whole(c bench.Comparison) (bench.Verdict, string) {
	order := []bench.Verdict{bench.Worse, bench.Better, bench.Same, bench.Undecided, bench.Incomparable}
	i := slices.IndexFunc(order, func(v bench.Verdict) bool { return c.Counts.Of(v) > 0 })
	if i < 0 {
		return bench.Incomparable, "The two results have no case in common."
	}
	text := fmt.Sprintf("The two results have %s in common", counted(len(c.Cases)))
	sep := ": "
	for _, v := range order {
		if n := c.Counts.Of(v); n > 0 {
			text += fmt.Sprintf("%s%d %s %s", sep, n, are(n), called(v))
			sep = ", "
		}
	}
	if n := len(c.OnlyBase) + len(c.OnlyHead); n > 0 {
		text += fmt.Sprintf("; %d more %s in one of them only", n, are(n))
	}
	verdict := order[i]
	if verdict == bench.Same && c.Counts.Same < len(c.Cases) {
		verdict = order[i+1+slices.IndexFunc(order[i+1:], func(v bench.Verdict) bool { return c.Counts.Of(v) > 0 })]
	}
	return verdict, text + "."
}

func counted(n int) string {
	if n == 1 {
		return "1 case"
	}
	return fmt.Sprintf("%d cases", n)
}

// called is the verdict as it stands in a sentence.
func called(v bench.Verdict) string {
	if v == bench.Same {
		return "the same"
	}
	return string(v)
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
