package api

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"benchd/worker/bench"
)

// A query reads the parameters of a request and keeps the first thing wrong with them.
type query struct {
	values url.Values
	err    error
}

// parseQuery reads the query strictly: a parameter that is not allowed is an error, since a
// filter that is silently left out would give a wrong answer. An allowed name that ends in a
// dot, such as "param.", allows every name that begins with it.
func parseQuery(c echo.Context, allowed ...string) (*query, error) {
	raw := c.Request().URL.RawQuery
	if raw == "" {
		return &query{}, nil
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, bench.Errorf(bench.Malformed, "bad_query", "the query cannot be read: a %% is followed by two hexadecimal digits (a percent sign itself is written %%25), and parameters are parted by &")
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !slices.ContainsFunc(allowed, func(a string) bool { return allows(a, name) }) {
			return nil, unknownParameter(name, allowed)
		}
		for _, v := range values[name] {
			if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
				return nil, badParameter(name, "bad_value", "must be UTF-8 text without null characters", nil)
			}
		}
	}
	return &query{values: values}, nil
}

// allows tells whether an entry of the allowed names stands for a name.
func allows(entry, name string) bool {
	if strings.HasSuffix(entry, ".") {
		return len(name) > len(entry) && strings.HasPrefix(name, entry)
	}
	return name == entry
}

func unknownParameter(name string, allowed []string) error {
	allowed = slices.Clone(allowed)
	for i, a := range allowed {
		if strings.HasSuffix(a, ".") {
			allowed[i] = a + "NAME"
		}
	}
	message := "there is no such parameter here; allowed are " + strings.Join(allowed, ", ")
	if len(allowed) == 0 {
		message = "there is no such parameter here; none is allowed"
	}
	return badParameter(clip(name), "unknown_parameter", message, allowed)
}

func (q *query) fail(name, code string, allowed []string, format string, args ...any) {
	if q.err == nil {
		q.err = badParameter(name, code, fmt.Sprintf(format, args...), allowed)
	}
}

// one gives the value of a parameter that may stand once, or "".
func (q *query) one(name string) string {
	values := q.values[name]
	switch {
	case len(values) == 0:
		return ""
	case len(values) > 1:
		q.fail(name, "repeated_parameter", nil, "may be given once, not %d times", len(values))
	case values[0] == "":
		q.fail(name, "bad_value", nil, "must not be empty; leave it out")
	}
	return values[0]
}

// need gives the value of a parameter that must stand once.
func (q *query) need(name string) string {
	if len(q.values[name]) == 0 {
		q.fail(name, "missing_parameter", nil, "must be given")
		return ""
	}
	return q.one(name)
}

// states gives the states asked for; the parameter is repeated for several.
func (q *query) states(name string) []bench.State {
	var out []bench.State
	for _, v := range q.values[name] {
		if s := bench.State(v); s.Valid() {
			out = append(out, s)
			continue
		}
		allowed := make([]string, 0, len(bench.States()))
		for _, s := range bench.States() {
			allowed = append(allowed, string(s))
		}
		q.fail(name, "unknown_value", allowed, "must be %s, not %q; repeat it for several", strings.Join(allowed, " or "), clip(v))
	}
	return out
}

// labels gives the labels asked for; all of them must match.
func (q *query) labels(name string) map[string]string {
	list := q.values[name]
	if len(list) == 0 {
		return nil
	}
	if len(list) > bench.MaxLabels {
		q.fail(name, "too_many_labels", nil, "may be given at most %d times, not %d", bench.MaxLabels, len(list))
		return nil
	}
	out := make(map[string]string, len(list))
	for _, pair := range list {
		k, v, ok := strings.Cut(pair, "=")
		if !ok || k == "" {
			q.fail(name, "bad_value", nil, "must be written name=value, not %q", clip(pair))
		}
		if old, twice := out[k]; twice && old != v {
			q.fail(name, "bad_value", nil, "asks for two values of %q; a run has one", clip(k))
		}
		out[k] = v
	}
	return out
}

// named gives the parameters whose names begin with a prefix, by the rest of their names.
func (q *query) named(prefix string) map[string]string {
	out := make(map[string]string)
	for name := range q.values {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			out[rest] = q.one(name)
		}
	}
	return out
}

// allLabels gives the labels asked for in either way: label=name=value and label.name=value.
func (q *query) allLabels() map[string]string {
	out := q.labels("label")
	for name, v := range q.named("label.") {
		if old, twice := out[name]; twice && old != v {
			q.fail("label."+name, "bad_value", nil, "asks for two values of %q; a run has one", clip(name))
		}
		if out == nil {
			out = make(map[string]string)
		}
		out[name] = v
	}
	if len(out) > bench.MaxLabels {
		q.fail("label", "too_many_labels", nil, "%d labels are asked for, at most %d may be", len(out), bench.MaxLabels)
	}
	return out
}

// share gives a part of a whole, written as a fraction or in percent: 0.02 or 2%.
func (q *query) share(name string, otherwise, low, high float64) float64 {
	v := q.one(name)
	if v == "" {
		return otherwise
	}
	text, percent := strings.CutSuffix(v, "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if percent {
		f /= 100
	}
	if err != nil || !(f >= low && f <= high) {
		q.fail(name, "out_of_range", nil, "must be a part like 0.02 or 2%%, from %v to %v, not %q", low, high, clip(v))
		return otherwise
	}
	return f
}

// time gives a time of RFC 3339, or the zero time.
func (q *query) time(name string) time.Time {
	v := q.one(name)
	if v == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, v)
	if err != nil || t.Year() < 0 || t.Year() > 9999 {
		q.fail(name, "bad_value", nil, "must be a time like 2026-01-31T12:00:00Z (RFC 3339), not %q", clip(v))
	}
	return t.UTC()
}

// number gives a whole number within bounds.
func (q *query) number(name string, otherwise, low, high int) int {
	v := q.one(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < low || n > high {
		q.fail(name, "out_of_range", nil, "must be a whole number from %d to %d, not %q", low, high, clip(v))
	}
	return n
}

// duration gives a time span from 0 to high. A plain number is refused: it would be
// nanoseconds in a body and seconds in most people's heads.
func (q *query) duration(name string, high time.Duration) time.Duration {
	v := q.one(name)
	if v == "" {
		return 0
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 || d > high {
		q.fail(name, "out_of_range", nil, "must be a duration like \"30s\", from 0s to %s, not %q", bench.Duration(high), clip(v))
	}
	return d
}

// preference tells how much an Accept header (RFC 9110, section 12.5.1) likes a media type, from
// 0, not at all, to 1. The most exact range that matches counts.
func preference(header, kind, subtype string) float64 {
	if strings.TrimSpace(header) == "" {
		return 1
	}
	best, w := 0, 0.0
	for part := range strings.SplitSeq(header, ",") {
		media, params, _ := strings.Cut(part, ";")
		exact := 0
		switch strings.ToLower(strings.TrimSpace(media)) {
		case kind + "/" + subtype:
			exact = 3
		case kind + "/*":
			exact = 2
		case "*/*":
			exact = 1
		}
		if exact > best {
			best, w = exact, weight(params)
		}
	}
	return w
}

// weight reads the q of a media range; 1 when it has none.
func weight(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		name, v, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			if err != nil {
				return 0
			}
			return q
		}
	}
	return 1
}
