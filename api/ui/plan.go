package ui

import (
	"encoding/json"
	"fmt"

	"benchd/api/export"
	"benchd/worker/bench"
)

// A shell is what shell.html is filled with.
type shell struct {
	Base    string   // the folder of the static files, relative to the page
	Modules []string // beside app.js
	Version string
	Plan    []planField
	Formats []export.Format
	States  string // every state, parted by spaces
	Final   string // the final ones
}

// A planField is one field of the form's plan.
type planField struct {
	Name, Label, Hint string
	// Kind is the JSON type of the value: a text, a number, a share (a number that may also be
	// written in percent, or "none"), or a bool.
	Kind    string
	Options []string // all values, where they can be listed
	Default string   // of a request that does not say
	Pointer string   // of the value in the request (RFC 6901)
}

// The kinds.
const (
	kindText   = "text"
	kindNumber = "number"
	kindShare  = "share"
	kindBool   = "bool"
)

// planFields lists the fields of a plan, and those of a request that go with it, with the
// defaults that the service fills in.
func planFields() ([]planField, error) {
	defaults, err := planDefaults()
	if err != nil {
		return nil, err
	}
	out := []planField{
		{Name: "forks", Label: "Forks", Kind: kindNumber, Hint: "fresh processes, 1 to 100; the least of them with a target error"},
		{Name: "warmup", Label: "Warm-up", Kind: kindText, Hint: "before measuring, in each fork: a time, or auto, until the samples are steady"},
		{Name: "slices", Label: "Slices", Kind: kindNumber, Hint: fmt.Sprintf("samples of each fork, 1 to 1000; with warm-up auto at least %d", bench.MinAutoSlices)},
		{Name: "slice", Label: "Slice", Kind: kindText, Hint: "measuring time of one sample"},
		{Name: "operations", Label: "Operations", Kind: kindNumber, Hint: "a slice is so many operations of each lane instead of a time; 0 for a time"},
		{Name: "ramp", Label: "Ramp", Kind: kindNumber, Hint: "the lanes begin so many at a time, each step with its own slices; 0 for all at once"},
		{Name: "target_error", Label: "Target error", Kind: kindShare, Hint: "forks are added until the score is known to ± this part, 2% or 0.02, or the limit is near; or none"},
		{Name: "confidence", Label: "Confidence", Kind: kindShare, Hint: "of the intervals, 0.5 to 0.9999, or in percent"},
		{Name: "interval", Label: "Interval", Kind: kindText, Hint: "median by bootstrap over forks and slices, or mean with Student’s t as JMH has it", Options: []string{string(bench.Bootstrap), string(bench.PooledT)}},
		{Name: "order", Label: "Order", Kind: kindText, Hint: "all forks of a trial first, or one of each trial in turn", Options: []string{string(bench.Sequential), string(bench.Interleaved)}},
		{Name: "pin", Label: "Pin", Kind: kindText, Hint: "CPUs of the processes: free, one (all on one), or client/server, like 0/1 or 0-1/2,3"},
		{Name: "awake", Label: "Awake", Kind: kindBool, Hint: "keep the CPUs from halting while a trial runs", Options: []string{"false", "true"}},
		{Name: "limit", Label: "Limit", Kind: kindText, Hint: "a trial that takes longer fails"},
		{Name: "repeat", Label: "Repeat", Kind: kindNumber, Hint: "trials of each case, 1 to 100: their differences are the noise", Pointer: "/repeat", Default: "1"},
		{Name: "timeout", Label: "Timeout", Kind: kindText, Hint: "of the whole run, from its first start", Pointer: "/timeout", Default: bench.DefaultTimeout.String()},
	}
	for i := range out {
		if f := &out[i]; f.Pointer == "" {
			f.Pointer, f.Default = "/plan/"+f.Name, defaults[f.Name]
		}
	}
	return out, nil
}

// planDefaults gives the fields of the default plan as a person writes them.
func planDefaults() (map[string]string, error) {
	b, err := json.Marshal(bench.DefaultPlan())
	if err != nil {
		return nil, err
	}
	var values map[string]any
	if err := json.Unmarshal(b, &values); err != nil {
		return nil, err
	}
	out := make(map[string]string, len(values))
	for name, v := range values {
		if out[name] = fmt.Sprint(v); v == nil {
			out[name] = "none"
		}
	}
	return out, nil
}
