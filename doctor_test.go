package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// The exit code says whether there is something to change, and so does the count.
func TestDoctorExitCode(t *testing.T) {
	t.Parallel()
	var out, errout bytes.Buffer
	code := command([]string{"doctor", "--json", "--watch", "100ms"}, terminal{strings.NewReader(""), &out, &errout})
	var d diagnosis
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	want, changes := exitOK, 0
	for _, f := range d.Findings {
		if f.State == "change" {
			want = exitFailed
			changes++
		}
	}
	if code != want || d.Change != changes || len(d.Findings) == 0 || errout.Len() > 0 {
		t.Errorf("exit code %d, want %d; %d to change, told are %d of %d; it wrote %q", code, want, changes, d.Change, len(d.Findings), errout.String())
	}
}

// A watch that is too short to see anything would find every host idle.
func TestDoctorWatch(t *testing.T) {
	t.Parallel()
	for _, watch := range []string{"0s", "99ms", "-1s", "61m"} {
		var out, errout bytes.Buffer
		code := command([]string{"doctor", "--watch=" + watch}, terminal{strings.NewReader(""), &out, &errout})
		if code != exitUsage || out.Len() > 0 || !strings.Contains(errout.String(), "--watch must be from 100ms to 1h, not ") {
			t.Errorf("--watch %s: exit code %d; it wrote %q and %q", watch, code, out.String(), errout.String())
		}
	}
}
