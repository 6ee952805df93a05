package kernels

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Params are the concrete parameters of a case, by name, each in canonical text: an integer
// in decimal, a bool as "true" or "false", a size as FormatSize writes it, a word as it is.
type Params map[string]string

// Word returns the value of a word parameter.
func (p Params) Word(name string) string { return p[name] }

// Int returns the value of an integer parameter, or 0.
func (p Params) Int(name string) int {
	n, err := strconv.Atoi(p[name])
	if err != nil {
		return 0
	}
	return n
}

// Bool returns the value of a bool parameter.
func (p Params) Bool(name string) bool { return p[name] == "true" }

// Bytes returns the value of a size parameter in bytes, or 0.
func (p Params) Bytes(name string) int {
	n, err := ParseSize(p[name])
	if err != nil {
		return 0
	}
	return int(n)
}

// With returns a copy of p with one value changed.
func (p Params) With(name, value string) Params {
	q := make(Params, len(p)+1)
	for k, v := range p {
		q[k] = v
	}
	q[name] = value
	return q
}

// String writes the parameters sorted by name: "clients=1 model=stream". Names that begin
// with an underscore are the harness's own and are left out.
func (p Params) String() string {
	names := make([]string, 0, len(p))
	for k := range p {
		if !strings.HasPrefix(k, "_") {
			names = append(names, k)
		}
	}
	sort.Strings(names)
	for i, k := range names {
		names[i] = k + "=" + p[k]
	}
	return strings.Join(names, " ")
}

// MarshalJSON writes integers as numbers, "true" and "false" as bools, the rest as strings,
// sorted by name. It is written out, since a run that is shown holds hundreds of values.
func (p Params) MarshalJSON() ([]byte, error) {
	var few [8]string // most kernels have no more, and they stay off the heap
	names := few[:0]
	for name := range p {
		names = append(names, name)
	}
	slices.Sort(names)
	b := append(make([]byte, 0, 32*len(p)+2), '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, name), ':')
		b = AppendValue(b, p[name])
	}
	return append(b, '}'), nil
}

// AppendValue writes the text of one value as Params.MarshalJSON does.
func AppendValue(b []byte, v string) []byte {
	if plainJSON(v) {
		return append(b, v...)
	}
	return appendText(b, v)
}

// plainJSON tells whether a value is written without quotes.
func plainJSON(v string) bool {
	if v == "true" || v == "false" {
		return true
	}
	n, err := strconv.ParseInt(v, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == v
}

// appendText writes a JSON string. Only a text with characters that JSON or HTML treat
// specially takes the general way.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || strings.IndexByte(`"\<>&`, c) >= 0 {
			text, err := json.Marshal(s)
			if err != nil {
				return append(b, `""`...) // a string is always JSON
			}
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Params) UnmarshalJSON(b []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(b, &m); err != nil {
		return fmt.Errorf("parameters: %w", err)
	}
	*p = make(Params, len(m))
	for k, raw := range m {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = string(raw)
		}
		(*p)[k] = s
	}
	return nil
}

// A unit of a size, 1 KB = 1,024 bytes.
type unit struct {
	name  string
	bytes float64
}

// units are the units of a size, the largest first.
func units() []unit { return []unit{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}, {"B", 1}} }

// ParseSize reads a size as a person writes it: "10KB", "2.2KB", "1MB", "512B" or plain
// bytes; 1 KB is 1,024 bytes. A fraction of a byte is rounded to the nearest.
func ParseSize(s string) (int64, error) {
	num, factor := s, 1.0
	for _, u := range units() {
		if rest, ok := strings.CutSuffix(s, u.name); ok {
			num, factor = rest, u.bytes
			break
		}
	}
	f, err := strconv.ParseFloat(num, 64)
	if err != nil || f < 0 || strings.ContainsAny(num, "eExXpPnN+-_") || f*factor >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is not a size; write it like \"10KB\", \"1MB\" or 512", s)
	}
	return int64(math.Round(f * factor)), nil
}

// FormatSize writes a size in the largest unit that gives at most one decimal and reads
// back to the same number of bytes.
func FormatSize(n int64) string {
	for _, u := range units() {
		if float64(n) < u.bytes {
			continue
		}
		s := strings.TrimSuffix(strconv.FormatFloat(float64(n)/u.bytes, 'f', 1, 64), ".0") + u.name
		if back, err := ParseSize(s); err == nil && back == n {
			return s
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}
