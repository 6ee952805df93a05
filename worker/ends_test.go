package worker_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"benchd/worker/bench"
)

// dying is a server that ends of itself soon after a client came, while its address stays.
func dying(how func() error) func(context.Context, func(string)) error {
	return func(ctx context.Context, ready func(string)) error {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		ready(l.Addr().String())
		if _, err := l.Accept(); err != nil {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
			return how()
		case <-ctx.Done():
			return nil
		}
	}
}

// killMyself ends this process as the system does when memory runs out.
func killMyself() error {
	p, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := p.Kill(); err != nil {
		return err
	}
	select {}
}

// orphan fails for as long as it is asked, from its hundredth operation on.
func orphan() func(context.Context, int) error {
	n := 0
	return func(ctx context.Context, _ int) error {
		if n++; n > 100 {
			return fmt.Errorf("operation %d: nobody answers", n)
		}
		return sleep(ctx, 1)
	}
}

// stuck does its first operations, fails at two, and then hangs.
func stuck() func(context.Context, int) error {
	n := 0
	return func(ctx context.Context, _ int) error {
		switch n++; {
		case n > 100:
			select {}
		case n == 20, n == 30:
			return fmt.Errorf("operation %d failed", n)
		}
		return sleep(ctx, 1)
	}
}

// TestServerDies: when the server of ours ended, that is why its client fails, or waits in vain,
// beside a service too, and a doubt where the client was done at once.
func TestServerDies(t *testing.T) {
	const waits = " of 100 of the measuring did not end within 2s; until then 2 operations had failed (other 2); the first: operation 20 failed"
	for _, tt := range []struct{ kernel, server, says, then, last string }{
		{"odd.orphan", "", "the server of odd.orphan ended: signal: killed; then ", "no operation succeeded in a row of 1000; the last: operation ", ""},
		{"odd.widow", "", "the server of odd.widow ended: the disk is full; then ", "slice ", waits},
		{"odd.vigil", "mine", `with the service "mine": the server of odd.vigil ended: signal: killed; then `, "slice ", waits},
	} {
		t.Run(tt.kernel, func(t *testing.T) {
			b := newBed(t)
			b.services = map[string]string{"mine": address("127.0.0.1:1")}
			b.collect()
			b.work("blue", t.TempDir())
			b.order("blue", "t1", tt.kernel, func(o *bench.Order) {
				if o.Plan.Slices = 100; tt.server != "" {
					o.Case.Params["server"] = tt.server
				}
			})
			r := b.next(bench.Finished).Result
			if r.State != bench.Failed || r.Error.Code != "server_died" || !strings.HasPrefix(r.Error.Message, tt.says+tt.then) || !strings.HasSuffix(r.Error.Message, tt.last) {
				t.Errorf("%s %+v, want server_died: %s%s … %s", r.State, r.Error, tt.says, tt.then, tt.last)
			}
			if r.Failures == nil || r.Failures.Count < 2 {
				t.Errorf("failures %s", show(r.Failures))
			}
			b.free()
		})
	}
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	b.order("blue", "t1", "odd.heir", func(o *bench.Order) { o.Plan.Forks = 2 })
	r := b.next(bench.Finished).Result
	if r.State != bench.Succeeded || r.Validity.Valid || len(r.Forks) != 2 {
		t.Fatalf("%s %+v, validity %+v", r.State, r.Error, r.Validity)
	}
	if text := strings.Join(r.Validity.Reasons, "\n"); !strings.Contains(text, "server_died: the server of odd.heir ended while fork 2 was measured: signal: killed") {
		t.Errorf("the reasons are %s", text)
	}
}

// TestLate: a trial that its limit ends tells what did not end, at which service, and what had
// been counted.
func TestLate(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and answers nothing
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b := newBed(t)
	b.services = map[string]string{"mine": address(l.Addr().String())}
	b.collect()
	b.work("blue", t.TempDir())
	late := func(o *bench.Order) { o.Plan.Limit, o.Plan.Slices = bench.Duration(3*time.Second), 100 }
	b.at("t1", "odd.outside", "mine", late)
	r := b.next(bench.Finished)
	silent(t, r)
	want := `with the service "mine": took longer than its limit of 3s; 0 of 1 forks were done, and in the next the first operation of lane 1 of 1 did not end`
	if e := r.Result.Error; e == nil || e.Code != "timed_out" || e.Message != want {
		t.Errorf("%+v, want %s", e, want)
	}
	b.order("blue", "t2", "odd.stuck", late)
	got := b.next(bench.Finished).Result
	if e := got.Error; e == nil || e.Code != "timed_out" || !strings.Contains(e.Message, " of 100 of the measuring did not end; until then 2 operations had failed (other 2); the first: operation 20 failed") {
		t.Errorf("%+v", e)
	}
	if got.Failures == nil || got.Failures.Count != 2 {
		t.Errorf("failures %s", show(got.Failures))
	}
	b.free()
}
