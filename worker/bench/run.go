package bench

import (
	"time"

	"benchd/kernels"
)

// A Run is what a client posted, and how far it is.
type Run struct {
	ID       string     `json:"id" example:"0192f3a4-7b1c-7def-8a01-23456789abcd"` // UUID version 7 (RFC 9562): sorts by time
	State    State      `json:"state" enums:"queued,running,canceling,succeeded,failed,canceled,lost"`
	Reason   string     `json:"reason,omitempty" example:"no live host with label zone=a"` // why it waits, or some of its trials do, or why it ended as it did
	Spec     Spec       `json:"spec"`                                                      // the request with every default filled in; can be posted again
	Hosts    []string   `json:"hosts"`                                                     // the hosts that measure; empty while none was found
	Created  time.Time  `json:"created" format:"date-time"`
	Started  *time.Time `json:"started" format:"date-time" extensions:"x-nullable"`
	Finished *time.Time `json:"finished" format:"date-time" extensions:"x-nullable"`
	Progress Progress   `json:"progress"`
	Trials   []Trial    `json:"trials,omitempty"` // left out in a list of runs
}

// Progress is how far a run is.
type Progress struct {
	Done    int       `json:"done"`                                                             // trials in a final state
	Total   int       `json:"total"`                                                            // trials
	Percent float64   `json:"percent" example:"41.5"`                                           // of the estimated time, 0 to 100
	ETA     *Duration `json:"eta" swaggertype:"string" example:"1m12s" extensions:"x-nullable"` // estimated time left; null while queued, at the end, and with slices of operations or a ramp to come
}

// A Trial is one case on one host within a run, as the run shows it. The measured figures
// are in the run's result.
type Trial struct {
	ID       string         `json:"id"`
	Host     string         `json:"host"` // empty while none was found
	Kernel   string         `json:"kernel" example:"scimark.fft"`
	Params   kernels.Params `json:"params" swaggertype:"object"`
	Repeat   int            `json:"repeat"` // which of the case's trials on this host, counted from 1
	State    State          `json:"state" enums:"queued,running,canceling,succeeded,failed,canceled,lost"`
	Attempt  int            `json:"attempt"` // how often it was started
	Error    *TrialError    `json:"error" extensions:"x-nullable"`
	Started  *time.Time     `json:"started" format:"date-time" extensions:"x-nullable"`
	Finished *time.Time     `json:"finished" format:"date-time" extensions:"x-nullable"`
	Phase    *Phase         `json:"phase,omitempty"` // what it does now, while it runs
}

// Case returns the trial's case.
func (t Trial) Case() Case { return Case{Kernel: t.Kernel, Params: t.Params} }

// A TrialError says why a trial has no result.
type TrialError struct {
	Code    string `json:"code" example:"open_failed"`
	Message string `json:"message"` // a sentence
}

// A Phase is what a running trial does now.
type Phase struct {
	Name    string   `json:"name" enums:"wait,open,warmup,measure"`
	Fork    int      `json:"fork"` // counted from 1
	Forks   int      `json:"forks"`
	Slice   int      `json:"slice"` // slices done in this fork's phase
	Slices  int      `json:"slices"`
	Percent float64  `json:"percent"`                       // of the trial's estimated time
	Value   *float64 `json:"value" extensions:"x-nullable"` // the last sample, in the unit of the score
}

// ComputeProgress works out a run's progress from its trials. Hosts measure side by side,
// trials on one host one after another, so the time left is that of the busiest host. It is
// not known while a trial is left whose time its plan does not tell.
func ComputeProgress(spec Spec, trials []Trial) Progress {
	p := Progress{Total: len(trials)}
	left := make(map[string]time.Duration)
	planOf := spec.Plans()
	started, timed := false, true
	var done float64
	for _, t := range trials {
		plan := planOf(t.Case())
		one := plan.TrialTime()
		timed = timed && (plan.Timed() || t.State.Final())
		switch {
		case t.State.Final():
			p.Done++
			done++
			started = true
		case t.Phase != nil:
			part := min(t.Phase.Percent/100, 1)
			done += part
			left[t.Host] += time.Duration((1 - part) * float64(one))
			started = true
		default:
			left[t.Host] += one
			started = started || t.State != Queued
		}
	}
	if p.Total > 0 {
		p.Percent = float64(int(1000*done/float64(p.Total))) / 10
	}
	if started && timed && p.Done < p.Total {
		var eta time.Duration
		for _, d := range left {
			eta = max(eta, d)
		}
		d := Duration(eta.Round(time.Second))
		p.ETA = &d
	}
	return p
}
