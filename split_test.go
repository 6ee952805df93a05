//go:build unix

package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"benchd/worker/bench"
)

// A realRedis is a redis-server of the test's own, on a port that it keeps over restarts.
type realRedis struct {
	t    testing.TB
	port string
	dir  string
	args []string
	cmd  *exec.Cmd
}

func startRedis(tb testing.TB, args ...string) *realRedis {
	tb.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("BENCHD_REQUIRE_SERVICES") == "1" {
			tb.Fatal("redis-server is not there, and it is required")
		}
		tb.Skip("redis-server is not there")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
	r := &realRedis{t: tb, port: port, dir: tb.TempDir(), args: args}
	r.start()
	tb.Cleanup(r.kill)
	return r
}

func (r *realRedis) url() string { return "redis://127.0.0.1:" + r.port }

func (r *realRedis) start() {
	r.t.Helper()
	args := append([]string{"--bind", "127.0.0.1", "--port", r.port, "--dir", r.dir, "--save", "", "--daemonize", "no"}, r.args...)
	r.cmd = exec.Command("redis-server", args...)
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	within(r.t, 20*time.Second, "Redis answers", func() bool { return r.say("PING") == "+PONG" })
}

// say sends one command without arguments and returns the first line of the answer.
func (r *realRedis) say(command string) string {
	c, err := net.DialTimeout("tcp", "127.0.0.1:"+r.port, time.Second)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := fmt.Fprintf(c, "%s\r\n", command); err != nil {
		return err.Error()
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(line)
}

func (r *realRedis) kill() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
}

func (r *realRedis) flush() {
	r.t.Helper()
	if answer := r.say("FLUSHALL"); answer != "+OK" {
		r.t.Fatal(answer)
	}
}

// A split service: an API and workers as processes of their own around a real Redis.
type split struct {
	*process
	redis *realRedis
	data  map[string]string
}

func startSplit(tb testing.TB, r *realRedis) *split {
	tb.Helper()
	return &split{
		process: begin(tb, "api", "--addr", "127.0.0.1:0", "--redis", r.url(), "--data", tb.TempDir()),
		redis:   r, data: make(map[string]string),
	}
}

// worker starts the worker of a host. Each host has a lock of its own, as machines have.
func (s *split) worker(name string, labels ...string) *process {
	s.t.Helper()
	if s.data[name] == "" {
		s.data[name] = s.t.TempDir()
	}
	args := []string{"worker", "--redis", s.redis.url(), "--name", name, "--data", s.data[name], "--lock", s.data[name] + "/lock"}
	for _, l := range labels {
		args = append(args, "--label", l)
	}
	w := begin(s.t, args...)
	within(s.t, 30*time.Second, "host "+name+" is live", func() bool {
		h, err := s.client().Host(s.t.Context(), name)
		return err == nil && h.Live
	})
	return w
}

// onBlue sends a request to the host blue.
func onBlue(body string) string { return `{"hosts":{"names":["blue"]},` + body[1:] }

// TestSeveralHosts: each host measures its own trials, labels choose a host, and a run that
// no host fits waits and says so until one comes.
func TestSeveralHosts(t *testing.T) {
	t.Parallel()
	s := startSplit(t, startRedis(t))
	s.worker("blue")
	s.worker("green", "zone=a")
	both := submit(t, s.client(), `{"cases":[{"kernel":"scimark.fft"}],"hosts":{"names":["blue","green"]},"plan":{"forks":1,"slices":6,"slice":"20ms","warmup":0}}`)
	inA := submit(t, s.client(), `{"cases":[{"kernel":"scimark.fft"}],"hosts":{"labels":{"zone":"a"}},"plan":{"forks":1,"slices":6,"slice":"20ms","warmup":0}}`)
	inB := submit(t, s.client(), `{"cases":[{"kernel":"scimark.fft"}],"hosts":{"labels":{"zone":"b"}},"plan":{"forks":1,"slices":6,"slice":"20ms","warmup":0}}`)

	reaches(t, s.client(), both.ID, bench.Succeeded, time.Minute)
	result, err := s.client().Result(t.Context(), both.ID)
	if err != nil || len(result.Hosts) != 2 || result.Trials[0].Host != "blue" || result.Trials[1].Host != "green" {
		t.Errorf("hosts %v, %v", result.Hosts, err)
	}
	if run := reaches(t, s.client(), inA.ID, bench.Succeeded, time.Minute); run.Trials[0].Host != "green" {
		t.Errorf("zone a is host green, the run was on %q", run.Trials[0].Host)
	}
	within(t, 20*time.Second, "the run says why it waits", func() bool {
		run, err := s.client().Run(t.Context(), inB.ID)
		return err == nil && run.State == bench.Queued && run.Reason == "no live host with label zone=b"
	})
	s.worker("red", "zone=b")
	if run := reaches(t, s.client(), inB.ID, bench.Succeeded, time.Minute); run.Trials[0].Host != "red" || run.Reason != "" {
		t.Errorf("on %q, reason %q", run.Trials[0].Host, run.Reason)
	}
}

