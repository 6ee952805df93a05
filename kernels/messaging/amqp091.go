package messaging

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"benchd/kernels"
)

// rabbitDriver speaks AMQP 0-9-1 to RabbitMQ. A message goes through the default exchange
// straight into a queue; request and reply go by the properties reply-to and correlation-id.
type rabbitDriver struct{}

var _ driver = rabbitDriver{}

const (
	// rabbitPrefetch is how many messages are on their way to a reader that has not
	// acknowledged them.
	rabbitPrefetch = 32
	// rabbitExpires is how long, in milliseconds, a queue of requests outlives its readers, in
	// case nobody is left to remove it.
	rabbitExpires = 60_000
	// rabbitRepliesExpire is that of a reply queue, whose client never comes back to it.
	rabbitRepliesExpire = 10_000
	// rabbitHeartbeat is how often an idle connection shows that it is there.
	rabbitHeartbeat = 10 * time.Second
)

func (rabbitDriver) start(context.Context, kernels.Params) (string, func(), error) {
	return "", nil, errors.New("there is no RabbitMQ inside this process")
}

// prepare declares the queue of the requests.
func (rabbitDriver) prepare(ctx context.Context, at place, p kernels.Params) (func(), error) {
	if err := rabbitDeclare(ctx, at, at.queue, p.Bool("persistent"), false); err != nil {
		return nil, err
	}
	return func() { rabbitRemove(context.WithoutCancel(ctx), at) }, nil
}

// rabbitDeclare makes a queue, which may go with its last reader.
func rabbitDeclare(ctx context.Context, at place, queue string, durable, autoDelete bool) error {
	l, err := rabbitConnect(ctx, at)
	if err != nil {
		return err
	}
	defer func() { _ = l.close() }()
	expires := int32(rabbitExpires)
	if autoDelete {
		expires = rabbitRepliesExpire
	}
	err = l.within(ctx, func() error {
		_, err := l.channel.QueueDeclare(queue, durable, autoDelete, false, false, amqp.Table{"x-expires": expires})
		return err
	})
	if err != nil {
		return fmt.Errorf("declare a queue at the RabbitMQ at %s: %w", at.url.Host, err)
	}
	return nil
}

// rabbitRemove deletes the queue of the requests.
func rabbitRemove(ctx context.Context, at place) {
	ctx, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	l, err := rabbitConnect(ctx, at)
	if err != nil {
		return // a broker that is gone is told by everything else, and forgets the queue
	}
	defer func() { _ = l.close() }()
	_ = l.within(ctx, func() error {
		_, err := l.channel.QueueDelete(at.queue, false, false, false)
		return err
	}) // as above
}

// connect consumes from the requests, or from a reply queue that nobody else can use.
func (rabbitDriver) connect(ctx context.Context, at place, p kernels.Params, r role) (wire, error) {
	l, err := rabbitConnect(ctx, at)
	if err != nil {
		return nil, err
	}
	w := &rabbitWire{
		rabbitLink: l, requests: at.queue, persistent: p.Bool("persistent"), sync: p.Bool("sync"),
		serving: r.serving, manual: r.serving || p.Bool("persistent"), alone: !r.shared, given: make(map[uint64]bool),
	}
	if err := l.within(ctx, w.open); err != nil {
		_ = l.close() // the error that counts is the one before
		return nil, fmt.Errorf("consume at the RabbitMQ at %s: %w", at.url.Host, err)
	}
	return w, nil
}

// rabbitLink is a connection with its one channel.
type rabbitLink struct {
	conn    *amqp.Connection
	channel *amqp.Channel
	socket  net.Conn
	closed  chan *amqp.Error
	blocks  chan amqp.Blocking
	returns chan amqp.Return
}

// rabbitConnect connects and opens the channel.
func rabbitConnect(ctx context.Context, at place) (*rabbitLink, error) {
	l := &rabbitLink{closed: make(chan *amqp.Error, 1), returns: make(chan amqp.Return, room)}
	var err error
	if l.socket, err = at.dial(ctx); err == nil {
		err = l.open(ctx, at)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the RabbitMQ at %s: %w", at.url.Host, err)
	}
	return l, nil
}

// open makes a session of the socket, or closes it.
func (l *rabbitLink) open(ctx context.Context, at place) error {
	user, password := at.credentials("guest", "guest")
	err := l.within(ctx, func() error {
		var err error
		l.conn, err = amqp.Open(l.socket, amqp.Config{
			SASL: []amqp.Authentication{&amqp.PlainAuth{Username: user, Password: password}}, Vhost: rabbitHost(at), Heartbeat: rabbitHeartbeat, Locale: "en_US",
		})
		if err != nil {
			return err
		}
		l.blocks = l.conn.NotifyBlocked(make(chan amqp.Blocking, room))
		if l.channel, err = l.conn.Channel(); err != nil {
			return err
		}
		l.channel.NotifyClose(l.closed)
		l.channel.NotifyReturn(l.returns)
		return nil
	})
	if err != nil {
		_ = l.socket.Close() // the error that counts is the one before
	}
	return err
}

// within gives the broker the time of a connection for what is done there. The library takes
// no context; closing the socket under it ends what it does.
func (l *rabbitLink) within(ctx context.Context, do func() error) error {
	bounded, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	release := context.AfterFunc(bounded, func() { _ = l.socket.Close() })
	defer release()
	return inTime(ctx, bounded, do())
}

// rabbitHost is the virtual host that an address names in its path.
func rabbitHost(at place) string {
	if host := strings.TrimPrefix(at.url.Path, "/"); host != "" {
		return host
	}
	return "/"
}

// close ends the connection.
func (l *rabbitLink) close() error {
	watch := time.AfterFunc(time.Second, func() { _ = l.socket.Close() })
	defer watch.Stop()
	if err := l.conn.Close(); err != nil && !errors.Is(err, amqp.ErrClosed) && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close the connection to RabbitMQ: %w", err)
	}
	return nil
}

// version is what the broker calls itself.
func (l *rabbitLink) version() string {
	product, _ := l.conn.Properties["product"].(string)
	version, _ := l.conn.Properties["version"].(string)
	return strings.TrimSpace(product + " " + version)
}

// deliveryMode is the property by which a message is kept.
func deliveryMode(persistent bool) uint8 {
	if persistent {
		return amqp.Persistent
	}
	return amqp.Transient
}

// rabbitNumber reads a correlation id.
func rabbitNumber(id string) uint64 {
	n, err := strconv.ParseUint(id, 36, 64)
	if err != nil {
		return 0 // no number of a request's
	}
	return n
}
