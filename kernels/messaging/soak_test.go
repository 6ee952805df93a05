package messaging_test

import (
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"benchd/kernels"
)

const (
	// soakEnv tells how long TestSoak is to last, "5m"; without it there is none.
	soakEnv = "BENCHD_TEST_SOAK"
	// soakRounds is how many times the memory is looked at.
	soakRounds = 10
	// soakGrowth is by how many bytes the memory in use may differ from look to look. A byte
	// left over from every message would be more within seconds.
	soakGrowth = 256 << 10
)

// TestSoak has a lane of each of some brokers work for minutes, and shows that what they hold
// in memory does not grow with the number of messages.
func TestSoak(t *testing.T) {
	text := os.Getenv(soakEnv)
	if text == "" {
		t.Skipf("%s is not set; it tells how long this lasts, such as 5m", soakEnv)
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"tcp", "nats", "erlang"}
	trials := make([]kernels.Trial, len(names))
	for i, broker := range names {
		p := kernels.Params{"broker": broker}
		trials[i] = open(t, "messaging.roundtrip", p.With(kernels.Addr, serveApart(t, p)))
	}
	done := make([]int, len(names))
	var first uint64
	for round := range soakRounds {
		soak(t, trials, done, length/soakRounds)
		used := live()
		t.Logf("round %d of %d: messages of %v: %v, %d bytes in use", round+1, soakRounds, names, done, used)
		if round == 0 {
			first = used
		} else if used > first+soakGrowth {
			t.Errorf("after round %d there are %d bytes in use, after the first there were %d", round+1, used, first)
		}
	}
}

// soak has all lanes work for some time, and counts their messages.
func soak(t *testing.T, trials []kernels.Trial, done []int, length time.Duration) {
	t.Helper()
	const batch = 100
	until := time.Now().Add(length)
	var all sync.WaitGroup
	for i, trial := range trials {
		all.Go(func() {
			for time.Now().Before(until) {
				if err := trial.Do(t.Context(), batch); err != nil {
					t.Error(err)
					return
				}
				done[i] += batch
			}
		})
	}
	all.Wait()
}

// live is how many bytes of this process are in use.
func live() uint64 {
	runtime.GC()
	runtime.GC() // what the first has found to be of no use, pools kept until now
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
