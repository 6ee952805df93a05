package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchd/kernels/catalog"
	"benchd/worker/bench"
)

// requestFlags make a request of names, or change the one of a file.
type requestFlags struct {
	What  []string          `arg:"" name:"what" help:"A suite (${suites}), kernels or families (scimark soap.echo), or a request file (- for standard input)."`
	Param map[string]string `short:"p" help:"A parameter of the kernels named, or several values for a matrix; of a suite only the cases with these." placeholder:"NAME=VALUE[,VALUE]" mapsep:"none"`
	planFlags
	Repeat *int              `help:"Trials of each case: their differences are the noise." placeholder:"N"`
	Tag    map[string]string `short:"t" help:"A label of the run, to find it by." placeholder:"NAME=VALUE" mapsep:"none"`
}

// planFlags change how is measured. What is not given is left to the suite or the service.
type planFlags struct {
	Forks       *int           `help:"Fresh processes for each trial; the least of them with --target-error." placeholder:"N"`
	Warmup      *string        `help:"Warm-up of each fork, or auto to let the samples decide." placeholder:"auto|TIME"`
	Slices      *int           `help:"Samples of each fork." placeholder:"N"`
	Slice       *time.Duration `help:"Measuring time of one sample." placeholder:"TIME"`
	Operations  *int           `help:"A slice is so many operations of each lane instead of a time." placeholder:"N"`
	Ramp        *int           `help:"Begin the lanes so many at a time; each step has its own slices." placeholder:"LANES"`
	TargetError *percent       `help:"Add forks until the half-width of the score's interval is this part of it." placeholder:"PERCENT"`
	Confidence  *percent       `help:"Level of the intervals." placeholder:"PERCENT"`
	Interval    *string        `help:"bootstrap: median, resampled by forks and slices; pooled_t: mean, as JMH." placeholder:"KIND"`
	Order       *string        `help:"sequential, or interleaved: one fork of each trial in turn." placeholder:"ORDER"`
	Pin         *string        `help:"CPUs of the processes: free, one, or the client's and the server's such as 0/1." placeholder:"CPUS"`
	Awake       *bool          `help:"Keep the CPUs from halting while measuring." negatable:""`
	Limit       *time.Duration `help:"Longest time of a trial." placeholder:"TIME"`
}

// A percent is a part of one that a person writes as "2%" or "0.02".
type percent float64

// UnmarshalText reads either form.
func (p *percent) UnmarshalText(b []byte) error {
	text, per := strings.CutSuffix(string(b), "%")
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("is written like 2%% or 0.02, not %q", b)
	}
	if per {
		v /= 100
	}
	*p = percent(v)
	return nil
}

// A request is a Spec as it is sent: only the fields that were given, so that the service
// fills in the rest.
type request map[string]any

// build makes the body of POST /v1/runs. The text of a file that is to be changed in nothing
// is passed on as it is, faults included: the service says best what is wrong with it.
func (f requestFlags) build(in io.Reader) ([]byte, error) {
	text, named, err := f.read(in)
	if err != nil {
		return nil, err
	}
	if named == nil && len(f.Param) > 0 {
		return nil, exitError{exitUsage, fmt.Errorf("-p changes no request file; write the parameters into %s", f.What[0])}
	}
	changes := f.changes(named)
	if named == nil && len(changes) == 0 && f.Repeat == nil {
		return text, nil
	}
	req := request{}
	if named == nil {
		if err := json.Unmarshal(text, &req); err != nil {
			return nil, exitError{exitUsage, fmt.Errorf("read %s: %w", f.What[0], err)}
		}
		if req == nil { // of a file that says null
			req = request{}
		}
	}
	for _, key := range []string{"plan", "labels"} {
		if err := req.merge(key, changes[key]); err != nil {
			return nil, err
		}
	}
	for key, v := range named {
		req[key] = v
	}
	set(req, "repeat", f.Repeat)
	return json.Marshal(req)
}

