package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"benchd/kernels/catalog"
	"benchd/worker/bench"
)

// requestFlags make a request of names, or change the one of a file.
type requestFlags struct {
	What   []string          `arg:"" name:"what" help:"A suite (quick, full), kernels or families (scimark soap.echo), or a request file (- for standard input)."`
	Param  map[string]string `short:"p" help:"A parameter of the kernels named, or several values for a matrix." placeholder:"NAME=VALUE[,VALUE]" mapsep:"none"`
	Forks  *int              `help:"Fresh processes for each trial." placeholder:"N"`
	Warmup *time.Duration    `help:"Warm-up of each fork." placeholder:"TIME"`
	Slices *int              `help:"Samples of each fork." placeholder:"N"`
	Slice  *time.Duration    `help:"Measuring time of one sample." placeholder:"TIME"`
	Limit  *time.Duration    `help:"Longest time of a trial." placeholder:"TIME"`
	Tag    map[string]string `short:"t" help:"A label of the run, to find it by." placeholder:"NAME=VALUE" mapsep:"none"`
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
	changes := f.changes(named)
	if named == nil && len(changes) == 0 {
		return text, nil
	}
	req := request{}
	if named == nil {
		if err := json.Unmarshal(text, &req); err != nil {
			return nil, exitError{exitUsage, fmt.Errorf("read %s: %w", f.What[0], err)}
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

func isSuite(name string) bool {
	return slices.ContainsFunc(bench.Suites(), func(s bench.Suite) bool { return s.Name == name })
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
	set(plan, "slices", f.Slices)
	setDuration(plan, "warmup", f.Warmup)
	setDuration(plan, "slice", f.Slice)
	setDuration(plan, "limit", f.Limit)
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

func set(m map[string]any, name string, v *int) {
	if v != nil {
		m[name] = *v
	}
}

func setDuration(m map[string]any, name string, v *time.Duration) {
	if v != nil {
		m[name] = bench.Duration(*v)
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
