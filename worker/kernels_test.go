package worker_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"benchd/kernels"
)

// families are the kernels of these tests. The test binary is its own child, so they do
// their worst in a process of their own.
func families() []kernels.Family {
	return []kernels.Family{{Name: "odd", Kernels: []kernels.Kernel{
		odd{name: "odd.sleep", do: sleep},
		odd{name: "odd.carrier", do: sleep, work: kernels.Work{Bytes: 3 << 20}},
		odd{name: "odd.bulk", do: func(ctx context.Context, n int) error { return sleep(ctx, 40*n) }, work: kernels.Work{Bytes: 64 << 20}},
		odd{name: "odd.plateau", do: func(ctx context.Context, n int) error { return sleep(ctx, 40*n) }},
		odd{name: "odd.quickstart", do: taking(1, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41)},
		odd{name: "odd.wide", do: taking(16, 41, 120, 24, 41, 211, 41)},
		odd{name: "odd.below", do: taking(16, 41, 41)},
		odd{name: "odd.above", do: taking(41, 120, 41)},
		odd{name: "odd.alone", open: alone, do: sleep},
		odd{name: "odd.hang", do: func(context.Context, int) error { select {} }},
		odd{name: "odd.panic", do: func(context.Context, int) error { panic("something terrible") }},
		odd{name: "odd.exit", do: func(context.Context, int) error { os.Exit(3); return nil }},
		odd{name: "odd.hog", do: hog},
		odd{name: "odd.refuses", open: func() (func() error, error) { return nil, errors.New("nobody is at home") }},
		odd{name: "odd.flaky", do: flaky()},
		checked{odd{name: "odd.gone", do: sleep}, 2},
		checked{odd{name: "odd.absent", do: sleep}, 1},
		odd{name: "odd.lazy", do: lazy()},
		odd{name: "odd.moody", do: moody()},
		served{odd{name: "odd.served", do: sleep}, serve},
		served{odd{name: "odd.orphan", do: orphan()}, dying(killMyself)},
		served{odd{name: "odd.widow", do: stuck()}, dying(func() error { return errors.New("the disk is full") })},
		served{odd{name: "odd.heir", do: sleep}, dying(killMyself)},
		attending{served{odd{name: "odd.vigil", do: stuck()}, dying(killMyself)}},
		odd{name: "odd.stuck", do: stuck()},
		outside{name: "odd.outside"},
		outside{name: "odd.attends", attends: true},
		loudmouth{},
		outside{name: "odd.queue", schemes: []string{"amqp", "amqps"}},
		served{odd{name: "odd.mute", do: sleep}, func(context.Context, func(string)) error { return errors.New("the port is taken") }},
	}}}
}

// An odd kernel is made of functions.
type odd struct {
	name string
	open func() (done func() error, err error)
	do   func(context.Context, int) error
	work kernels.Work
}

func (o odd) Info() kernels.Info {
	return kernels.Info{
		Name: o.name, Title: "A kernel for tests.", Operation: "one", Unit: "call/s", Noun: "call", Lanes: "clients", Rate: "rate",
		Switches: []kernels.Switch{{Of: "clients", Begins: "1", Turn: "nodelay = on"}},
		Params: []kernels.Param{
			{Name: "clients", Kind: kernels.Int, Default: "1", Min: 1, Max: 1000},
			{Name: "rate", Kind: kernels.Int, Default: "0", Min: 0, Max: 1e6},
		},
	}
}

func (o odd) Open(_ context.Context, p kernels.Params) (kernels.Trial, error) {
	t := oddTrial{o, func() error { return nil }}
	if o.open != nil {
		done, err := o.open()
		if err != nil {
			return nil, err
		}
		t.done = done
	}
	if addr := p[kernels.Addr]; addr != "" {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return nil, err
		}
		t.done = c.Close
	}
	return t, nil
}

type oddTrial struct {
	odd
	done func() error
}

func (t oddTrial) Do(ctx context.Context, n int) error { return t.do(ctx, n) }
func (t oddTrial) Count() kernels.Work                 { return t.work }
func (t oddTrial) Close() error                        { return t.done() }

// A served kernel has a server.
type served struct {
	odd
	serve func(context.Context, func(string)) error
}

func (s served) Serve(ctx context.Context, _ kernels.Params, ready func(string)) error {
	return s.serve(ctx, ready)
}

// An attending kernel has a server of ours beside a service too.
type attending struct{ served }

func (a attending) Info() kernels.Info {
	info := a.served.Info()
	info.Attends = true
	info.Params = append(info.Params, kernels.Param{Name: "server", Kind: kernels.Service, Default: kernels.Embedded, Schemes: []string{"tcp"}})
	return info
}

func serve(ctx context.Context, ready func(string)) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ready(l.Addr().String())
	<-ctx.Done()
	return l.Close()
}

func sleep(ctx context.Context, n int) error {
	select {
	case <-time.After(time.Duration(n) * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// alone fails when another process has it open: two measurements at once would be seen.
func alone() (func() error, error) {
	name := filepath.Join(os.TempDir(), "alone")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("another measurement is under way: %w", err)
	}
	return func() error { return errors.Join(f.Close(), os.Remove(name)) }, nil
}

// hog takes memory until there is none.
func hog(context.Context, int) error {
	var all [][]byte
	for {
		b := make([]byte, 16<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		all = append(all, b)
		if len(all) > 1<<12 {
			return errors.New("took 64 GiB and was not stopped")
		}
	}
}

// taking takes so many milliseconds in turn.
func taking(times ...int) func(context.Context, int) error {
	n := 0
	return func(ctx context.Context, _ int) error {
		n++
		return sleep(ctx, times[(n-1)%len(times)])
	}
}

// lazy is slow in its first 40 operations.
func lazy() func(context.Context, int) error {
	n := 0
	return func(ctx context.Context, _ int) error {
		if n++; n <= 40 {
			return sleep(ctx, 8)
		}
		return sleep(ctx, 2)
	}
}

// moody is as fast in a process as the process's id says, so that forks differ.
func moody() func(context.Context, int) error {
	pause := time.Duration(1+os.Getpid()%4) * time.Millisecond
	return func(context.Context, int) error { time.Sleep(pause); return nil }
}

// flaky fails at every fourth operation.
func flaky() func(context.Context, int) error {
	n := 0
	return func(ctx context.Context, _ int) error {
		if n++; n%4 == 0 {
			return &kernels.Failure{Class: "fault", Err: errors.New("the service said no")}
		}
		return sleep(ctx, 1)
	}
}
