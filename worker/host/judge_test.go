package host_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/worker/bench"
	"benchd/worker/host"
)

// A doubt is raised above its bound and not at it.
func TestDoubts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		noise bench.Noise
		cores int
		want  []string
	}{
		{"nothing known", bench.Noise{Elapsed: 10}, 2, nil},
		{"a quiet host of two CPUs", bench.Noise{Elapsed: 10, Others: new(0.03), Steal: new(0.002), PressureCPU: new(0.3), PressureMemory: new(0.0), PressureIO: new(0.9), Throttled: new(0.0), ThermalEvents: new(int64(0)), Swapped: new(int64(3)), ClockDrop: new(0.02), Load1: new(9.0)}, 2, nil},
		{"others at the bound", bench.Noise{Elapsed: 10, Others: new(0.1)}, 2, nil},
		{"others", bench.Noise{Elapsed: 10, Others: new(0.38)}, 2, []string{"host_busy: other processes used 38 % of a core"}},
		{"the same on many CPUs", bench.Noise{Elapsed: 10, Others: new(0.38)}, 96, nil},
		{"load 131 on 96 CPUs", bench.Noise{Elapsed: 10, Others: new(90.25), Load1: new(131.0)}, 96, []string{"host_busy: other processes used 90.2 cores (load average 131.0 on 96 CPUs)"}},
		{"one whole core", bench.Noise{Elapsed: 10, Others: new(0.999)}, 4, []string{"host_busy: other processes used 1.0 cores"}},
		{"stolen at the bound", bench.Noise{Elapsed: 10, Steal: new(0.01)}, 2, nil},
		{"stolen", bench.Noise{Elapsed: 10, Steal: new(0.034)}, 2, []string{"stolen: the hypervisor gave 3.4 % of the CPU time of this machine to others"}},
		{"stolen from one of many CPUs", bench.Noise{Elapsed: 10, Steal: new(0.004)}, 64, nil},
		{"throttled", bench.Noise{Elapsed: 10, Throttled: new(0.1)}, 2, []string{"throttled: the CPU limit of the control group held tasks back for 0.10 s in 10.0 s"}},
		{"overheated", bench.Noise{Elapsed: 10, ThermalEvents: new(int64(1))}, 2, []string{"overheated: cores slowed down for their temperature 1 times"}},
		{"swapped", bench.Noise{Elapsed: 10, Swapped: new(int64(10))}, 2, []string{"swapped: 10 pages were swapped in or out"}},
		{"a page in a short time", bench.Noise{Elapsed: 0.2, Swapped: new(int64(1))}, 2, []string{"swapped: 1 pages were swapped in or out"}},
		{"no page in no time", bench.Noise{Swapped: new(int64(0))}, 2, nil},
		{"clock", bench.Noise{Elapsed: 10, ClockDrop: new(0.25), MHzHigh: new(3600.0)}, 2, []string{"frequency_changed: the clock of the fastest CPU fell by 25 % from 3600 to 2700 MHz"}},
		{"clock without its height", bench.Noise{Elapsed: 10, ClockDrop: new(0.25)}, 2, []string{"frequency_changed: the clock of the fastest CPU fell by 25 %"}},
		{"waiting for the trial's own tasks", bench.Noise{Elapsed: 10, PressureCPU: new(1.0), Others: new(0.1)}, 2, nil},
		{"waiting while others work", bench.Noise{Elapsed: 10, PressureCPU: new(0.38), Others: new(0.5)}, 96, []string{"cpu_pressure: tasks waited for a CPU in 38 % of the time, while other processes used 50 % of a core"}},
		{"waiting for memory", bench.Noise{Elapsed: 10, PressureMemory: new(0.2)}, 2, []string{"memory_pressure: tasks waited for memory in 20 % of the time"}},
		{"no number of CPUs", bench.Noise{Elapsed: 10, Others: new(0.38)}, 0, []string{"host_busy: other processes used 38 % of a core"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(row.want, host.Doubts(row.noise, row.cores)); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}
