package worker

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"benchd/worker/bench"
	"benchd/worker/child"
)

// A service is a named service of this host: a server that is not the worker's own, at an
// address that only the worker and its children know.
type service struct {
	name string
	addr string              // a URL, as kernels.Addr has it
	hide func(string) string // takes the address and what is secret in it out of a text
}

// newService reads the address of a named service. Its errors hold nothing of the address.
func newService(name, addr string) (s service, scheme string, err error) {
	if err := bench.CheckService(name); err != nil {
		return s, "", err
	}
	u, err := url.Parse(addr)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return s, "", fmt.Errorf("the address of the service %q is no URL with a scheme and a host", name)
	}
	return service{name: name, addr: addr, hide: hider(name, addr, u)}, u.Scheme, nil
}

// readServices reads the addresses of the named services, and gives the scheme of each, which
// is all that others learn. Of known schemes, if any are given, one that is not among them is a
// slip of the pen: no trial would ever be measured there.
func readServices(addrs map[string]string, known []string) (map[string]service, map[string]string, error) {
	services, schemes := make(map[string]service), make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(addrs)) {
		s, scheme, err := newService(name, addrs[name])
		if err != nil {
			return nil, nil, err
		}
		if known != nil && !slices.Contains(known, scheme) {
			return nil, nil, fmt.Errorf("the service %q is at an address of the scheme %s, which no kernel can use; they use %s", name, scheme, strings.Join(known, ", "))
		}
		services[name], schemes[name] = s, scheme
	}
	return services, schemes, nil
}

// serve finds the service that a trial names, if it names one.
func (w *Worker) serve(a *assembly) error {
	for _, need := range w.Catalog.Needs(a.order.Case) {
		if !need.Met(w.schemes) {
			return &child.Failure{Code: "unknown_service", Message: fmt.Sprintf("host %s %s", w.Name, need.Unmet(w.schemes))}
		}
		a.service = new(w.services[need.Service])
	}
	return nil
}

// elsewhere tells whether what is measured has its server outside, so that no child of ours
// serves.
func (a *assembly) elsewhere() bool { return a.service != nil && !a.info.Attends }

// hide takes the address of the trial's service out of a text that others will read.
func (a *assembly) hide(text string) string {
	if a.service == nil {
		return text
	}
	return a.service.hide(text)
}

// with names the trial's service, if it has one, before what was wrong.
func (a *assembly) with(text string) string {
	if a.service == nil {
		return text
	}
	return fmt.Sprintf("with the service %q: %s", a.service.name, text)
}

// blame names the service in a failure that it may have caused, and hides its address.
func (a *assembly) blame(err error) error {
	var f *child.Failure
	if a.service == nil || !errors.As(err, &f) {
		return err
	}
	said := a.hide(f.Message)
	switch f.Code {
	case "open_failed", "server_failed", "server_died", "operations_failed", "wrong_answer":
		said = a.with(said)
	}
	blamed := &child.Failure{Code: f.Code, Message: said, Failures: f.Failures}
	if f.Failures != nil {
		blamed.Failures = new(*f.Failures)
		blamed.Failures.Sample = a.hide(f.Failures.Sample)
	}
	return blamed
}

// judgeService tells what of the plan does not reach a server outside.
func (a *assembly) judgeService() {
	if a.elsewhere() && a.order.Plan.Pin != bench.PinFree {
		a.doubt("not_placed", "the plan's pin holds for the client only: the service %q is not the worker's, and runs where it runs", a.service.name)
	}
}
