package compare_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"benchd/worker/bench"
	"benchd/worker/stats/compare"
)

// around makes forks of slices about a level with a little noise, the same at each call.
func around(level, noise float64, forks, slices int) [][]float64 {
	rng := rand.New(rand.NewPCG(5, uint64(forks*1000+slices)))
	out := normal(0.3, 0)(rng, noise, forks, slices)
	for _, f := range out {
		for i := range f {
			f[i] *= level / 1000
		}
	}
	return out
}

// quiet is the noise of the first cases of resultOf, as if it had been measured: 0.3 %.
func quiet(cases int) compare.Floors {
	rng := rand.New(rand.NewPCG(9, 9))
	var floors []bench.NoiseFloor
	for i := range cases {
		var runs [][][]float64
		for range 10 {
			runs = append(runs, normal(0.3, 0.3)(rng, 0.005, 3, 20))
		}
		f, _ := compare.FloorOf(runs)
		t := trialOf(i, runs[0])
		f.Host, f.Kernel, f.Params, f.Pin = t.Host, t.Kernel, t.Params, t.Placement.Pin
		floors = append(floors, f)
	}
	return compare.Index(floors)
}

// loud is noise of many tens of percent for the first case of resultOf.
func loud() compare.Floors {
	t := trialOf(0, nil)
	sd := 0.1
	return compare.Index([]bench.NoiseFloor{{
		Host: t.Host, Kernel: t.Kernel, Params: t.Params, Pin: "free", Runs: 10, Forks: 3, MeanSD: 0.2, ForkSD: &sd, ForksDF: 20, Value: 0.8,
	}})
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		base, head [][]float64
		noise      compare.Noise
		change     func(base, head *bench.Result) // what else is done to the two
		want       bench.Verdict
		reason     string // in the reason
		needed     *bench.Needed
	}{
		{"a slow-down", around(100, 0.005, 3, 20), around(93, 0.005, 3, 20), quiet(1), nil, bench.Worse, "no chance", nil},
		{"a speed-up", around(93, 0.005, 3, 20), around(100, 0.005, 3, 20), quiet(1), nil, bench.Better, "no chance", nil},
		{"nothing", around(100, 0.005, 3, 20), around(100, 0.005, 3, 20), quiet(1), nil, bench.Same, "not larger", nil},
		{"less than asked for", around(100, 0.001, 3, 20), around(99.2, 0.001, 3, 20), quiet(1), nil, bench.Same, "not larger", nil},
		{"a slow-down of a time, where lower is better", around(100, 0.005, 3, 20), around(110, 0.005, 3, 20), quiet(1), lower, bench.Worse, "no chance", nil},
		{"noise never measured, a small change", around(100, 0.005, 3, 20), around(97, 0.005, 3, 20), nil, nil, bench.Same, "stands in for the noise", nil},
		{"noise never measured, a large change", around(100, 0.005, 3, 20), around(60, 0.005, 3, 20), nil, nil, bench.Worse, "no chance", nil},
		{"noise never measured, noisy", around(100, 0.10, 3, 20), around(80, 0.10, 3, 20), nil, nil, bench.Undecided, "may be chance", &bench.Needed{Forks: 3, Samples: 60, Runs: 10}},
		{"one fork and no noise known", around(100, 0.005, 1, 20), around(60, 0.005, 1, 20), nil, nil, bench.Undecided, "does not tell how forks differ", &bench.Needed{Forks: 3, Samples: 60, Runs: 10}},
		{"one fork and noise known", around(100, 0.005, 1, 20), around(80, 0.005, 1, 20), quiet(1), nil, bench.Worse, "no chance", nil},
		{"five samples", around(100, 0.005, 1, 5), around(80, 0.005, 1, 20), quiet(1), nil, bench.Undecided, "The base has 5 samples; a comparison needs 6 samples", &bench.Needed{Forks: 1, Samples: 20}},
		{"five samples on both sides", around(100, 0.005, 1, 5), around(80, 0.005, 1, 5), quiet(1), nil, bench.Undecided, "needs 6 samples", &bench.Needed{Forks: 1, Samples: 6}},
		{"no samples", nil, around(80, 0.005, 1, 20), quiet(1), nil, bench.Undecided, "The base has no figure: no slice was measured", nil},
		{"a failed trial", around(100, 0.005, 3, 20), around(80, 0.005, 3, 20), quiet(1), failed, bench.Undecided, "The head has no figure: the trial failed: no broker", nil},
		{"a sample of zero", around(100, 0.005, 3, 20), append(around(80, 0.005, 2, 20), []float64{0, 1}), quiet(1), nil, bench.Undecided, "not above zero", nil},
		{"two levels", around(100, 0.005, 3, 20), around(80, 0.005, 3, 20), quiet(1), doubted("bimodal: 31 samples lie about 2.9 and 29 about 3.4."), bench.Undecided, "two levels", nil},
		{"never steady", around(100, 0.005, 3, 20), around(80, 0.005, 3, 20), quiet(1), unsteady, bench.Undecided, "never steady", nil},
		{"the slower side was disturbed", around(100, 0.005, 3, 20), around(80, 0.005, 3, 20), quiet(1), doubted("host_busy: other processes used 38 % of a core"), bench.Undecided, "38 % of a core", nil},
		{"the faster side was disturbed", around(100, 0.005, 3, 20), around(130, 0.005, 3, 20), quiet(1), doubted("host_busy: other processes used 38 % of a core"), bench.Better, "The head was disturbed: other processes used 38 %", nil},
		{"disturbed, and the same", around(100, 0.005, 3, 20), around(100, 0.005, 3, 20), quiet(1), doubted("stolen: 4 % of the time"), bench.Same, "The head was disturbed", nil},
		{"noisier than its history", around(100, 0.005, 3, 20), around(100, 0.1, 3, 20), quiet(1), nil, bench.Undecided, "vary more than they did", nil},
		{"noise that hides everything", around(100, 0.005, 3, 20), around(110, 0.005, 3, 20), loud(), nil, bench.Undecided, "hides changes that matter", nil},
		{"constants", constants(7), constants(7), quiet(1), nil, bench.Same, "+0.0 %", nil},
		{"other constants", constants(7), constants(8), quiet(1), nil, bench.Better, "no chance", nil},
		{"other constants, no noise known", constants(7), constants(8), nil, nil, bench.Better, "no chance", nil},
		{"the largest number", constants(math.MaxFloat64), around(100, 0.005, 3, 20), quiet(1), nil, bench.Worse, "no chance", nil},
		{"the least number", constants(math.SmallestNonzeroFloat64), around(100, 0.005, 3, 20), quiet(1), nil, bench.Undecided, "not above zero", nil},
		{"another governor", around(100, 0.005, 3, 20), around(80, 0.005, 3, 20), quiet(1), governor, bench.Incomparable, "governor (powersave, then performance)", nil},
		{"another placement", around(100, 0.005, 3, 20), around(80, 0.005, 3, 20), quiet(1), pinned, bench.Incomparable, "placement.pin (free, then one)", nil},
		{"slices of another length", around(100, 0.005, 3, 20), around(80, 0.005, 3, 20), quiet(1), longer, bench.Incomparable, "plan.slice (500ms, then 1s)", nil},
		{"slices of another number of operations", around(100, 0.005, 3, 20), around(80, 0.005, 3, 20), quiet(1), counted(200, 100), bench.Incomparable, "plan.operations (200, then 100)", nil},
		{"slices of a time and of operations", around(100, 0.005, 3, 20), around(80, 0.005, 3, 20), quiet(1), counted(0, 100), bench.Incomparable, "plan.operations (0, then 100)", nil},
		{"slices of operations, whose time is nobody's wish", around(100, 0.005, 3, 20), around(80, 0.005, 3, 20), quiet(1), counted(100, 100), bench.Worse, "no chance", nil},
		{"a ramp and none", around(100, 0.005, 3, 20), around(80, 0.005, 3, 20), quiet(1), ramped(0, 1), bench.Incomparable, "plan.ramp (0, then 1)", nil},
		{"another ramp", around(100, 0.005, 3, 20), around(80, 0.005, 3, 20), quiet(1), ramped(2, 1), bench.Incomparable, "plan.ramp (2, then 1)", nil},
		{"two ramps by their scores", around(100, 0.005, 3, 20), around(80, 0.005, 3, 20), quiet(1), ramped(1, 1), bench.Worse, "no chance", nil},
		{"another build", around(100, 0.005, 3, 20), around(80, 0.005, 3, 20), quiet(1), rebuilt, bench.Worse, "no chance", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base, head := resultOf("a", [][][]float64{tt.base}), resultOf("b", [][][]float64{tt.head})
			if tt.change != nil {
				tt.change(&base, &head)
			}
			c := compare.Results(base, head, tt.noise, compare.DefaultOptions())
			got := c.Cases[0]
			if got.Verdict != tt.want || c.Verdict != tt.want || !strings.Contains(strings.Replace(got.Reason, "of 0.0", "of +0.0", 1), tt.reason) {
				t.Errorf("%s, the whole %s, %q; want %s and %q", got.Verdict, c.Verdict, got.Reason, tt.want, tt.reason)
			}
			if tt.needed != nil {
				if d := cmp.Diff(tt.needed, got.Needed); d != "" {
					t.Error(d)
				}
			}
			if _, err := json.Marshal(c); err != nil {
				t.Error(err)
			}
		})
	}
}

