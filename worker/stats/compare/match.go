package compare

import (
	"math"
	"slices"

	"benchd/worker/bench"
)

// A side is what one result has of a case on one host: one trial, or several repeats whose
// forks are taken together.
type side struct {
	host   string
	trials []bench.TrialResult
	forks  [][]float64 // of the trials that succeeded, without empty ones
	n      int         // samples
}

// A pair is a case that both results have.
type pair struct {
	c          bench.Case
	base, head side
}

// match pairs the cases of two results: on the host of the same name, or where each result
// has one host that the other has not, on these two.
func match(base, head bench.Result) (pairs []pair, onlyBase, onlyHead []bench.CaseRef) {
	b, h := sides(base), sides(head)
	partner := partners(hostsOf(b), hostsOf(h))
	onlyBase, onlyHead = []bench.CaseRef{}, []bench.CaseRef{}
	used := make(map[string]bool)
	index := make(map[string]side, len(b))
	for _, s := range b {
		index[s.key(s.host)] = s
	}
	for _, s := range h {
		host, known := partner[s.host]
		of, ok := index[s.key(host)]
		if !known || !ok {
			onlyHead = append(onlyHead, s.ref())
			continue
		}
		used[of.key(of.host)] = true
		pairs = append(pairs, pair{s.trials[0].Case(), of, s})
	}
	for _, s := range b {
		if !used[s.key(s.host)] {
			onlyBase = append(onlyBase, s.ref())
		}
	}
	return pairs, onlyBase, onlyHead
}

// key names the side's case on a host.
func (s side) key(host string) string { return host + "\x00" + s.trials[0].Case().Key() }

func (s side) ref() bench.CaseRef {
	return bench.CaseRef{Host: s.host, Kernel: s.trials[0].Kernel, Params: s.trials[0].Params}
}

// sides groups the trials of a result by host and case, in the order of the first of each.
func sides(r bench.Result) []side {
	var list []side
	at := make(map[string]int)
	for _, t := range r.Trials {
		s := side{host: t.Host, trials: []bench.TrialResult{t}}
		key := s.key(t.Host)
		i, ok := at[key]
		if !ok {
			i, at[key] = len(list), len(list)
			list = append(list, side{host: t.Host})
		}
		list[i].take(t)
	}
	return list
}

// take adds a trial. One that failed half-way has samples that nobody vouches for.
func (s *side) take(t bench.TrialResult) {
	s.trials = append(s.trials, t)
	if t.State != bench.Succeeded {
		return
	}
	for _, samples := range t.Samples() {
		if len(samples) > 0 {
			s.forks = append(s.forks, samples)
			s.n += len(samples)
		}
	}
}

func hostsOf(list []side) []string {
	var hosts []string
	for _, s := range list {
		if !slices.Contains(hosts, s.host) {
			hosts = append(hosts, s.host)
		}
	}
	return hosts
}

// partners tells for each host of the head the host of the base that it is compared with.
func partners(base, head []string) map[string]string {
	out := make(map[string]string)
	var restHead []string
	for _, h := range head {
		if slices.Contains(base, h) {
			out[h] = h
		} else {
			restHead = append(restHead, h)
		}
	}
	var restBase []string
	for _, b := range base {
		if !slices.Contains(head, b) {
			restBase = append(restBase, b)
		}
	}
	if len(restHead) == 1 && len(restBase) == 1 {
		out[restHead[0]] = restBase[0]
	}
	return out
}

// filled leaves out forks without samples.
func filled(forks [][]float64) [][]float64 {
	var out [][]float64
	for _, f := range forks {
		if len(f) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// least is the smallest sample that has ratios: half of the least number there is has no
// logarithm. No rate is near to it; a file that a person changed may hold anything.
const least = 1e-300

// positive tells whether all samples are finite and above zero, so that they have ratios.
func positive(forks [][]float64) bool {
	for _, f := range forks {
		for _, v := range f {
			if !(v > least) || math.IsInf(v, 0) {
				return false
			}
		}
	}
	return true
}
