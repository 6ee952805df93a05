package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"
)

// ParseSpec reads a request strictly: one JSON document, no unknown or repeated names,
// every value of its kind. Names of kernels and parameters are checked later, by
// Catalog.Resolve. Fields that the request leaves out stay at their zero value; present
// tells which of the plan's were there.
//
// The error is an *Error: Malformed when the text is not one JSON document, Invalid with a
// pointer for each bad field otherwise.
func ParseSpec(b []byte) (Spec, Present, error) {
	tree, err := readTree(b)
	if err != nil {
		return Spec{}, nil, err
	}
	d := &decoder{present: make(Present)}
	spec := d.spec(node{"", tree})
	return spec, d.present, invalid(d.errs)
}

// Present holds the JSON pointers of the fields that a request gave.
type Present map[string]bool

// readTree reads one JSON document into maps, slices, strings, json.Numbers and bools.
func readTree(b []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	tree, err := readValue(dec, "", 0)
	if err != nil {
		if AsError(err) != nil {
			return nil, err
		}
		return nil, notJSON(err, dec.InputOffset())
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, Errorf(Malformed, "not_json", "the request has more after its JSON document, at byte %d; send one document", dec.InputOffset())
	}
	return tree, nil
}

func notJSON(err error, at int64) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return Errorf(Malformed, "not_json", "the request ends in the middle of its JSON document, at byte %d", at)
	}
	return Errorf(Malformed, "not_json", "the request is not JSON: %v, near byte %d", err, at)
}

const maxDepth = 16

