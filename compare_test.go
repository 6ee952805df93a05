//go:build unix

package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"benchd/worker/bench"
)

// say runs a command in this process.
func say(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = command(args, terminal{strings.NewReader(""), &out, &err})
	return code, out.String(), err.String()
}

// TestFiguresOfService asks a service that measured a little for all that can be made of it.
func TestFiguresOfService(t *testing.T) {
	t.Parallel()
	s := begin(t, "serve", "--addr", "127.0.0.1:0", "--data", t.TempDir(), "--name", "blue")
	var ids []string
	for range 2 {
		run := submit(t, s.client(), `{"cases":[{"kernel":"scimark.fft"}],"labels":{"commit":"abc"},"plan":{"forks":2,"slices":6,"slice":"10ms","warmup":0}}`)
		reaches(t, s.client(), run.ID, bench.Succeeded, time.Minute)
		ids = append(ids, run.ID)
	}
	const name = "scimark.fft size=small threads=1"
	for _, row := range []struct {
		args string
		code int
		want string // in what is printed
	}{
		{"compare BASE HEAD", 0, `(?m)^\w+ +` + name + ` on blue +[\d.]+ +[\d.]+ +Mflop/s .*noise unknown`},
		{"compare BASE HEAD --markdown --min-effect 90%", 0, `(?s)### benchd: (same|undecided|better|worse)\n.*larger than 90 % and the noise`},
		{"compare BASE 0192f3a4-7b1c-7def-8a01-23456789abcd", 2, `there is no run`},
		{"calibrate scimark.fft -k 3 --forks 1 --slices 6 --slice 10ms --warmup 0s", 0, `(?m)^` + name + ` +blue +>?[\d.]+% +3 [^$]*kept in the store of http://`},
		{"compare BASE HEAD --json", 0, `"source": "calibrations: 3 runs`},
		{"history --kernel scimark -t commit=abc", 0, `(?m)^` + name + ` on blue \(free\), Mflop/s, higher is better, 2 of 2 points, noise >?[\d.]+%$`},
		{"history --limit 1 --json", 0, `"total": 5`},
		{"history -p size=large", 0, `no series`},
		{"leaderboard --kernel scimark.fft", 0, `(?m)^` + name + ` +1 +blue +free +[\d.]+ `},
		{"leaderboard --host green", 0, `no scores`},
		{"results BASE --format csv", 0, `(?m)^run,kind,host`},
		{"results BASE --format xls", 2, `it can be had as json, csv`},
		{"export BASE -f benchfmt", 0, `Mflop/s`},
		{"history --server http://127.0.0.1:1", 2, `127.0.0.1:1`},
	} {
		args := strings.Fields(strings.NewReplacer("BASE", ids[0], "HEAD", ids[1]).Replace(row.args))
		if !strings.Contains(row.args, "--server") {
			args = append(args, "--server", s.url)
		}
		code, stdout, stderr := say(t, args...)
		if code != row.code || !regexp.MustCompile(row.want).MatchString(stdout+stderr) {
			t.Errorf("benchd %s: exit code %d, not %d; no %s in:\n%s%s", row.args, code, row.code, row.want, stdout, stderr)
		}
	}
}

// TestUntold: a gate says of how many cases nothing could be told.
func TestUntold(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		verdicts []bench.Verdict
		want     string
	}{
		{"no case", nil, "the two results have no case in common"},
		{"one", []bench.Verdict{bench.Undecided, bench.Same}, "1 of 2 cases is undecided"},
		{"all", []bench.Verdict{bench.Incomparable, bench.Incomparable, bench.Incomparable}, "3 of 3 cases are incomparable"},
		{"both", []bench.Verdict{bench.Incomparable, bench.Undecided, bench.Undecided}, "2 of 3 cases are undecided, and 1 of 3 cases is incomparable"},
	} {
		var c bench.Comparison
		for _, v := range row.verdicts {
			c.Cases = append(c.Cases, bench.CaseChange{Verdict: v})
			c.Counts.Add(v)
		}
		if got := untold(c); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
