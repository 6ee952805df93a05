package collect_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"benchd/api/collect"
	"benchd/kernels"
	"benchd/worker/bench"
	"benchd/worker/queue/queuetest"
)

// serving lets the parameter server name a service that http or https reaches.
func serving(c *collect.Config) {
	c.Needs = func(c bench.Case) []bench.Need {
		if name := c.Params["server"]; name != "" && name != kernels.Embedded {
			return []bench.Need{{Service: name, Schemes: []string{"http", "https"}}}
		}
		return nil
	}
}

// at are trials that name servers.
func at(servers ...string) []kernels.Params {
	params := make([]kernels.Params, len(servers))
	for i, name := range servers {
		params[i] = kernels.Params{"server": name}
	}
	return params
}

func has(services map[string]string) func(*worker) {
	return func(w *worker) { w.services = services }
}

func TestARunWaitsForAService(t *testing.T) {
	t.Parallel()
	blue := map[string]string{"mine": "http", "mq": "amqp"}
	rows := []struct {
		name    string
		servers []string
		hosts   bench.HostSelector
		want    string
	}{
		{"unknown", []string{"embedded", "axis"}, bench.HostSelector{}, `no live host with the service "axis"`},
		{"two, of which a host has one", []string{"mine", "axis"}, bench.HostSelector{}, `no live host with the services "mine", "axis"`},
		{"with a label", []string{"axis"}, bench.HostSelector{Labels: map[string]string{"zone": "a"}}, `no live host with label zone=a and the service "axis"`},
		{"of another scheme", []string{"mq"}, bench.HostSelector{}, `no live host with the service "mq"; host blue has the service "mq" at an address of the scheme amqp, and http or https is needed`},
		{"of a named host", []string{"embedded", "axis"}, onBlue(), `host blue has no service "axis"`},
		{"of a named host, of another scheme", []string{"mq"}, onBlue(), `host blue has the service "mq" at an address of the scheme amqp, and http or https is needed`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := queuetest.Embedded(t)
			s := newService(t, r, serving)
			w := newWorker(t, r, "blue", func(w *worker) { w.services, w.labels = blue, map[string]string{"zone": "a"} })
			s.within("blue is not live", func() bool { return s.live("blue") })
			run := s.postOf(at(row.servers...), row.hosts, time.Hour)
			s.within("no reason", func() bool { return s.run(run.ID).Reason != "" })
			if got := s.run(run.ID); got.State != bench.Queued || got.Reason != row.want {
				t.Errorf("%s: %q, want %q", got.State, got.Reason, row.want)
			}
			// Whoever needs no such service does not wait behind it.
			s.await(s.postOf(at("mine"), onBlue(), time.Hour).ID, bench.Succeeded)
			if len(w.trials()) != 1 {
				t.Errorf("blue measured %v", w.trials())
			}
			w.set(func() { w.services = map[string]string{"axis": "http", "mine": "https", "mq": "http"} })
			if got := s.await(run.ID, bench.Succeeded); got.Reason != "" || !slices.Equal(got.Hosts, []string{"blue"}) {
				t.Errorf("on %v, reason %q", got.Hosts, got.Reason)
			}
		})
	}
}

// TestAnotherNamedHostLacksTheService: one host measures its trials of the run, and the run
// says what those of the other wait for.
func TestAnotherNamedHostLacksTheService(t *testing.T) {
	t.Parallel()
	r := queuetest.Embedded(t)
	s := newService(t, r, serving)
	newWorker(t, r, "blue", has(map[string]string{"mine": "http"}))
	green := newWorker(t, r, "green", nil)
	s.within("they are not live", func() bool { return s.live("blue") && s.live("green") })
	run := s.postOf(at("embedded", "mine"), bench.HostSelector{Names: []string{"blue", "green"}}, time.Hour)
	s.within("blue is not done", func() bool { return s.run(run.ID).Progress.Done == 2 })
	const want = `host green has no service "mine"`
	s.within("no reason", func() bool { return s.run(run.ID).Reason == want })
	if got := s.run(run.ID); got.State != bench.Running || len(green.trials()) != 0 {
		t.Errorf("%s, green measured %v", got.State, green.trials())
	}
	green.set(func() { green.services = map[string]string{"mine": "https"} })
	if got := s.await(run.ID, bench.Succeeded); got.Reason != "" {
		t.Errorf("reason %q", got.Reason)
	}
}

// TestHostWithTheServiceIsChosen though another one has less to do, and hosts tell in the
// store which services they have.
func TestHostWithTheServiceIsChosen(t *testing.T) {
	t.Parallel()
	r := queuetest.Embedded(t)
	s := newService(t, r, serving)
	newWorker(t, r, "amber", has(map[string]string{"axis": "amqp"}))
	newWorker(t, r, "blue", has(map[string]string{"axis": "https"}))
	s.within("they are not live", func() bool { return s.live("amber") && s.live("blue") })
	run := s.postOf(at("axis"), bench.HostSelector{}, time.Hour)
	if got := s.await(run.ID, bench.Succeeded); !slices.Equal(got.Hosts, []string{"blue"}) {
		t.Errorf("it was measured on %v", got.Hosts)
	}
	h, err := s.store.Host(t.Context(), "blue")
	if err != nil || h.Services["axis"] != "https" {
		t.Errorf("services %v, error %v", h.Services, err)
	}
}

// TestManyHeldTrials: a window full of trials that wait for a service keeps nobody waiting.
func TestManyHeldTrials(t *testing.T) {
	t.Parallel()
	r := queuetest.Embedded(t)
	s := newService(t, r, func(c *collect.Config) { serving(c); c.Times.Window = 4 })
	newWorker(t, r, "blue", nil)
	s.within("blue is not live", func() bool { return s.live("blue") })
	var servers []string
	for i := range 40 {
		servers = append(servers, fmt.Sprintf("s%d", i))
	}
	s.postOf(at(servers...), onBlue(), time.Hour)
	s.await(s.postOf(at("embedded", "embedded", "embedded"), onBlue(), time.Hour).ID, bench.Succeeded)
}
