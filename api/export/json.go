package export

import (
	"encoding/json"
	"fmt"
	"io"

	"benchd/worker/bench"
)

// writeJSON writes the result as the API and the command run do (RFC 8259, the shape is that
// of bench.Result, whose version is its field schema).
func writeJSON(w io.Writer, r bench.Result) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("write the result as JSON: %w", err)
	}
	return nil
}
