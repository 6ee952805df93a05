package messaging_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"benchd/kernels"
	"benchd/kernels/envelope"
)

// bareNATS runs a NATS server without an echo service.
func bareNATS(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(patience) {
		t.Fatal("the NATS server took no connections")
	}
	return "nats://" + s.Addr().String() + "#queue=benchd.echo"
}

// connectNATS connects a client of the test's own.
func connectNATS(t *testing.T, addr string) *nats.Conn {
	t.Helper()
	closed := make(chan struct{})
	c, err := nats.Connect("nats://"+hostOf(t, addr), nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		<-closed
	})
	return c
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestNATSWrongReplies shows that a lane notices whatever a service may do wrong.
func TestNATSWrongReplies(t *testing.T) {
	t.Parallel()
	codec := must(envelope.NewCodec(envelope.Stream, envelope.DefaultLimits()))
	fault := codec.AppendFault(nil, &envelope.Fault{Code: envelope.CodeServer, String: "out of parcels"})
	other := must(envelope.Payload(1024, 1))
	same := func(m *nats.Msg) []byte { return m.Data }
	for _, row := range []struct {
		name    string
		content string
		reply   func(m *nats.Msg) []byte // nil: nobody listens
		want    string
	}{
		{"nobody listens", "soap", nil, "refused"},
		{"soap as sent", "soap", same, ""},
		{"raw as sent", "raw", same, ""},
		{"a fault", "soap", func(*nats.Msg) []byte { return fault }, "fault"},
		{"another envelope", "soap", func(*nats.Msg) []byte { return other }, "mismatch"},
		{"half an envelope", "soap", func(m *nats.Msg) []byte { return m.Data[:512] }, "malformed"},
		{"no envelope", "soap", func(*nats.Msg) []byte { return []byte("hello") }, "malformed"},
		{"nothing", "soap", func(*nats.Msg) []byte { return nil }, "malformed"},
		{"one byte changed", "raw", func(m *nats.Msg) []byte { m.Data[1000] ^= 1; return m.Data }, "mismatch"},
		{"a byte less", "raw", func(m *nats.Msg) []byte { return m.Data[:1023] }, "mismatch"},
		{"nothing", "raw", func(*nats.Msg) []byte { return nil }, "mismatch"},
	} {
		t.Run(row.content+"/"+row.name, func(t *testing.T) {
			t.Parallel()
			addr := bareNATS(t)
			if row.reply != nil {
				c := connectNATS(t, addr)
				must(c.Subscribe("benchd.echo", func(m *nats.Msg) { _ = m.Respond(row.reply(m)) }))
				if err := c.FlushTimeout(patience); err != nil {
					t.Fatal(err)
				}
			}
			trial := open(t, "messaging.roundtrip", kernels.Params{"content": row.content, kernels.Addr: addr})
			for range 2 { // a failure leaves the lane in order
				if err := trial.Do(t.Context(), 1); class(err) != row.want || (err == nil) != (row.want == "") {
					t.Errorf("Do returned %v; want class %q", err, row.want)
				}
			}
		})
	}
}

// TestNATSDoubleReply shows that a second reply to one request is noticed.
func TestNATSDoubleReply(t *testing.T) {
	t.Parallel()
	addr := bareNATS(t)
	c := connectNATS(t, addr)
	must(c.Subscribe("benchd.echo", func(m *nats.Msg) {
		_ = m.Respond(m.Data)
		_ = m.Respond(m.Data)
	}))
	if err := c.FlushTimeout(patience); err != nil {
		t.Fatal(err)
	}
	trial := open(t, "messaging.roundtrip", kernels.Params{"content": "raw", kernels.Addr: addr})
	if err := trial.Do(t.Context(), 2); class(err) != "duplicate" {
		t.Errorf("Do returned %v; want a Failure of class duplicate", err)
	}
}

// TestNATSServiceReads shows that the echo service reads what it is sent: it answers what is
// no envelope with a fault, and an envelope with the same bytes.
func TestNATSServiceReads(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, nil)
	c := connectNATS(t, addr)
	_, queue, _ := strings.Cut(addr, "queue=")
	codec := must(envelope.NewCodec(envelope.Stream, envelope.DefaultLimits()))
	ask := func(request []byte) []byte {
		t.Helper()
		m, err := c.Request(queue, request, patience)
		if err != nil {
			t.Fatal(err)
		}
		return m.Data
	}
	var got envelope.Message
	var refusal *envelope.Fault
	if err := codec.Decode(ask([]byte("<hello/>")), &got); !errors.As(err, &refusal) {
		t.Errorf("a document that is no envelope was answered with %v; want a fault", err)
	}
	sent := must(envelope.Payload(10<<10, 7))
	if err := envelope.Check(sent, ask(sent)); err != nil {
		t.Error(err)
	}
}

// TestNATSLeavesNothing shows that a closed lane is gone from the server at once.
func TestNATSLeavesNothing(t *testing.T) {
	t.Parallel()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(patience) {
		t.Fatal("the NATS server took no connections")
	}
	k := kernel(t, "messaging.roundtrip")
	own := s.NumSubscriptions() // the server has some for itself
	for range 5 {
		trial, err := k.Open(t.Context(), with(k, kernels.Params{kernels.Addr: "nats://" + s.Addr().String() + "#queue=q"}))
		if err != nil {
			t.Fatal(err)
		}
		if err := trial.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(patience); s.NumClients() > 0 || s.NumSubscriptions() > own; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d clients and %d subscriptions are left", s.NumClients(), s.NumSubscriptions()-own)
		}
	}
}
