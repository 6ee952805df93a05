package bench

import (
	"time"

	"benchd/kernels"
)

// A Result is all that a run measured. It is available once the run is final.
type Result struct {
	ID         string                  `json:"id"`
	State      State                   `json:"state" enums:"succeeded,failed,canceled,lost"`
	Schema     int                     `json:"schema" example:"1"` // version of this shape
	Spec       Spec                    `json:"spec"`
	Created    time.Time               `json:"created" format:"date-time"`
	Started    *time.Time              `json:"started" format:"date-time" extensions:"x-nullable"`
	Finished   *time.Time              `json:"finished" format:"date-time" extensions:"x-nullable"`
	Hosts      map[string]HostSnapshot `json:"hosts"` // by name: what was measured on
	Trials     []TrialResult           `json:"trials"`
	Composites []Composite             `json:"composites"`
}

// A TrialResult is what one trial measured.
type TrialResult struct {
	ID       string         `json:"id"`
	Host     string         `json:"host"`
	Kernel   string         `json:"kernel" example:"soap.echo"`
	Params   kernels.Params `json:"params" swaggertype:"object"`
	Repeat   int            `json:"repeat"` // which of the case's trials on this host, counted from 1
	State    State          `json:"state" enums:"succeeded,failed,canceled,lost"`
	Attempt  int            `json:"attempt"` // the attempt that this result is of
	Error    *TrialError    `json:"error" extensions:"x-nullable"`
	Started  *time.Time     `json:"started" format:"date-time" extensions:"x-nullable"`
	Finished *time.Time     `json:"finished" format:"date-time" extensions:"x-nullable"`
	Score    *Score         `json:"score" extensions:"x-nullable"` // the headline figure; null when nothing was measured
	Metrics  []Score        `json:"metrics"`                       // further figures
	// Latency is that of single operations, null where they are timed in batches. At a rate it
	// counts from each operation's scheduled start, so that a stall is charged for all it delayed.
	Latency *Latency `json:"latency" extensions:"x-nullable"`
	// ServiceTime is the latency at a rate from each operation's own start, without the time it
	// waited for the one before; null without a rate, where the two are the same.
	ServiceTime *Latency `json:"service_time" extensions:"x-nullable"`
	// StartLateness is how late the generator began, at a rate, those operations that waited for
	// nothing but their time: it is part of latency, and the generator's own. Null without a rate.
	StartLateness *Latency `json:"start_lateness" extensions:"x-nullable"`
	// WithWarmup are the figures with what was kept apart as warm-up; null when nothing was, and
	// of a ramp.
	WithWarmup *WithWarmup `json:"with_warmup" extensions:"x-nullable"`
	// Series are the figures at each step of a ramp; null without one.
	Series    *Series    `json:"series" extensions:"x-nullable"`
	Steady    Steadiness `json:"steady"`
	Precision *Precision `json:"precision" extensions:"x-nullable"` // how the plan's target_error was met; null without one
	Placement Placement  `json:"placement"`
	Forks     []Fork     `json:"forks"`
	Failures  *Failures  `json:"failures" extensions:"x-nullable"` // operations that failed; null when none did
	Validity  Validity   `json:"validity"`
	// OfFloor tells the score as a part of that of the same bytes over a bare connection; null
	// for kernels without such a floor, and for the floor itself. The service works it out when it
	// shows a result.
	OfFloor *OfFloor `json:"of_floor" extensions:"x-nullable"`
	// Settings are what was set at the other side, in the words of its manual: the
	// acknowledgement, the durability, the version of a broker; null where nothing is told.
	Settings map[string]string `json:"settings" extensions:"x-nullable"`
	// Standing tells where the score would stand among published figures that mean the same;
	// null when there are none. The service works it out when it shows a result.
	Standing *Standing `json:"standing" extensions:"x-nullable"`
}

// Case returns the trial's case.
func (t TrialResult) Case() Case { return Case{Kernel: t.Kernel, Params: t.Params} }

// A Score is a figure with its unit, its interval and the number of samples behind it.
type Score struct {
	Metric     string   `json:"metric" example:"throughput"`
	Unit       string   `json:"unit" example:"call/s"`
	Better     string   `json:"better" enums:"higher,lower"`
	Value      *float64 `json:"value" extensions:"x-nullable"` // the median of the samples
	Low        *float64 `json:"low" extensions:"x-nullable"`   // bounds of the interval for the value
	High       *float64 `json:"high" extensions:"x-nullable"`
	Confidence float64  `json:"confidence" example:"0.95"` // level of the interval
	N          int      `json:"n"`                         // samples behind the value
	Reason     string   `json:"reason,omitempty"`          // why a value or a bound is null
	Note       string   `json:"note,omitempty"`            // what a reader of the interval must know
}

