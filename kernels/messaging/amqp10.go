package messaging

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	amqp10 "github.com/Azure/go-amqp"

	"benchd/kernels"
)

// amqpDriver speaks AMQP 1.0. A client's reply queue is a dynamic node, which the broker names
// and removes with its link, where it has such; request and reply go by the properties reply-to and
// correlation-id.
type amqpDriver struct{}

var _ driver = amqpDriver{}

const (
	// amqpCredit is how many messages are on their way to a reader. It is given anew when all
	// have come: RabbitMQ's plug-in stops for ever where credit is given while some is left.
	amqpCredit = 32
	// amqpIdle is how long a connection may rest before it shows that it is there.
	amqpIdle = time.Minute
)

func (amqpDriver) start(context.Context, kernels.Params) (string, func(), error) {
	return "", nil, errors.New("there is no broker for AMQP 1.0 inside this process")
}

// prepare makes the queue of the requests where the broker is RabbitMQ, which in AMQP 1.0 has
// no way to remove one: it does so in AMQP 0-9-1, on the same port. Other brokers make a queue
// at its first use and remove it by rules of their own.
func (amqpDriver) prepare(ctx context.Context, at place, p kernels.Params) (func(), error) {
	l, err := amqpConnect(ctx, at)
	if err != nil {
		return nil, err
	}
	rabbit := l.isRabbit()
	_ = l.close() // it has told what it was for
	if rabbit {
		return rabbitDriver{}.prepare(ctx, at, p)
	}
	return func() {}, nil
}

// amqpLink is a connection with its one session.
type amqpLink struct {
	conn    *amqp10.Conn
	session *amqp10.Session
	socket  net.Conn
}

// amqpConnect connects and begins a session.
func amqpConnect(ctx context.Context, at place) (*amqpLink, error) {
	socket, err := at.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to the AMQP broker at %s: %w", at.url.Host, err)
	}
	bounded, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	release := context.AfterFunc(bounded, func() { _ = socket.Close() })
	defer release()
	options := &amqp10.ConnOptions{ContainerID: unguessable(), HostName: amqpHost(at), IdleTimeout: amqpIdle, SASLType: amqp10.SASLTypeAnonymous()}
	if at.url.User != nil {
		options.SASLType = amqp10.SASLTypePlain(at.credentials("", ""))
	}
	l := &amqpLink{socket: socket}
	if l.conn, err = amqp10.NewConn(bounded, socket, options); err == nil {
		l.session, err = l.conn.NewSession(bounded, nil)
	}
	if err != nil {
		_ = socket.Close() // the error that counts is the one before
		return nil, fmt.Errorf("open a session at the AMQP broker at %s: %w", at.url.Host, endOf(ctx, err))
	}
	return l, nil
}

// amqpHost is the host name of the open frame. RabbitMQ takes "vhost:" and the name of a
// virtual host for one.
func amqpHost(at place) string {
	if host := strings.TrimPrefix(at.url.Path, "/"); host != "" {
		return "vhost:" + host
	}
	return at.url.Hostname()
}

// product is what the broker calls itself.
func (l *amqpLink) product() string {
	name, _ := l.conn.Properties()["product"].(string)
	version, _ := l.conn.Properties()["version"].(string)
	return strings.TrimSpace(name + " " + version)
}

func (l *amqpLink) isRabbit() bool { return strings.HasPrefix(l.product(), "RabbitMQ") }

// close ends the connection.
func (l *amqpLink) close() error {
	watch := time.AfterFunc(time.Second, func() { _ = l.socket.Close() })
	defer watch.Stop()
	var gone *amqp10.ConnError
	if err := l.conn.Close(); err != nil && !errors.As(err, &gone) {
		return fmt.Errorf("close the connection to the AMQP broker: %w", err)
	}
	return nil
}
