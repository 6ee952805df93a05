package compare

import "benchd/worker/bench"

// Across lists what Options.Across may name: a whole host, each of its facts, and how a trial
// was placed and planned.
func Across() []string {
	names := []string{AcrossHost}
	for _, f := range facts(bench.Facts{}) {
		names = append(names, f.Fact)
	}
	return append(names, "placement.pin", "placement.awake", "plan.slice", "plan.operations", "plan.ramp", "plan.warmup")
}