func constants(v float64) [][]float64 {
	return [][]float64{{v, v, v, v, v, v, v}, {v, v, v, v, v, v, v}}
}

func lower(base, head *bench.Result) {
	base.Trials[0].Score.Better, head.Trials[0].Score.Better = "lower", "lower"
}

func failed(_, head *bench.Result) {
	head.Trials[0].State = bench.Failed
	head.Trials[0].Error = &bench.TrialError{Code: "open_failed", Message: "no broker answers."}
}

func doubted(reason string) func(_, head *bench.Result) {
	return func(_, head *bench.Result) { head.Trials[0].Validity.Reasons = []string{reason} }
}

func unsteady(_, head *bench.Result) {
	class := bench.NeverSteady
	head.Trials[0].Steady.Class = &class
}

func governor(base, head *bench.Result) {
	was, is := "powersave", "performance"
	base.Hosts["blue"] = bench.HostSnapshot{Facts: bench.Facts{Governor: &was}}
	head.Hosts["blue"] = bench.HostSnapshot{Facts: bench.Facts{Governor: &is}}
}

func pinned(_, head *bench.Result) { head.Trials[0].Placement.Pin = "one" }

func longer(_, head *bench.Result) { head.Spec.Plan.Slice *= 2 }

func rebuilt(base, head *bench.Result) {
	base.Hosts["blue"] = bench.HostSnapshot{Facts: bench.Facts{Build: "1", Go: "go1.26.1"}}
	head.Hosts["blue"] = bench.HostSnapshot{Facts: bench.Facts{Build: "2", Go: "go1.26.2"}}
}

