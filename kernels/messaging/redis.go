package messaging

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"benchd/kernels"
)

// redisLists speaks to Redis: a queue is a list, which grows at one end and is read with
// BLPOP at the other. A message that was read is gone from it, so it is delivered at most once.
//
// Request and reply go by the usual convention: the request names the list for its reply.
// A command that sends goes out together with the one that waits for what comes next, in one
// piece, so that each message costs one round trip to the server and not two.
type redisLists struct{}

// redisStreams is the other way: a queue is a stream, which the services read as one group
// and acknowledge, and a message whose reader has died is delivered to another.
type redisStreams struct{}

var (
	_ driver = redisLists{}
	_ driver = redisStreams{}
)

// redisBlock is how long the server holds a call that waits for a message. Its reader then
// asks again, so it ends nothing.
const redisBlock = time.Second

// redisPending is how many messages are gathered before they are sent without being asked to.
const redisPending = 128

var errNoRedis = errors.New("there is no Redis inside this process to measure")

func (redisLists) start(context.Context, kernels.Params) (string, func(), error) {
	return "", nil, errNoRedis
}

func (redisStreams) start(context.Context, kernels.Params) (string, func(), error) {
	return "", nil, errNoRedis
}

// prepare looks whether the server keeps messages as the trial asks for.
func (redisLists) prepare(ctx context.Context, at place, p kernels.Params) (func(), error) {
	return redisPrepare(ctx, at, p, func(context.Context, *redis.Conn) error { return nil })
}

// prepare makes the group of the services, and the stream with it.
func (redisStreams) prepare(ctx context.Context, at place, p kernels.Params) (func(), error) {
	return redisPrepare(ctx, at, p, func(ctx context.Context, c *redis.Conn) error {
		err := c.XGroupCreateMkStream(ctx, at.queue, redisGroup, "0").Err()
		if err != nil && strings.HasPrefix(err.Error(), "BUSYGROUP") {
			return nil // it is there since before the connection was lost
		}
		return err
	})
}

func redisPrepare(ctx context.Context, at place, p kernels.Params, ready func(context.Context, *redis.Conn) error) (func(), error) {
	l, err := redisConnect(ctx, at, endless)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.close() }()
	if err := l.keeps(p.Bool("persistent"), p.Bool("sync")); err != nil {
		return nil, err
	}
	err = l.within(ctx, func(ctx context.Context) error {
		_ = redisSweep(ctx, l.conn, at, time.Now()) // a server may forbid it
		return ready(ctx, l.conn)
	})
	if err != nil {
		return nil, fmt.Errorf("prepare the Redis at %s: %w", at.url.Host, err)
	}
	return func() { redisRemove(context.WithoutCancel(ctx), at) }, nil
}

// redisKeys names the set of the keys of a trial, which lets them be removed whoever died
// before removing its own.
func redisKeys(queue string) string { return queue + "-keys" }

// redisRemove removes every key of a trial.
func redisRemove(ctx context.Context, at place) {
	ctx, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	l, err := redisConnect(ctx, at, endless)
	if err != nil {
		return // a server that is gone is told by everything else
	}
	defer func() { _ = l.close() }()
	_ = l.within(ctx, func(ctx context.Context) error {
		return redisForget(ctx, l.conn, at.queue)
	}) // as above
}

// redisLink is a connection to a Redis server.
type redisLink struct {
	client *redis.Client
	conn   *redis.Conn
	socket net.Conn
	tether tether
	facts  map[string]string
	dialed bool
}

// endless is the library's word for no time-out of its own.
const endless = time.Duration(-1)

// dial gives the library the connection, once: after its loss there is no other.
func (l *redisLink) dial(context.Context, string, string) (net.Conn, error) {
	if l.dialed {
		return nil, errLost
	}
	l.dialed = true
	return l.socket, nil
}

// redisConnect connects, and reads what the server tells of itself. Each command may take as
// long as patience says; the end of a context ends an endless one.
func redisConnect(ctx context.Context, at place, patience time.Duration) (*redisLink, error) {
	return redisConnectAs(ctx, at, patience, false)
}

