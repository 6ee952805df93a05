package messaging_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"benchd/kernels"
)

// TestBadDays has real brokers crash, run out of space, refuse clients and messages. Whatever
// happens, an operation ends in time with a class and a sentence, a lane goes on when the
// broker does, and afterwards nothing of the trial is left there.
func TestBadDays(t *testing.T) {
	t.Parallel()
	for name, variable := range ownBrokers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startOwn(t, name, variable)
			for _, row := range []struct {
				name string
				test func(t *testing.T, b *ownBroker)
				at   bool
			}{
				{"a message that is too large", each(tooLarge), name != "redis"}, // which has no such limit
				{"a wrong password", each(wrongPassword), name == "rabbitmq"},
				{"a virtual host that is not there", each(noVirtualHost), name == "rabbitmq"},
				{"a queue that is not there", each(noQueue), name == "rabbitmq" || name == "nats"},
				{"a client that is killed", each(killedClient), true},
				{"no space on the disk", noSpace, name == "rabbitmq"},
				{"killed, and back after two seconds", killedBroker, true},
			} {
				if !row.at {
					continue
				}
				t.Run(row.name, func(t *testing.T) {
					row.test(t, b)
					b.clean(t)
				})
			}
		})
	}
}

// each has a test for all that the broker speaks, one after the other.
func each(test func(t *testing.T, b *ownBroker, g target)) func(t *testing.T, b *ownBroker) {
	return func(t *testing.T, b *ownBroker) {
		t.Helper()
		for _, g := range b.targets() {
			t.Run(g.name(), func(t *testing.T) { test(t, b, g) })
		}
	}
}

// tooLarge sends 1 MB, which is more than the broker takes, and then as much as it does.
func tooLarge(t *testing.T, _ *ownBroker, g target) {
	t.Helper()
	p := g.params(kernels.Params{"content": "raw", "size": "1MB"})
	addr, stop := serve(t, p)
	trial := open(t, "messaging.roundtrip", p.With(kernels.Addr, addr))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	// Mosquitto hangs up without a word.
	err, want := trial.Do(ctx, 1), "refused"
	if g.broker == "mqtt" {
		want = "reset"
	}
	if class(err) != want {
		t.Errorf("Do returned %v; want a Failure of class %s", err, want)
	}
	if want == "refused" && !strings.Contains(err.Error(), "524288") && !strings.Contains(err.Error(), "maximum frame size") {
		t.Errorf("the error does not tell what is allowed: %v", err)
	}
	small := open(t, "messaging.roundtrip", p.With(kernels.Addr, addr).With("size", "10KB"))
	do(t, small, 3)
	if err := errors.Join(trial.Close(), small.Close()); err != nil {
		t.Error(err)
	}
	stop()
}

// wrongPassword is told, and not shown.
func wrongPassword(t *testing.T, _ *ownBroker, g target) {
	t.Helper()
	if g.broker == "amqp091" && g.way != nil {
		return // RabbitMQ takes its time, and it is the same
	}
	refusedAt(t, g, func(u *url.URL) { u.User = url.UserPassword("guest", "hush-hush") })
}

func noVirtualHost(t *testing.T, _ *ownBroker, g target) {
	t.Helper()
	refusedAt(t, g, func(u *url.URL) { u.Path = "/nowhere" })
}

// refusedAt tries both ends at an address that is changed so that the broker refuses them.
func refusedAt(t *testing.T, g target, change func(*url.URL)) {
	t.Helper()
	u := must(url.Parse(g.addr))
	change(u)
	k := kernel(t, "messaging.roundtrip")
	p := with(k, g.params(kernels.Params{kernels.Addr: u.String()}))
	begun := time.Now()
	errs := []error{k.(kernels.Server).Serve(t.Context(), p, func(string) { t.Error("the service is ready") })}
	u.Fragment = "queue=q"
	_, err := k.Open(t.Context(), p.With(kernels.Addr, u.String()))
	for _, err := range append(errs, err) {
		if err == nil {
			t.Error("it is taken")
		} else if strings.Contains(err.Error(), "hush") {
			t.Errorf("the error tells the password: %v", err)
		}
	}
	if took := time.Since(begun); took > 25*time.Second {
		t.Errorf("it took %s", took)
	}
}

