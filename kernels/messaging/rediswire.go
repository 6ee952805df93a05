package messaging

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/redis/go-redis/v9"

	"benchd/kernels"
)

// A redisShape is what differs between lists and streams.
type redisShape interface {
	// push adds the command that sends a frame to a key.
	push(c redis.Pipeliner, key string, frame []byte)
	// pull adds the commands that acknowledge the last message and wait for the next one,
	// and returns what reads the answer: nothing if none came in time.
	pull(c redis.Pipeliner) func() ([]byte, error)
	// settle adds the commands that acknowledge the last message.
	settle(c redis.Pipeliner)
	// facts are what the result tells.
	facts() map[string]string
}

// redisWire is a connection to lists or streams. Of a shared wire, which waits and sends at
// the same time, there are two: a connection in a blocking call takes no other.
type redisWire struct {
	*redisLink
	out    *redisLink // of a shared wire, the one that sends
	shape  redisShape
	at     place
	inbox  string // the key of the reply queue, or empty
	batch  redis.Pipeliner
	frames [][]byte // of the batch, to be used again
	count  int
}

// connect connects to lists.
func (redisLists) connect(ctx context.Context, at place, p kernels.Params, r role) (wire, error) {
	return redisOpen(ctx, at, p, r, func(key string) redisShape { return &redisList{key: key} })
}

// connect connects to streams.
func (redisStreams) connect(ctx context.Context, at place, p kernels.Params, r role) (wire, error) {
	return redisOpen(ctx, at, p, r, func(key string) redisShape {
		if r.serving {
			return &redisGroupReader{stream: key, name: unguessable()}
		}
		return &redisReader{stream: key, last: "0"}
	})
}

func redisOpen(ctx context.Context, at place, p kernels.Params, r role, shape func(key string) redisShape) (wire, error) {
	l, err := redisConnectAs(ctx, at, endless, !r.shared && isLone(p))
	if err != nil {
		return nil, err
	}
	w := &redisWire{redisLink: l, at: at, batch: l.conn.Pipeline()}
	if r.serving {
		w.shape = shape(at.queue)
		return w, nil
	}
	w.inbox = at.queue + "-" + unguessable()
	w.shape = shape(w.inbox)
	err = l.within(ctx, func(ctx context.Context) error { return l.conn.SAdd(ctx, redisKeys(at.queue), w.inbox).Err() })
	if err == nil && r.shared {
		w.out, err = redisConnect(ctx, at, replyPatience)
	}
	if err != nil {
		_ = l.close() // the error that counts is the one before
		return nil, fmt.Errorf("name a reply queue to the Redis at %s: %w", at.url.Host, err)
	}
	return w, nil
}

// send gathers messages: they leave with the next call that waits, or when they are many.
func (w *redisWire) send(ctx context.Context, p *parcel) error {
	if w.out != nil {
		return w.sendNow(ctx, p)
	}
	if w.count == len(w.frames) {
		w.frames = append(w.frames, nil)
	}
	f := appendFrame(w.frames[w.count][:0], w.inbox, p)
	w.frames[w.count] = f
	w.count++
	w.shape.push(w.batch, w.target(p), f)
	if w.count < redisPending {
		return nil
	}
	return w.confirm(ctx)
}

// sendNow sends over the connection that is for nothing else. It is not tied to the context of
// one lane, whose end is not that of the others.
func (w *redisWire) sendNow(ctx context.Context, p *parcel) error {
	w.out.tether.release()
	batch := w.out.conn.Pipeline()
	w.shape.push(batch, w.target(p), appendFrame(nil, w.inbox, p))
	_, err := batch.Exec(ctx)
	return w.out.judge(ctx, err)
}

// target is the key that a message goes to.
func (w *redisWire) target(p *parcel) string {
	if p.to != "" {
		return p.to
	}
	return w.at.queue
}

// confirm sends what was gathered and reads the server's answers.
func (w *redisWire) confirm(ctx context.Context) error {
	if w.count == 0 {
		return nil
	}
	w.tether.hold(ctx, w.socket)
	_, err := w.batch.Exec(ctx)
	w.count = 0
	return w.judge(ctx, err)
}

// receive sends what was gathered together with the command that waits.
func (w *redisWire) receive(ctx context.Context) (parcel, error) {
	for {
		w.tether.hold(ctx, w.socket)
		read := w.shape.pull(w.batch)
		_, err := w.batch.Exec(ctx)
		w.count = 0
		if err != nil && !errors.Is(err, redis.Nil) {
			return parcel{}, w.judge(ctx, err)
		}
		frame, err := read()
		switch {
		case err != nil:
			return parcel{}, w.judge(ctx, err)
		case frame != nil:
			return readFrame(frame)
		case ctx.Err() != nil:
			return parcel{}, ctx.Err()
		}
	}
}

// describe tells of the server and of what is sent to it.
func (w *redisWire) describe(_ bool) map[string]string {
	all := maps.Clone(w.facts)
	maps.Copy(all, w.shape.facts())
	return all
}

// close acknowledges what was received and removes the reply queue.
func (w *redisWire) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	w.tether.hold(ctx, w.socket)
	w.shape.settle(w.batch)
	if w.inbox != "" {
		w.batch.Del(ctx, w.inbox)
		w.batch.SRem(ctx, redisKeys(w.at.queue), w.inbox)
	}
	if w.batch.Len() > 0 {
		_, _ = w.batch.Exec(ctx) // the service removes all keys at the end
	}
	if w.out != nil {
		_ = w.out.close() // as the one below
	}
	return w.redisLink.close()
}

// A frame is what a message is in Redis: the number of the request (8 bytes, big endian), the
// length of the name of the reply queue (one byte), the name, and the message.
func appendFrame(b []byte, inbox string, p *parcel) []byte {
	if p.to != "" || p.oneWay {
		inbox = ""
	}
	b = binary.BigEndian.AppendUint64(b, p.number)
	b = append(b, byte(len(inbox)))
	b = append(b, inbox...)
	return append(b, p.body...)
}

// frameHeader is the bytes of a frame before the name.
const frameHeader = 9

// readFrame takes a frame apart.
func readFrame(b []byte) (parcel, error) {
	if len(b) < frameHeader || len(b) < frameHeader+int(b[frameHeader-1]) {
		return parcel{}, &kernels.Failure{Class: malformed, Err: fmt.Errorf("%d bytes came that are no message of ours", len(b))}
	}
	end := frameHeader + int(b[frameHeader-1])
	return parcel{
		number: binary.BigEndian.Uint64(b), reply: string(b[frameHeader:end]), body: b[end:], oneWay: end == frameHeader,
	}, nil
}
