package main

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPlain: what is written in pieces of any length comes out whole, without what a terminal
// would obey.
func TestPlain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("aé漢😀|\n\t\r\x1b\x07\x7f\u009b"))).Draw(t, "text")
		var out bytes.Buffer
		p := &plain{to: &out}
		for rest := []byte(text); len(rest) > 0; {
			n := min(len(rest), rapid.IntRange(1, 5).Draw(t, "n"))
			if got, err := p.Write(rest[:n]); err != nil || got != n {
				t.Fatal(got, err)
			}
			rest = rest[n:]
		}
		want := strings.NewReplacer("\x1b", "�", "\x07", "�", "\x7f", "�", "\u009b", "�").Replace(text)
		if out.String() != want {
			t.Fatalf("%q came out as %q", text, out.String())
		}
	})
}
