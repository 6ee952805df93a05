package bench

import (
	"time"

	"benchd/kernels"
)

// A Verdict says what a comparison found out about a case, or about two results as a whole.
type Verdict string

// The verdicts. Of the whole: worse when any case is worse, else better when any is better,
// same when all are; otherwise undecided when any is, and incomparable when the rest is that.
const (
	Better       Verdict = "better"       // the change is no chance, and larger than the asked effect and the noise
	Worse        Verdict = "worse"        // as better, in the other direction
	Same         Verdict = "same"         // a change larger than the asked effect and the noise would have been seen
	Undecided    Verdict = "undecided"    // the samples do not tell; the reason and needed say what is missing
	Incomparable Verdict = "incomparable" // the two were not measured alike; differs names the facts
)

// Verdicts returns every verdict in order.
func Verdicts() []Verdict { return []Verdict{Better, Worse, Same, Undecided, Incomparable} }

// A Comparison tells how the cases of a result, the head, changed against those of another,
// the base.
type Comparison struct {
	Base     RunRef          `json:"base"`
	Head     RunRef          `json:"head"`
	Verdict  Verdict         `json:"verdict" enums:"better,worse,same,undecided,incomparable"`
	Reason   string          `json:"reason"` // a sentence: how the whole's verdict came about
	Counts   VerdictCounts   `json:"counts"`
	Speed    *SpeedChange    `json:"speed" extensions:"x-nullable"` // over the cases that could be compared; null when there are none
	Cases    []CaseChange    `json:"cases"`                         // those in both results, in the head's order
	OnlyBase []CaseRef       `json:"only_base"`                     // cases that the head has not
	OnlyHead []CaseRef       `json:"only_head"`                     // cases that the base has not
	Settings CompareSettings `json:"settings"`
}

// A RunRef names a run that was compared.
type RunRef struct {
	ID      string            `json:"id"`
	State   State             `json:"state" enums:"succeeded,failed,canceled,lost"`
	Created time.Time         `json:"created" format:"date-time"`
	Labels  map[string]string `json:"labels,omitempty"`
}

// VerdictCounts counts the cases by verdict.
type VerdictCounts struct {
	Better       int `json:"better"`
	Worse        int `json:"worse"`
	Same         int `json:"same"`
	Undecided    int `json:"undecided"`
	Incomparable int `json:"incomparable"`
}

// Of gives the number of cases with a verdict.
func (c VerdictCounts) Of(v Verdict) int {
	switch v {
	case Better:
		return c.Better
	case Worse:
		return c.Worse
	case Same:
		return c.Same
	case Undecided:
		return c.Undecided
	case Incomparable:
		return c.Incomparable
	default:
		return 0
	}
}

// Add counts one more case with a verdict.
func (c *VerdictCounts) Add(v Verdict) {
	switch v {
	case Better:
		c.Better++
	case Worse:
		c.Worse++
	case Same:
		c.Same++
	case Undecided:
		c.Undecided++
	case Incomparable:
		c.Incomparable++
	default:
	}
}

// A SpeedChange is the geometric mean of the changes in speed of several cases, so that a
// case that doubled and one that halved cancel out. 0.02 is 2 % faster.
type SpeedChange struct {
	Change     float64  `json:"change" example:"-0.013"`
	Low        *float64 `json:"low" extensions:"x-nullable"` // bounds of the interval, as if the cases' errors were independent
	High       *float64 `json:"high" extensions:"x-nullable"`
	Confidence float64  `json:"confidence" example:"0.95"`
	Cases      int      `json:"cases"`            // in the mean
	Reason     string   `json:"reason,omitempty"` // why a bound is null
}

// A CaseChange tells how one case changed from the base to the head on one host.
type CaseChange struct {
	Host     string         `json:"host"`                // of the head
	BaseHost string         `json:"base_host,omitempty"` // of the base, where it is another one
	Kernel   string         `json:"kernel" example:"soap.echo"`
	Params   kernels.Params `json:"params" swaggertype:"object"`
	Metric   string         `json:"metric" example:"throughput"`
	Unit     string         `json:"unit" example:"call/s"`
	Better   string         `json:"better" enums:"higher,lower"` // which values of the metric are better
	Base     CaseFigure     `json:"base"`
	Head     CaseFigure     `json:"head"`
	// Change is the head's value over the base's, less one: 0.05 is a value 5 % higher, which
	// Better tells whether to be glad of.
	Change     *float64 `json:"change" example:"-0.051" extensions:"x-nullable"`
	Low        *float64 `json:"low" extensions:"x-nullable"` // bounds of the interval of the change
	High       *float64 `json:"high" extensions:"x-nullable"`
	Confidence float64  `json:"confidence" example:"0.95"` // level of the interval
	// P is how probable such a change is by chance alone: the larger of MannWhitney and of a
	// test that takes forks, and not slices, for independent.
	P           *float64     `json:"p" extensions:"x-nullable"`
	AdjustedP   *float64     `json:"adjusted_p" extensions:"x-nullable"` // P adjusted over all cases of the comparison (Benjamini and Hochberg)
	MannWhitney *float64     `json:"mann_whitney_p" extensions:"x-nullable"`
	Threshold   *float64     `json:"threshold" extensions:"x-nullable"` // what a change must exceed in its direction: the largest of min_effect, the noise, and without noise the default floor; noise that may double a value may halve it
	Noise       *NoiseFloor  `json:"noise" extensions:"x-nullable"`     // of this host and case; null when it was never measured
	Verdict     Verdict      `json:"verdict" enums:"better,worse,same,undecided,incomparable"`
	Reason      string       `json:"reason"` // a sentence or more: how the verdict came about, and what is doubtful
	Needed      *Needed      `json:"needed" extensions:"x-nullable"`
	Differs     []Difference `json:"differs"` // facts, placement and plan that are not alike
}

