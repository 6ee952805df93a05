package export_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"benchd/api/export"
	"benchd/kernels"
	"benchd/worker/bench"
)

// called makes a result of a suite with its own plan, measured on one host.
func called(suite string, trials ...bench.TrialResult) bench.Result {
	s, _ := bench.SuiteNamed(suite)
	r := bench.Result{
		ID: "01a22d41-26f3-770a-84f3-8a58e881b522", State: bench.Succeeded, Schema: 1, Created: at(0), Started: ptr(at(1)), Finished: ptr(at(60)),
		Spec: bench.Spec{Suite: suite, Plan: s.Plan, Repeat: 1}, Trials: trials,
		Hosts: map[string]bench.HostSnapshot{
			"blue": {Facts: bench.Facts{CPUModel: "AMD EPYC", Sockets: ptr(1), Threads: 2, OS: "linux", Kernel: ptr("6.1.0"), Arch: "amd64", Go: "go1.26.8"}},
		},
	}
	return r
}

// call makes a trial of a suite on blue.
func call(suite string, value float64, params kernels.Params, forks ...bench.Fork) bench.TrialResult {
	s, _ := bench.SuiteNamed(suite)
	p := kernels.Params{"rate": "0"}
	for name, values := range s.Cases[0].Params {
		p[name] = values[0]
	}
	for name, v := range params {
		p[name] = v
	}
	return trial("blue", s.Cases[0].Kernel, p, score("call/s", value, value*0.99, value*1.01), forks...)
}

// loaded is a fork with the load of the CPUs that slices of so many operations made.
func loaded(samples []float64, operations int64, server, system *float64) bench.Fork {
	f := bench.Fork{Samples: samples, CPU: bench.CPU{Server: server, System: system}}
	for range samples {
		f.Slices = append(f.Slices, bench.Slice{Operations: operations, Elapsed: 1e9})
	}
	return f
}

// failed makes a trial one that has no score.
func failed(t bench.TrialResult, message string) bench.TrialResult {
	t.State, t.Score, t.Metrics, t.Forks = bench.Failed, nil, nil, nil
	t.Error = &bench.TrialError{Code: "open_failed", Message: message}
	return t
}

func calls2004() bench.Result {
	const suite = "soap-2004"
	stable := func(t bench.TrialResult, n float64) bench.TrialResult {
		t.Steady = bench.Steadiness{Class: ptr(bench.WarmedUp), Operations: &n}
		return t
	}
	own := stable(call(suite, 6312.4, kernels.Params{"server": "embedded"}), 0)
	own.Standing = &bench.Standing{Text: "16 x the fastest of 61 figures (SOAP calls of four beans, Axis 1.1; java-on-many-machines)"}
	axis := call(suite, 611.6, kernels.Params{"server": "axis"})
	axis.Steady = bench.Steadiness{Class: ptr(bench.NeverSteady), Reason: "a fork never was steady"}
	axis.Validity = bench.Validity{Reasons: []string{"not_steady: the rate changed until the end", "host_busy: others used a core", "host_busy: again"}}
	r := called(suite,
		failed(call(suite, 1, kernels.Params{"server": "away"}), "open soap.echo: the service refused the connection"),
		axis, own,
		stable(call(suite, 2362, kernels.Params{"server": "gsoap", "model": "dom"}), 400),
		call(suite, 99999, kernels.Params{"payload": "records"}), // not the suite's
	)
	green := r.Trials[2]
	green.Host = "green"
	green.Score = score("call/s", 7000, 6900, 7100)
	r.Trials = append(r.Trials, green)
	r.Hosts["green"] = bench.HostSnapshot{Facts: bench.Facts{CPUModel: "Ampere Altra", Threads: 8, OS: "linux", Arch: "arm64", Go: "go1.26.8"}}
	return r
}

