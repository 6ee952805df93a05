package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/worker"
	"benchd/worker/bench"
	"benchd/worker/host"
)

// An outside kernel sends a byte and reads it back, at a service or at its own server. It
// writes its address in its errors, as a careless kernel does.
type outside struct {
	name    string
	attends bool
	schemes []string // tcp when there are none
}

func (o outside) Info() kernels.Info {
	schemes := o.schemes
	if schemes == nil {
		schemes = []string{"tcp"}
	}
	return kernels.Info{
		Name: o.name, Title: "A byte there and back.", Operation: "one", Unit: "call/s", Noun: "call", Attends: o.attends,
		Params: []kernels.Param{{Name: "server", Kind: kernels.Service, Default: kernels.Embedded, Schemes: schemes}},
	}
}

func (o outside) Open(ctx context.Context, p kernels.Params) (kernels.Trial, error) {
	c, err := o.dial(ctx, p[kernels.Addr])
	if err != nil {
		return nil, err
	}
	return byteTrial{conn: c, addr: p[kernels.Addr]}, nil
}

func (outside) dial(ctx context.Context, addr string) (net.Conn, error) {
	u, err := url.Parse(addr)
	if err != nil {
		return nil, err
	}
	c, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, fmt.Errorf("dial %s as %s: %w", addr, u.User, err)
	}
	return c, nil
}

// Serve echoes. A kernel that attends to a service greets it first.
func (o outside) Serve(ctx context.Context, p kernels.Params, ready func(string)) error {
	if addr := p[kernels.Addr]; addr != "" {
		if !o.attends {
			return errors.New("a server of ours was started beside a service")
		}
		c, err := o.dial(ctx, addr)
		if err != nil {
			return err
		}
		defer c.Close()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ready("tcp://" + l.Addr().String())
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for {
		c, err := l.Accept()
		if err != nil {
			return nil
		}
		go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
	}
}

type byteTrial struct {
	conn net.Conn
	addr string
}

func (t byteTrial) Do(ctx context.Context, n int) error {
	b := []byte{42}
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := t.conn.Write(b)
		if err == nil {
			_, err = io.ReadFull(t.conn, b)
		}
		if err != nil {
			time.Sleep(time.Millisecond)
			return &kernels.Failure{Class: "reset", Err: fmt.Errorf("send to %s: %w", t.addr, err)}
		}
	}
	return nil
}

func (t byteTrial) Close() error { return t.conn.Close() }

// A peer is a service that echoes, in the process of the test.
type peer struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
	wg    sync.WaitGroup
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{Listener: l}
	p.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			p.conns = append(p.conns, c)
			p.mu.Unlock()
			p.wg.Go(func() { _, _ = io.Copy(c, c) })
		}
	})
	t.Cleanup(p.die)
	return p
}

// die ends the service and its connections.
func (p *peer) die() {
	_ = p.Close()
	p.mu.Lock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}

// calls counts the connections so far.
func (p *peer) calls() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

// The secrets of the address of a service in these tests.
const (
	password  = "s3cret/word"
	authority = "MIIBszCCAVmgAwIBAgIUSecretAuthority"
)

// address is a service's address with a user and an authority.
func address(hostport string) string {
	u := url.URL{Scheme: "tcp", User: url.UserPassword("bob", password), Host: hostport, Path: "/x", Fragment: "ca=" + authority}
	return u.String()
}

// at orders a trial at a server.
func (b *bed) at(trial, kernel, server string, change func(*bench.Order)) {
	b.t.Helper()
	b.order("blue", trial, kernel, func(o *bench.Order) {
		o.Case.Params = kernels.Params{"server": server}
		if change != nil {
			change(o)
		}
	})
}

// silent fails the test if a report tells anything of the addresses.
func silent(t *testing.T, r bench.Report) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{password, url.QueryEscape(password), url.PathEscape(password), "bob", authority} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the report tells %q: %s", secret, text)
		}
	}
}

