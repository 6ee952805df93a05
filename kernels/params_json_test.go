package kernels_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"benchd/kernels"
)

// TestParamsAsJSON: parameters are the JSON object that the encoder makes of the plain
// values, whatever characters they hold.
func TestParamsAsJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"true", "false", "10", "-3", "007", "1e3", "10KB", "<&>", `"\`, ""}))
		p := kernels.Params(rapid.MapOf(rapid.String(), value).Draw(t, "params"))
		plain := make(map[string]any, len(p))
		for name, v := range p {
			plain[name] = v
			if n, err := strconv.ParseInt(v, 10, 64); err == nil && strconv.FormatInt(n, 10) == v {
				plain[name] = n
			} else if v == "true" || v == "false" {
				plain[name] = v == "true"
			}
		}
		want, err := json.Marshal(plain)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(p)
		if err != nil || string(got) != string(want) {
			t.Fatalf("%s, not %s; error %v", got, want, err)
		}
	})
}