func engines() bench.Result {
	const suite = "soaprunner"
	var runs []bench.Fork
	for _, v := range []float64{6000, 6100, 6200, 6300, 6400, 6500, 6600, 6700} {
		runs = append(runs, loaded([]float64{v}, 5000, nil, nil))
	}
	timed := func(t bench.TrialResult, us *float64) bench.TrialResult {
		t.Metrics = []bench.Score{{Metric: "time_per_call", Unit: "us", Value: us, Reason: "no slice had an operation"}}
		return t
	}
	return called(suite,
		timed(call(suite, 6350, kernels.Params{"server": "embedded"}, runs...), ptr(157.6)),
		timed(call(suite, 19.3, kernels.Params{"server": "xml-soap", "model": "dom"}, runs[:1]...), nil),
		failed(call(suite, 1, kernels.Params{"server": "away"}), "no such host"),
	)
}

func attachments() bench.Result {
	const suite = "soaprunner-attachments"
	trials := loaded([]float64{49, 30, 70, math.NaN()}, 100, nil, nil)
	r := called(suite,
		call(suite, 49, nil, trials),
		call(suite, 3120.5, kernels.Params{"encoding": "mtom", "size": "100KB"}, loaded([]float64{3000, 3241}, 100, nil, nil)),
		failed(call(suite, 1, kernels.Params{"encoding": "mtom"}), "took longer than its limit"),
	)
	r.Spec.Plan.Slices, r.Spec.Plan.Operations = 4, 50
	return r
}

func scenarioA() bench.Result {
	const suite = "cxf-http"
	forks := func(server *float64, reason string) bench.Fork {
		f := loaded([]float64{1, 2}, 2500, server, ptr(0.987))
		f.CPU.Reason = reason
		f.Warmup.Operations = 1000
		return f
	}
	stream := kernels.Params{"model": "stream"}
	return called(suite,
		call(suite, 8000, nil, forks(ptr(1.0312), "")),
		call(suite, 10400, stream, forks(ptr(0.9), "")),
		call(suite, 3000, kernels.Params{"clients": "1"}, forks(nil, "there is no server process")),
		call(suite, 900, kernels.Params{"size": "10KB", "clients": "40"}, forks(ptr(1.1), "")),
		failed(call(suite, 1, kernels.Params{"size": "1MB", "clients": "10"}), "took longer than its limit of 1h."),
	)
}

// ramped is a trial of two steps, whose slices rise with the lanes.
func ramped() bench.Result {
	const suite = "cxf-max-load"
	var f bench.Fork
	for lanes := 1; lanes <= 2; lanes++ {
		for i := range 8 {
			n := int64(lanes * (1000 + i))
			f.Slices = append(f.Slices, bench.Slice{Lanes: lanes, Operations: n, Elapsed: 1e9, Server: ptr(int64(lanes) * 4e8), System: ptr(int64(lanes) * 9e8)})
		}
	}
	f.Slices[0].Server = nil
	t := call(suite, 2010, nil, f)
	t.Series = &bench.Series{Kind: bench.Ramp, Stops: ptr(2), Scored: 2, Steps: []bench.Step{
		{Lanes: 1, Throughput: *score("call/s", 1003.5, 1000, 1007), CPU: bench.CPU{Reason: "the platform does not tell"}},
		{Lanes: 2, Throughput: *score("call/s", 2010, 2000, 2020), CPU: bench.CPU{Server: ptr(0.8), System: ptr(0.9)}, Latency: &bench.StepLatency{Count: 16000, P50: 946000, P99: 1810000}, Failures: 3},
	}}
	return called(suite, t)
}

// articleResults are results of the suites that have a table of their own.
func articleResults() map[string]bench.Result {
	return map[string]bench.Result{
		"soap-2004": calls2004(), "soaprunner": engines(), "soaprunner-attachments": attachments(), "cxf-http": scenarioA(), "cxf-max-load": ramped(),
		"encon": nodes(), "cxf-jms": scenarioB(), "brokers": everyBroker(),
	}
}