// Case returns the case that changed.
func (c CaseChange) Case() Case { return Case{Kernel: c.Kernel, Params: c.Params} }

// A CaseFigure is what one side of a comparison measured of a case. Several trials of the
// case in one run are taken together, as more forks of one.
type CaseFigure struct {
	Value  *float64 `json:"value" extensions:"x-nullable"` // geometric mean over the forks of each fork's median sample; of one fork, its median
	N      int      `json:"n"`                             // samples
	Forks  int      `json:"forks"`
	Trials []string `json:"trials"`           // their ids
	Reason string   `json:"reason,omitempty"` // why the value is null
	Doubts []string `json:"doubts,omitempty"` // what the trials' validity says
}

// Needed tells what an undecided case should have, if things stay as they are.
type Needed struct {
	Samples int `json:"samples"` // in all, on each side
	Forks   int `json:"forks"`   // on each side
	Runs    int `json:"runs"`    // repeats, with nothing changed between them, to measure the noise by; 0 when it is known
}

// A Difference is a fact that the two sides of a comparison do not share.
type Difference struct {
	Fact     string `json:"fact" example:"governor"` // by its name in the host's facts, or placement.pin, plan.slice …
	Base     string `json:"base"`
	Head     string `json:"head"`
	Excluded bool   `json:"excluded"` // it makes the two incomparable, unless the comparison is asked to go across it
}

// A CaseRef names a case on a host that only one of two results has.
type CaseRef struct {
	Host   string         `json:"host"`
	Kernel string         `json:"kernel"`
	Params kernels.Params `json:"params" swaggertype:"object"`
}

// CompareSettings are the rules that a comparison was made by.
type CompareSettings struct {
	MinEffect    float64  `json:"min_effect" example:"0.01"`    // a smaller change is the same
	Q            float64  `json:"q" example:"0.05"`             // false alarms allowed: share of comparisons of equal things with any better or worse
	Confidence   float64  `json:"confidence" example:"0.95"`    // level of the intervals
	DefaultFloor float64  `json:"default_floor" example:"0.05"` // stands in for the noise of a case that was never calibrated
	Across       []string `json:"across,omitempty"`             // facts that were to differ; "host" stands for all of a machine
}

// A NoiseFloor is how much the score of a case changes on a host when nothing has changed,
// from trials of it that were repeated.
type NoiseFloor struct {
	Host   string         `json:"host"`
	Kernel string         `json:"kernel"`
	Params kernels.Params `json:"params" swaggertype:"object"`
	Pin    string         `json:"pin"` // the noise is that of this placement
	Awake  bool           `json:"awake"`
	Value  float64        `json:"value" example:"0.018"` // relative: two runs of as many forks differ by more at most once in a hundred
	Runs   int            `json:"runs"`                  // repeats behind it
	Pairs  int            `json:"pairs"`                 // of them that can be compared
	Forks  float64        `json:"forks"`                 // of a run, harmonic mean
	// RunSD and ForkSD are what the value is worked out from, for runs of any number of forks:
	// relative standard deviations of runs beyond what their forks explain, and of the forks
	// within a run. ForkSD is null when every run had one fork; RunSD then holds both.
	RunSD   float64  `json:"run_sd"`
	ForkSD  *float64 `json:"fork_sd" extensions:"x-nullable"`
	MeanSD  float64  `json:"mean_sd"`  // of the runs' figures as they were
	Largest float64  `json:"largest"`  // change between any two of them
	Source  string   `json:"source"`   // a sentence: what it comes from
	Level   float64  `json:"level"`    // of Value: 0.99
	ForksDF int      `json:"forks_df"` // degrees of freedom of ForkSD
}

// Case returns the case whose noise it is.
func (n NoiseFloor) Case() Case { return Case{Kernel: n.Kernel, Params: n.Params} }

// A Calibration is the noise of each case on each host, from a run that repeats its cases,
// and the false alarms that comparing the repeats with each other gives: nothing has changed
// between them.
type Calibration struct {
	Run         RunRef            `json:"run"`
	Repeats     int               `json:"repeats"`
	Comparisons int               `json:"comparisons"` // of each repeat with the next one, those that told anything
	Alarmed     int               `json:"alarmed"`     // comparisons with any better or worse
	Rate        *float64          `json:"rate" extensions:"x-nullable"`
	Counts      VerdictCounts     `json:"counts"` // of all cases of all comparisons
	Cases       []CaseCalibration `json:"cases"`
	Settings    CompareSettings   `json:"settings"`
	Reason      string            `json:"reason"` // a sentence: what was found, and what is missing for more
}

// A CaseCalibration is the noise of one case on one host.
type CaseCalibration struct {
	Host   string         `json:"host"`
	Kernel string         `json:"kernel"`
	Params kernels.Params `json:"params" swaggertype:"object"`
	Noise  *NoiseFloor    `json:"noise" extensions:"x-nullable"` // null when there were too few repeats
	Counts VerdictCounts  `json:"counts"`                        // of the comparisons of its repeats
	Reason string         `json:"reason,omitempty"`              // why the noise is null
}
