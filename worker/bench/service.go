package bench

import (
	"fmt"
	"slices"
	"strings"

	"benchd/kernels"
)

// Every is a value that stands, in requests only, for every value of a parameter: all that are
// listed, or of kind service the kernel's own server and every service of a fitting scheme. Of
// its combinations with the values of other parameters those are meant that can be measured.
//
// One host measures the whole of a run that names none, so that the services are those of one
// host: of the hosts that may measure the run, the one that has the most.
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
			needs = append(needs, Need{Service: v, Schemes: p.ServersFor(cs.Params).Schemes})
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
				n += len(fitting(cs.schemes(info, p), services))
			}
		}
	}
	return n
}

// schemes are those that the services of an entry can have.
func (cs CaseSpec) schemes(info kernels.Info, p kernels.Param) (all []string) {
	values := cs.Params[p.Of]
	if p.Of == "" || slices.Contains(values, Every) {
		return p.Schemes
	}
	if of, ok := info.Param(p.Of); ok && len(values) == 0 {
		values = []string{of.Default}
	}
	for _, v := range values {
		all = append(all, p.Servers[v].Schemes...)
	}
	return all
}

// stands tells whether it is known what Every stands for as a value of a parameter.
func (r *resolver) stands(p kernels.Param) bool {
	return p.Kind == kernels.Service && r.services != nil || len(p.Listed()) > 0
}

// all is what Every stands for as a value of a parameter.
func (r *resolver) all(p kernels.Param) []string {
	if p.Kind == kernels.Service {
		return append([]string{kernels.Embedded}, fitting(p.Schemes, r.services)...)
	}
	return p.Listed()
}

// fitting lists the services at addresses of some schemes, by name.
func fitting(schemes []string, services map[string]string) []string {
	var names []string
	for _, name := range sortedNames(services) {
		if slices.Contains(schemes, services[name]) {
			names = append(names, name)
		}
	}
	return names
}
