package kernels_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"benchd/kernels"
)

// A median is of 21 round trips, or of as many as go in a second.
func TestRepeat(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		trip time.Duration
		want int
	}{
		{"fast", time.Millisecond, 21},
		{"on the plateau", 44 * time.Millisecond, 21},
		{"far away", 300 * time.Millisecond, 4},
		{"hardly at all", 3 * time.Second, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				pace, err := kernels.Repeat(t.Context(), func(context.Context) error {
					if calls++; calls == 1 {
						time.Sleep(10 * time.Second) // the first does not count
					}
					time.Sleep(row.trip)
					return nil
				})
				if err != nil || pace.Median != row.trip || pace.Count != row.want || calls != row.want+1 {
					t.Errorf("%+v of %d calls, %v; want the median %s of %d", pace, calls, err, row.trip, row.want)
				}
			})
		})
	}
}

// A trip that fails ends it, whichever it is.
func TestRepeatFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, last := range []int{1, 5} {
		calls := 0
		pace, err := kernels.Repeat(t.Context(), func(context.Context) error {
			if calls++; calls == last {
				return broken
			}
			return nil
		})
		if !errors.Is(err, broken) || calls != last || pace.Count != 0 {
			t.Errorf("%+v, %v after %d calls; the call %d was broken", pace, err, calls, last)
		}
	}
}

// What a trial was told counts for more than what was asked for.
func TestSwitchFor(t *testing.T) {
	t.Parallel()
	info := kernels.Info{Switches: []kernels.Switch{
		{Of: "broker", Begins: "ActiveMQ", Turn: "tcpNoDelay"},
		{Of: "broker", Begins: "mqtt", Turn: "set_tcp_nodelay"},
	}}
	for _, row := range []struct {
		name         string
		told, wanted string
		want         string
	}{
		{"told", "ActiveMQ/5.17.2", "stomp", "tcpNoDelay"},
		{"told in other letters", "activemq", "stomp", "tcpNoDelay"},
		{"told of one without", "Redis 7", "mqtt", ""},
		{"only asked for", "", "mqtt", "set_tcp_nodelay"},
		{"neither", "", "tcp", ""},
		{"too short", "Act", "", ""},
	} {
		facts := map[string]string{}
		if row.told != "" {
			facts["broker"] = row.told
		}
		if got := info.SwitchFor(facts, kernels.Params{"broker": row.wanted}); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