// TestWorkerKilled: a worker killed with -9 gives lost within 60 s, and the host takes new
// runs after its restart.
func TestWorkerKilled(t *testing.T) {
	t.Parallel()
	s := startSplit(t, startRedis(t))
	w := s.worker("blue")
	run := submit(t, s.client(), onBlue(long))
	next := submit(t, s.client(), onBlue(short))
	measuring(t, s.client(), run.ID)
	children := w.children()
	w.kill()
	gone(t, children)
	got := reaches(t, s.client(), run.ID, bench.Lost, 60*time.Second)
	if e := got.Trials[0].Error; e == nil || e.Message == "" {
		t.Errorf("the lost trial says nothing: %+v", got.Trials[0])
	}
	s.worker("blue")
	reaches(t, s.client(), next.ID, bench.Succeeded, time.Minute)
	if again, err := s.client().Run(t.Context(), run.ID); err != nil || again.State != bench.Lost || again.Trials[0].Attempt != 1 {
		t.Errorf("%s, attempt %d, %v", again.State, again.Trials[0].Attempt, err)
	}
}

// TestWorkerFrozen: a frozen worker's trial is lost; its late result is refused.
func TestWorkerFrozen(t *testing.T) {
	t.Parallel()
	s := startSplit(t, startRedis(t))
	w := s.worker("blue")
	run := submit(t, s.client(), onBlue(`{"cases":[{"kernel":"soap.echo"}],"plan":{"forks":1,"warmup":0,"slices":8,"slice":"1s"}}`))
	measuring(t, s.client(), run.ID)
	w.signal(syscall.SIGSTOP)
	reaches(t, s.client(), run.ID, bench.Lost, 60*time.Second)
	w.signal(syscall.SIGCONT)
	next := submit(t, s.client(), onBlue(short))
	reaches(t, s.client(), next.ID, bench.Succeeded, time.Minute)
	got, err := s.client().Run(t.Context(), run.ID)
	if err != nil || got.State != bench.Lost {
		t.Errorf("the late result was taken: %s, %v", got.State, err)
	}
	result, err := s.client().Result(t.Context(), run.ID)
	if err != nil || result.Trials[0].Score != nil {
		t.Errorf("the late score was taken: %+v, %v", result.Trials[0].Score, err)
	}
}

// TestRedisEmptied: what was queued is measured all the same, what ran is lost.
func TestRedisEmptied(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	s := startSplit(t, r)
	w := s.worker("blue")
	ran := submit(t, s.client(), onBlue(long))
	var queued []bench.Run
	for range 3 {
		queued = append(queued, submit(t, s.client(), onBlue(short)))
	}
	measuring(t, s.client(), ran.ID)
	children := w.children()
	r.flush()
	reaches(t, s.client(), ran.ID, bench.Lost, time.Minute)
	gone(t, children)
	for _, run := range queued {
		reaches(t, s.client(), run.ID, bench.Succeeded, time.Minute)
	}
}

// TestRedisAway: a result that was finished while Redis was away arrives when it is back.
func TestRedisAway(t *testing.T) {
	t.Parallel()
	r := startRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	s := startSplit(t, r)
	s.worker("blue")
	run := submit(t, s.client(), onBlue(`{"cases":[{"kernel":"scimark.fft"}],"plan":{"forks":1,"warmup":0,"slices":10,"slice":"200ms"}}`))
	queued := submit(t, s.client(), onBlue(short))
	measuring(t, s.client(), run.ID)
	r.kill()
	time.Sleep(6 * time.Second) // the trial ends in the meantime
	during, err := s.client().Run(t.Context(), run.ID)
	if err != nil || during.State.Final() {
		t.Errorf("while Redis is away the run is %s, %v", during.State, err)
	}
	r.start()
	got := reaches(t, s.client(), run.ID, bench.Succeeded, time.Minute)
	if got.Trials[0].Attempt != 1 {
		t.Errorf("it took %d attempts", got.Trials[0].Attempt)
	}
	reaches(t, s.client(), queued.ID, bench.Succeeded, time.Minute)
}

// TestCancelWhileAway: a run whose host is away is canceled, and the host does not start it
// when it comes back.
func TestCancelWhileAway(t *testing.T) {
	t.Parallel()
	s := startSplit(t, startRedis(t))
	w := s.worker("blue")
	ran := submit(t, s.client(), onBlue(long))
	queued := submit(t, s.client(), onBlue(long))
	measuring(t, s.client(), ran.ID)
	w.kill()
	for _, id := range []string{ran.ID, queued.ID} {
		if _, err := s.client().Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	reaches(t, s.client(), queued.ID, bench.Canceled, 20*time.Second)
	reaches(t, s.client(), ran.ID, bench.Canceled, 60*time.Second)
	s.worker("blue")
	next := submit(t, s.client(), onBlue(short))
	reaches(t, s.client(), next.ID, bench.Succeeded, time.Minute)
	for _, id := range []string{ran.ID, queued.ID} {
		if run, err := s.client().Run(t.Context(), id); err != nil || run.State != bench.Canceled {
			t.Errorf("%s, %v", run.State, err)
		}
	}
}

// TestRedisRefused: a Redis that evicts keys would lose orders; it is refused with a
// sentence and exit code 2.
func TestRedisRefused(t *testing.T) {
	t.Parallel()
	r := startRedis(t, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
	p := begin(t, "worker", "--redis", r.url(), "--name", "blue", "--data", t.TempDir())
	if code := p.wait(); code != exitUsage {
		t.Errorf("exit code %d\n%s", code, p.log())
	}
	if log := p.log(); !containsAll(log, "allkeys-lru", "noeviction") {
		t.Errorf("the refusal reads:\n%s", log)
	}
}
