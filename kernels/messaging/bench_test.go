package messaging_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"benchd/kernels"
)

// serveApart runs the counterpart in a process of its own, so that allocations and memory are
// the client's alone.
func serveApart(tb testing.TB, changed kernels.Params) string {
	tb.Helper()
	params, err := json.Marshal(with(kernel(tb, "messaging.roundtrip"), changed))
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"="+string(params))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = in.Close() // tells the process to end
		if err := cmd.Wait(); err != nil {
			tb.Errorf("the server ended with %v", err)
		}
	})
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatalf("the server told no address: %v", err)
	}
	return strings.TrimSpace(addr)
}

func BenchmarkRoundtrip(b *testing.B) {
	for _, broker := range brokers(b) {
		if !embeds(broker) {
			continue // its speed is shown by trials at a named service
		}
		for _, content := range []string{"raw", "soap"} {
			for _, size := range []string{"1KB", "10KB", "1MB"} {
				for _, clients := range []int{1, 4, 8} {
					p := kernels.Params{"broker": broker, "content": content, "size": size, "clients": fmt.Sprint(clients)}
					b.Run(fmt.Sprintf("broker=%s/content=%s/size=%s/clients=%d", broker, content, size, clients), func(b *testing.B) {
						roundtrips(b, clients, p.With(kernels.Addr, serveApart(b, p)))
					})
				}
			}
		}
	}
}

// roundtrips shares b.N operations between the lanes.
func roundtrips(b *testing.B, clients int, p kernels.Params) {
	b.Helper()
	trials := make([]kernels.Trial, clients)
	for i := range trials {
		trials[i] = open(b, "messaging.roundtrip", p)
		do(b, trials[i], 10)
	}
	b.ReportAllocs()
	b.ResetTimer()
	var all sync.WaitGroup
	for i, t := range trials {
		n := b.N / clients
		if i < b.N%clients {
			n++
		}
		all.Go(func() {
			if err := t.Do(b.Context(), n); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "message/s")
}

func BenchmarkMailbox(b *testing.B) {
	for _, size := range []string{"16B", "1MB"} {
		b.Run("size="+size, func(b *testing.B) {
			trial := open(b, "messaging.mailbox", kernels.Params{"size": size})
			b.ReportAllocs()
			b.ResetTimer()
			do(b, trial, b.N)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "message/s")
		})
	}
}