// killedClient kills the process of a client in the middle of its work. The service serves on,
// and what the client had at the broker goes with its trial at the latest.
func killedClient(t *testing.T, _ *ownBroker, g target) {
	t.Helper()
	p := with(kernel(t, "messaging.roundtrip"), g.params(kernels.Params{"content": "raw", "clients": "2"}))
	addr, stop := serve(t, p)
	p = p.With(kernels.Addr, addr)
	trial := open(t, "messaging.roundtrip", p)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), callEnv+"="+string(must(json.Marshal(p.With(kernels.Lane, "1")))))
	cmd.Stderr = os.Stderr
	out := must(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Errorf("the client said %q, and %v", line, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	do(t, trial, 20)
	if err := trial.Close(); err != nil {
		t.Error(err)
	}
	stop()
}

// noQueue sends to a queue that nobody made.
func noQueue(t *testing.T, _ *ownBroker, g target) {
	t.Helper()
	k := kernel(t, "messaging.roundtrip")
	p := with(k, g.params(kernels.Params{kernels.Addr: g.addr + "#queue=nowhere"}))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	trial, err := k.Open(ctx, p)
	if err != nil {
		if !strings.Contains(err.Error(), "not found") {
			t.Errorf("Open returned %v; want that there is no such queue", err)
		}
		return
	}
	err = trial.Do(ctx, 1)
	// RabbitMQ drops over STOMP and AMQP 1.0 what it finds no queue for.
	if silent := g.broker == "stomp" || g.broker == "amqp10"; silent != errors.Is(err, context.DeadlineExceeded) || !silent && class(err) != "refused" {
		t.Errorf("Do returned %v; want a Failure of class refused, or nothing in time", err)
	}
	if err := trial.Close(); err != nil {
		t.Error(err)
	}
}

// noSpace lets RabbitMQ believe that its disk is full. Over AMQP 0-9-1 it says so; over the
// others it only stops to read, and the end of the operation's time is all there is to see.
func noSpace(t *testing.T, b *ownBroker) {
	t.Helper()
	trials := begin(t, b, 1)
	b.ctl(t, "set_disk_free_limit", "1000GB")
	trials.do(t, 3*time.Second, func(g target, err error) {
		if want := map[bool]string{true: "refused"}[g.broker == "amqp091"]; class(err) != want {
			t.Errorf("%s: Do returned %v; want a Failure of class %q", g.name(), err, want)
		}
		if g.broker == "amqp091" && !strings.Contains(err.Error(), "takes no messages at present: low on disk") {
			t.Errorf("%s: the error does not tell why: %v", g.name(), err)
		}
	})
	b.ctl(t, "set_disk_free_limit", "50MB")
	trials.end(t)
}

// underway are trials at one broker, with their targets and what ends their services.
type underway struct {
	trials  []kernels.Trial
	targets []target
	stops   []func()
}

// begin opens lanes at all that the broker speaks.
func begin(t *testing.T, b *ownBroker, lanes int) *underway {
	t.Helper()
	u := &underway{}
	for _, g := range b.targets() {
		p := g.params(kernels.Params{"content": "raw", "clients": strconv.Itoa(lanes)})
		addr, stop := serve(t, p)
		u.stops = append(u.stops, stop)
		for range lanes {
			trial := open(t, "messaging.roundtrip", p.With(kernels.Addr, addr))
			do(t, trial, 5)
			u.trials, u.targets = append(u.trials, trial), append(u.targets, g)
		}
	}
	return u
}

// do runs all lanes until they fail or the time is over, and has every error judged.
func (u *underway) do(t *testing.T, limit time.Duration, judge func(g target, err error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	errs := make([]error, len(u.trials))
	var all sync.WaitGroup
	for i, trial := range u.trials {
		all.Go(func() { errs[i] = trial.Do(ctx, 1<<30) })
	}
	all.Wait()
	for i, err := range errs {
		judge(u.targets[i], err)
	}
}

// end waits until every lane does its work again, and closes all.
func (u *underway) end(t *testing.T) {
	t.Helper()
	for _, trial := range u.trials {
		comesBack(t, trial)
		if err := trial.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, stop := range u.stops {
		stop()
	}
}

// comesBack waits until a lane does its work again.
func comesBack(t *testing.T, trial kernels.Trial) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	for {
		err := trial.Do(ctx, 1)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("the lane does not come back: %v", err)
		}
	}
	do(t, trial, 20)
}

// killedBroker kills the broker in the middle of the work of its lanes.
func killedBroker(t *testing.T, b *ownBroker) {
	t.Helper()
	trials := begin(t, b, 2)
	killed := time.AfterFunc(200*time.Millisecond, func() { b.kill(t) })
	defer killed.Stop()
	trials.do(t, patience, func(g target, err error) {
		if class(err) != "reset" {
			t.Errorf("%s: Do returned %v; want a Failure of class reset", g.name(), err)
		}
	})
	time.Sleep(2 * time.Second)
	b.again(t)
	trials.end(t)
}
