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
	"benchd/kernels/messaging/erldist/erltest"
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

// BenchmarkEcho is the echo of one node's mailboxes by another node, all over the nodes' one
// connection: a pid there, five bytes back.
func BenchmarkEcho(b *testing.B) {
	for _, lanes := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprintf("clients=%d", lanes), func(b *testing.B) {
			client := start(b, erldist.Config{Name: "client@127.0.0.1"})
			p, err := client.ConnectAt(b.Context(), "server@127.0.0.1", fmt.Sprintf("127.0.0.1:%d", serveApart(b)))
			if err != nil {
				b.Fatal(err)
			}
			ask(b, client, p, lanes)
		})
	}
}

// BenchmarkEchoOfThem is the same with the echo of another implementation.
func BenchmarkEchoOfThem(b *testing.B) {
	for _, s := range stacks() {
		for _, lanes := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("%s/clients=%d", s.name, lanes), func(b *testing.B) {
				mapper := erltest.Mapper(b)
				s.make(b).Serve(b, mapper, "them@127.0.0.1")
				client := start(b, erldist.Config{Name: "client@127.0.0.1"})
				p, err := client.Connect(b.Context(), "them@127.0.0.1", mapper)
				if err != nil {
					b.Fatal(err)
				}
				ask(b, client, p, lanes)
			})
		}
	}
}

// BenchmarkEchoAmongThem is the same between two nodes of another implementation, which
// measure themselves for two seconds. It is what ours is compared with.
func BenchmarkEchoAmongThem(b *testing.B) {
	for _, s := range stacks() {
		for _, lanes := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("%s/clients=%d", s.name, lanes), func(b *testing.B) {
				mapper, them := erltest.Mapper(b), s.make(b)
				them.Serve(b, mapper, "echo@127.0.0.1")
				for b.Loop() {
					said := them.Run(b, mapper, "ask@127.0.0.1", "rate", "echo@127.0.0.1", strconv.Itoa(lanes), "2")
					rate, err := strconv.ParseFloat(said, 64)
					if err != nil {
						b.Fatal(said)
					}
					b.ReportMetric(rate, "op/s")
				}
				b.ReportMetric(0, "ns/op") // it is that of the whole measurement
			})
		}
	}
}

// ask has several mailboxes of a node share b.N exchanges with another node.
func ask(b *testing.B, client *erldist.Node, p *erldist.Peer, lanes int) {
	b.Helper()
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
}

// BenchmarkTerms is the encoding and decoding of a request as the messaging kernels have it.
func BenchmarkTerms(b *testing.B) {
	pid := erldist.Pid{Node: "benchd@127.0.0.1", ID: 1, Creation: 5}
	ref := erldist.Ref{Node: pid.Node, Creation: 5, Len: 3}
	var term erldist.Term = erldist.Tuple{pid, ref, make([]byte, 1024)}
	message, err := erldist.Append(nil, term)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(message)))
		for b.Loop() {
			message, _ = erldist.Append(message[:0], term)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(message)))
		for b.Loop() {
			if _, err := erldist.Decode(message); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(message)))
		for b.Loop() {
			r, _ := erldist.NewReader(message)
			_, _ = r.Tuple()
			_, _, _ = r.Pid()
			_, _ = r.Raw()
			if body, err := r.Binary(); err != nil || len(body) != 1024 {
				b.Fatal(err)
			}
		}
	})
}
