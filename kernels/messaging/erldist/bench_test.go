package erldist_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"benchd/kernels/messaging/erldist"
)

// serveEnv tells a copy of the test binary to be the echo node of a benchmark.
const serveEnv = "BENCHD_TEST_ERLDIST_SERVE"

// beServer is the node server@127.0.0.1 with its mailbox echo. It writes its port to
// standard output and ends with standard input.
func beServer() error {
	n, err := erldist.Start(context.Background(), erldist.Config{Name: "server@127.0.0.1", Cookie: cookie, Listen: "127.0.0.1:0"})
	if err != nil {
		return err
	}
	if err := handleEcho(n); err != nil {
		return err
	}
	fmt.Println(n.Port())
	_, _ = io.Copy(io.Discard, os.Stdin) // its end is all that matters
	return n.Close()
}

// serveApart runs the echo node in a process of its own and returns its port.
func serveApart(b *testing.B) int {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close() // tells the process to end
		if err := cmd.Wait(); err != nil {
			b.Errorf("the server ended with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatalf("the server told no port: %v", err)
	}
	port, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		b.Fatal(err)
	}
	return port
}

// BenchmarkEcho is the echo of one node's mailboxes by another node, all over the nodes'
// one connection: a pid there, five bytes back.
func BenchmarkEcho(b *testing.B) {
	for _, lanes := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprintf("clients=%d", lanes), func(b *testing.B) {
			client := start(b, erldist.Config{Name: "client@127.0.0.1"})
			p, err := client.ConnectAt(b.Context(), "server@127.0.0.1", fmt.Sprintf("127.0.0.1:%d", serveApart(b)))
			if err != nil {
				b.Fatal(err)
			}
			boxes := make([]*erldist.Mailbox, lanes)
			for i := range boxes {
				boxes[i] = open(b, client, "")
			}
			b.ReportAllocs()
			b.ResetTimer()
			var all sync.WaitGroup
			for i, m := range boxes {
				n := b.N / lanes
				if i < b.N%lanes {
					n++
				}
				all.Go(func() {
					message := m.AppendPid([]byte{131})
					for range n {
						if err := p.SendName(m, "echo", message, nil); err != nil {
							b.Error(err)
							return
						}
						if _, err := m.Receive(b.Context(), p); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "op/s")
		})
	}
}
