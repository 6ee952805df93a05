package bench

import (
	"encoding/json"
	"fmt"
	"time"
)

// A Plan says how a trial is measured.
type Plan struct {
	Forks       int        `json:"forks" example:"3" minimum:"1" maximum:"100"`              // fresh processes; the least of them with a target_error
	Warmup      WarmupTime `json:"warmup" swaggertype:"string" example:"auto"`               // "auto", or how long is run before measuring in each fork; kept apart
	Slices      int        `json:"slices" example:"10" minimum:"1" maximum:"1000"`           // samples of each fork; with warm-up "auto" at least 30, the warm-up's among them
	Slice       Duration   `json:"slice" swaggertype:"string" example:"500ms"`               // measuring time of one sample
	Operations  int        `json:"operations" example:"0" minimum:"0" maximum:"10000000"`    // a slice is so many operations of each lane instead of a time; 0 means a time
	Ramp        int        `json:"ramp" example:"0" minimum:"0" maximum:"10000"`             // the lanes begin so many at a time, each step of its own number of slices; 0 means all at once
	TargetError *float64   `json:"target_error" example:"0.02" extensions:"x-nullable"`      // forks are added until the half-width of the score's interval is this part of its value, or the limit is near; null for none
	Confidence  float64    `json:"confidence" example:"0.95" minimum:"0.5" maximum:"0.9999"` // level of the intervals
	Interval    Interval   `json:"interval" enums:"bootstrap,pooled_t" example:"bootstrap"`  // how value and interval are made of the samples
	Order       Sequence   `json:"order" enums:"sequential,interleaved" example:"sequential"`
	Pin         string     `json:"pin" example:"free"`                      // where processes run: "free", "one" (all on one CPU), or CPUs of the client and, after a slash, of the server: "0", "0/1", "0-1/2,3"
	Awake       bool       `json:"awake"`                                   // keep the CPUs from halting while a trial runs
	Limit       Duration   `json:"limit" swaggertype:"string" example:"5m"` // a trial that takes longer fails
}

// An Interval names the way in which value and interval are made of the samples.
type Interval string

// The intervals: the median with a bootstrap over forks and their slices, or the mean of
// all samples with Student's t as JMH prints it, which takes slices for independent.
const (
	Bootstrap Interval = "bootstrap"
	PooledT   Interval = "pooled_t"
)

// A Sequence says in which order the forks of a run's trials on one host are measured.
type Sequence string

// The sequences: all forks of a trial before the next trial (A A B B), or one fork of each
// trial in turn (A B A B), which keeps a slow drift of the host out of comparisons.
const (
	Sequential  Sequence = "sequential"
	Interleaved Sequence = "interleaved"
)

// Where a plan puts processes when it does not name CPUs.
const (
	PinFree = "free" // wherever the system puts them
	PinOne  = "one"  // client and server on one and the same CPU
)

// WarmupTime is the length of a warm-up, or WarmupAuto. JSON shows it as "1s" or "auto".
type WarmupTime Duration

// WarmupAuto leaves the warm-up's length to the samples: the steady part of a fork begins
// after the last change of their mean or variance.
const WarmupAuto WarmupTime = -1

// Auto tells whether the samples decide.
func (w WarmupTime) Auto() bool { return w == WarmupAuto }

// String writes "auto" or the time.
func (w WarmupTime) String() string {
	if w.Auto() {
		return "auto"
	}
	return Duration(w).String()
}

// MarshalJSON writes the string form.
func (w WarmupTime) MarshalJSON() ([]byte, error) { return json.Marshal(w.String()) }

// UnmarshalJSON reads "auto", "30s" or nanoseconds.
func (w *WarmupTime) UnmarshalJSON(b []byte) error {
	if string(b) == `"auto"` {
		*w = WarmupAuto
		return nil
	}
	var d Duration
	err := d.UnmarshalJSON(b)
	*w = WarmupTime(d)
	return err
}

// MinAutoSlices is the least number of slices in which a change can be told from noise.
const MinAutoSlices = 30

// DefaultPlan is the plan of a request that does not say.
func DefaultPlan() Plan {
	return Plan{
		Forks: 3, Warmup: WarmupAuto, Slices: 30, Slice: Duration(200 * time.Millisecond),
		Confidence: 0.95, Interval: Bootstrap, Order: Sequential, Pin: PinFree, Limit: Duration(5 * time.Minute),
	}
}

// DefaultTimeout is the Timeout of a request that does not say.
const DefaultTimeout = Duration(2 * time.Hour)

// ForkTime is what one fork takes: warm-up and slices.
func (p Plan) ForkTime() time.Duration {
	warm := time.Duration(max(0, p.Warmup))
	return warm + time.Duration(p.MeasuredSlices())*p.Slice.Std()
}

// WarmupSlices is the fixed warm-up's length in slices, rounded up: 0 when the samples decide.
func (p Plan) WarmupSlices() int {
	if p.Warmup.Auto() {
		return 0
	}
	return int((Duration(p.Warmup) + p.Slice - 1) / p.Slice)
}

// MeasuredSlices is the number of slices of a fork after its fixed warm-up.
func (p Plan) MeasuredSlices() int {
	if p.Warmup.Auto() {
		return max(p.Slices, MinAutoSlices)
	}
	return p.Slices
}

// forkOverhead is what starting, checking and calibrating one fork takes, for estimates.
const forkOverhead = 300 * time.Millisecond

// OneFork estimates what a fork takes, its start included.
func (p Plan) OneFork() time.Duration { return p.ForkTime() + forkOverhead }

// TrialTime estimates what a whole trial takes with the least number of forks, if its plan is
// Timed.
func (p Plan) TrialTime() time.Duration { return time.Duration(p.Forks) * p.OneFork() }

