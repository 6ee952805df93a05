package export_test

import (
	"bytes"
	"math"
	"strings"
	"time"

	"benchd/api/export"
	"benchd/kernels"
	"benchd/worker/bench"
)

func ptr[T any](v T) *T { return &v }

// at is a moment of the run, seconds after its start.
func at(s float64) time.Time {
	return time.Date(2026, 11, 30, 16, 19, 34, 0, time.UTC).Add(time.Duration(s * float64(time.Second)))
}

// fork makes a fork of samples, each of which stands for 100 operations more than the last.
func fork(samples ...float64) bench.Fork {
	f := bench.Fork{Began: at(1), Samples: samples, Warmup: bench.Warmup{Slices: 2, Operations: 200, Samples: []float64{1, 2}}}
	for i := range samples {
		f.Slices = append(f.Slices, bench.Slice{Operations: int64(100 * (i + 1)), Elapsed: 5e7})
	}
	return f
}

func score(unit string, value, low, high float64) *bench.Score {
	return &bench.Score{
		Metric: "throughput", Unit: unit, Better: "higher",
		Value: &value, Low: &low, High: &high, Confidence: 0.95, N: 6,
	}
}

// trial makes a trial that succeeded, within two seconds.
func trial(host, kernel string, params kernels.Params, s *bench.Score, forks ...bench.Fork) bench.TrialResult {
	return bench.TrialResult{
		ID: kernel + host, Host: host, Kernel: kernel, Params: params, Repeat: 1, State: bench.Succeeded, Attempt: 1,
		Started: ptr(at(1)), Finished: ptr(at(3)), Score: s, Metrics: []bench.Score{}, Forks: forks,
		Validity: bench.Validity{Valid: true, Reasons: []string{}},
	}
}

// ended makes a trial that has no score.
func ended(host, kernel string, params kernels.Params, state bench.State, code, message string) bench.TrialResult {
	t := trial(host, kernel, params, nil)
	t.State, t.Error = state, &bench.TrialError{Code: code, Message: message}
	t.Started, t.Finished = nil, nil
	return t
}

func small() kernels.Params { return kernels.Params{"size": "small", "threads": "1"} }

func beans() kernels.Params {
	return kernels.Params{"payload": "beans", "size": "2.2KB", "model": "dom", "clients": "4", "_addr": "127.0.0.1:1"}
}

// whole is a result that has everything: two hosts, composites, latency, a doubt, bounds that
// are not known, and a trial of every final state.
func whole() bench.Result {
	echo := trial("blue", "soap.echo", beans(), score("call/s", 21034.5, 20990, 21080.25), fork(21000, 21034.5, 21080), fork(20990, 21040, 21035))
	echo.Metrics = []bench.Score{{Metric: "time_per_call", Unit: "us", Better: "lower", Value: ptr(47.5), Low: ptr(47.4), High: ptr(47.6), Confidence: 0.95, N: 6}}
	echo.Latency = &bench.Latency{
		Unit: "ns", Count: 4000, Min: 41000, Mean: 47510, Max: 905000,
		Percentiles: map[string]int64{"50": 46900, "90": 51000, "99": 70100, "99.9": 180000},
	}
	echo.Failures = &bench.Failures{Count: 3, Classes: map[string]int64{"timeout": 3}, Sample: "timeout: no answer"}
	echo.Steady.Class = ptr(bench.WarmedUp)
	echo.Validity = bench.Validity{Reasons: []string{"failures: 3 operations failed", "host_busy: other processes used 38 % of a core | or so"}}
	few := trial("green", "scimark.sor", small(), score("Mflop/s", 900, 0, 0), fork(890, 900, 910))
	few.Score.Low, few.Score.High, few.Score.N, few.Score.Reason = nil, nil, 3, "an interval needs 6 samples, there are 3"
	again := trial("blue", "scimark.fft", small(), score("Mflop/s", 1140, 1130, 1150), fork(1140, 1141, 1139))
	again.Repeat = 2
	return bench.Result{
		ID: "01a22d41-26f3-770a-84f3-8a58e881b522", State: bench.Failed, Schema: 1, Created: at(0), Started: ptr(at(1)), Finished: ptr(at(60)),
		Spec: bench.Spec{
			Plan:   bench.Plan{Forks: 2, Slices: 3, Slice: bench.Duration(50 * time.Millisecond), Confidence: 0.95, Interval: bench.Bootstrap},
			Repeat: 2, Labels: map[string]string{"commit": "abc123", "Branch": "feature/x y"},
		},
		Hosts: map[string]bench.HostSnapshot{
			"blue":  {Fingerprint: "5f0c9a4e1b7d2c38", Facts: bench.Facts{CPUModel: "AMD EPYC", OS: "linux", Arch: "amd64", Go: "go1.26.8", Build: "v1.2.3"}},
			"green": {Fingerprint: "0123456789abcdef", Facts: bench.Facts{CPUModel: "", OS: "linux", Arch: "arm64", Go: "go1.26.8", Build: "v1.2.3"}},
		},
		Trials: []bench.TrialResult{
			trial("blue", "scimark.fft", small(), score("Mflop/s", 1142.25, 1139.5, 1145), fork(1141.5, 1142, 1142.5), fork(1139.5, 1143, 1145)),
			again, echo, few,
			ended("green", "soap.echo", beans(), bench.Failed, "open_failed", "open soap.echo: dial tcp: lookup mq.example: no such host"),
			ended("green", "scimark.fft", small(), bench.Lost, "worker_gone", "the worker sent no heartbeat for 60s"),
			ended("green", "messaging.mailbox", kernels.Params{"size": "16B", "pairs": "1"}, bench.Canceled, "canceled", "the run was canceled"),
		},
		Composites: []bench.Composite{{
			Name: "scimark", Host: "blue", Params: small(), Members: []string{"scimark.fft"},
			Score: *score("Mflop/s", 1142.25, 1139.5, 1145),
		}},
	}
}