// A base that was lucky is no measure: 100 ± 20 over many runs, one of 80, and then 104 to
// 110. Compared with the one run it is a change of a third; with the distribution it is none.
func TestLuckyBase(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 12))
	var runs [][][]float64
	for range 20 {
		level := 80 + 40*rng.Float64()
		runs = append(runs, around(level, 0.01, 3, 10))
	}
	f, ok := compare.FloorOf(runs)
	if !ok {
		t.Fatal("no floor")
	}
	lucky := resultOf("a", [][][]float64{around(80, 0.01, 3, 10)})
	for _, level := range []float64{104, 107, 110} {
		head := resultOf("b", [][][]float64{around(level, 0.01, 3, 10)})
		trial := head.Trials[0]
		trial.Score.Better, lucky.Trials[0].Score.Better = "lower", "lower"
		f.Host, f.Kernel, f.Params, f.Pin = trial.Host, trial.Kernel, trial.Params, "free"
		c := compare.Results(lucky, head, compare.Index([]bench.NoiseFloor{f}), compare.DefaultOptions())
		if got := c.Cases[0]; got.Verdict != bench.Undecided || *got.Change < 0.25 || !strings.Contains(got.Reason, "not larger than") {
			t.Errorf("%v after a lucky 80: %s, %s", level, got.Verdict, got.Reason)
		}
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	base := resultOf("a", [][][]float64{around(100, 0.005, 3, 20), around(100, 0.005, 3, 20), around(100, 0.005, 3, 20)})
	head := resultOf("b", [][][]float64{around(100, 0.005, 3, 20), around(121, 0.005, 3, 20), around(100, 0.005, 3, 20)})
	base.Trials[0].Kernel, head.Trials[0].Kernel = "only.base", "only.head"
	c := compare.Results(base, head, quiet(3), compare.DefaultOptions())
	if len(c.Cases) != 2 || len(c.OnlyBase) != 1 || len(c.OnlyHead) != 1 ||
		c.OnlyBase[0].Kernel != "only.base" || c.OnlyHead[0].Kernel != "only.head" {
		t.Fatalf("cases %d, only in the base %v, only in the head %v", len(c.Cases), c.OnlyBase, c.OnlyHead)
	}
	if c.Speed == nil || c.Speed.Cases != 2 || math.Abs(c.Speed.Change-0.1) > 1e-6 || *c.Speed.Low >= 0.1 || *c.Speed.High <= 0.1 {
		t.Errorf("speed %+v, want 10 %% over the two in common", c.Speed)
	}
	if c.Verdict != bench.Better || c.Counts.Same != 1 || c.Counts.Better != 1 || c.Reason != "The two results have 2 cases in common: 1 is better, 1 is the same; 2 more are in one of them only." {
		t.Errorf("%s, %+v: %s", c.Verdict, c.Counts, c.Reason)
	}
	head.Trials = head.Trials[:1]
	if c := compare.Results(base, head, nil, compare.DefaultOptions()); c.Verdict != bench.Incomparable || c.Speed != nil || len(c.Cases) != 0 {
		t.Errorf("nothing in common: %s, %+v", c.Verdict, c.Speed)
	}
}

