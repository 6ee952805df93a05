package bench

import (
	"encoding/json"
	"time"

	"benchd/kernels"
)

// A Spec is a request for a run: the body of POST /v1/runs. The service fills in every
// default, so that the Spec in a run can be posted again as it is.
type Spec struct {
	Suite   string            `json:"suite,omitempty" example:"quick"`              // the name of a suite; suite or cases or both
	Params  Matrix            `json:"params,omitempty" swaggertype:"object"`        // narrows the suite: of each case that has such a parameter only these values
	Cases   []CaseSpec        `json:"cases,omitempty"`                              // kernels with their parameters
	Hosts   HostSelector      `json:"hosts"`                                        // which hosts measure; empty means any one host
	Plan    Plan              `json:"plan"`                                         // how long and how often is measured
	Repeat  int               `json:"repeat" example:"1" minimum:"1" maximum:"100"` // trials of each case: their differences are the noise
	Labels  map[string]string `json:"labels,omitempty"`                             // free words to find the run by
	Timeout Duration          `json:"timeout" swaggertype:"string" example:"2h"`    // how long the run may take from its first trial's start
}

// A CaseSpec asks for a kernel, or for all kernels of a family, with parameters. A list as
// a parameter's value makes a matrix: one trial for each combination.
type CaseSpec struct {
	Kernel     string `json:"kernel" example:"soap.echo"`                                                  // a kernel, or a family for all of its kernels
	Params     Matrix `json:"params,omitempty" swaggertype:"object"`                                       // by name: a value, or a list of values
	Operations *int   `json:"operations,omitempty" minimum:"0" maximum:"10000000" extensions:"x-nullable"` // the plan's operations, for these cases only; null to leave them to the plan
}

// Matrix holds the asked values of each parameter in canonical text.
type Matrix map[string][]string

// MarshalJSON writes a single value plainly and several as a list, sorted by name.
func (m Matrix) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, name := range sortedNames(m) {
		if i > 0 {
			b = append(b, ',')
		}
		text, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		b = append(append(b, text...), ':')
		b = appendValues(b, m[name])
	}
	return append(b, '}'), nil
}

func appendValues(b []byte, values []string) []byte {
	if len(values) == 1 {
		return kernels.AppendValue(b, values[0])
	}
	b = append(b, '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = kernels.AppendValue(b, v)
	}
	return append(b, ']')
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Matrix) UnmarshalJSON(b []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	*m = make(Matrix, len(raw))
	for name, r := range raw {
		var list []json.RawMessage
		if json.Unmarshal(r, &list) != nil {
			list = []json.RawMessage{r}
		}
		for _, item := range list {
			var s string
			if json.Unmarshal(item, &s) != nil {
				s = string(item)
			}
			(*m)[name] = append((*m)[name], s)
		}
	}
	return nil
}

// A HostSelector says on which hosts a run is measured. Names: every case on each of them.
// Labels: on one host that carries them all. Neither: on any one host.
type HostSelector struct {
	Names  []string          `json:"names,omitempty" example:"blue"`
	Labels map[string]string `json:"labels,omitempty"`
}

// A Case is a kernel with one concrete set of parameters.
type Case struct {
	Kernel string         `json:"kernel"`
	Params kernels.Params `json:"params"`
}

// Key names the case: kernel and sorted parameters. Two cases with the same key are the same.
func (c Case) Key() string {
	if s := c.Params.String(); s != "" {
		return c.Kernel + " " + s
	}
	return c.Kernel
}

// Limits are what a host allows a request to ask for.
type Limits struct {
	Clients   int      `json:"clients"`                         // lanes of a kernel with clients
	Threads   int      `json:"threads"`                         // lanes of a kernel with threads: the cores of the host
	TrialTime Duration `json:"trial_time" swaggertype:"string"` // the longest limit of a plan
	Bytes     int64    `json:"bytes"`                           // the largest size parameter
	CPUs      string   `json:"cpus,omitempty" example:"0-3"`    // that a plan may place processes on; "none" where the platform cannot place, left out where it is not known
}

// DefaultLimits are the limits of a host that was not told others.
func DefaultLimits(cores int) Limits {
	return Limits{Clients: 256, Threads: cores, TrialTime: Duration(time.Hour), Bytes: 64 << 20}
}
