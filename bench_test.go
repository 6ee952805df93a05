//go:build unix

package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"benchd/worker/child"
	"benchd/worker/host"
)

// BenchmarkFirstOperation is the time from the POST of a run to the first operation of its
// child on an idle worker. Run it with -benchtime 20x for the median of 20 runs.
func BenchmarkFirstOperation(b *testing.B) {
	p := begin(b, "serve", "--addr", "127.0.0.1:0", "--data", b.TempDir())
	c := p.client()
	var took []time.Duration
	for b.Loop() {
		time.Sleep(300 * time.Millisecond) // let the worker be idle
		posted := time.Now()
		run := submit(b, c, short)
		if _, err := c.Wait(b.Context(), run.ID, 0, nil); err != nil {
			b.Fatal(err)
		}
		result, err := c.Result(b.Context(), run.ID)
		if err != nil || len(result.Trials[0].Forks) == 0 {
			b.Fatalf("%+v, %v", result.Trials[0], err)
		}
		took = append(took, result.Trials[0].Forks[0].Began.Sub(posted))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "ms/median")
	b.ReportMetric(float64(took[len(took)-1].Milliseconds()), "ms/max")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkIdleWorker is what a worker with nothing to do costs over ten seconds.
func BenchmarkIdleWorker(b *testing.B) {
	s := startSplit(b, startRedis(b))
	w := s.worker("blue")
	time.Sleep(2 * time.Second)
	for b.Loop() {
		b.ReportMetric(100*cores(b, w, 10*time.Second), "%core")
	}
	b.ReportMetric(rss(b, w)/(1<<20), "MB")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkParent is what the worker itself costs while its children measure.
func BenchmarkParent(b *testing.B) {
	s := startSplit(b, startRedis(b))
	w := s.worker("blue")
	run := submit(b, s.client(), onBlue(long))
	measuring(b, s.client(), run.ID)
	for b.Loop() {
		b.ReportMetric(100*cores(b, w, 10*time.Second), "%core")
	}
	b.ReportMetric(0, "ns/op")
}

// cores is the share of a core that a process uses, its children apart.
func cores(b *testing.B, p *process, d time.Duration) float64 {
	b.Helper()
	before := cpu(b, p)
	time.Sleep(d)
	return (cpu(b, p) - before).Seconds() / d.Seconds()
}

func cpu(b *testing.B, p *process) time.Duration {
	b.Helper()
	d, err := host.ProcessCPU(p.cmd.Process.Pid)
	if err != nil {
		b.Skip(err)
	}
	return d
}

// rss is the resident memory of a process in bytes.
func rss(b *testing.B, p *process) float64 {
	b.Helper()
	if child.PeakRSS(p.cmd.Process.Pid) == nil {
		b.Skip("this platform does not tell")
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	pages, err := strconv.ParseFloat(strings.Fields(string(text))[1], 64)
	if err != nil {
		b.Fatal(err)
	}
	return pages * float64(os.Getpagesize())
}
