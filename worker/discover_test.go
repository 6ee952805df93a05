package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels"
	"benchd/worker"
)

// A teller is a kernel that tells what is at an address without looking.
type teller struct {
	outside
	schemes []string
	tell    func(ctx context.Context, addr string) (kernels.Report, error)
}

func (o teller) Info() kernels.Info {
	info := o.outside.Info()
	info.Params[0].Schemes = o.schemes
	return info
}

func (o teller) Probe(ctx context.Context, addr string) (kernels.Report, error) {
	return o.tell(ctx, addr)
}

// tellers are one kernel without a probe and one with it.
func tellers(tell func(ctx context.Context, addr string) (kernels.Report, error)) []kernels.Family {
	return []kernels.Family{{Name: "odd", Kernels: []kernels.Kernel{
		outside{name: "odd.outside"},
		teller{outside{name: "odd.teller"}, []string{"odd", "odds"}, tell},
	}}}
}

// discover tries one service with a name and a password in its address.
func discover(t *testing.T, scheme string, tell func(ctx context.Context, addr string) (kernels.Report, error)) worker.Discovery {
	t.Helper()
	all, err := worker.Discover(t.Context(), tellers(tell), map[string]string{"one": scheme + "://user:hush-hush@host:1/path"}, 5*time.Second)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	return all[0]
}

// What a service tells is passed on.
func TestDiscover(t *testing.T) {
	t.Parallel()
	got := discover(t, "odd", func(_ context.Context, addr string) (kernels.Report, error) {
		if addr != "odd://user:hush-hush@host:1/path" {
			return kernels.Report{}, fmt.Errorf("the address is %s", addr)
		}
		return kernels.Report{
			Product: "Odd", Version: "1.2", Supports: []string{"this", "that"},
			RoundTrip: kernels.Pace{Median: 120 * time.Microsecond, Count: 21}, Message: kernels.Pace{Median: time.Millisecond, Count: 20},
		}, nil
	})
	want := worker.Discovery{
		Name: "one", Scheme: "odd", Product: new("Odd"), Version: new("1.2"), Supports: []string{"this", "that"}, Notes: []string{},
		RoundTrip: &worker.Pace{Median: 120_000, Count: 21}, Message: &worker.Pace{Median: 1_000_000, Count: 20},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Services are told in the order of their names.
func TestDiscoverOrder(t *testing.T) {
	t.Parallel()
	addrs := map[string]string{"c": "odd://c", "a": "odd://a", "b": "odds://b"}
	all, err := worker.Discover(t.Context(), tellers(func(_ context.Context, addr string) (kernels.Report, error) {
		return kernels.Report{Product: addr[len(addr)-1:]}, nil
	}), addrs, time.Second)
	if err != nil || len(all) != 3 || all[0].Name != "a" || all[1].Name != "b" || all[2].Name != "c" {
		t.Fatalf("%+v, %v", all, err)
	}
	if _, err := worker.Discover(t.Context(), nil, map[string]string{"a": "no URL with hush"}, time.Second); err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("the error is %v", err)
	}
}

// A median on the plateau of delayed acknowledgement is told with the switch against it,
// whether it is that of requests or that of messages.
func TestDiscoverPlateau(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name               string
		roundTrip, message time.Duration
		want               string
	}{
		{"requests", 44 * time.Millisecond, 0, "44.0 ms"},
		{"messages", time.Millisecond, 40 * time.Millisecond, "40.0 ms"},
		{"neither", time.Millisecond, 2 * time.Millisecond, ""},
		{"slower than it", time.Millisecond, 60 * time.Millisecond, ""},
	} {
		got := discover(t, "odd", func(context.Context, string) (kernels.Report, error) {
			return kernels.Report{RoundTrip: kernels.Pace{Median: row.roundTrip, Count: 21}, Message: kernels.Pace{Median: row.message, Count: 21}, NoDelay: "set_tcp_nodelay true"}, nil
		})
		switch {
		case row.want == "" && len(got.Notes) > 0:
			t.Errorf("%s: %q", row.name, got.Notes)
		case row.want != "" && (len(got.Notes) != 1 || !strings.Contains(got.Notes[0], row.want) || !strings.Contains(got.Notes[0], "TCP_NODELAY") || !strings.Contains(got.Notes[0], "set_tcp_nodelay true")):
			t.Errorf("%s: %q", row.name, got.Notes)
		}
	}
}

// Nothing that is printed tells the address or its user, nor does it reach a terminal with
// what only that would understand; a service that says too much is cut short.
func TestDiscoverSecrets(t *testing.T) {
	t.Parallel()
	harm := "\x1b[2J\x00hush-hush user:hush-hush\r\n" + strings.Repeat("x", 5000) + "\xff"
	for name, tell := range map[string]func(context.Context, string) (kernels.Report, error){
		"tells": func(_ context.Context, addr string) (kernels.Report, error) {
			return kernels.Report{Product: harm, Version: addr, Supports: []string{harm, addr, "\x07"}}, nil
		},
		"fails": func(_ context.Context, addr string) (kernels.Report, error) {
			return kernels.Report{}, errors.New(addr + harm)
		},
	} {
		got := discover(t, "odd", tell)
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"hush", "host:1/path", `\u001b`, `\u0000`, `\r`, `\n`, `\u0007`, `\ufffd`} {
			if strings.Contains(string(text), bad) {
				t.Errorf("%s: %q is in %s", name, bad, text)
			}
		}
		if len(text) > 1500 {
			t.Errorf("%s: it says %d bytes", name, len(text))
		}
	}
}

// A kernel for the scheme has to be there.
func TestDiscoverScheme(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"gopher", "tcp"} { // no kernel has the first, and none tells of the second
		got := discover(t, scheme, func(context.Context, string) (kernels.Report, error) { return kernels.Report{}, nil })
		if got.Error == nil || !strings.Contains(*got.Error, scheme+"://") || !strings.Contains(*got.Error, "odds") {
			t.Errorf("%s: %+v", scheme, got)
		}
	}
}

// A service that does not answer is given up, even where the kernel does not notice.
func TestDiscoverPatience(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(context.Context) error{
		"obeys":   func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("ask: %w", ctx.Err()) },
		"is late": func(context.Context) error { time.Sleep(5500 * time.Millisecond); return nil },
		"hangs":   func(context.Context) error { time.Sleep(time.Hour); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				got := discover(t, "odd", func(ctx context.Context, _ string) (kernels.Report, error) {
					return kernels.Report{Product: "Odd"}, wait(ctx)
				})
				took := time.Since(begun)
				if name == "is late" { // it did answer
					if got.Error != nil {
						t.Errorf("the error is %q", *got.Error)
					}
				} else if got.Error == nil || !strings.Contains(*got.Error, "within 5s") {
					t.Errorf("%+v", got)
				}
				if took < 5*time.Second || took > 6*time.Second {
					t.Errorf("it took %s", took)
				}
				time.Sleep(2 * time.Hour) // until what was left behind has ended
			})
		})
	}
}
