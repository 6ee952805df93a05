package api

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"benchd/worker/bench"
)

// listHosts shows every host that was ever seen.
//
//	@Summary		List hosts
//	@ID				listHosts
//	@Description	Every host that was ever seen, with its labels, its limits, what it is and whether it is live.
//	@Tags			hosts
//	@Produce		json
//	@Success		200	{object}	bench.HostList
//	@Failure		422	{object}	bench.Problem	"a parameter that cannot be right"
//	@Failure		503	{object}	bench.Problem	"the store is away"
//	@Router			/v1/hosts [get]
func (s *Server) listHosts(c echo.Context) error {
	if _, err := parseQuery(c); err != nil {
		return err
	}
	hosts, err := s.config.Hosts.Hosts(c.Request().Context())
	if err != nil {
		return err
	}
	if hosts == nil {
		hosts = []bench.Host{}
	}
	return writeJSON(c, http.StatusOK, bench.HostList{Hosts: hosts})
}

// getHost shows one host.
//
//	@Summary	Get a host
//	@ID				getHost
//	@Tags		hosts
//	@Produce	json
//	@Param		name	path		string	true	"the host"
//	@Success	200		{object}	bench.Host
//	@Failure	404		{object}	bench.Problem	"there is no such host"
//	@Failure	422		{object}	bench.Problem	"a parameter that cannot be right"
//	@Failure	503		{object}	bench.Problem	"the store is away"
//	@Router		/v1/hosts/{name} [get]
func (s *Server) getHost(c echo.Context) error {
	if _, err := parseQuery(c); err != nil {
		return err
	}
	hosts, err := s.config.Hosts.Hosts(c.Request().Context())
	if err != nil {
		return err
	}
	name := hostName(c)
	for _, h := range hosts {
		if h.Name == name {
			return writeJSON(c, http.StatusOK, h)
		}
	}
	return bench.Errorf(bench.NotFound, "unknown_host", "there is no host %q; %s", clip(name), known(names(hosts)))
}

// hostName reads the name from the path. Where the path holds escapes that matter, such as
// that of a slash, echo matches it as it was sent and leaves the rest to us.
func hostName(c echo.Context) string {
	name := c.Param("name")
	if c.Request().URL.RawPath == "" {
		return name
	}
	plain, err := url.PathUnescape(name)
	if err != nil {
		return name
	}
	return plain
}

// hostsFresh is how long a list of hosts is used again. Limits change with a worker's
// restart only, and a name that is not in the list is looked up anew.
const hostsFresh = time.Second

// A hostCache spares each posted run from reading every host's facts.
type hostCache struct {
	store HostStore
	now   func() time.Time

	mu    sync.Mutex
	hosts []bench.Host
	read  time.Time
}

// get gives the known hosts, at most hostsFresh old, and fresh ones when one of the names
// is not among them.
func (h *hostCache) get(ctx context.Context, wanted []string) ([]bench.Host, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if age := h.now().Sub(h.read); age >= 0 && age < hostsFresh && hasAll(h.hosts, wanted) {
		return h.hosts, nil
	}
	hosts, err := h.store.Hosts(ctx)
	if err != nil {
		return nil, err
	}
	h.hosts, h.read = hosts, h.now()
	return hosts, nil
}

func hasAll(hosts []bench.Host, wanted []string) bool {
	for _, name := range wanted {
		if find(hosts, name) == nil {
			return false
		}
	}
	return true
}

func find(hosts []bench.Host, name string) *bench.Host {
	for i := range hosts {
		if hosts[i].Name == name {
			return &hosts[i]
		}
	}
	return nil
}

func names(hosts []bench.Host) []string {
	out := make([]string, len(hosts))
	for i, h := range hosts {
		out[i] = h.Name
	}
	return out
}

func known(names []string) string {
	if len(names) == 0 {
		return "no host has been seen yet: start a worker"
	}
	return "known are " + strings.Join(names, ", ")
}