// TestService has one kernel whose server has no work beside a service, and one whose server
// has.
func TestService(t *testing.T) {
	for _, tt := range []struct {
		kernel string
		server string
		ours   bool // a server child of ours
		called bool // the service is
	}{
		{"odd.outside", "embedded", true, false},
		{"odd.outside", "mine", false, true},
		{"odd.attends", "embedded", true, false},
		{"odd.attends", "mine", true, true},
	} {
		t.Run(tt.kernel+" at "+tt.server, func(t *testing.T) {
			p := newPeer(t)
			b := newBed(t)
			b.services = map[string]string{"mine": address(p.Addr().String())}
			b.collect()
			b.work("blue", t.TempDir())
			b.at("t1", tt.kernel, tt.server, nil)
			report := b.next(bench.Finished)
			silent(t, report)
			r := report.Result
			if r.State != bench.Succeeded || r.Params["server"] != tt.server || len(r.Params) != 1 {
				t.Fatalf("%s %+v, params %v", r.State, r.Error, r.Params)
			}
			if called := p.calls() > 0; called != tt.called {
				t.Errorf("the service was called %d times", p.calls())
			}
			f := r.Forks[0]
			if ours := f.Server != nil; ours != tt.ours {
				t.Errorf("usage of the server %+v", f.Server)
			}
			if runtime.GOOS == "linux" && (f.CPU.Server != nil) != tt.ours {
				t.Errorf("CPU %s", show(f.CPU))
			}
			if names := strings.Contains(f.CPU.Reason, `the service "mine" is no process of this worker`); names == tt.ours {
				t.Errorf("the reason is %q", f.CPU.Reason)
			}
		})
	}
}

// TestServiceFails: each failure names the service, and none its address.
func TestServiceFails(t *testing.T) {
	p := newPeer(t)
	gone := p.Addr().String()
	p.die()
	b := newBed(t)
	b.services = map[string]string{
		"gone": address(gone), "other": "amqp://bob@127.0.0.1:1/", "nowhere": address("nowhere.invalid:1"),
	}
	b.collect()
	b.work("blue", t.TempDir())
	for i, tt := range []struct{ kernel, server, code, want string }{
		{"odd.outside", "gone", "open_failed", `with the service "gone": open lane 1 of 1: dial … as …: dial tcp gone: connect: connection refused`},
		{"odd.attends", "gone", "server_failed", `with the service "gone": dial …`},
		{"odd.outside", "nowhere", "open_failed", `lookup nowhere: `},
		{"odd.outside", "axis", "unknown_service", `host blue has no service "axis"`},
		{"odd.outside", "other", "unknown_service", `host blue has the service "other" at an address of the scheme amqp, and tcp is needed`},
		{"odd.outside", "http://127.0.0.1/", "unknown_service", `host blue has no service "http://127.0.0.1/"`},
		{"odd.outside", "every", "unknown_service", `host blue has no service "every"`},
	} {
		b.at(fmt.Sprint("t", i), tt.kernel, tt.server, nil)
		report := b.next(bench.Finished)
		silent(t, report)
		r := report.Result
		if text := fmt.Sprint(r.Error); strings.Contains(text, "127.0.0.1") && !strings.HasPrefix(tt.server, "http") || strings.Contains(text, ".invalid") {
			t.Errorf("it tells the host: %s", text)
		}
		if r.State != bench.Failed || r.Error == nil || r.Error.Code != tt.code || !strings.Contains(r.Error.Message, tt.want) {
			t.Errorf("%s at %s: %s %+v, want %s: %s", tt.kernel, tt.server, r.State, r.Error, tt.code, tt.want)
		}
	}
}

