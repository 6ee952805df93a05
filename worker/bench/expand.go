package bench

import (
	"maps"
	"slices"
	"strings"

	"benchd/kernels"
)

// ask expands an entry of the request, of which something has to be left.
func (r *resolver) ask(at node, cs CaseSpec) []CaseSpec {
	out, none := r.expand(at, cs)
	if len(out) == 0 && len(r.errs) == 0 {
		r.fail(at, "no_services", "asks for %q, and there is nothing that it could stand for: %s", Every, none)
	}
	return out
}

// expand adds the cases of one entry and returns the entry with its defaults filled in. Where
// it asks for every one of something, it returns entries for what that stands for instead;
// there are none where nothing fits, and then it says why the first does not.
func (r *resolver) expand(at node, cs CaseSpec) (out []CaseSpec, none string) {
	infos := r.catalog.members(cs.Kernel)
	if len(infos) == 0 {
		r.refuse(at.ptr+"/kernel", "unknown_kernel", r.catalog.asked(), "there is no kernel %q; there are %s", clip(cs.Kernel), strings.Join(r.catalog.asked(), ", "))
		return []CaseSpec{cs}, ""
	}
	if cs.Operations != nil {
		between(r, at.ptr+"/operations", *cs.Operations, 0, maxOperations)
	}
	filled := CaseSpec{Kernel: cs.Kernel, Params: make(Matrix), Operations: cs.Operations}
	for name, values := range cs.Params {
		filled.Params[name] = r.values(at.ptr+"/params/"+escape(name), infos, name, values)
	}
	if len(r.errs) > 0 {
		return []CaseSpec{cs}, ""
	}
	if slices.ContainsFunc(infos, filled.open) {
		return r.each(at, infos, filled)
	}
	for _, info := range infos {
		r.product(at, info, filled)
	}
	if len(infos) == 1 {
		filled.Params = filled.of(infos[0]).Params
	}
	return []CaseSpec{filled}, ""
}

// each expands an entry that asks for every one of something, for each kernel by itself.
func (r *resolver) each(at node, infos []kernels.Info, cs CaseSpec) (out []CaseSpec, none string) {
	for _, info := range infos {
		cases, why := r.product(at, info, cs)
		if len(out) == 0 && none == "" {
			none = why
		}
		out = append(out, entries(info, cases, cs.Operations)...)
	}
	return out, none
}

// open tells whether the entry asks for every one of something that the kernel has.
func (cs CaseSpec) open(info kernels.Info) bool {
	return slices.ContainsFunc(info.Params, func(p kernels.Param) bool { return slices.Contains(cs.Params[p.Name], Every) })
}

// dims are the values of each parameter of a kernel, with its default where the entry has
// none, with what Every stands for, and as a suite is narrowed.
func (r *resolver) dims(info kernels.Info, asked Matrix) [][]string {
	dims := make([][]string, len(info.Params))
	for i, p := range info.Params {
		for _, v := range asked[p.Name] {
			values := []string{v}
			if v == Every {
				values = r.all(p)
			}
			for _, v := range values {
				if !slices.Contains(dims[i], v) {
					dims[i] = append(dims[i], v)
				}
			}
		}
		if len(dims[i]) == 0 {
			dims[i] = []string{p.Default}
		}
		dims[i] = r.narrowed(info, p, dims[i])
	}
	return dims
}

// maxLooked bounds the combinations that are looked at where most of them may not fit.
const maxLooked = 100 * MaxTrials

// product adds one case for each combination, the last parameter varying fastest. What does
// not go together is an error, but where the entry asks for every one of something: then it
// is left out, and why tells what was wrong with the first. A huge matrix costs nothing.
func (r *resolver) product(at node, info kernels.Info, cs CaseSpec) (kept []Case, why string) {
	open, dims := cs.open(info), r.dims(info, cs.Params)
	most := MaxTrials
	if open {
		most = maxLooked
	}
	total := 1
	for _, d := range dims {
		if total *= len(d); total > most {
			r.fail(at, "too_many_trials", "expands to more than %d trials, the most allowed in one run", MaxTrials)
			return nil, ""
		}
	}
	for n := range total {
		c := combination(info, dims, n)
		m, unfit := r.unfit(info, c.Params, open)
		switch {
		case !unfit:
			kept = append(kept, c)
		case open && why == "":
			why = m.reason
		case !open:
			r.misfit(at, cs, m)
		}
	}
	if len(kept) > MaxTrials {
		r.fail(at, "too_many_trials", "expands to %d trials; at most %d are allowed in one run", len(kept), MaxTrials)
		return nil, ""
	}
	for _, c := range kept {
		if floor, ok := floorOf(info, c.Params); ok {
			r.add(floor)
		}
		r.add(c)
	}
	return kept, why
}

// combination is the n-th of a matrix.
func combination(info kernels.Info, dims [][]string, n int) Case {
	params := make(kernels.Params, len(dims))
	for i := len(dims) - 1; i >= 0; i-- {
		params[info.Params[i].Name] = dims[i][n%len(dims[i])]
		n /= len(dims[i])
	}
	return Case{Kernel: info.Name, Params: params}
}

// add adds a case, once.
func (r *resolver) add(c Case) {
	if key := c.Key(); !r.seen[key] {
		r.seen[key] = true
		r.cases = append(r.cases, c)
	}
}

// entries writes cases of a kernel as few entries, which make just these cases in just this
// order. From the last parameter to the first, neighbours that differ in it alone become one.
func entries(info kernels.Info, cases []Case, operations *int) []CaseSpec {
	list := make([]CaseSpec, len(cases))
	for i, c := range cases {
		list[i] = CaseSpec{Kernel: c.Kernel, Params: make(Matrix, len(c.Params)), Operations: operations}
		for name, v := range c.Params {
			list[i].Params[name] = []string{v}
		}
	}
	for _, p := range slices.Backward(info.Params) {
		list = together(list, p.Name)
	}
	return list
}

// together makes one entry of neighbours that differ in one parameter alone.
func together(list []CaseSpec, name string) (out []CaseSpec) {
	for _, cs := range list {
		if n := len(out); n > 0 && alike(out[n-1].Params, cs.Params, name) {
			out[n-1].Params[name] = append(out[n-1].Params[name], cs.Params[name]...)
			continue
		}
		out = append(out, cs)
	}
	return out
}

// alike tells whether two matrices are the same but for one parameter.
func alike(a, b Matrix, but string) bool {
	a, b = maps.Clone(a), maps.Clone(b)
	delete(a, but)
	delete(b, but)
	return maps.EqualFunc(a, b, slices.Equal)
}