// limitsFor gives the limits of the hosts that could take a run, and an error for each
// named host that was never seen.
//
// Named hosts all measure, so the smallest of their limits holds. Otherwise one host will
// do, so the largest limits hold among the live hosts with the asked labels, among all live
// hosts when none has them, and among all known ones when none is live. The collector picks
// a host whose own limits suffice.
func (s *Server) limitsFor(ctx context.Context, sel bench.HostSelector) (bench.Limits, []bench.FieldError, error) {
	hosts, err := s.hosts.get(ctx, sel.Names)
	if err != nil || len(hosts) == 0 && len(sel.Names) == 0 {
		return s.config.Limits, nil, err
	}
	if len(sel.Names) == 0 {
		return largest(candidates(hosts, sel.Labels)), nil, nil
	}
	var named []bench.Host
	var unknown []bench.FieldError
	for i, name := range sel.Names {
		if h := find(hosts, name); h != nil {
			named = append(named, *h)
			continue
		}
		unknown = append(unknown, bench.FieldError{
			Pointer: fmt.Sprintf("/hosts/names/%d", i), Code: "unknown_host", Allowed: names(hosts),
			Message: fmt.Sprintf("there is no host %q; %s", clip(name), known(names(hosts))),
		})
	}
	if len(named) == 0 {
		return s.config.Limits, unknown, nil
	}
	return smallest(named), unknown, nil
}

// candidates gives the hosts that could take a run with these labels.
func candidates(hosts []bench.Host, labels map[string]string) []bench.Host {
	var live, match []bench.Host
	for _, h := range hosts {
		if !h.Live {
			continue
		}
		live = append(live, h)
		if carries(h.Labels, labels) {
			match = append(match, h)
		}
	}
	switch {
	case len(match) > 0:
		return match
	case len(live) > 0:
		return live
	default:
		return hosts
	}
}

func carries(have, want map[string]string) bool {
	for k, v := range want {
		if got, ok := have[k]; !ok || got != v {
			return false
		}
	}
	return true
}

func largest(hosts []bench.Host) bench.Limits {
	l := hosts[0].Limits
	for _, h := range hosts[1:] {
		l.Clients = max(l.Clients, h.Limits.Clients)
		l.Threads = max(l.Threads, h.Limits.Threads)
		l.TrialTime = max(l.TrialTime, h.Limits.TrialTime)
		l.Bytes = max(l.Bytes, h.Limits.Bytes)
	}
	return l
}

func smallest(hosts []bench.Host) bench.Limits {
	l := hosts[0].Limits
	for _, h := range hosts[1:] {
		l.Clients = min(l.Clients, h.Limits.Clients)
		l.Threads = min(l.Threads, h.Limits.Threads)
		l.TrialTime = min(l.TrialTime, h.Limits.TrialTime)
		l.Bytes = min(l.Bytes, h.Limits.Bytes)
	}
	return l
}

// servicesFor gives the services of each host of which one is to measure a run, which is what
// asking for every service means: those of the live hosts with the asked labels. Named hosts
// all measure all of it, live or not, so that only what each of them has, as it last told, is
// there to be asked for.
func (s *Server) servicesFor(ctx context.Context, sel bench.HostSelector) ([]map[string]string, error) {
	hosts, err := s.hosts.get(ctx, sel.Names)
	if err != nil {
		return nil, err
	}
	var each []map[string]string
	for _, h := range hosts {
		if len(sel.Names) == 0 && (!h.Live || !carries(h.Labels, sel.Labels)) || len(sel.Names) > 0 && !slices.Contains(sel.Names, h.Name) {
			continue
		}
		each = append(each, h.Services)
	}
	if len(sel.Names) > 0 && len(each) > 0 {
		return []map[string]string{common(each)}, nil
	}
	return each, nil
}

// common gives the services that all hosts have under the same name and scheme.
func common(each []map[string]string) map[string]string {
	out := maps.Clone(each[0])
	for _, services := range each[1:] {
		maps.DeleteFunc(out, func(name, scheme string) bool { return services[name] != scheme })
	}
	return out
}
