package store

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"benchd/kernels"
)

// Parameters are kept as a JSON object whose values are all strings, in canonical text as
// kernels.Params holds them: nothing is lost on the way, and a page of trials is read
// several times faster than through the shape that the API shows.

// paramsText writes parameters for the tables, sorted by name.
func paramsText(p kernels.Params) (string, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(p)) {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeQuoted(&b, name); err != nil {
			return "", err
		}
		b.WriteByte(':')
		if err := writeQuoted(&b, p[name]); err != nil {
			return "", err
		}
	}
	b.WriteByte('}')
	return b.String(), nil
}

// writeQuoted writes a JSON string; words of plain letters need no encoder.
func writeQuoted(b *strings.Builder, s string) error {
	if plain(s) {
		b.WriteByte('"')
		b.WriteString(s)
		b.WriteByte('"')
		return nil
	}
	text, err := json.Marshal(s)
	b.Write(text)
	return err
}

// plain tells whether a text stands in a JSON string as it is.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// parseParams reads what paramsText wrote.
func parseParams(text string) (kernels.Params, error) {
	if p, ok := parsePlain(text); ok {
		return p, nil
	}
	var p map[string]string
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return nil, fmt.Errorf("read parameters: %w", err)
	}
	return p, nil
}

// parsePlain reads an object in which nothing is escaped: its quotes cut it into names,
// colons, values and commas. It takes nothing that encoding/json would read otherwise.
func parsePlain(text string) (kernels.Params, bool) {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '\\' {
			return nil, false
		}
	}
	p := make(kernels.Params, strings.Count(text, ":"))
	rest, ok := strings.CutPrefix(text, "{")
	if !ok || rest == "}" {
		return p, ok
	}
	for {
		name, after, ok := cutQuoted(rest)
		if !ok || !strings.HasPrefix(after, ":") {
			return nil, false
		}
		value, end, ok := cutQuoted(after[1:])
		if !ok {
			return nil, false
		}
		p[name] = value
		if end == "}" {
			return p, true
		}
		if rest, ok = strings.CutPrefix(end, ","); !ok {
			return nil, false
		}
	}
}

// cutQuoted splits a text that begins with a quoted word after that word.
func cutQuoted(s string) (word, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", "", false
	}
	return strings.Cut(s[1:], `"`)
}