// paced is whole with a rate at the case that has a latency.
func paced() bench.Result {
	r := whole()
	r.Trials[2].ServiceTime = &bench.Latency{
		Unit: "ns", Count: 4000, Min: 29000, Mean: 32000, Max: 77000, Percentiles: map[string]int64{"50": 31000, "99": 42000},
	}
	return r
}

// odd is whole with texts and figures that have a meaning in one format or another.
func odd() bench.Result {
	const text = "a\"b'c|d\\e,f;g\n\r\th<i>&j=k/l #@m `n` *o* _p_ [q](r) %s {t} \u2028é\x00\xff"
	r := whole()
	r.ID = text
	r.Spec.Labels = map[string]string{"commit": text, text: "x", "Host": "b", "host": "a", "": "nameless", "empty": "", "cpu:": "c", "é": "e"}
	for i := range r.Trials {
		t := &r.Trials[i]
		t.Params = kernels.Params{"size": text, "a b": "1", "a-b": "2", text: "3", "end": "x-4", "empty": ""}
		t.Validity = bench.Validity{Reasons: []string{text, ""}}
		if t.Error != nil {
			t.Error.Code, t.Error.Message = text, text
		}
	}
	r.Trials[0].Score.Value = ptr(math.NaN())
	r.Trials[0].Score.Reason = text
	r.Trials[0].Forks[0].Samples[0] = math.Inf(1)
	r.Trials[1].Score.Low = ptr(math.Inf(-1))
	r.Trials[2].Score.Value, r.Trials[2].Score.Low, r.Trials[2].Score.High = nil, nil, nil
	r.Composites[0].Value = ptr(0.0)
	return r
}

// results are the cases that every format must take.
func results() map[string]bench.Result {
	nothing := whole()
	nothing.Trials, nothing.Composites, nothing.Hosts, nothing.Spec.Labels = []bench.TrialResult{}, []bench.Composite{}, nil, nil
	none := whole()
	none.Trials, none.Composites = none.Trials[4:], nil
	unknown := whole()
	unknown.Hosts = nil
	return map[string]bench.Result{
		"whole": whole(), "at a rate": paced(), "in a ramp": ramp(), "odd texts": odd(), "no trials": nothing, "no scores": none, "hosts unknown": unknown, "zero": {},
	}
}

// write writes a result in a format.
func write(tb failer, format string, r bench.Result) string {
	tb.Helper()
	f, ok := export.ByName(format)
	if !ok {
		tb.Fatalf("there is no format %s", format)
	}
	var b bytes.Buffer
	if err := f.Write(&b, r); err != nil {
		tb.Fatalf("%s: %v", format, err)
	}
	return b.String()
}

// oneLine is what formats of lines make of a text: no control characters, valid UTF-8, and
// single spaces.
func oneLine(s string) string {
	s = strings.Map(func(c rune) rune {
		if strings.ContainsRune("\u0085\u2028\u2029\u007f", c) || c < ' ' {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}
