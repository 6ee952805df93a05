package kerneltest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/kerneltest"
)

// echo is a small kernel with a counterpart: one operation sends a byte over TCP and reads
// it back. A flaw in it makes it break one rule of the suite; what it leaks then stays until
// the test ends it, so that one row's leak does not go away during the next row.
type echo struct {
	flaw string
	kept *[]io.Closer    // leaked, for the test to close
	end  <-chan struct{} // closed when what was leaked is to go
}

// leak runs until the test has seen the leak, and gives back c then.
func (e echo) leak(c io.Closer) {
	<-e.end
	_ = c.Close()
}

func (e echo) Info() kernels.Info {
	info := kernels.Info{
		Name: "test.echo", Title: "A byte there and back.", Operation: "one byte there and back",
		Unit: "call/s", Noun: "call", Lanes: "clients",
		Params: []kernels.Param{
			{Name: "mode", Doc: "Does nothing.", Kind: kernels.Word, Default: "plain", Values: []string{"plain", "fancy"}},
			{Name: "size", Doc: "Does nothing.", Kind: kernels.Size, Default: "1KB", Values: []string{"1KB", "10KB"}},
			{Name: "clients", Doc: "Lanes.", Kind: kernels.Int, Default: "1", Min: 1, Max: 8},
			{Name: "server", Doc: "Who answers.", Kind: kernels.Service, Default: kernels.Embedded, Schemes: []string{"tcp"}},
		},
	}
	switch e.flaw {
	case "service by default":
		info.Params[3].Default = "mine"
	case "service of no scheme":
		info.Params[3].Schemes = nil
	case "servers of nothing":
		info.Params[3].Servers = map[string]kernels.Servers{"plain": {Embedded: true}}
	case "servers of a number":
		info.Params[3].Of = "clients"
	case "servers of some":
		info.Params[3].Of, info.Params[3].Servers = "mode", map[string]kernels.Servers{"plain": {Embedded: true, Schemes: []string{"tcp"}}}
	case "no server":
		info.Params[3].Of, info.Params[3].Servers = "mode", map[string]kernels.Servers{"plain": {Embedded: true, Schemes: []string{"tcp"}}, "fancy": {}}
	case "servers of other schemes":
		info.Params[3].Of, info.Params[3].Servers = "mode", map[string]kernels.Servers{"plain": {Schemes: []string{"tcp"}}, "fancy": {Schemes: []string{"udp"}}}
	case "bad default":
		info.Params[0].Default = "absent"
	case "uncounted flops":
		info.Unit = "Mflop/s"
	}
	return info
}

func (e echo) Serve(ctx context.Context, _ kernels.Params, ready func(string)) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	ready(l.Addr().String())
	if e.flaw == "ready twice" {
		ready(l.Addr().String())
	}
	for {
		c, err := l.Accept()
		switch {
		case err != nil && ctx.Err() != nil && e.flaw == "disorderly end":
			return err
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		go answer(c)
	}
}

// answer sends back every byte until the client is gone.
func answer(c net.Conn) {
	defer func() { _ = c.Close() }()
	b := make([]byte, 1)
	for {
		if _, err := c.Read(b); err != nil {
			return
		}
		if _, err := c.Write(b); err != nil {
			return
		}
	}
}

func (e echo) Open(ctx context.Context, p kernels.Params) (kernels.Trial, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", p[kernels.Addr])
	if err != nil && e.flaw == "opens anything" {
		return trial{}, nil
	}
	if err != nil {
		if e.flaw == "leaves a goroutine on error" {
			go e.leak(io.NopCloser(nil))
		}
		return nil, err
	}
	if e.flaw == "keeps a file" {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return nil, err
		}
		*e.kept = append(*e.kept, f)
	}
	return trial{Conn: c, echo: e}, nil
}

type trial struct {
	net.Conn
	echo
}

func (t trial) Do(ctx context.Context, n int) error {
	b := []byte{42}
	for range n {
		if err := ctx.Err(); err != nil && t.flaw == "hides the end" {
			return nil
		} else if err != nil {
			return err
		}
		if _, err := t.Write(b); err != nil {
			return err
		}
		if _, err := t.Read(b); err != nil {
			return err
		}
	}
	return nil
}

func (t trial) Check() error {
	if t.flaw == "wrong answer" {
		return errors.New("the byte came back as another")
	}
	return nil
}

func (t trial) Close() error {
	switch {
	case t.Conn == nil:
		return nil
	case t.flaw == "keeps the connection":
		*t.kept = append(*t.kept, t.Conn)
		return nil
	case t.flaw == "keeps a goroutine":
		go t.leak(t.Conn)
	}
	return t.Conn.Close()
}

func TestRun(t *testing.T) {
	kerneltest.Run(t, echo{}, kerneltest.Also(kernels.Params{"mode": "fancy", "size": "10KB"}))
}

// TestNobodyServes: a kernel that may be asked for its own server has one.
func TestNobodyServes(t *testing.T) {
	faults := kerneltest.Faults(struct{ kernels.Kernel }{echo{}}, kerneltest.Skip(func(kernels.Params) bool { return true }))
	if len(faults) == 0 || !strings.Contains(faults[0].Error(), "has no Serve") {
		t.Errorf("the faults are %v", faults)
	}
}

func TestFaults(t *testing.T) {
	rows := []struct {
		flaw string
		want string // what the first fault says
	}{
		{"bad default", "the default \"absent\" is not among the values"},
		{"service by default", "a service has the default \"embedded\""},
		{"service of no scheme", "names no scheme"},
		{"servers of nothing", "does not name the parameter"},
		{"servers of a number", "on a parameter with a list of values"},
		{"servers of some", "with servers for each of them"},
		{"no server", "there is no server where mode is fancy"},
		{"servers of other schemes", "where mode is plain, both by default, there is no server embedded"},
		{"servers of other schemes", `those of its servers ["tcp" "udp"]`},
		{"uncounted flops", "the trial is not a Counter"},
		{"ready twice", "called ready more than once"},
		{"disorderly end", "did not end in order"},
		{"opens anything", "Open returned no error though nothing listens"},
		{"leaves a goroutine on error", "goroutines run"},
		{"hides the end", "returned no error"},
		{"wrong answer", "came back as another"},
		{"keeps the connection", "goroutines run"},
		{"keeps a goroutine", "goroutines run"},
	}
	if runtime.GOOS == "linux" {
		rows = append(rows, struct{ flaw, want string }{"keeps a file", "file descriptors are open"})
	}
	onlyDefaults := kerneltest.Skip(func(p kernels.Params) bool {
		return p.String() != echo{}.Info().Defaults().String()
	})
	for _, row := range rows {
		t.Run(row.flaw, func(t *testing.T) {
			var kept []io.Closer
			end := make(chan struct{})
			defer func() {
				close(end)
				for _, c := range kept {
					_ = c.Close()
				}
			}()
			faults := kerneltest.Faults(echo{flaw: row.flaw, kept: &kept, end: end}, onlyDefaults, kerneltest.Operations(2), kerneltest.Grace(time.Second))
			if len(faults) == 0 {
				t.Fatal("the suite found no fault")
			}
			if got := faults[0].Error(); !strings.Contains(got, row.want) {
				t.Errorf("the first fault is\n%s\nand does not say %q", got, row.want)
			}
		})
	}
}
