package soap_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"benchd/kernels"
)

// ready makes the process ready for so many clients whose connections wait in the system call,
// with both sides of each in it. Other tests are not to run meanwhile.
func ready(t *testing.T, clients int) kernels.Params {
	t.Helper()
	before := runtime.GOMAXPROCS(2*clients + 2)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	return echoDefaults().With("clients", strconv.Itoa(clients))
}

// longest is how long anything here may take: what has not happened by then never will.
const longest = 30 * time.Second

// TestWaiting lets some clients call at once, by each way to connect, with more connections
// than wait in the system call.
func TestWaiting(t *testing.T) {
	const clients, calls = 3, 50
	p := ready(t, clients)
	for _, row := range []struct{ name, value string }{{"keepalive", "true"}, {"keepalive", "false"}, {"tls", "true"}, {"gzip", "true"}} {
		t.Run(row.name+" "+row.value, func(t *testing.T) {
			p := serveEcho(t, p.With(row.name, row.value))
			var all sync.WaitGroup
			for range 2 * clients {
				trial := open(t, p)
				all.Go(func() {
					if err := trial.Do(t.Context(), calls); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		})
	}
}

// TestWaitingCollects lets the garbage collector stop clients and service at their waiting, over
// and over: neither side holds it up, nor does it lose a call.
func TestWaitingCollects(t *testing.T) {
	p := ready(t, 2)
	trial := open(t, serveEcho(t, p))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- trial.Do(ctx, 1<<30) }()
	begun := time.Now()
	for range 50 {
		runtime.GC()
	}
	if took := time.Since(begun); took > longest {
		t.Errorf("50 collections took %v", took)
	}
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	case <-time.After(longest):
		t.Fatal("the calls do not end")
	}
}
