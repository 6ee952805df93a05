package bench

import (
	"fmt"
	"slices"
	"strings"

	"benchd/kernels"
)

// Every is a value of a parameter of kind service that stands, in requests only, for the
// kernel's own server and every service of a fitting scheme. One host measures the whole of a
// run that names none, so that they are the services of one host: of those that may measure
// the run, the one that has the most.
const Every = "every"

// maxServiceName bounds the name of a service, in bytes.
const maxServiceName = 63

// CheckService tells what is wrong with the name of a service. It is a word that can be no
// address, no path and no command, so that a request can bring none of them.
func CheckService(name string) error {
	const rule = "a service's name is lower-case letters, digits, \".\", \"-\" and \"_\", begins with a letter and has at most 63 of them"
	if !isServiceName(name) {
		return fmt.Errorf("%s; %q is not", rule, clip(name))
	}
	if name == kernels.Embedded || name == Every {
		return fmt.Errorf("%q is no name for a service: it means something else in requests", name)
	}
	return nil
}

func isServiceName(name string) bool {
	if name == "true" || name == "false" { // which JSON would show without quotes
		return false
	}
	if name == "" || len(name) > maxServiceName || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_'
	})
}

// A Need is a named service that a case needs, and the schemes of addresses that its kernel
// can use.
type Need struct {
	Service string
	Schemes []string
}

// Met tells whether a host has the service, given the schemes of its services by name.
func (n Need) Met(services map[string]string) bool {
	scheme, there := services[n.Service]
	return there && slices.Contains(n.Schemes, scheme)
}

// Unmet says why a host that does not meet the need cannot measure: "has no service "axis"".
func (n Need) Unmet(services map[string]string) string {
	if scheme, there := services[n.Service]; there {
		return fmt.Sprintf("has the service %q at an address of the scheme %s, and %s is needed", n.Service, scheme, orList(n.Schemes))
	}
	return fmt.Sprintf("has no service %q", n.Service)
}

// Needs lists the named services that a case needs.
func (c *Catalog) Needs(cs Case) []Need {
	var needs []Need
	for _, p := range c.infos[cs.Kernel].Params {
		if v := cs.Params[p.Name]; p.Kind == kernels.Service && v != kernels.Embedded && v != "" {
			needs = append(needs, Need{Service: v, Schemes: p.Schemes})
		}
	}
	return needs
}

// Schemes lists the schemes of addresses that any kernel can use, in order: those that the
// services of a host may have.
func (c *Catalog) Schemes() []string {
	known := make(map[string]bool)
	for _, info := range c.infos {
		for _, p := range info.Params {
			for _, scheme := range p.Schemes {
				known[scheme] = true
			}
		}
	}
	return sortedNames(known)
}

// service checks one value of a parameter of kind service.
func (r *resolver) service(at string, p kernels.Param, v string) {
	switch {
	case v == kernels.Embedded:
	case v == Every:
		r.refuse(at, "no_services", nil, "%s: %q stands for the services of the live hosts that may measure this, and there is no such host now; name the services, or ask again when a host is live", p.Name, Every)
	case !isServiceName(v):
		r.refuse(at, "bad_service", nil, "%s must be %q, %q, or the name of a service in the worker's own configuration, which is lower-case letters, digits, \".\", \"-\" and \"_\", at most %d of them, and begins with a letter; not %q",
			p.Name, kernels.Embedded, Every, maxServiceName, clip(v))
	}
}

// choose gives the services of the host that has the most of what Every asks for, the first
// among equals; nil when there is no host.
func (r *resolver) choose(spec Spec, suite *Suite, hosts []map[string]string) (best map[string]string) {
	asked := slices.Clone(spec.Cases)
	if suite != nil {
		asked = append(asked, suite.Cases...)
	}
	most := -1
	for _, services := range hosts {
		n := 0
		for _, cs := range asked {
			n += r.count(cs, services)
		}
		if n > most {
			best, most = services, n
		}
	}
	if most >= 0 && best == nil {
		best = map[string]string{} // of a host that has none
	}
	return best
}

// count is how many of a host's services the cases that ask for every one would use.
func (r *resolver) count(cs CaseSpec, services map[string]string) (n int) {
	for _, info := range r.catalog.members(cs.Kernel) {
		for _, p := range info.Params {
			if p.Kind == kernels.Service && slices.Contains(cs.Params[p.Name], Every) {
				n += len(fitting(p, services))
			}
		}
	}
	return n
}

// every adds what Every stands for to the values of a parameter, each once: the kernel's own
// server, and the services by name.
func (r *resolver) every(values []string, p kernels.Param) []string {
	for _, v := range append([]string{kernels.Embedded}, fitting(p, r.services)...) {
		if !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// fitting lists the services whose scheme the kernel can use, by name.
func fitting(p kernels.Param, services map[string]string) []string {
	var names []string
	for _, name := range sortedNames(services) {
		if slices.Contains(p.Schemes, services[name]) {
			names = append(names, name)
		}
	}
	return names
}