func readValue(dec *json.Decoder, ptr string, depth int) (any, error) {
	if depth > maxDepth {
		return nil, Errorf(Malformed, "not_json", "%s: nested more than %d deep", ptr, maxDepth)
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('{'):
		return readObject(dec, ptr, depth)
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := readValue(dec, fmt.Sprintf("%s/%d", ptr, len(list)), depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.Token()
		return list, err
	}
	return tok, nil
}

func readObject(dec *json.Decoder, ptr string, depth int) (any, error) {
	object := map[string]any{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := tok.(string)
		at := ptr + "/" + escape(name)
		if _, twice := object[name]; twice {
			return nil, Errorf(Malformed, "repeated_name", "%s: the name stands twice in its object", at)
		}
		if object[name], err = readValue(dec, at, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := dec.Token()
	return object, err
}

// escape writes a name as a token of a JSON pointer (RFC 6901, section 3).
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// A node is a value of the request with its place.
type node struct {
	ptr   string
	value any
}

func (n node) child(name string, v any) node { return node{n.ptr + "/" + escape(name), v} }

// A decoder walks the tree and collects everything that is wrong with it.
type decoder struct {
	errs    []FieldError
	present Present
}

func (d *decoder) fail(n node, code, format string, args ...any) {
	d.errs = append(d.errs, FieldError{Pointer: n.ptr, Code: code, Message: fmt.Sprintf(format, args...)})
}

// object calls the reader of each member; an unknown name is an error that lists the known.
func (d *decoder) object(n node, read map[string]func(node)) {
	object, ok := n.value.(map[string]any)
	if !ok {
		d.fail(n, "wrong_type", "must be an object, not %s", describe(n.value))
		return
	}
	known := make([]string, 0, len(read))
	for name := range read {
		known = append(known, name)
	}
	sort.Strings(known)
	for _, name := range sortedNames(object) {
		c := n.child(name, object[name])
		f, ok := read[name]
		if !ok {
			d.errs = append(d.errs, FieldError{
				Pointer: c.ptr, Code: "unknown_field", Allowed: known,
				Message: fmt.Sprintf("there is no field %q here; allowed are %s", clip(name), strings.Join(known, ", ")),
			})
			continue
		}
		d.present[c.ptr] = true
		f(c)
	}
}

func sortedNames[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// list calls the reader of each element. No list of a request may be longer than the trials
// of a run, so that reading one costs little whatever it holds.
func (d *decoder) list(n node, read func(node)) {
	list, ok := n.value.([]any)
	switch {
	case !ok:
		d.fail(n, "wrong_type", "must be a list, not %s", describe(n.value))
		return
	case len(list) > MaxTrials:
		d.fail(n, "too_many_trials", "has %d elements; at most %d are allowed, as many as a run may have trials", len(list), MaxTrials)
		return
	}
	for i, v := range list {
		read(n.child(fmt.Sprint(i), v))
	}
}

func (d *decoder) text(n node) string {
	s, ok := n.value.(string)
	if !ok {
		d.fail(n, "wrong_type", "must be a string, not %s", describe(n.value))
	}
	return s
}

// integer reads a whole number, whose bounds are looked at again when the whole request is
// known: here they are for what no int holds on every platform.
func (d *decoder) integer(n node, low, high int) int {
	num, _ := n.value.(json.Number)
	i, is := readWhole(num.String())
	switch {
	case is == notWhole:
		d.fail(n, "wrong_type", "must be a whole number, not %s", describe(n.value))
		return low
	case is == hugeWhole, i > math.MaxInt32, i < math.MinInt32:
		d.fail(n, "out_of_range", "must be from %d to %d, not %s", low, high, describe(n.value))
		return low
	}
	return int(i)
}

func (d *decoder) number(n node) float64 {
	num, ok := n.value.(json.Number)
	f, err := num.Float64()
	if !ok || err != nil {
		d.fail(n, "wrong_type", "must be a number, not %s", describe(n.value))
		return 0
	}
	return f
}

func (d *decoder) duration(n node) Duration {
	switch v := n.value.(type) {
	case json.Number:
		if i, is := readWhole(v.String()); is == isWhole {
			return Duration(i)
		}
	case string:
		if t, err := time.ParseDuration(v); err == nil {
			return Duration(t)
		}
	}
	d.fail(n, "wrong_type", "must be a duration like \"30s\" or \"1.5m\" or whole nanoseconds, not %s", describe(n.value))
	return 0
}

func (d *decoder) labels(n node) map[string]string {
	object, ok := n.value.(map[string]any)
	if !ok {
		d.fail(n, "wrong_type", "must be an object of strings, not %s", describe(n.value))
		return nil
	}
	if len(object) > MaxLabels {
		d.fail(n, "too_many_labels", "has %d labels; at most %d are allowed", len(object), MaxLabels)
		return nil
	}
	out := make(map[string]string, len(object))
	for _, name := range sortedNames(object) {
		c := n.child(name, object[name])
		v := d.text(c)
		if err := CheckLabel(name, v); err != nil {
			d.fail(c, "bad_label", "%v", err)
		}
		out[name] = v
	}
	return out
}

// CheckLabel tells what is wrong with a label of a run or of a host.
func CheckLabel(name, value string) error {
	if name == "" || len(name) > MaxLabelLen || len(value) > MaxLabelLen || !printable(name+value) {
		return fmt.Errorf("a label's name and value are text without control characters, of at most %d bytes each, and the name has at least one", MaxLabelLen)
	}
	return nil
}

// CheckHost tells what is wrong with the name of a host.
func CheckHost(name string) error {
	if name == "" || len(name) > MaxLabelLen || !printable(name) || strings.TrimSpace(name) != name {
		return fmt.Errorf("a host's name is text without control characters and without space around it, of 1 to %d bytes, not %q", MaxLabelLen, clip(name))
	}
	return nil
}

// printable tells whether a text has no control characters and none that stands for what
// was not Unicode.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar })
}

func (d *decoder) spec(n node) Spec {
	var s Spec
	d.object(n, map[string]func(node){
		"suite":   func(c node) { s.Suite = d.text(c) },
		"params":  func(c node) { s.Params = d.matrix(c) },
		"cases":   func(c node) { d.list(c, func(e node) { s.Cases = append(s.Cases, d.caseSpec(e)) }) },
		"hosts":   func(c node) { s.Hosts = d.hosts(c) },
		"plan":    func(c node) { s.Plan = d.plan(c) },
		"labels":  func(c node) { s.Labels = d.labels(c) },
		"repeat":  func(c node) { s.Repeat = d.integer(c, 1, maxRepeat) },
		"timeout": func(c node) { s.Timeout = d.duration(c) },
	})
	return s
}

func (d *decoder) caseSpec(n node) CaseSpec {
	var c CaseSpec
	d.object(n, map[string]func(node){
		"kernel": func(e node) { c.Kernel = d.text(e) },
		"params": func(e node) { c.Params = d.matrix(e) },
		"operations": func(e node) {
			if e.value != nil {
				c.Operations = new(d.integer(e, 0, maxOperations))
			}
		},
	})
	if object, ok := n.value.(map[string]any); ok && object["kernel"] == nil {
		d.fail(n, "no_kernel", "names no kernel; \"kernel\" is needed in each case")
	}
	return c
}

func (d *decoder) hosts(n node) HostSelector {
	var h HostSelector
	d.object(n, map[string]func(node){
		"names":  func(c node) { d.list(c, func(e node) { h.Names = append(h.Names, d.text(e)) }) },
		"labels": func(c node) { h.Labels = d.labels(c) },
	})
	return h
}

func (d *decoder) truth(n node) bool {
	b, ok := n.value.(bool)
	if !ok {
		d.fail(n, "wrong_type", "must be true or false, not %s", describe(n.value))
	}
	return b
}

func (d *decoder) matrix(n node) Matrix {
	object, ok := n.value.(map[string]any)
	if !ok {
		d.fail(n, "wrong_type", "must be an object of parameters, not %s", describe(n.value))
		return nil
	}
	m := make(Matrix, len(object))
	for _, name := range sortedNames(object) {
		c := n.child(name, object[name])
		values, many := c.value.([]any)
		if !many {
			m[name] = append(m[name], d.scalar(c))
			continue
		}
		m[name] = nil
		if len(values) == 0 {
			d.fail(c, "empty_list", "an empty list of values makes no case; leave the parameter out for its default")
		}
		d.list(c, func(e node) { m[name] = append(m[name], d.scalar(e)) })
	}
	return m
}

// scalar gives the text of a parameter's value.
func (d *decoder) scalar(n node) string {
	switch v := n.value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	}
	d.fail(n, "wrong_type", "a parameter's value is a string, a number, true or false, not %s", describe(n.value))
	return ""
}

// describe names a value of a request in an error, without repeating a long one.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return fmt.Sprintf("the string %q", clip(v))
	default:
		return clip(fmt.Sprint(v))
	}
}

// clip shortens a text of the client's for a message.
func clip(s string) string {
	if len(s) <= 64 {
		return s
	}
	return strings.ToValidUTF8(s[:64], "") + "…"
}
