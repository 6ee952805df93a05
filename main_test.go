package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"benchd/api/client"
)

func TestMain(m *testing.M) {
	// A test that starts benchd as a process of its own runs this binary again.
	if os.Getenv("BENCHD_TEST_MAIN") == "1" || len(os.Args) > 1 && os.Args[1] == "child" {
		main()
	}
	// Most of these tests wait: for slices, for what comes back after a fault. So more of them
	// may run at once than there are processors; -parallel has the last word.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(tidy{m}, map[string]func(){"benchd": main})
}

// tidy runs the tests and removes the locks that they made.
type tidy struct{ *testing.M }

func (t tidy) Run() int {
	code := t.M.Run()
	locks, _ := filepath.Glob(lockPath("*")) // the pattern is well formed
	for _, l := range locks {
		_ = os.Remove(l)
	}
	return code
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			taken, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			e.Defer(func() { _ = taken.Close() })
			e.Setenv("TAKEN", taken.Addr().String())
			results, err := filepath.Abs(filepath.Join("testdata", "results"))
			if err != nil {
				return err
			}
			e.Setenv("RESULTS", results)
			free, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			e.Setenv("NOBODY", free.Addr().String())
			return free.Close()
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"field": field, "exits": exits},
	})
}

// field checks a member of a JSON file: field FILE a.0.b REGEXP.
func field(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: field FILE PATH REGEXP")
	}
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &v); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	for _, name := range strings.Split(args[1], ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(in) {
				ts.Fatalf("%s has no element %s", args[0], name)
			}
			v = in[i]
		default:
			ts.Fatalf("%s: nothing at %s", args[0], args[1])
		}
	}
	text, err := json.Marshal(v)
	ts.Check(err)
	if regexp.MustCompile(args[2]).Match(text) == neg {
		ts.Fatalf("%s in %s is %s, pattern %s", args[1], args[0], text, args[2])
	}
}

// exits runs benchd with the arguments after the first, which is the exit code expected.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARGUMENT…")
	}
	code := 0
	if err := ts.Exec("benchd", args[1:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("benchd: %v", err)
		}
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, not %s", code, args[0])
	}
}

// A process is benchd as a process of its own.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	url    string
	stderr *os.File
}

// begin starts benchd. It is killed when the test ends.
func begin(tb testing.TB, args ...string) *process {
	tb.Helper()
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	p := &process{t: tb, cmd: exec.Command(exe, args...)}
	p.cmd.Env = append(os.Environ(), "BENCHD_TEST_MAIN=1", "BENCHD_LOCK="+lockOf(tb))
	p.stderr, err = os.CreateTemp(tb.TempDir(), "stderr")
	if err != nil {
		tb.Fatal(err)
	}
	p.cmd.Stderr = p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.kill)
	if args[0] == "serve" || args[0] == "api" {
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			tb.Fatalf("benchd %s did not start: %v\n%s", args[0], err, p.log())
		}
		_, p.url, _ = strings.Cut(strings.TrimSpace(line), "listens on ")
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return p
}

// lockOf gives each test a lock of its own, so that tests can measure side by side.
func lockOf(tb testing.TB) string {
	tb.Helper()
	name, _, _ := strings.Cut(tb.Name(), "/")
	return lockPath(name)
}

func lockPath(test string) string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("benchd-%s-%d.lock", test, os.Getpid()))
}

func (p *process) log() string {
	b, err := os.ReadFile(p.stderr.Name())
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// kill ends the process at once, as a power cut would.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
}

// wait waits for the process to end by itself.
func (p *process) wait() int {
	p.t.Helper()
	done := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		p.t.Fatalf("the process does not end\n%s", p.log())
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) client() *client.Client { return client.New(p.url, nil) }

func within(tb testing.TB, d time.Duration, what string, is func() bool) {
	tb.Helper()
	for end := time.Now().Add(d); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("waited %s in vain until %s", d, what)
		}
	}
}
