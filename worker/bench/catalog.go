package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchd/kernels"
)

// A Catalog knows which kernels can be asked for and checks requests against them.
type Catalog struct {
	families []kernels.Family
	infos    map[string]kernels.Info
	fitters  map[string]kernels.Fitter // of those kernels that have one
	names    []string
}

// NewCatalog makes a Catalog of the families given.
func NewCatalog(families []kernels.Family) *Catalog {
	c := &Catalog{families: families, infos: make(map[string]kernels.Info), fitters: make(map[string]kernels.Fitter)}
	for _, f := range families {
		for _, k := range f.Kernels {
			info := k.Info()
			c.infos[info.Name] = info
			c.names = append(c.names, info.Name)
			if f, ok := k.(kernels.Fitter); ok {
				c.fitters[info.Name] = f
			}
		}
	}
	return c
}

// Families returns the families in order.
func (c *Catalog) Families() []kernels.Family { return c.families }

// Names returns the kernels' names in order.
func (c *Catalog) Names() []string { return c.names }

// Info returns a kernel's description.
func (c *Catalog) Info(name string) (kernels.Info, bool) {
	i, ok := c.infos[name]
	return i, ok
}

// Kernel returns the kernel with the given name.
func (c *Catalog) Kernel(name string) (kernels.Kernel, bool) {
	for _, f := range c.families {
		for _, k := range f.Kernels {
			if k.Info().Name == name {
				return k, true
			}
		}
	}
	return nil, false
}

// members returns the kernels that a name stands for: a family's, or the one.
func (c *Catalog) members(name string) []kernels.Info {
	if i, ok := c.infos[name]; ok {
		return []kernels.Info{i}
	}
	var out []kernels.Info
	for _, n := range c.names {
		if strings.HasPrefix(n, name+".") {
			out = append(out, c.infos[n])
		}
	}
	return out
}

// asked is the list of what a request's "kernel" may be: kernels, and families.
func (c *Catalog) asked() []string {
	out := slices.Clone(c.names)
	for _, f := range c.families {
		out = append(out, f.Name)
	}
	return out
}

// Resolve fills in every default of a parsed request, checks it against the catalog and the
// limits, and expands it into cases, each once, in the order asked. The Spec it returns
// resolves to the same cases when it is posted again.
//
// The services are those of each host that may measure the run, the scheme by the name: what
// Every stands for.
//
// The error is an *Error of kind Invalid that names each bad field.
func (c *Catalog) Resolve(spec Spec, present Present, limits Limits, services ...map[string]string) (Spec, []Case, error) {
	r := &resolver{decoder: decoder{present: present}, catalog: c, limits: limits, seen: make(map[string]bool)}
	suite := r.suite(spec.Suite)
	r.known, r.services = services, r.choose(spec, suite, services)
	spec.Plan = r.plan(spec.Plan, suite)
	if !present["/timeout"] {
		spec.Timeout = DefaultTimeout
	}
	if spec.Timeout < Duration(time.Second) || spec.Timeout > Duration(7*24*time.Hour) {
		r.fail(node{ptr: "/timeout"}, "out_of_range", "must be from 1s to 168h, not %s", spec.Timeout)
	}
	r.hosts(spec.Hosts)
	if spec.Suite == "" && len(spec.Cases) == 0 {
		r.fail(node{}, "nothing_asked", "names no suite and no cases; give \"suite\" or \"cases\" or both")
	}
	if suite != nil || spec.Suite == "" {
		r.suiteCases(suite, spec.Params)
	}
	var written []CaseSpec
	for i, cs := range spec.Cases {
		written = append(written, r.ask(node{ptr: fmt.Sprintf("/cases/%d", i)}, cs)...)
	}
	spec.Cases = r.writeOut(written)
	r.checkCases(spec.Plans())
	if !present["/repeat"] {
		spec.Repeat = 1
	}
	between(r, "/repeat", spec.Repeat, 1, maxRepeat)
	if n := len(r.cases) * spec.Repeat * max(1, len(spec.Hosts.Names)); n > MaxTrials {
		r.fail(node{ptr: "/cases"}, "too_many_trials", "expands to %d trials; at most %d are allowed in one run", n, MaxTrials)
	}
	return spec, r.cases, invalid(r.errs)
}

// Check checks one case and a plan against the limits of a host, as a worker does before it
// measures: the order may come from a service with other limits. The error is an *Error.
func (c *Catalog) Check(cs Case, plan Plan, limits Limits) error {
	params := make(Matrix, len(cs.Params))
	for name, v := range cs.Params {
		if params[name] = []string{v}; v == Every {
			return invalid([]FieldError{{Pointer: "/cases/0/params/" + escape(name), Code: "unknown_value", Message: fmt.Sprintf("%s: %q stands for several cases, and a worker measures one", name, Every)}})
		}
	}
	present := make(Present)
	for field := range planFields() {
		present["/plan/"+field] = true
	}
	_, _, err := c.Resolve(Spec{Cases: []CaseSpec{{Kernel: cs.Kernel, Params: params}}, Plan: plan}, present, limits)
	return err
}