// Two machines are compared when that is asked for; under another name the same machine is
// compared anyway.
func TestHosts(t *testing.T) {
	t.Parallel()
	base := resultOf("a", [][][]float64{around(100, 0.005, 3, 20)})
	head := resultOf("b", [][][]float64{around(300, 0.005, 3, 20)})
	head.Trials[0].Host = "green"
	head.Hosts = map[string]bench.HostSnapshot{"green": {Facts: bench.Facts{CPUModel: "new"}}}
	base.Hosts = map[string]bench.HostSnapshot{"blue": {Facts: bench.Facts{CPUModel: "old"}}}
	o := compare.DefaultOptions()
	c := compare.Results(base, head, nil, o)
	want := []bench.Difference{{Fact: "cpu_model", Base: "old", Head: "new", Excluded: true}}
	if d := cmp.Diff(want, c.Cases[0].Differs); d != "" || c.Cases[0].Verdict != bench.Incomparable || c.Cases[0].BaseHost != "blue" {
		t.Errorf("%s %s", c.Cases[0].Verdict, d)
	}
	for _, across := range [][]string{{compare.AcrossHost}, {"cpu_model"}} {
		o.Across = across
		if c := compare.Results(base, head, nil, o).Cases[0]; c.Verdict != bench.Better || len(c.Differs) != 1 || c.Differs[0].Excluded {
			t.Errorf("across %v: %s, %+v", across, c.Verdict, c.Differs)
		}
	}
	head.Hosts = base.Hosts
	head.Hosts["green"] = head.Hosts["blue"]
	if c := compare.Results(base, head, nil, compare.DefaultOptions()).Cases[0]; c.Verdict != bench.Better {
		t.Errorf("the same facts under another name: %s", c.Verdict)
	}
	head.Trials = append(head.Trials, head.Trials[0])
	head.Trials[1].Host = "red"
	if c := compare.Results(base, head, nil, compare.DefaultOptions()); len(c.Cases) != 0 || len(c.OnlyHead) != 2 || len(c.OnlyBase) != 1 {
		t.Errorf("one host against two others: %d cases, %d and %d apart", len(c.Cases), len(c.OnlyBase), len(c.OnlyHead))
	}
}