// TestArticles shows the table of each article. With -update the files are written anew.
func TestArticles(t *testing.T) {
	t.Parallel()
	f, _ := export.ByName("article")
	all := articleResults()
	if len(all) != len(f.Suites) {
		t.Errorf("%d suites have a table, %d are tried", len(f.Suites), len(all))
	}
	for _, suite := range f.Suites {
		t.Run(suite, func(t *testing.T) {
			t.Parallel()
			r := all[suite]
			got := write(t, "article", r)
			golden(t, "article-"+suite+f.Extension, got)
			if again := write(t, "article", all[suite]); again != got {
				t.Error("the same result is written differently")
			}
			for _, room := range []int{0, 60, len(got) - 1} {
				if err := f.Write(&full{room}, r); !errors.Is(err, io.ErrShortWrite) {
					t.Errorf("with room for %d bytes: %v", room, err)
				}
			}
		})
	}
}

// TestArticleOfLittle: a table is written whatever is missing from a result, and no figure that
// is none reaches it.
func TestArticleOfLittle(t *testing.T) {
	t.Parallel()
	for suite, r := range articleResults() {
		for name, change := range map[string]func(*bench.TrialResult){
			"nothing measured": func(t *bench.TrialResult) { *t = failed(*t, "a\tb\n\xff c") },
			"no score":         func(t *bench.TrialResult) { t.Score = nil },
			"no value":         func(t *bench.TrialResult) { t.Score = &bench.Score{} },
			"not a number":     func(t *bench.TrialResult) { t.Score = score("call/s", math.NaN(), 0, 0) },
			"no forks":         func(t *bench.TrialResult) { t.Forks, t.Metrics, t.Series = nil, nil, nil },
			"empty forks":      func(t *bench.TrialResult) { t.Forks = []bench.Fork{{}, {}} },
			"odd fork": func(t *bench.TrialResult) {
				t.Forks = []bench.Fork{loaded([]float64{math.Inf(1)}, 0, ptr(math.NaN()), nil)}
			},
			"slices of no time": func(t *bench.TrialResult) {
				t.Forks = []bench.Fork{{Samples: []float64{0}, Slices: []bench.Slice{{Lanes: 1}}}}
			},
			"no steps":     func(t *bench.TrialResult) { t.Series = &bench.Series{Reason: "too few"} },
			"unknown host": func(t *bench.TrialResult) { t.Host = "red" },
		} {
			t.Run(suite+" "+name, func(t *testing.T) {
				t.Parallel()
				r := r
				r.Trials = slices.Clone(r.Trials)
				for i := range r.Trials {
					change(&r.Trials[i])
				}
				text := write(t, "article", r)
				if !utf8.ValidString(text) || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "%!") {
					t.Errorf("not a table:\n%s", text)
				}
			})
		}
	}
	none := called("soap-2004")
	if text := write(t, "article", none); !strings.Contains(text, "The run has no trial of this suite.") {
		t.Errorf("of no trials:\n%s", text)
	}
}

// TestNoArticle: what is of no article has no table, and says which suites have one.
func TestNoArticle(t *testing.T) {
	t.Parallel()
	f, _ := export.ByName("article")
	for name, suite := range map[string]string{"no suite": "", "another suite": "quick", "an unknown suite": strings.Repeat("x\n", 100)} {
		r := called(suite, trial("blue", "scimark.fft", small(), score("Mflop/s", 1, 1, 1)))
		var b bytes.Buffer
		err := f.Write(&b, r)
		if !errors.Is(err, export.ErrNoTable) || !strings.Contains(err.Error(), "soap-2004, soaprunner, ") || b.Len() > 0 || f.Fits(r) {
			t.Errorf("%s: %v, %q", name, err, b.String())
		}
	}
	for _, f := range general() {
		if !f.Fits(whole()) || !f.Fits(ramped()) {
			t.Errorf("%s does not fit every result", f.Name)
		}
	}
}
