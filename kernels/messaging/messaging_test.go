package messaging_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"benchd/kernels"
	"benchd/kernels/messaging"
)

// serveEnv tells a copy of the test binary to be the counterpart of a benchmark; it holds
// the parameters as JSON.
const serveEnv = "BENCHD_TEST_MESSAGING_SERVE"

// callEnv tells a copy of the test binary to be a client, until it is killed.
const callEnv = "BENCHD_TEST_MESSAGING_CALL"

func TestMain(m *testing.M) {
	if params := os.Getenv(serveEnv); params != "" {
		if err := beServer(params); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if params := os.Getenv(callEnv); params != "" {
		fmt.Fprintln(os.Stderr, beClient(params))
		os.Exit(1)
	}
	// The small STOMP server has no end.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/go-stomp/stomp/v3/server.(*requestProcessor).Serve"))
}

// beServer serves messaging.roundtrip, writes the address to standard output and ends with
// standard input.
func beServer(params string) error {
	var p kernels.Params
	if err := json.Unmarshal([]byte(params), &p); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // its end is all that matters
		cancel()
	}()
	k, _ := find("messaging.roundtrip")
	return k.(kernels.Server).Serve(ctx, p, func(addr string) { fmt.Println(addr) })
}

// beClient does operations for ever, and writes a line when the first is done.
func beClient(params string) error {
	var p kernels.Params
	if err := json.Unmarshal([]byte(params), &p); err != nil {
		return err
	}
	k, _ := find("messaging.roundtrip")
	trial, err := k.Open(context.Background(), p)
	if err == nil {
		err = trial.Do(context.Background(), 1)
	}
	if err != nil {
		return err
	}
	fmt.Println("it goes")
	return trial.Do(context.Background(), 1<<30)
}

func find(name string) (kernels.Kernel, bool) {
	for _, k := range messaging.Family().Kernels {
		if k.Info().Name == name {
			return k, true
		}
	}
	return nil, false
}

func kernel(tb testing.TB, name string) kernels.Kernel {
	tb.Helper()
	k, ok := find(name)
	if !ok {
		tb.Fatalf("the family has no kernel %s", name)
	}
	return k
}

// with returns the kernel's defaults with some values changed.
func with(k kernels.Kernel, changed kernels.Params) kernels.Params {
	p := k.Info().Defaults()
	for name, v := range changed {
		p[name] = v
	}
	return p
}

// open opens a trial that is closed with the test.
func open(tb testing.TB, name string, changed kernels.Params) kernels.Trial {
	tb.Helper()
	k := kernel(tb, name)
	trial, err := k.Open(tb.Context(), with(k, changed))
	if err != nil {
		tb.Fatalf("open %s: %v", name, err)
	}
	tb.Cleanup(func() {
		if err := trial.Close(); err != nil {
			tb.Errorf("close %s: %v", name, err)
		}
	})
	return trial
}

// do performs n operations and fails the test if one fails.
func do(tb testing.TB, trial kernels.Trial, n int) {
	tb.Helper()
	if err := trial.Do(context.Background(), n); err != nil {
		tb.Fatalf("Do(%d): %v", n, err)
	}
}

// serve runs the counterpart of messaging.roundtrip in this process until the returned
// function is called or the test ends, and returns its address.
func serve(tb testing.TB, changed kernels.Params) (addr string, stop func()) {
	tb.Helper()
	return serveKernel(tb, "messaging.roundtrip", changed)
}

// serveKernel is serve for any of the kernels.
func serveKernel(tb testing.TB, name string, changed kernels.Params) (addr string, stop func()) {
	tb.Helper()
	k := kernel(tb, name)
	p := with(k, changed)
	down := func() {}
	if strings.HasPrefix(p["broker"], "redis") && p[kernels.Addr] == "" {
		p[kernels.Addr], down = bareRedis(tb)
	}
	ctx, cancel := context.WithCancel(context.Background())
	addrs, ended := make(chan string, 1), make(chan struct{})
	var err error
	go func() {
		defer close(ended)
		err = k.(kernels.Server).Serve(ctx, p, func(a string) { addrs <- a })
	}()
	stop = func() {
		cancel()
		<-ended
		down()
		if err != nil {
			tb.Errorf("Serve ended with %v", err)
		}
	}
	tb.Cleanup(stop)
	select {
	case addr = <-addrs:
	case <-ended:
		tb.Fatalf("Serve ended before it was ready: %v", err)
	}
	return addr, stop
}

func TestFamily(t *testing.T) {
	t.Parallel()
	f := messaging.Family()
	if len(f.Kernels) == 0 {
		t.Fatal("the family has no kernels")
	}
	for _, k := range f.Kernels {
		if name := k.Info().Name; !strings.HasPrefix(name, f.Name+".") {
			t.Errorf("the kernel %s is not of the family %s", name, f.Name)
		}
	}
}