// TestServiceDies: what fails from then on is counted, with a sample that tells no address.
func TestServiceDies(t *testing.T) {
	p := newPeer(t)
	b := newBed(t)
	b.services = map[string]string{"mine": address(p.Addr().String())}
	b.collect()
	b.work("blue", t.TempDir())
	b.at("t1", "odd.outside", "mine", func(o *bench.Order) { o.Plan.Slices, o.Plan.Slice = 30, bench.Duration(100*time.Millisecond) })
	until(t, "it measures", func() bool {
		phases, err := b.queue.Phases(t.Context(), []string{"t1"})
		return err == nil && phases["t1"].Name == "measure" && phases["t1"].Slice > 1
	})
	p.die()
	report := b.next(bench.Finished)
	silent(t, report)
	r := report.Result
	if r.Failures == nil || r.Failures.Classes["reset"] == 0 || !strings.Contains(r.Failures.Sample, "send to …") || r.Validity.Valid {
		t.Errorf("%s %+v, failures %s, validity %+v", r.State, r.Error, show(r.Failures), r.Validity)
	}
}

// TestServicePlaced: a pin holds for the client, and the result says so.
func TestServicePlaced(t *testing.T) {
	cpus := host.CPUList()
	if cpus == bench.NoCPUs {
		t.Skip("this platform cannot place processes")
	}
	p := newPeer(t)
	b := newBed(t)
	b.limits.CPUs = cpus
	b.services = map[string]string{"mine": address(p.Addr().String())}
	b.collect()
	b.work("blue", t.TempDir())
	b.at("t1", "odd.outside", "mine", func(o *bench.Order) { o.Plan.Pin = bench.PinOne })
	r := b.next(bench.Finished).Result
	if r.State != bench.Succeeded || len(r.Placement.Client) != 1 || r.Placement.Server != nil {
		t.Fatalf("%s %+v, placement %+v", r.State, r.Error, r.Placement)
	}
	if !slices.ContainsFunc(r.Validity.Reasons, func(s string) bool { return strings.HasPrefix(s, "not_placed: ") }) {
		t.Errorf("the reasons are %q", r.Validity.Reasons)
	}
}

// TestServicesAreTold: a sign of life tells the schemes by name, and nothing else of them.
func TestServicesAreTold(t *testing.T) {
	b := newBed(t)
	b.services = map[string]string{"mine": address("127.0.0.1:1"), "mq": "amqps://bob:" + url.QueryEscape(password) + "@127.0.0.1:2/"}
	b.work("blue", t.TempDir())
	var text []byte
	until(t, "a heartbeat came", func() bool {
		beats, err := b.queue.Beats(t.Context())
		if err != nil || len(beats) != 1 {
			return false
		}
		if got := beats[0].Services; len(got) != 2 || got["mine"] != "tcp" || got["mq"] != "amqps" {
			t.Fatalf("the services are %v", got)
		}
		text, err = json.Marshal(beats[0])
		return err == nil
	})
	if strings.Contains(string(text), "127.0.0.1") || strings.Contains(string(text), "bob") {
		t.Errorf("the heartbeat is %s", text)
	}
}

// TestBadServices: a worker does not start with them, and its error tells nothing of them.
func TestBadServices(t *testing.T) {
	b := newBed(t)
	for name, addr := range map[string]string{
		"Mine": address("127.0.0.1:1"), "every": address("127.0.0.1:1"), "a": "bob:" + password + "@127.0.0.1", "b": "tcp://bob:" + password + "%zz@h:1/", "c": "tcp:///bob", "d": "ftp://bob:" + url.QueryEscape(password) + "@h:1/",
	} {
		_, err := worker.New(t.Context(), worker.Config{
			Name: "blue", Data: t.TempDir(), Lock: b.lock, Queue: b.queue, Catalog: bench.NewCatalog(families()), Services: map[string]string{name: addr},
		}, "one")
		if err == nil || strings.Contains(err.Error(), "bob") || strings.Contains(err.Error(), password) {
			t.Errorf("%s: %v", name, err)
		}
		if want := `the service "d" is at an address of the scheme ftp, which no kernel can use; they use amqp, amqps, says, tcp`; name == "d" && err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
