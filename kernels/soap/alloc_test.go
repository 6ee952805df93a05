//go:build !race

package soap_test

import (
	"runtime"
	"testing"

	"benchd/kernels/envelope"
)

// The race detector makes pools forget, and so these figures others.

// TestAllocations holds both sides to what a call of beans may cost. The client is measured
// with the service in this process, so that the limit is that of both. Since allocations are
// counted with one processor of Go's, no connection is to keep one: there are many clients.
func TestAllocations(t *testing.T) {
	p := serveEcho(t, echoDefaults().With("clients", "1000"))
	four := envelope.Beans(1)
	r := newRaw(t, hostOf(p), &four)
	service := testing.AllocsPerRun(200, func() { r.call(t) })
	trial := open(t, p)
	both := testing.AllocsPerRun(200, func() {
		if err := trial.Do(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("a call takes %.1f allocations in the service and %.1f in the client", service, both-service)
	if service > 20 || both-service > 20 {
		t.Errorf("a call takes %.1f allocations in the service and %.1f in the client, want at most 20 each", service, both-service)
	}
}

// TestLargeCallMemory makes large calls and looks at the memory of the service after each: it
// stays within 8 MB of what it was, which leaves the process room below 12.
func TestLargeCallMemory(t *testing.T) {
	records, err := envelope.Records(1<<20, 1)
	if err != nil {
		t.Fatal(err)
	}
	r := newRaw(t, hostOf(serveEcho(t, echoDefaults())), &records)
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	most := before.HeapInuse
	for range 50 {
		r.call(t)
		runtime.ReadMemStats(&now)
		most = max(most, now.HeapInuse)
	}
	t.Logf("the heap grew by %d bytes from %d", most-before.HeapInuse, before.HeapInuse)
	if most-before.HeapInuse > 8<<20 {
		t.Errorf("the heap grew by %d bytes", most-before.HeapInuse)
	}
}
