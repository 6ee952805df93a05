package export_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"

	"benchd/worker/bench"
)

// A goBenchmark is a line of the format as its reader understands it.
type goBenchmark struct {
	Name   string
	Config string
	Iters  int
	Value  float64
	Unit   string
}

// readBenchfmt reads with the library that benchstat reads with. A line that it finds fault
// with fails the test.
func readBenchfmt(tb failer, text string) (lines []goBenchmark, units map[string]string) {
	tb.Helper()
	units = make(map[string]string)
	r := benchfmt.NewReader(strings.NewReader(text), "result")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			var config []string
			for _, c := range rec.Config {
				config = append(config, c.Key+"="+string(c.Value))
			}
			if len(rec.Values) != 1 {
				tb.Fatalf("%d values on one line", len(rec.Values))
			}
			lines = append(lines, goBenchmark{string(rec.Name), strings.Join(config, " "), rec.Iters, rec.Values[0].Value, rec.Values[0].Unit})
		case *benchfmt.UnitMetadata:
			units[rec.Unit] += rec.Key + "=" + rec.Value
		default:
			tb.Fatalf("%v\n%s", rec, text)
		}
	}
	if err := r.Err(); err != nil {
		tb.Fatalf("%v", err)
	}
	return lines, units
}

func TestBenchfmt(t *testing.T) {
	t.Parallel()
	lines, units := readBenchfmt(t, write(t, "benchfmt", whole()))
	if d := cmp.Diff(map[string]string{"Mflop/s": "better=higher", "call/s": "better=higher"}, units); d != "" {
		t.Error(d)
	}
	const blue = "host=blue cpu=AMD EPYC goos=linux goarch=amd64 branch=feature/x y commit=abc123"
	const green = "host=green goos=linux goarch=arm64 branch=feature/x y commit=abc123"
	var got []string
	for _, l := range lines {
		config := map[string]string{sorted(blue): "blue", sorted(green): "green"}[sorted(l.Config)]
		got = append(got, fmt.Sprintf("%s %s %d %g %s", config, l.Name, l.Iters, l.Value, l.Unit))
	}
	want := []string{
		"blue Scimark.fft/size=small/threads=1 100 1141.5 Mflop/s",
		"blue Scimark.fft/size=small/threads=1 200 1142 Mflop/s",
		"blue Scimark.fft/size=small/threads=1 300 1142.5 Mflop/s",
		"blue Scimark.fft/size=small/threads=1 100 1139.5 Mflop/s",
		"blue Scimark.fft/size=small/threads=1 200 1143 Mflop/s",
		"blue Scimark.fft/size=small/threads=1 300 1145 Mflop/s",
		"blue Scimark.fft/size=small/threads=1 100 1140 Mflop/s",
		"blue Scimark.fft/size=small/threads=1 200 1141 Mflop/s",
		"blue Scimark.fft/size=small/threads=1 300 1139 Mflop/s",
		"blue Soap.echo/clients=4/model=dom/payload=beans/size=2.2KB 100 21000 call/s",
		"blue Soap.echo/clients=4/model=dom/payload=beans/size=2.2KB 200 21034.5 call/s",
		"blue Soap.echo/clients=4/model=dom/payload=beans/size=2.2KB 300 21080 call/s",
		"blue Soap.echo/clients=4/model=dom/payload=beans/size=2.2KB 100 20990 call/s",
		"blue Soap.echo/clients=4/model=dom/payload=beans/size=2.2KB 200 21040 call/s",
		"blue Soap.echo/clients=4/model=dom/payload=beans/size=2.2KB 300 21035 call/s",
		"green Scimark.sor/size=small/threads=1 100 890 Mflop/s",
		"green Scimark.sor/size=small/threads=1 200 900 Mflop/s",
		"green Scimark.sor/size=small/threads=1 300 910 Mflop/s",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// sorted puts the words of a configuration in order; their own order does not matter.
func sorted(config string) string {
	words := strings.Fields(config)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// TestBenchstat groups and compares two results with the libraries that benchstat is made of:
// a slow-down of a tenth is found, and the names and units line up.
func TestBenchstat(t *testing.T) {
	t.Parallel()
	base, head := whole(), whole()
	for i := range head.Trials {
		for _, f := range head.Trials[i].Forks {
			for j := range f.Samples {
				f.Samples[j] *= 0.9
			}
		}
	}
	var parser benchproc.ProjectionParser
	row, err := parser.Parse(".fullname", nil)
	if err != nil {
		t.Fatal(err)
	}
	samples := make(map[string][2][]float64)
	for side, r := range []bench.Result{base, head} {
		reader := benchfmt.NewReader(strings.NewReader(write(t, "benchfmt", r)), "result")
		for reader.Scan() {
			if rec, ok := reader.Result().(*benchfmt.Result); ok {
				key := row.Project(rec).String()
				pair := samples[key]
				pair[side] = append(pair[side], rec.Values[0].Value)
				samples[key] = pair
			}
		}
	}
	for name, alpha := range map[string]float64{
		".fullname:Soap.echo/clients=4/model=dom/payload=beans/size=2.2KB": 0.05,
		".fullname:Scimark.fft/size=small/threads=1":                       0.05,
	} {
		pair, ok := samples[name]
		if !ok {
			t.Fatalf("no samples of %s among %v", name, samples)
		}
		old := benchmath.NewSample(slices.Clone(pair[0]), &benchmath.DefaultThresholds)
		now := benchmath.NewSample(slices.Clone(pair[1]), &benchmath.DefaultThresholds)
		c := benchmath.AssumeNothing.Compare(old, now)
		delta := c.FormatDelta(benchmath.AssumeNothing.Summary(old, 0.95).Center, benchmath.AssumeNothing.Summary(now, 0.95).Center)
		if c.P >= alpha || delta != "-10.00%" {
			t.Errorf("%s: %s with p=%g", name, delta, c.P)
		}
	}
}

// Whatever a parameter is, the parts of the name give it back, and no end of a name is taken
// for a number of processors.
func TestBenchfmtNames(t *testing.T) {
	t.Parallel()
	r := odd()
	lines, _ := readBenchfmt(t, write(t, "benchfmt", r))
	if len(lines) == 0 {
		t.Fatal("no lines")
	}
	for _, l := range lines {
		base, parts := benchfmt.Name(l.Name).Parts()
		got := make(map[string]string)
		for _, p := range parts {
			if !strings.HasPrefix(string(p), "/") {
				t.Fatalf("part %q of %s", p, l.Name)
			}
			k, v, _ := strings.Cut(string(p[1:]), "=")
			key, errK := url.QueryUnescape(k)
			value, errV := url.PathUnescape(v)
			if errK != nil || errV != nil {
				t.Fatal(errK, errV)
			}
			got[key] = value
		}
		if d := cmp.Diff(map[string]string(r.Trials[0].Params), got); d != "" {
			t.Errorf("%s: %s", base, d)
		}
	}
}
