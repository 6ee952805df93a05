package bench_test

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels"
	"benchd/worker/bench"
)

// way is a kernel with a floor: what goes by road is held against what goes by rail.
type way struct{ kernels.Kernel }

func (way) Info() kernels.Info {
	return kernels.Info{
		Name: "way.go", Unit: "call/s", Rate: "rate", Floor: kernels.Params{"by": "rail", "kept": "false"},
		Params: []kernels.Param{
			{Name: "by", Kind: kernels.Word, Default: "road", Values: []string{"road", "air", "rail"}},
			{Name: "kept", Kind: kernels.Bool, Default: "false"},
			{Name: "size", Kind: kernels.Int, Default: "1", Min: 1, Max: 9},
			{Name: "rate", Kind: kernels.Int, Default: "0", Min: 0, Max: 9},
		},
	}
}

func (way) Open(context.Context, kernels.Params) (kernels.Trial, error) { return nil, nil }

func TestFloorsAreMeasuredToo(t *testing.T) {
	t.Parallel()
	catalog := bench.NewCatalog([]kernels.Family{{Name: "way", Kernels: []kernels.Kernel{way{}}}})
	for _, row := range []struct {
		name string
		asks bench.Matrix
		want []string
	}{
		{"one", nil, []string{"by=rail kept=false rate=0 size=1", "by=road kept=false rate=0 size=1"}},
		{"two share one", bench.Matrix{"by": {"road", "air"}}, []string{"by=rail kept=false rate=0 size=1", "by=road kept=false rate=0 size=1", "by=air kept=false rate=0 size=1"}},
		{"each size has its own", bench.Matrix{"kept": {"true"}, "size": {"1", "2"}}, []string{
			"by=rail kept=false rate=0 size=1", "by=road kept=true rate=0 size=1", "by=rail kept=false rate=0 size=2", "by=road kept=true rate=0 size=2",
		}},
		{"the floor alone", bench.Matrix{"by": {"rail"}}, []string{"by=rail kept=false rate=0 size=1"}},
		{"a rate has none", bench.Matrix{"rate": {"5"}}, []string{"by=road kept=false rate=5 size=1"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, cases, err := catalog.Resolve(bench.Spec{Cases: []bench.CaseSpec{{Kernel: "way.go", Params: row.asks}}}, bench.Present{}, bench.DefaultLimits(1))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range cases {
				got = append(got, c.Params.String())
			}
			if len(got) != len(row.want) {
				t.Fatalf("cases %q, want %q", got, row.want)
			}
			for i := range got {
				if got[i] != row.want[i] {
					t.Errorf("case %d is %q, want %q", i, got[i], row.want[i])
				}
			}
		})
	}
}

func TestOfFloor(t *testing.T) {
	t.Parallel()
	catalog := bench.NewCatalog([]kernels.Family{{Name: "way", Kernels: []kernels.Kernel{way{}}}})
	at := func(id, by, host string, repeat int, value, low, high float64) bench.TrialResult {
		s := &bench.Score{Value: new(value), Low: new(low), High: new(high)}
		if low == 0 {
			s.Low, s.High = nil, nil
		}
		return bench.TrialResult{
			ID: id, Host: host, Kernel: "way.go", Repeat: repeat, State: bench.Succeeded, Score: s,
			Params: kernels.Params{"by": by, "kept": "false", "size": "1", "rate": "0"},
		}
	}
	trials := []bench.TrialResult{
		at("floor", "rail", "a", 1, 1000, 900, 1100), at("road", "road", "a", 1, 500, 450, 550), at("air", "air", "a", 1, 100, 0, 0),
		at("other", "road", "b", 1, 500, 450, 550), at("again", "rail", "a", 2, 500, 400, 600), at("more", "road", "a", 2, 500, 450, 550),
		at("cut", "rail", "c", 1, 7, 6, 8), at("alone", "road", "c", 1, 500, 450, 550),
	}
	trials[6].State = bench.Failed
	catalog.SetFloors(trials)
	is := func(v *float64, want float64) bool {
		return v == nil && want == 0 || v != nil && math.Abs(*v-want) < 1e-12
	}
	for i, want := range []*bench.OfFloor{
		nil,
		{Trial: "floor", Value: new(0.5), Low: new(450.0 / 1100), High: new(550.0 / 900)},
		{Trial: "floor", Value: new(0.1), Reason: "one of the two has no interval"},
		nil, // its host measured none
		nil,
		{Trial: "again", Value: new(1.0), Low: new(450.0 / 600), High: new(550.0 / 400)},
		nil,
		{Trial: "cut", Reason: "the floor was not measured to its end"},
	} {
		got := trials[i].OfFloor
		if want == nil || got == nil {
			if (want == nil) != (got == nil) {
				t.Errorf("%s: %+v, want %+v", trials[i].ID, got, want)
			}
			continue
		}
		value := func(p *float64) float64 {
			if p == nil {
				return 0
			}
			return *p
		}
		if got.Trial != want.Trial || got.Reason != want.Reason || !is(got.Value, value(want.Value)) || !is(got.Low, value(want.Low)) || !is(got.High, value(want.High)) {
			t.Errorf("%s: %+v, want %+v", trials[i].ID, got, want)
		}
	}
}

// TestFloorsHaveTheOperations: the floor of a case with operations of its own has as many, and
// has them in the stored request too.
func TestFloorsHaveTheOperations(t *testing.T) {
	t.Parallel()
	catalog := bench.NewCatalog([]kernels.Family{{Name: "way", Kernels: []kernels.Kernel{way{}}}})
	asked := bench.Spec{Cases: []bench.CaseSpec{
		{Kernel: "way.go", Params: bench.Matrix{"size": {"2"}, "by": {"road", "air"}}, Operations: new(7)},
		{Kernel: "way", Params: bench.Matrix{"size": {"3"}}},
		{Kernel: "way.go", Params: bench.Matrix{"size": {"4"}, "by": {"rail"}}, Operations: new(9)},
	}}
	want := []string{
		"way.go by=rail kept=false rate=0 size=2: 7", "way.go by=road kept=false rate=0 size=2: 7", "way.go by=air kept=false rate=0 size=2: 7",
		"way.go by=rail kept=false rate=0 size=3: 0", "way.go by=road kept=false rate=0 size=3: 0", "way.go by=rail kept=false rate=0 size=4: 9",
	}
	for turn := range 3 {
		spec, cases, err := catalog.Resolve(asked, bench.Present{}, bench.DefaultLimits(1))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, operations(spec, cases)); d != "" {
			t.Errorf("posted %d times: %s", turn+1, d)
		}
		if turn > 0 && len(spec.Cases) != len(asked.Cases) {
			t.Errorf("posted %d times it has %d entries, not %d", turn+1, len(spec.Cases), len(asked.Cases))
		}
		asked = bench.Spec{Cases: spec.Cases}
	}
}
