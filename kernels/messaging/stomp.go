package messaging

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/go-stomp/stomp/v3/server"

	"benchd/kernels"
)

// stompDriver speaks STOMP 1.2 to ActiveMQ, RabbitMQ, and to a small server in this process.
//
// It writes and reads the frames itself: a message leaves in one piece, whatever its size, and
// the conventions for request and reply differ from broker to broker.
type stompDriver struct{}

var _ driver = stompDriver{}

// start runs the small server. It keeps a goroutine when it ends, for it has no end of its
// own; the process that it runs in ends with it.
func (stompDriver) start(ctx context.Context, p kernels.Params) (string, func(), error) {
	if p.Bool("persistent") {
		return "", nil, errors.New("the STOMP server inside this process keeps no messages; persistent can only be false with it, or server the name of a broker that does")
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen for STOMP connections: %w", err)
	}
	s, all := &server.Server{Log: quiet{}}, &hangUp{Listener: l}
	go func() { _ = s.Serve(all) }() // its error is that it was stopped
	return "stomp://" + l.Addr().String(), func() { _ = all.Close() }, nil
}

// quiet is the logger of a server that is to log nothing.
type quiet struct{}

// Debugf drops a message.
func (quiet) Debugf(string, ...any) {}

// Infof drops a message.
func (quiet) Infof(string, ...any) {}

// Warningf drops a message.
func (quiet) Warningf(string, ...any) {}

// Errorf drops a message.
func (quiet) Errorf(string, ...any) {}

// Debug drops a message.
func (quiet) Debug(string) {}

// Info drops a message.
func (quiet) Info(string) {}

// Warning drops a message.
func (quiet) Warning(string) {}

// Error drops a message.
func (quiet) Error(string) {}

// prepare does nothing: a queue is made by who subscribes to it.
func (stompDriver) prepare(context.Context, place, kernels.Params) (func(), error) {
	return func() {}, nil
}

// A stompBroker is what the brokers differ in.
type stompBroker struct {
	name string
	// whole tells that it answers a subscription with a receipt, and takes the acknowledgements
	// of STOMP 1.2. At one that does not a queue is there from its first use and keeps what
	// comes before its reader, and a message is acknowledged as it is sent.
	whole bool
	// lasting tells that a reply queue which is kept stays for as long as there is something in
	// it, though its client has died.
	lasting bool
	// requests returns the destination that the clients send to.
	requests func(queue string) string
	// headers of the subscription to the queue of the requests or, if they are kept, of the
	// replies.
	headers func(persistent bool) []string
	// replies returns where a client subscribes to its replies, and what it names in reply-to.
	// To a destination of the broker's own making nobody subscribes.
	replies func(queue string, persistent bool) (subscribe, name string)
}

// stompBrokerOf returns what is to be known of a broker that calls itself so.
func stompBrokerOf(server string) stompBroker {
	name, _, _ := strings.Cut(server, "/")
	plain := func(queue string) string { return "/queue/" + queue }
	none := func(bool) []string { return nil }
	switch name {
	case "RabbitMQ":
		return stompBroker{
			name: server, whole: true,
			// To this destination a message can be sent without saying how the queue was made.
			requests: func(queue string) string { return "/amq/queue/" + queue },
			headers:  stompRabbitQueue,
			replies: func(queue string, persistent bool) (string, string) {
				if persistent {
					return plain(queue), "/amq/queue/" + queue
				}
				return "", "/temp-queue/" + queue
			},
		}
	case "ActiveMQ":
		return stompBroker{
			name: server, whole: true, lasting: true, requests: plain,
			headers: func(bool) []string { return []string{"activemq.prefetchSize", "32"} },
			replies: func(queue string, persistent bool) (string, string) {
				if persistent {
					return plain(queue), plain(queue)
				}
				return "/temp-queue/" + queue, "/temp-queue/" + queue
			},
		}
	default:
		if name == "stompd" { // the embedded one
			server += ", a stand-in"
		}
		return stompBroker{
			name: server, requests: plain, headers: none,
			replies: func(queue string, _ bool) (string, string) { return plain(queue), plain(queue) },
		}
	}
}

// stompRabbitQueue makes a queue that goes with its last reader or, if it is to outlive the
// broker, ten seconds after it.
func stompRabbitQueue(persistent bool) []string {
	if persistent {
		return []string{"prefetch-count", "32", "durable", "true", "auto-delete", "false", "x-expires", "10000"}
	}
	return []string{"prefetch-count", "32", "durable", "false", "auto-delete", "true", "exclusive", "false"}
}

// connect subscribes to the requests, or to the replies of one client.
func (stompDriver) connect(ctx context.Context, at place, p kernels.Params, r role) (wire, error) {
	l, err := stompConnect(ctx, at)
	if err != nil {
		return nil, err
	}
	b := stompBrokerOf(l.server)
	w := &stompWire{
		stompLink: l, broker: b, target: b.requests(at.queue),
		answered: r.answered, sweeps: b.lasting && r.answered != nil && p.Bool("persistent"),
		persistent: p.Bool("persistent"), sync: p.Bool("sync"), individual: b.whole && (r.serving || p.Bool("persistent")),
	}
	subscribe := "/queue/" + at.queue
	if !r.serving {
		subscribe, w.replyTo = b.replies(unguessable(), w.persistent)
	}
	if subscribe != "" {
		err = w.subscribe(ctx, subscribe)
	}
	if err != nil {
		_ = w.close() //nolint:contextcheck // it takes leave in a time of its own; the error that counts is the one before
		return nil, fmt.Errorf("subscribe at the STOMP broker at %s: %w", at.url.Host, err)
	}
	return w, nil
}

// stompHost is the virtual host that an address names in its path; without one it is "/",
// which RabbitMQ has and the others do not mind.
func stompHost(u *url.URL) string {
	if host := strings.TrimPrefix(u.Path, "/"); host != "" {
		return host
	}
	return "/"
}
