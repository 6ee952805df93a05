package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"benchd/worker/bench"
	"benchd/worker/stats"
)

const (
	minSamples = stats.MinSamples
	bimodal    = "bimodal" // the code of a doubt of package stats
)

// judge fills in what the evidence says of a case, and its verdict. Tests is the number of
// cases that p was adjusted for.
func (e evidence) judge(c *bench.CaseChange, adjusted float64, tests int, o Options) {
	if e.measured {
		c.Change = relativeOf(e.change)
	}
	if e.known != nil {
		c.Noise = &e.known.floor
	}
	if c.Verdict == bench.Incomparable {
		c.Reason = differing(c.Differs)
		return
	}
	if e.tested {
		c.Low, c.High = relativeOf(e.change-e.half), relativeOf(e.change+e.half)
		c.P, c.AdjustedP, c.MannWhitney = &e.p, &adjusted, &e.whitney
		threshold := e.partOf(e.threshold(o))
		c.Threshold = &threshold
	}
	if reason, stopped := e.stopped(); stopped {
		c.Verdict, c.Reason = bench.Undecided, reason
	} else {
		c.Verdict, c.Reason = e.verdict(*c, adjusted, o)
	}
	if c.Verdict == bench.Undecided {
		c.Needed = e.needed(tests, adjusted, o)
	}
	c.Reason += wanting(c.Needed) + e.remarks()
}

func relativeOf(log float64) *float64 {
	r := relative(log)
	return &r
}

// logOf is the size of the logarithm of a change by a part, in the direction in which the case
// changed: a value falls by at most all of itself, and rises without end.
func (e evidence) logOf(part float64) float64 {
	switch {
	case e.change >= 0:
		return math.Log1p(part)
	case part >= 1:
		return math.Inf(1)
	}
	return -math.Log1p(-part)
}

// partOf is the reverse of logOf: the part of the base's value that a logarithm stands for.
func (e evidence) partOf(log float64) float64 {
	return math.Abs(relative(math.Copysign(log, e.change)))
}

// threshold is the size of the logarithm of the change that is not exceeded by equal things.
// Noise is as likely to double a value as to halve it, so its logarithm is the same either way.
func (e evidence) threshold(o Options) float64 {
	return max(e.logOf(o.MinEffect), e.floor)
}

// stopped tells why there can be no verdict, whatever the change is.
func (e evidence) stopped() (string, bool) {
	if !e.tested {
		return e.untested(), true
	}
	for _, s := range []side{e.pair.base, e.pair.head} {
		if doubt := s.doubt(bimodal); doubt != "" {
			return fmt.Sprintf("The samples of the %s have two levels, and its median may be of either: %s.", e.name(s), doubt), true
		}
	}
	return "", false
}

// coarse is the size of the logarithm of the largest noise, 10 %, below which two figures are
// called the same: a host that makes figures jump by half shows nothing to be so.
func (e evidence) coarse(o Options) float64 { return e.logOf(max(o.MinEffect, 0.1)) }

// large tells whether the change exceeds the threshold.
func (e evidence) large(o Options) bool { return math.Abs(e.change) > e.threshold(o) }

// verdict decides, and says why in a sentence.
func (e evidence) verdict(c bench.CaseChange, adjusted float64, o Options) (bench.Verdict, string) {
	large := e.large(o)
	switch {
	case large && adjusted <= o.Q:
		return e.changed(c, adjusted)
	case large:
		return bench.Undecided, fmt.Sprintf("The change of %s is larger than %s, %s, but may be chance (adjusted p %s).",
			signed(*c.Change), percent(*c.Threshold), e.source(o), short(adjusted))
	case e.threshold(o) > e.coarse(o):
		return bench.Undecided, fmt.Sprintf("The change of %s is not larger than %s, %s%s, which hides changes that matter.", signed(*c.Change), percent(*c.Threshold), e.source(o), e.fewRuns())
	case e.half > e.threshold(o):
		return bench.Undecided, fmt.Sprintf("The change may be anything from %s to %s, which is wider than %s, %s, either way.", signed(*c.Low), signed(*c.High), percent(*c.Threshold), e.source(o))
	}
	return bench.Same, fmt.Sprintf("The change of %s is not larger than %s, %s.", signed(*c.Change), percent(*c.Threshold), e.source(o))
}

// changed gives the verdict of a change that is large and no chance, unless something else
// than what is compared explains it.
func (e evidence) changed(c bench.CaseChange, adjusted float64) (bench.Verdict, string) {
	verdict, slower, faster := bench.Better, e.pair.base, e.pair.head
	if (e.change < 0) == (c.Better == higherIsBetter) {
		verdict, slower, faster = bench.Worse, e.pair.head, e.pair.base
	}
	text := fmt.Sprintf("The change of %s is larger than %s and no chance (adjusted p %s)", signed(*c.Change), percent(*c.Threshold), short(adjusted))
	for _, s := range []side{e.pair.base, e.pair.head} {
		if s.unsteady() {
			return bench.Undecided, fmt.Sprintf("%s, but the %s was never steady: its figure depends on when it was taken.", text, e.name(s))
		}
	}
	for _, code := range disturbances() {
		if doubt := slower.doubt(code); doubt != "" && faster.doubt(code) == "" {
			return bench.Undecided, fmt.Sprintf("%s, but the host of the slower side, the %s, was disturbed: %s.", text, e.name(slower), doubt)
		}
	}
	return verdict, text + "."
}

