package bench

// Ramp is the kind of a Series whose steps have more and more lanes.
const Ramp = "ramp"

// A Series is what a trial's figures were at each step of something that was changed between
// them.
type Series struct {
	Kind  string `json:"kind" enums:"ramp" example:"ramp"` // what was changed: "ramp", the number of lanes
	Steps []Step `json:"steps"`                            // in the order in which they were measured; those of several forks are put together
	// Stops is where more lanes do no more: the number of lanes of the first step that no later
	// one beats for sure. A step beats an earlier one for sure if its throughput is higher by
	// more than 5 % and the intervals of the two do not meet.
	Stops  *int   `json:"stops_rising_at" example:"4" extensions:"x-nullable"`
	Scored int    `json:"scored_at" example:"4"` // lanes of the step that the trial's score is of: where it stops rising, or the highest
	Reason string `json:"reason,omitempty"`      // why it is not known where the throughput stops rising
}

// A Step is what was measured at one number of lanes, over all forks.
type Step struct {
	Lanes      int          `json:"lanes"`
	Throughput Score        `json:"throughput"`
	CPU        CPU          `json:"cpu"`                             // mean over the forks
	Latency    *StepLatency `json:"latency" extensions:"x-nullable"` // null where operations are timed in batches
	Failures   int64        `json:"failures"`                        // operations that failed
}

// A StepLatency sums up the times of a step's operations, in nanoseconds.
type StepLatency struct {
	Count int64 `json:"count"`
	P50   int64 `json:"p50"`
	P99   int64 `json:"p99"`
	Max   int64 `json:"max"`
}

// SamplesAt gives the samples of the slices with a number of lanes; 0 means all.
func (f Fork) SamplesAt(lanes int) []float64 {
	if lanes == 0 {
		return f.Samples
	}
	var out []float64
	for i, s := range f.Slices {
		if s.Lanes == lanes && i < len(f.Samples) {
			out = append(out, f.Samples[i])
		}
	}
	return out
}

// Samples gives, by forks, the samples that the score is made of: all, or those of one step of
// a ramp.
func (t TrialResult) Samples() [][]float64 {
	lanes := 0
	if t.Series != nil {
		lanes = t.Series.Scored
	}
	out := make([][]float64, len(t.Forks))
	for i, f := range t.Forks {
		out[i] = f.SamplesAt(lanes)
	}
	return out
}
