package bench

import (
	"fmt"
	"slices"

	"benchd/kernels"
)

// A misfit is what does not go together in the parameters of a case.
type misfit struct {
	param  string // the parameter that is to be changed; empty when it may be any
	code   string
	reason string // a sentence
}

// unfit tells what of a case's parameters does not go together. In an open entry, one that
// asks for every one of something, named services are those of the host that was chosen.
func (r *resolver) unfit(info kernels.Info, params kernels.Params, open bool) (misfit, bool) {
	for _, p := range info.Params {
		if p.Kind != kernels.Service {
			continue
		}
		if reason := r.unserved(p, params, open); reason != "" {
			return misfit{p.Name, "bad_service", reason}, true
		}
	}
	if f := r.catalog.fitters[info.Name]; f != nil {
		if err := f.Fits(params); err != nil {
			return misfit{"", "bad_combination", err.Error()}, true
		}
	}
	return misfit{}, false
}

// unserved says why a parameter of kind service cannot have its value beside the others; it
// is empty where it can, as far as it is known.
func (r *resolver) unserved(p kernels.Param, params kernels.Params, open bool) string {
	can, v := p.ServersFor(params), params[p.Name]
	where := ""
	if p.Of != "" {
		where = fmt.Sprintf(" where %s is %s", p.Of, params[p.Of])
	}
	switch {
	case v == kernels.Embedded && !can.Embedded:
		return fmt.Sprintf("%s must be the name of a service%s, which does not run inside a worker; a worker is told of one by --service NAME=%s://HOST:PORT, and %q stands for all that a host has",
			p.Name, where, can.Schemes[0], Every)
	case v != kernels.Embedded && len(can.Schemes) == 0:
		return fmt.Sprintf("%s can only be %q%s", p.Name, kernels.Embedded, where)
	case v == kernels.Embedded:
		return ""
	}
	if scheme, known := r.schemeOf(v, can.Schemes, open); known && !slices.Contains(can.Schemes, scheme) {
		return fmt.Sprintf("%s must be a service at an address of the scheme %s%s; that of %q is of the scheme %s", p.Name, orList(can.Schemes), where, v, scheme)
	}
	return ""
}

// schemeOf is the scheme of a named service: one of those looked for, if any host has it so.
func (r *resolver) schemeOf(name string, schemes []string, open bool) (scheme string, known bool) {
	hosts := r.known
	if _, there := r.services[name]; open && there {
		hosts = []map[string]string{r.services}
	}
	for _, services := range hosts {
		s, there := services[name]
		if there && (!known || slices.Contains(schemes, s)) {
			scheme, known = s, true
		}
	}
	return scheme, known
}

// misfit refuses an entry for what does not go together in it. A matrix may have many such
// cases: the same is said once.
func (r *resolver) misfit(at node, cs CaseSpec, m misfit) {
	ptr := at.ptr
	if _, given := cs.Params[m.param]; given {
		ptr += "/params/" + escape(m.param)
	} else if len(cs.Params) > 0 {
		ptr += "/params"
	}
	if !slices.ContainsFunc(r.errs, func(e FieldError) bool { return e.Pointer == ptr && e.Message == m.reason }) {
		r.refuse(ptr, m.code, nil, "%s", m.reason)
	}
}