// read returns the text of a file, or the request that the names stand for.
func (f requestFlags) read(in io.Reader) ([]byte, request, error) {
	if len(f.What) == 1 {
		what := f.What[0]
		if what == "-" {
			text, err := readAll(in)
			return text, nil, err
		}
		text, err := readFile(what)
		if err == nil {
			return text, nil, nil
		}
		var exit exitError
		if errors.As(err, &exit) {
			return nil, nil, err
		}
		if strings.HasSuffix(what, ".json") || !errors.Is(err, os.ErrNotExist) && !f.known(what) {
			return nil, nil, exitError{exitUsage, fmt.Errorf("read the request file: %w", err)}
		}
	}
	return nil, f.named(), nil
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := readAll(f)
	return text, errors.Join(err, f.Close())
}

// readAll reads a request, as much of it as a service would take.
func readAll(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, bench.MaxBody+1))
	if err == nil && len(text) > bench.MaxBody {
		err = exitError{exitUsage, fmt.Errorf("the request is over %d bytes, the most that is taken", bench.MaxBody)}
	}
	return text, err
}

// known tells whether a name is a suite or a kernel, even where a folder has it too.
func (f requestFlags) known(name string) bool {
	if isSuite(name) {
		return true
	}
	for _, family := range catalog.Families() {
		if family.Name == name {
			return true
		}
	}
	return slices.Contains(bench.NewCatalog(catalog.Families()).Names(), name)
}

// named is the request that names stand for.
func (f requestFlags) named() request {
	params := make(map[string]any)
	for name, values := range f.Param {
		params[name] = strings.Split(values, ",")
	}
	req := request{}
	var cases []any
	for _, name := range f.What {
		if isSuite(name) && req["suite"] == nil {
			req["suite"] = name
			if len(params) > 0 {
				req["params"] = params
			}
			continue
		}
		c := map[string]any{"kernel": name}
		if len(params) > 0 {
			c["params"] = params
		}
		cases = append(cases, c)
	}
	if len(cases) > 0 {
		req["cases"] = cases
	}
	return req
}

// shortPlan is the plan of kernels named on the command line: a figure with an interval
// within two seconds each.
func shortPlan() map[string]any {
	return map[string]any{"forks": 1, "warmup": "200ms", "slices": 10, "slice": "150ms"}
}

// changes are the fields that the flags set.
func (f requestFlags) changes(named request) map[string]map[string]any {
	plan := map[string]any{}
	if named != nil && named["suite"] == nil {
		plan = shortPlan()
	}
	set(plan, "forks", f.Forks)
	set(plan, "warmup", f.Warmup)
	set(plan, "slices", f.Slices)
	set(plan, "slice", (*bench.Duration)(f.Slice))
	set(plan, "operations", f.Operations)
	set(plan, "ramp", f.Ramp)
	set(plan, "target_error", f.TargetError)
	set(plan, "confidence", f.Confidence)
	set(plan, "interval", f.Interval)
	set(plan, "order", f.Order)
	set(plan, "pin", f.Pin)
	set(plan, "awake", f.Awake)
	set(plan, "limit", (*bench.Duration)(f.Limit))
	labels := map[string]any{}
	for name, v := range f.Tag {
		labels[name] = v
	}
	out := map[string]map[string]any{}
	if len(plan) > 0 {
		out["plan"] = plan
	}
	if len(labels) > 0 {
		out["labels"] = labels
	}
	return out
}

func set[T any](m map[string]any, name string, v *T) {
	if v != nil {
		m[name] = *v
	}
}

// merge sets the members of an object of the request, making it when it is not there.
func (r request) merge(key string, changes map[string]any) error {
	if len(changes) == 0 {
		return nil
	}
	object, ok := r[key].(map[string]any)
	if r[key] != nil && !ok {
		return exitError{exitUsage, fmt.Errorf("the request's %q is not an object", key)}
	}
	if object == nil {
		object = map[string]any{}
	}
	for name, v := range changes {
		object[name] = v
	}
	r[key] = object
	return nil
}