func (d *decoder) plan(n node) Plan {
	var p Plan
	read := make(map[string]func(node))
	for name, f := range planFields() {
		read[name] = func(c node) { f(d, c, &p) }
	}
	d.object(n, read)
	return p
}

// planFields are the readers of a plan's fields, by name.
func planFields() map[string]func(*decoder, node, *Plan) {
	return map[string]func(*decoder, node, *Plan){
		"forks":      func(d *decoder, c node, p *Plan) { p.Forks = d.integer(c, 1, maxForks) },
		"warmup":     func(d *decoder, c node, p *Plan) { p.Warmup = d.warmup(c) },
		"slices":     func(d *decoder, c node, p *Plan) { p.Slices = d.integer(c, 1, maxSlices) },
		"slice":      func(d *decoder, c node, p *Plan) { p.Slice = d.duration(c) },
		"operations": func(d *decoder, c node, p *Plan) { p.Operations = d.integer(c, 0, maxOperations) },
		"ramp":       func(d *decoder, c node, p *Plan) { p.Ramp = d.integer(c, 0, maxRamp) },
		"target_error": func(d *decoder, c node, p *Plan) {
			if c.value != nil {
				p.TargetError = new(d.number(c))
			}
		},
		"confidence": func(d *decoder, c node, p *Plan) { p.Confidence = d.number(c) },
		"interval":   func(d *decoder, c node, p *Plan) { p.Interval = Interval(d.text(c)) },
		"order":      func(d *decoder, c node, p *Plan) { p.Order = Sequence(d.text(c)) },
		"pin":        func(d *decoder, c node, p *Plan) { p.Pin = d.text(c) },
		"awake":      func(d *decoder, c node, p *Plan) { p.Awake = d.truth(c) },
		"limit":      func(d *decoder, c node, p *Plan) { p.Limit = d.duration(c) },
	}
}

func (d *decoder) warmup(n node) WarmupTime {
	if n.value == "auto" {
		return WarmupAuto
	}
	errs := len(d.errs)
	w := d.duration(n)
	if len(d.errs) > errs {
		d.errs[errs].Message = fmt.Sprintf("must be \"auto\", a duration like \"30s\" or whole nanoseconds, not %s", describe(n.value))
	} else if w < 0 {
		d.fail(n, "out_of_range", "must be \"auto\" or a duration that is not negative, not %s", w)
		w = 0
	}
	return WarmupTime(w)
}

// plan fills the fields that the request left out from the suite's plan, or the default, and
// checks the whole.
func (r *resolver) plan(p Plan, suite *Suite) Plan {
	base := DefaultPlan()
	if suite != nil {
		base = suite.Plan
	}
	base.Limit = min(base.Limit, r.limits.TrialTime)
	if p.Ramp > 0 || base.Ramp > 0 && !r.present["/plan/ramp"] {
		base = rampPlan(base)
	}
	keep := func(field string, fill func()) {
		if !r.present["/plan/"+field] {
			fill()
		}
	}
	keep("forks", func() { p.Forks = base.Forks })
	keep("warmup", func() { p.Warmup = base.Warmup })
	keep("slices", func() { p.Slices = base.Slices })
	keep("slice", func() { p.Slice = base.Slice })
	keep("operations", func() {
		if p.Operations = base.Operations; r.present["/plan/slice"] {
			p.Operations = 0 // whoever says how long a slice is has slices of a time
		}
	})
	keep("ramp", func() { p.Ramp = base.Ramp })
	keep("target_error", func() { p.TargetError = base.TargetError })
	keep("confidence", func() { p.Confidence = base.Confidence })
	keep("interval", func() { p.Interval = base.Interval })
	keep("order", func() { p.Order = base.Order })
	keep("pin", func() { p.Pin = base.Pin })
	keep("awake", func() { p.Awake = base.Awake })
	keep("limit", func() { p.Limit = base.Limit })
	r.checkPlan(p)
	p.Pin = r.pin(p)
	return p
}

func (r *resolver) checkPlan(p Plan) {
	between(r, "/plan/forks", p.Forks, 1, maxForks)
	between(r, "/plan/slices", p.Slices, 1, maxSlices)
	if !p.Warmup.Auto() {
		between(r, "/plan/warmup", Duration(p.Warmup), 0, Duration(10*time.Minute))
	}
	between(r, "/plan/slice", p.Slice, Duration(10*time.Millisecond), Duration(10*time.Minute))
	between(r, "/plan/operations", p.Operations, 0, maxOperations)
	between(r, "/plan/ramp", p.Ramp, 0, maxRamp)
	if p.TargetError != nil {
		between(r, "/plan/target_error", *p.TargetError, 0.0001, 1)
	}
	between(r, "/plan/confidence", p.Confidence, 0.5, 0.9999)
	oneOf(r, "/plan/interval", p.Interval, Bootstrap, PooledT)
	oneOf(r, "/plan/order", p.Order, Sequential, Interleaved)
	between(r, "/plan/limit", p.Limit, Duration(time.Second), r.limits.TrialTime)
	r.checkRamp(p)
}

func between[T int | Duration | float64](r *resolver, ptr string, v, low, high T) {
	if v < low || v > high {
		r.fail(node{ptr: ptr}, "out_of_range", "must be from %v to %v, not %v", low, high, v)
	}
}

func oneOf[T ~string](r *resolver, ptr string, v T, allowed ...T) {
	names := make([]string, len(allowed))
	for i, a := range allowed {
		if v == a {
			return
		}
		names[i] = string(a)
	}
	r.refuse(ptr, "unknown_value", names, "must be %s, not %q", orList(names), clip(string(v)))
}
