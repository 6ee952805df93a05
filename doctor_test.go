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
	code := command([]string{"doctor", "--json", "--watch", "10ms"}, terminal{strings.NewReader(""), &out, &errout})
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
