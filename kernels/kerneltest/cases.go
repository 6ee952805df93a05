package kerneltest

import (
	"strconv"

	"benchd/kernels"
)

// threeLanes is enough lanes for one to disturb another.
const threeLanes = 3

// cases returns the representative cases, each once: the defaults, every listed value on
// its own, three lanes, and what the test added.
func (s *suite) cases() []kernels.Params {
	base := s.info.Defaults()
	list := []kernels.Params{base}
	for _, p := range s.info.Params {
		for _, v := range listed(p, s.info.Lanes) {
			list = append(list, base.With(p.Name, v))
		}
	}
	for _, changed := range s.also {
		p := base
		for name, v := range changed {
			p = p.With(name, v)
		}
		list = append(list, p)
	}
	return s.distinct(list)
}

// listed returns the values of a parameter that are worth a case of their own.
func listed(p kernels.Param, lanes string) []string {
	switch {
	case len(p.Values) > 0:
		return p.Values
	case p.Kind == kernels.Bool:
		return []string{"false", "true"}
	case p.Name == lanes && p.Kind == kernels.Int:
		return []string{"1", strconv.FormatInt(min(threeLanes, p.Max), 10)}
	default:
		return nil
	}
}

// distinct leaves out repeated and skipped cases.
func (s *suite) distinct(list []kernels.Params) []kernels.Params {
	seen := make(map[string]bool)
	var out []kernels.Params
	for _, p := range list {
		if key := p.String(); !seen[key] && !s.skip(p) {
			seen[key] = true
			out = append(out, p)
		}
	}
	return out
}

// lanes is how many trials the harness would open for a case.
func (s *suite) lanes(p kernels.Params) int {
	if s.info.Lanes == "" {
		return 1
	}
	return max(1, p.Int(s.info.Lanes))
}