// disturbances are the codes of doubts that a host slows down by. Where they are told of
// the slower side alone, they explain it as well as what is compared.
func disturbances() []string {
	return []string{"host_busy", "stolen", "throttled", "swapped", "frequency_changed", "cpu_pressure"}
}

// doubt gives the first sentence about the side with a code.
func (s side) doubt(code string) string {
	for _, t := range s.trials {
		for _, r := range t.Validity.Reasons {
			if found, sentence, _ := strings.Cut(r, ":"); found == code {
				return strings.TrimSuffix(strings.TrimSpace(sentence), ".")
			}
		}
	}
	return ""
}

// unsteady tells whether a trial of the side never had a steady part.
func (s side) unsteady() bool {
	return slices.ContainsFunc(s.trials, func(t bench.TrialResult) bool {
		return t.Steady.Class != nil && *t.Steady.Class == bench.NeverSteady
	})
}

// name tells which side it is.
func (e evidence) name(s side) string {
	if &s.trials[0] == &e.pair.base.trials[0] {
		return "base"
	}
	return "head"
}

// source tells where the threshold comes from.
func (e evidence) source(o Options) string {
	switch {
	case e.logOf(o.MinEffect) >= e.floor:
		return "the effect asked for"
	case e.known == nil:
		return "which stands in for the noise, since it was never measured here"
	}
	return "the noise of this case on this host"
}

// fewRuns says when the noise is large because little is known of it: with three degrees of
// freedom Student's t alone makes it twice what it is with nine.
func (e evidence) fewRuns() string {
	if e.known == nil || e.known.floor.Runs >= goodRuns {
		return ""
	}
	return fmt.Sprintf(" as far as %d runs tell it", e.known.floor.Runs)
}

// untested says what is missing for a test.
func (e evidence) untested() string {
	for _, s := range []side{e.pair.base, e.pair.head} {
		switch {
		case s.n == 0:
			return fmt.Sprintf("The %s has no figure: %s.", e.name(s), strings.TrimSuffix(s.missing(), "."))
		case !positive(s.forks):
			return fmt.Sprintf("The %s has samples that are not above zero, and of them no ratio can be made.", e.name(s))
		case s.n < minSamples:
			return fmt.Sprintf("The %s has %d samples; a comparison needs %d samples on each side.", e.name(s), s.n, minSamples)
		}
	}
	return "One fork on each side does not tell how forks differ, and the noise of this case was never measured here: measure more forks, or calibrate."
}

// remarks tells what else is doubtful about a verdict.
func (e evidence) remarks() string {
	text := ""
	if e.noisier {
		text += " The forks vary more than they did when the noise was measured."
	}
	for _, s := range []side{e.pair.base, e.pair.head} {
		var doubts []string
		for _, code := range disturbances() {
			if doubt := s.doubt(code); doubt != "" && !strings.Contains(text, doubt) {
				doubts = append(doubts, doubt)
			}
		}
		if len(doubts) > 0 {
			text += fmt.Sprintf(" The %s was disturbed: %s.", e.name(s), strings.Join(doubts, "; "))
		}
	}
	return text
}

// wanting says what an undecided case needs.
func wanting(n *bench.Needed) string {
	switch {
	case n == nil:
		return ""
	case n.Runs > 0:
		return fmt.Sprintf(" What it needs first is its noise: %d runs between which nothing changed.", n.Runs)
	}
	return fmt.Sprintf(" Each side needs %d forks and %d samples in all.", n.Forks, n.Samples)
}

// differing says why a case is incomparable.
func differing(list []bench.Difference) string {
	var parts []string
	for _, d := range list {
		if d.Excluded {
			parts = append(parts, fmt.Sprintf("%s (%s, then %s)", d.Fact, d.Base, d.Head))
		}
	}
	return "The two were not measured alike: they differ in " + strings.Join(parts, ", ") + "."
}

// percent writes a share: "1.8 %".
func percent(v float64) string {
	return strconv.FormatFloat(100*v, 'f', decimals(v), 64) + " %"
}

// signed writes a change with its sign.
func signed(v float64) string {
	text := percent(v)
	if v > 0 {
		text = "+" + text
	}
	return text
}

func decimals(v float64) int {
	switch v = math.Abs(v); {
	case v == 0 || v >= 0.1:
		return 1
	case v >= 0.001:
		return 2
	}
	return 3
}

// short writes a probability.
func short(p float64) string { return strconv.FormatFloat(p, 'g', 2, 64) }