// Latency summarises the times of single operations, in nanoseconds, from an HDR histogram
// with three significant digits merged over all forks and lanes.
type Latency struct {
	Unit        string           `json:"unit" example:"ns"`
	Count       int64            `json:"count"`
	Min         int64            `json:"min"`
	Mean        float64          `json:"mean"`
	Max         int64            `json:"max"`
	Percentiles map[string]int64 `json:"percentiles"`  // "50", "90", "99", "99.9" …: no value above max or below min
	OutOfRange  int64            `json:"out_of_range"` // operations beyond the histogram's hour, counted at its end
	HDR         string           `json:"hdr"`          // the histogram, HdrHistogram V2 compressed, base64
}

// WithWarmup are figures of all slices and operations, the warm-up's among them.
type WithWarmup struct {
	Score       Score    `json:"score"`
	Latency     *Latency `json:"latency" extensions:"x-nullable"`
	ServiceTime *Latency `json:"service_time" extensions:"x-nullable"`
}

// A Fork is what one fresh process measured.
type Fork struct {
	Began    time.Time `json:"began" format:"date-time"` // when its first operation began
	Samples  []float64 `json:"samples"`                  // one per slice, in the unit of the score; of a ramp those of all steps
	Slices   []Slice   `json:"slices"`                   // what lies behind each sample
	Warmup   Warmup    `json:"warmup"`
	Steady   *Steady   `json:"steady" swaggertype:"string" enums:"flat,warmup,slowdown,none" extensions:"x-nullable"` // class of its series; null when it is too short to tell
	CPU      CPU       `json:"cpu"`
	Noise    *Noise    `json:"noise" extensions:"x-nullable"` // what else the host did meanwhile; null when it was not watched
	Usage    Usage     `json:"usage"`
	Server   *Usage    `json:"server_usage" extensions:"x-nullable"` // of the server child; null when the kernel has none
	Failures *Failures `json:"failures" extensions:"x-nullable"`
}

// Warmup is what was run before measuring, or with warm-up "auto" before the series was
// steady. It is kept apart and is not part of the score.
type Warmup struct {
	Slices     int       `json:"slices"`
	Operations int64     `json:"operations"`
	Samples    []float64 `json:"samples"`
}

// A Slice is one equal piece of measuring: of time, or of a number of operations.
type Slice struct {
	Lanes      int    `json:"lanes"`
	Operations int64  `json:"operations"`
	Elapsed    int64  `json:"elapsed_ns"` // mean over the lanes
	Client     int64  `json:"client_cpu_ns"`
	Server     *int64 `json:"server_cpu_ns" extensions:"x-nullable"` // null without a server child, or where the platform does not tell
	System     *int64 `json:"system_cpu_ns" extensions:"x-nullable"` // busy time of all CPUs of the host; null where the platform does not tell
	GC         int    `json:"gc"`                                    // garbage collections of the client
}

// CPU is how busy the processors were while a fork was measured.
type CPU struct {
	Client *float64 `json:"client" extensions:"x-nullable"` // cores used by the measuring process: CPU seconds per second
	Server *float64 `json:"server" extensions:"x-nullable"` // cores used by the server child
	System *float64 `json:"system" extensions:"x-nullable"` // share of all CPUs of the host that was busy, 0 to 1
	Reason string   `json:"reason,omitempty"`               // why a figure is null
}

// Usage is what a process used from its start to its end.
type Usage struct {
	User   float64 `json:"user_s"`
	System float64 `json:"system_s"`
	MaxRSS *int64  `json:"max_rss_bytes" extensions:"x-nullable"` // peak resident memory; null where the platform does not tell
}

// Failures counts the operations that failed.
type Failures struct {
	Count   int64            `json:"count"`
	Classes map[string]int64 `json:"classes"` // by class: "timeout", "refused", "reset", "fault", "mismatch", "other"
	Sample  string           `json:"sample"`  // the first failure's text
}

// Validity says whether the figures can be believed.
type Validity struct {
	Valid   bool     `json:"valid"`
	Reasons []string `json:"reasons"` // each "code: a sentence"; of a valid trial only what is worth knowing
}

// A Composite is one figure for several kernels of a run on one host.
type Composite struct {
	Name     string         `json:"name" example:"scimark"`
	Host     string         `json:"host"`
	Params   kernels.Params `json:"params" swaggertype:"object"`
	Members  []string       `json:"members"`                          // the kernels it is the arithmetic mean of
	Standing *Standing      `json:"standing" extensions:"x-nullable"` // among published figures that mean the same; null when there are none
	Score
}
