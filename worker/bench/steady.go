package bench

// Steady is the class of a series of samples of one fork, or of all forks of a trial (Barrett
// et al., Virtual machine warmup blows hot and cold, OOPSLA 2017, section 4).
type Steady string

// The classes.
const (
	Flat         Steady = "flat"         // one level from the first slice on
	WarmedUp     Steady = "warmup"       // slower at first, then one level
	SlowedDown   Steady = "slowdown"     // one level at the end, slower than one before
	NeverSteady  Steady = "none"         // no steady part: the last change lies in the second half
	Inconsistent Steady = "inconsistent" // of a trial: its forks differ in class
)

// Steadiness tells whether a trial's series were steady, and after how much work.
type Steadiness struct {
	Class      *Steady  `json:"class" swaggertype:"string" enums:"flat,warmup,slowdown,none,inconsistent" extensions:"x-nullable"`
	Slices     *float64 `json:"slices" extensions:"x-nullable"`     // until steady, median over the forks; null when a fork never was
	Operations *float64 `json:"operations" extensions:"x-nullable"` // until steady, median over the forks
	Reason     string   `json:"reason,omitempty"`                   // why a figure is null
}

// Precision tells how a plan's target_error was met.
type Precision struct {
	Target  float64  `json:"target"`                          // asked: half-width of the score's interval over its value
	Reached *float64 `json:"reached" extensions:"x-nullable"` // null while there is no interval
	Met     bool     `json:"met"`
	Reason  string   `json:"reason"` // a sentence: why no further fork was measured
}

// Noise is what else the host did while a fork was measured. What the machine does not tell
// is null, and Unknown says why.
type Noise struct {
	Elapsed         float64  `json:"elapsed_s"`                                // watched time
	Steal           *float64 `json:"steal" extensions:"x-nullable"`            // share of all CPU time that the hypervisor gave to others, 0 to 1
	Others          *float64 `json:"others" extensions:"x-nullable"`           // cores used by other processes
	PressureCPU     *float64 `json:"pressure_cpu" extensions:"x-nullable"`     // share of the time in which a task waited for a CPU (PSI, some)
	PressureMemory  *float64 `json:"pressure_memory" extensions:"x-nullable"`  // for memory
	PressureIO      *float64 `json:"pressure_io" extensions:"x-nullable"`      // for input or output
	MHzLow          *float64 `json:"mhz_low" extensions:"x-nullable"`          // lowest and highest clock of any CPU seen
	MHzHigh         *float64 `json:"mhz_high" extensions:"x-nullable"`         //
	ClockDrop       *float64 `json:"clock_drop" extensions:"x-nullable"`       // how far the fastest CPU's clock fell below its highest, 0 to 1; 0.1 is 10 %
	Throttled       *float64 `json:"throttled_s" extensions:"x-nullable"`      // seconds that the cgroup's CPU limit held back its tasks
	ThermalEvents   *int64   `json:"thermal_events" extensions:"x-nullable"`   // times that a core slowed down for its temperature
	Swapped         *int64   `json:"swapped_pages" extensions:"x-nullable"`    // pages swapped in or out
	ContextSwitches *float64 `json:"context_switches" extensions:"x-nullable"` // per second, whole host
	Interrupts      *float64 `json:"interrupts" extensions:"x-nullable"`       // per second, whole host
	Load1           *float64 `json:"load1" extensions:"x-nullable"`            // load average at the end
	// Unknown says why a reading is null, by its name in JSON.
	Unknown map[string]string `json:"unknown,omitempty"`
}
