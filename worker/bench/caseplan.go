package bench

import (
	"maps"
	"slices"
	"strings"

	"benchd/kernels"
)

// PlanOf is the plan by which a case of a resolved request is measured: the request's, with
// the number of operations that the case's entry asks for itself. Of several entries that
// make the case the first one counts, as it does for the order of the cases. A request that
// names a suite and another number of operations than the suite's plan has it in all cases of
// the suite: whoever shortens a suite shortens the whole of it.
func (s Spec) PlanOf(c Case) Plan { return s.Plans()(c) }

// Plans gives PlanOf for many cases, looking the suite up once.
func (s Spec) Plans() func(Case) Plan {
	var entries []CaseSpec
	if suite, ok := SuiteNamed(s.Suite); ok {
		for _, cs := range suite.Cases {
			if s.Plan.Operations != suite.Plan.Operations {
				cs.Operations = nil
			}
			entries = append(entries, cs)
		}
	}
	entries = append(entries, s.Cases...)
	return func(c Case) Plan {
		plan := s.Plan
		i := slices.IndexFunc(entries, func(cs CaseSpec) bool { return cs.makes(c) })
		if i >= 0 && entries[i].Operations != nil {
			plan.Operations = *entries[i].Operations
		}
		return plan
	}
}

// makes tells whether a case is one of an entry's. A parameter that the entry leaves out says
// nothing; entries of a resolved request with operations leave none out.
func (cs CaseSpec) makes(c Case) bool {
	if cs.Kernel != c.Kernel && !strings.HasPrefix(c.Kernel, cs.Kernel+".") {
		return false
	}
	for name, values := range cs.Params {
		if !slices.Contains(values, c.Params[name]) && !slices.Contains(values, Every) {
			return false
		}
	}
	return true
}

// writeOut puts an entry for each kernel of a family in the place of the family's, where an
// entry has operations of its own, and one for its floors: then it can be told which entry a
// case is of.
func (r *resolver) writeOut(entries []CaseSpec) []CaseSpec {
	own := func(cs CaseSpec) bool { return cs.Operations != nil }
	if len(r.errs) > 0 || !slices.ContainsFunc(entries, own) {
		return entries
	}
	var out []CaseSpec
	for _, cs := range entries {
		for _, info := range r.catalog.members(cs.Kernel) {
			out = append(out, cs.of(info))
		}
	}
	for _, cs := range slices.Clone(out) {
		floor, ok := cs.floor(r.catalog.infos[cs.Kernel])
		if ok && !slices.ContainsFunc(out, func(o CaseSpec) bool { return o.Kernel == floor.Kernel && alike(o.Params, floor.Params, "") }) {
			out = append(out, floor)
		}
	}
	return out
}

// floor is the entry of the floors of an entry with operations of its own, which they have too.
func (cs CaseSpec) floor(info kernels.Info) (CaseSpec, bool) {
	if cs.Operations == nil || len(info.Floor) == 0 || info.Rate != "" && !slices.Contains(cs.Params[info.Rate], "0") {
		return CaseSpec{}, false
	}
	params := maps.Clone(cs.Params)
	for name, v := range info.Floor {
		params[name] = []string{v}
	}
	if info.Rate != "" {
		params[info.Rate] = []string{"0"}
	}
	return CaseSpec{Kernel: info.Name, Params: params, Operations: cs.Operations}, true
}

// of is the entry for one kernel of its family, with the defaults filled in.
func (cs CaseSpec) of(info kernels.Info) CaseSpec {
	params := make(Matrix, len(info.Params))
	for _, p := range info.Params {
		params[p.Name] = cs.Params[p.Name]
		if len(params[p.Name]) == 0 {
			params[p.Name] = []string{p.Default}
		}
	}
	return CaseSpec{Kernel: info.Name, Params: params, Operations: cs.Operations}
}
