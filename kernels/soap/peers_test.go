package soap_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/soap"
)

// The peers are made by other stacks from our description of the service, by the scripts in
// testdata/gsoap and testdata/axis. Variables of the environment say where they are.
const (
	gsoapServer = "BENCHD_TEST_GSOAP"        // the URL of the service
	gsoapClient = "BENCHD_TEST_GSOAP_CLIENT" // the path of the program
	axisServer  = "BENCHD_TEST_AXIS"
	axisClient  = "BENCHD_TEST_AXIS_CLIENT"
)

// peer returns what a variable says, and passes the test over if it says nothing.
func peer(t *testing.T, variable string) string {
	t.Helper()
	value := os.Getenv(variable)
	switch {
	case value != "":
	case os.Getenv("BENCHD_REQUIRE_SERVICES") == "1":
		t.Fatalf("%s is not set, and BENCHD_REQUIRE_SERVICES is 1; deploy/services sets it", variable)
	default:
		t.Skipf("%s names no peer; deploy/services run gsoap axis -- go test ./kernels/soap has them", variable)
	}
	return value
}

// runPeer runs a client and returns what it printed.
func runPeer(t *testing.T, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var wrong strings.Builder
	cmd.Stderr = &wrong
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v: %s%s", program, args, err, out, wrong.String())
	}
	return string(out)
}

// A relay passes connections on to a service and counts them.
type relay struct {
	addr  string // a URL
	count atomic.Int32
}

// relayTo starts a relay to a service.
func relayTo(t *testing.T, p kernels.Params) *relay {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{addr: "http://" + listener.Addr().String() + soap.Path}
	var ended sync.WaitGroup
	ended.Go(func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			r.count.Add(1)
			ended.Go(func() { pass(t, in, hostOf(p)) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		ended.Wait()
	})
	return r
}

// pass passes one connection on until either side ends it.
func pass(t *testing.T, in net.Conn, to string) {
	out, err := net.Dial("tcp", to)
	if err != nil {
		t.Error(err)
		_ = in.Close()
		return
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			_ = way[0].Close()
			_ = way[1].Close()
		})
	}
	both.Wait()
}

// TestCheckOfNamedService checks a service that knows one answer only: the ordinary one. That
// will do for a named service, and not for ours.
func TestCheckOfNamedService(t *testing.T) {
	t.Parallel()
	right := reply(http.StatusOK, echoed(t))
	for _, row := range []struct {
		server string
		passes bool
	}{{kernels.Embedded, false}, {"theirs", true}} {
		p := soap.Echo{}.Info().Defaults().With("server", row.server).With(kernels.Addr, answering(t, right, right))
		c, ok := open(t, p).(kernels.Checker)
		if !ok {
			t.Fatal("the trial has no check")
		}
		if err := c.Check(); (err == nil) != row.passes {
			t.Errorf("with the server %s: %v", row.server, err)
		}
	}
}