type resolver struct {
	decoder
	catalog *Catalog
	limits  Limits
	// services are what Every stands for, the scheme by the name; nil when it cannot be told.
	services map[string]string
	// known are the services of each host that may measure.
	known  []map[string]string
	narrow *narrowing // of the suite whose cases are expanded; nil for those of the request
	cases  []Case
	seen   map[string]bool
}

func (r *resolver) refuse(ptr, code string, allowed []string, format string, args ...any) {
	r.errs = append(r.errs, FieldError{Pointer: ptr, Code: code, Message: fmt.Sprintf(format, args...), Allowed: allowed})
}

func (r *resolver) suite(name string) *Suite {
	if name == "" {
		return nil
	}
	if s, ok := SuiteNamed(name); ok {
		return &s
	}
	var names []string
	for _, s := range Suites() {
		names = append(names, s.Name)
	}
	r.refuse("/suite", "unknown_suite", names, "there is no suite %q; there are %s", clip(name), strings.Join(names, ", "))
	return nil
}

func (r *resolver) hosts(h HostSelector) {
	seen := make(map[string]bool)
	for i, name := range h.Names {
		if seen[name] {
			r.fail(node{ptr: fmt.Sprintf("/hosts/names/%d", i)}, "repeated_host", "the host %q stands twice", clip(name))
		}
		seen[name] = true
	}
}

// values checks the values asked for one parameter and returns them in canonical form.
func (r *resolver) values(ptr string, infos []kernels.Info, name string, values []string) []string {
	var param kernels.Param
	var info kernels.Info
	var known []string
	found := false
	for _, i := range infos {
		for _, p := range i.Params {
			if p.Name == name && !found {
				param, info, found = p, i, true
			}
			if !slices.Contains(known, p.Name) {
				known = append(known, p.Name)
			}
		}
	}
	if !found {
		r.refuse(ptr, "unknown_param", known, "there is no parameter %q; allowed are %s", clip(name), strings.Join(known, ", "))
		return nil
	}
	var out []string
	for i, v := range values {
		if v == Every && r.stands(param) {
			out = append(out, Every) // written out with the values of the other parameters
			continue
		}
		at := ptr
		if len(values) > 1 {
			at = fmt.Sprintf("%s/%d", ptr, i)
		}
		if c, ok := r.value(at, info, param, v); ok && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// value checks one value of a parameter and returns it in canonical form.
func (r *resolver) value(at string, info kernels.Info, p kernels.Param, v string) (string, bool) {
	errs := len(r.errs)
	switch p.Kind {
	case kernels.Int:
		low, high := p.Min, r.most(info, p)
		n, is := readWhole(v)
		if is != isWhole || n < low || n > high {
			r.refuse(at, "out_of_range", nil, "%s must be a whole number from %d to %d, not %q", p.Name, low, high, clip(v))
		}
		v = strconv.FormatInt(n, 10)
	case kernels.Size:
		if n, is := readWhole(v); is == isWhole { // bytes, however JSON writes them
			v = strconv.FormatInt(n, 10)
		}
		n, err := kernels.ParseSize(v)
		if err == nil {
			v = kernels.FormatSize(n)
		}
		low, high := p.Min, r.most(info, p)
		if len(p.Values) == 0 && (err != nil || n < low || n > high) {
			r.refuse(at, "out_of_range", nil, "%s must be a size from %s to %s, not %q", p.Name, kernels.FormatSize(low), kernels.FormatSize(high), clip(v))
		}
	case kernels.Service:
		r.service(at, p, v)
	case kernels.Word, kernels.Bool: // they have lists of values, looked at below
	}
	if allowed := p.Listed(); len(allowed) > 0 && !slices.Contains(allowed, v) {
		r.refuse(at, "unknown_value", allowed, "%s must be %s, not %q", p.Name, orList(allowed), clip(v))
	}
	return v, len(r.errs) == errs
}

// most is the largest value of a number or size: the kernel's bound or the host's limit.
func (r *resolver) most(info kernels.Info, p kernels.Param) int64 {
	high := p.Max
	switch {
	case p.Kind == kernels.Size:
		high = min(high, r.limits.Bytes)
	case p.Name != info.Lanes:
	case p.Name == "threads":
		high = min(high, int64(r.limits.Threads))
	default:
		high = min(high, int64(r.limits.Clients))
	}
	return high
}