// Repeats of a case in one run are forks of one side.
func TestRepeats(t *testing.T) {
	t.Parallel()
	base := resultOf("a", [][][]float64{around(100, 0.005, 3, 20), around(100, 0.005, 2, 20)})
	base.Trials[1].Params, base.Trials[1].Repeat = base.Trials[0].Params, 2
	head := resultOf("b", [][][]float64{around(100, 0.005, 3, 20)})
	c := compare.Results(base, head, nil, compare.DefaultOptions())
	if len(c.Cases) != 1 || c.Cases[0].Base.Forks != 5 || c.Cases[0].Base.N != 100 || !slices.Equal(c.Cases[0].Base.Trials, []string{"0", "1"}) {
		t.Errorf("%+v", c.Cases[0].Base)
	}
}

// Whatever the samples are, the comparison answers in JSON, leaves them as they are, and says
// the opposite when the two change places.
func TestProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sample := rapid.OneOf(rapid.Float64Range(90, 110), rapid.Float64Min(0), rapid.Float64())
		sides := rapid.SliceOfN(rapid.SliceOfN(rapid.SliceOfN(sample, 0, 12), 0, 4), 2, 2)
		n := rapid.IntRange(1, 6).Draw(t, "cases")
		var a, b [][][]float64
		for range n {
			s := sides.Draw(t, "samples")
			a, b = append(a, s[0]), append(b, s[1])
		}
		noise := quiet(rapid.IntRange(0, n).Draw(t, "known"))
		base, head := resultOf("a", a), resultOf("b", b)
		before, _ := json.Marshal([]bench.Result{base, head})
		c := compare.Results(base, head, noise, compare.DefaultOptions())
		back := compare.Results(head, base, noise, compare.DefaultOptions())
		if _, err := json.Marshal([]bench.Comparison{c, back}); err != nil {
			t.Fatal(err)
		}
		if after, _ := json.Marshal([]bench.Result{base, head}); string(before) != string(after) {
			t.Fatal("the samples were changed")
		}
		if c.Counts.Better != back.Counts.Worse || c.Counts.Worse != back.Counts.Better || c.Counts.Undecided != back.Counts.Undecided {
			t.Fatalf("%+v one way, %+v the other", c.Counts, back.Counts)
		}
		for i, v := range c.Cases {
			if v.Low != nil && (*v.Low > *v.Change || *v.Change > *v.High) {
				t.Fatalf("case %d: the interval %v to %v leaves out %v", i, *v.Low, *v.High, *v.Change)
			}
			if v.Reason == "" || !slices.Contains(bench.Verdicts(), v.Verdict) {
				t.Fatalf("case %d: %q, %q", i, v.Verdict, v.Reason)
			}
		}
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*compare.Options)
		want   string
	}{
		{"the default", func(*compare.Options) {}, ""},
		{"every change", func(o *compare.Options) { o.MinEffect = 0 }, ""},
		{"negative effect", func(o *compare.Options) { o.MinEffect = -0.1 }, "min_effect must be"},
		{"no number", func(o *compare.Options) { o.MinEffect = math.NaN() }, "min_effect must be"},
		{"certainty", func(o *compare.Options) { o.Confidence = 1 }, "confidence must be"},
		{"no alarms at all", func(o *compare.Options) { o.Q = 0 }, "q must be"},
		{"floor of infinity", func(o *compare.Options) { o.DefaultFloor = math.Inf(1) }, "default floor must be"},
		{"a fact", func(o *compare.Options) { o.Across = []string{"cpu_model", "host", "plan.slice"} }, ""},
		{"no fact", func(o *compare.Options) { o.Across = []string{"weather"} }, "there is no fact \"weather\""},
	} {
		o := compare.DefaultOptions()
		tt.change(&o)
		err := o.Check()
		if (err == nil) != (tt.want == "") || err != nil && (bench.AsError(err) == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		r := resultOf("a", [][][]float64{around(100, 0.005, 3, 20)})
		if _, err := json.Marshal(compare.Results(r, r, nil, o)); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// A thousand cases, the most a run may have.
func BenchmarkThousandCases(b *testing.B) {
	rng := rand.New(rand.NewPCG(4, 4))
	base, head := make([][][]float64, bench.MaxTrials), make([][][]float64, bench.MaxTrials)
	for i := range base {
		base[i], head[i] = normal(0.5, 0.5)(rng, 0.02, 3, 20), normal(0.5, 0.5)(rng, 0.02, 3, 20)
	}
	x, y, noise := resultOf("a", base), resultOf("b", head), quiet(bench.MaxTrials)
	for b.Loop() {
		compare.Results(x, y, noise, compare.DefaultOptions())
	}
}

// What an undecided case is said to need is enough: measured with as many forks, the same
// change is found.
func TestNeeded(t *testing.T) {
	t.Parallel()
	levels := func(of float64, n int) [][]float64 { // forks that differ by 2 %, of constant slices
		var forks [][]float64
		for i := range n {
			var f []float64
			for k := range 20 {
				f = append(f, of*(1+0.02*float64(2*(i%2)-1))*(1+1e-4*float64(k)))
			}
			forks = append(forks, f)
		}
		return forks
	}
	var past []bench.TrialResult
	for i := range cases {
		for k := range 10 {
			past = append(past, trialOf(i, levels(100+0.05*float64(k), 10)))
		}
	}
	noise := compare.Index(compare.FloorsOf(past))
	report := func(forks int) bench.CaseChange {
		var base, head [][][]float64
		for range cases {
			base, head = append(base, levels(100, forks)), append(head, levels(100, forks))
		}
		head[0] = levels(92.5, forks)
		return compare.Results(resultOf("a", base), resultOf("b", head), noise, compare.DefaultOptions()).Cases[0]
	}
	short := report(2)
	if short.Verdict != bench.Undecided || short.Needed == nil || short.Needed.Forks <= 2 || short.Needed.Forks > 8 || short.Needed.Runs != 0 {
		t.Fatalf("%s, needs %+v: %s", short.Verdict, short.Needed, short.Reason)
	}
	enough := short.Needed.Forks + short.Needed.Forks%2 // levels come in pairs
	if long := report(enough); long.Verdict != bench.Worse || long.Base.N < short.Needed.Samples {
		t.Errorf("with %d forks: %s: %s", enough, long.Verdict, long.Reason)
	}
}

// TestBothDirections: noise that hides a rise to less than double hides a fall to more than
// half, and no other; an effect that is asked for is a part of the base's value either way.
func TestBothDirections(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name       string
		base, head float64
		effect     float64
		want       bench.Verdict
	}{
		{"rose by less than is asked", 1000, 1095, 0.1, bench.Same},
		{"fell by less than is asked", 1000, 905, 0.1, bench.Same},
		{"rose by more", 1000, 1120, 0.1, bench.Better},
		{"fell by more", 1000, 880, 0.1, bench.Worse},
		{"no fall is larger than all", 1000, 100, 1, bench.Same},
		{"a rise may be", 1000, 3000, 1, bench.Better},
	} {
		base, head := resultOf("base", [][][]float64{around(row.base, 0.003, 3, 20)}), resultOf("head", [][][]float64{around(row.head, 0.003, 3, 20)})
		o := compare.DefaultOptions()
		o.MinEffect = row.effect
		got := compare.Results(base, head, quiet(1), o).Cases[0]
		if got.Verdict != row.want {
			t.Errorf("%s: %s, want %s: %s", row.name, got.Verdict, row.want, got.Reason)
		}
	}
}

// counted makes plans with slices of operations, of which the head's have another time.
func counted(base, head int) func(b, h *bench.Result) {
	return func(b, h *bench.Result) {
		b.Spec.Plan.Operations, h.Spec.Plan.Operations = base, head
		if base == head {
			h.Spec.Plan.Slice = bench.Duration(time.Hour)
		}
	}
}

// ramped makes plans with a ramp. The samples become those of the step that the score is of,
// between others that would turn every verdict round.
func ramped(base, head int) func(b, h *bench.Result) {
	steps := func(r *bench.Result, ramp int, other float64) {
		if r.Spec.Plan.Ramp = ramp; ramp == 0 {
			return
		}
		t := &r.Trials[0]
		t.Series = &bench.Series{Kind: bench.Ramp, Scored: 2}
		for i := range t.Forks {
			f := &t.Forks[i]
			for range f.Samples {
				f.Slices = append(f.Slices, bench.Slice{Lanes: 2})
			}
			for range 50 {
				f.Samples, f.Slices = append(f.Samples, other), append(f.Slices, bench.Slice{Lanes: 3})
			}
		}
	}
	return func(b, h *bench.Result) {
		steps(b, base, 1)
		steps(h, head, 1000)
	}
}
