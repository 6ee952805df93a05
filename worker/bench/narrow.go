package bench

import (
	"fmt"
	"slices"
	"strings"

	"benchd/kernels"
)

// A narrowing leaves of a suite's cases those that have the values asked for. A case whose
// kernel has not the parameter stays.
type narrowing struct {
	asked Matrix
	known []string        // the parameters of the suite's cases, in order
	has   Matrix          // of those asked for: the values that the cases have, in order
	met   map[string]bool // "name=value" as asked, of what some case has
}

// suiteCases expands the cases of a suite, which may be narrowed.
func (r *resolver) suiteCases(suite *Suite, params Matrix) {
	if suite == nil {
		if len(params) > 0 {
			r.fail(node{ptr: "/params"}, "no_suite", "narrows the cases of a suite, and no suite is named; parameters of \"cases\" stand in each of them")
		}
		return
	}
	r.narrow = &narrowing{asked: params, has: make(Matrix), met: make(map[string]bool)}
	for i, cs := range suite.Cases {
		r.expand(node{ptr: fmt.Sprintf("/suite/%d", i)}, cs)
	}
	if len(r.errs) == 0 {
		r.unmet(suite.Name)
	}
	r.narrow = nil
}

// narrowed gives those of a parameter's values that were asked for.
func (r *resolver) narrowed(info kernels.Info, p kernels.Param, values []string) (out []string) {
	n := r.narrow
	if n == nil {
		return values
	}
	n.known = addNew(n.known, p.Name)
	asked, ok := n.asked[p.Name]
	if !ok {
		return values
	}
	n.has[p.Name] = addNew(n.has[p.Name], values...)
	for _, v := range asked {
		same := r.canonical(info, p, v)
		all := v == Every
		for _, value := range values {
			if value == same || all {
				out = addNew(out, value)
				n.met[p.Name+"="+v] = true
			}
		}
	}
	return out
}

// canonical writes a value as the cases have it. One that the parameter cannot have is left as
// it is, and is then no case's.
func (r *resolver) canonical(info kernels.Info, p kernels.Param, v string) string {
	kept := r.errs
	defer func() { r.errs = kept }()
	if same, ok := r.value("", info, p, v); ok {
		return same
	}
	return v
}

// unmet refuses what no case of the suite has, and what leaves none.
func (r *resolver) unmet(suite string) {
	n := r.narrow
	for _, name := range sortedNames(n.asked) {
		at := "/params/" + escape(name)
		if !slices.Contains(n.known, name) {
			r.refuse(at, "unknown_param", n.known, "no case of the suite %s has a parameter %q; there are %s", suite, clip(name), strings.Join(n.known, ", "))
			continue
		}
		for _, v := range n.asked[name] {
			if !n.met[name+"="+v] {
				r.refuse(at, "unknown_value", n.has[name], "no case of the suite %s has the %s %q; there are %s", suite, name, clip(v), strings.Join(n.has[name], ", "))
			}
		}
	}
	if len(r.errs) == 0 && len(r.cases) == 0 {
		r.fail(node{ptr: "/params"}, "nothing_asked", "leaves no case of the suite %s: each has one of these values, and none has all of them", suite)
	}
}

// addNew adds the values that a list has not yet.
func addNew(list []string, values ...string) []string {
	for _, v := range values {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}