// redisConnectAs is redisConnect, for a process in which this connection is alone at work, or not.
func redisConnectAs(ctx context.Context, at place, patience time.Duration, alone bool) (*redisLink, error) {
	l := &redisLink{}
	user, password := at.credentials("", "")
	database, err := strconv.Atoi(strings.TrimPrefix(at.url.Path, "/"))
	if err != nil && strings.TrimPrefix(at.url.Path, "/") != "" {
		return nil, fmt.Errorf("the path of the address of the Redis at %s is the number of a database, and not %q", at.url.Host, at.url.Path)
	}
	// The library tells a failed dialing on standard error, so it gets a connection that stands.
	if l.socket, err = at.dial(ctx); err == nil && alone {
		l.socket, err = lone(l.socket)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the Redis at %s: %w", at.url.Host, err)
	}
	l.client = redis.NewClient(&redis.Options{
		Addr: at.hostPort(), Username: user, Password: password, DB: database, Protocol: 2,
		DisableIdentity: true, MaxRetries: -1, DialerRetries: 1, PoolSize: 1, ReadTimeout: patience, WriteTimeout: patience,
		Dialer: l.dial,
	})
	l.conn = l.client.Conn()
	err = l.within(ctx, func(ctx context.Context) error {
		defer l.ask(ctx)
		return l.conn.Ping(ctx).Err()
	})
	if err != nil {
		_ = l.close() // the error that counts is the one before
		return nil, fmt.Errorf("connect to the Redis at %s: %w", at.url.Host, err)
	}
	return l, nil
}

// within gives the server the time of a connection for what is done there. The library itself
// waits without looking at a context.
func (l *redisLink) within(ctx context.Context, do func(ctx context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	l.tether.hold(bounded, l.socket)
	defer l.tether.release()
	return inTime(ctx, bounded, do(bounded))
}

// ask reads version and durability; a server may forbid it.
func (l *redisLink) ask(ctx context.Context) {
	const silent = "the server does not tell"
	l.facts = map[string]string{"broker": "Redis", "appendonly": silent, "appendfsync": silent}
	for line := range strings.Lines(l.conn.Info(ctx, "server").Val()) {
		if v, ok := strings.CutPrefix(line, "redis_version:"); ok {
			l.facts["broker"] = "Redis " + strings.TrimSpace(v)
		}
	}
	for _, name := range []string{"appendonly", "appendfsync"} {
		if v, err := l.conn.ConfigGet(ctx, name).Result(); err == nil && v[name] != "" {
			l.facts[name] = v[name]
		}
	}
}

// keeps returns a sentence if the server is not set as the trial asks for. Whether and when
// Redis writes to its disk is for its operator to set, and for all its users at once.
func (l *redisLink) keeps(persistent, sync bool) error {
	appendonly, appendfsync := l.facts["appendonly"], l.facts["appendfsync"]
	switch {
	case persistent && appendonly != "yes":
		return fmt.Errorf("this Redis keeps no messages (appendonly: %s); persistent can only be false, or set appendonly yes", appendonly)
	case !persistent && appendonly == "yes":
		return errors.New("this Redis keeps every message (appendonly yes); persistent can only be true, or set appendonly no")
	case sync && appendfsync != "always":
		return fmt.Errorf("this Redis confirms before its disk does (appendfsync: %s); sync can only be false, or set appendfsync always", appendfsync)
	case persistent && !sync && appendfsync == "always":
		return errors.New("this Redis writes every message to its disk before it confirms (appendfsync always); sync can only be true, or set appendfsync everysec")
	default:
		return nil
	}
}

// close ends the connection.
func (l *redisLink) close() error {
	l.tether.release()
	_ = l.conn.Close() // gives the connection back to the client, which closes it
	if err := l.client.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close the connection to Redis: %w", err)
	}
	return nil
}

// judge makes a Failure of an error.
func (*redisLink) judge(ctx context.Context, err error) error {
	return judge[redis.Error](ctx, "the Redis server", err)
}
