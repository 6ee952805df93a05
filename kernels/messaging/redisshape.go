package messaging

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisList is a queue as a list.
type redisList struct{ key string }

func (redisList) push(c redis.Pipeliner, key string, frame []byte) {
	c.RPush(context.Background(), key, frame) // a pipeline takes its context when it is sent
}

func (l *redisList) pull(c redis.Pipeliner) func() ([]byte, error) {
	answer := c.BLPop(context.Background(), redisBlock, l.key)
	return func() ([]byte, error) {
		if pair := answer.Val(); len(pair) == 2 {
			return []byte(pair[1]), nil
		}
		return nil, nil
	}
}

func (redisList) settle(redis.Pipeliner) {}

func (redisList) facts() map[string]string {
	return map[string]string{"queue": "list", "commands": "RPUSH, BLPOP", "delivery": "at most once"}
}

// The words of a queue as a stream: its group, and the field that holds a frame.
const (
	redisGroup = "services"
	redisField = "m"
)

// redisClaim is how long the reader of a message may be silent before another gets it.
const redisClaim = 5 * time.Second

// redisReader reads a client's reply stream, which nobody else does.
type redisReader struct {
	stream string
	last   string
	read   bool // last is the id of a message that was read and is to be removed
}

func (*redisReader) push(c redis.Pipeliner, key string, frame []byte) { redisAdd(c, key, frame) }

func redisAdd(c redis.Pipeliner, key string, frame []byte) {
	c.XAdd(context.Background(), &redis.XAddArgs{Stream: key, ID: "*", Values: []any{redisField, frame}})
}

func (r *redisReader) pull(c redis.Pipeliner) func() ([]byte, error) {
	r.settle(c)
	answer := c.XRead(context.Background(), &redis.XReadArgs{Streams: []string{r.stream, r.last}, Count: 1, Block: redisBlock})
	return func() ([]byte, error) {
		frame, id := redisFirst(answer.Val())
		if frame != nil {
			r.last, r.read = id, true
		}
		return frame, nil
	}
}

func (r *redisReader) settle(c redis.Pipeliner) {
	if r.read {
		c.XDel(context.Background(), r.stream, r.last)
		r.read = false
	}
}

func (*redisReader) facts() map[string]string { return redisStreamFacts() }

func redisStreamFacts() map[string]string {
	return map[string]string{
		"queue": "stream", "commands": "XADD, XREADGROUP, XACK, XDEL; of a reply XADD, XREAD, XDEL", "delivery": "at least once",
	}
}

// redisFirst returns the frame and the id of the first message of an answer.
func redisFirst(streams []redis.XStream) ([]byte, string) {
	if len(streams) == 0 || len(streams[0].Messages) == 0 {
		return nil, ""
	}
	return redisFrame(streams[0].Messages[0])
}

func redisFrame(m redis.XMessage) ([]byte, string) {
	text, _ := m.Values[redisField].(string)
	return []byte(text), m.ID
}

// redisGroupReader is one of the readers of the requests' stream. Now and then, when nothing
// comes, it takes over what a silent one was given.
type redisGroupReader struct {
	stream, name string
	id           string // of the message to be acknowledged, or empty
	idle         bool
}

func (*redisGroupReader) push(c redis.Pipeliner, key string, frame []byte) { redisAdd(c, key, frame) }

func (r *redisGroupReader) pull(c redis.Pipeliner) func() ([]byte, error) {
	r.settle(c)
	var claimed *redis.XAutoClaimCmd
	if r.idle {
		claimed = c.XAutoClaim(context.Background(), &redis.XAutoClaimArgs{
			Stream: r.stream, Group: redisGroup, Consumer: r.name, MinIdle: redisClaim, Start: "0", Count: 1,
		})
		return func() ([]byte, error) {
			r.idle = false
			if list, _ := claimed.Val(); len(list) > 0 {
				return r.keep(redisFrame(list[0])), nil
			}
			return nil, nil
		}
	}
	answer := c.XReadGroup(context.Background(), &redis.XReadGroupArgs{
		Group: redisGroup, Consumer: r.name, Streams: []string{r.stream, ">"}, Count: 1, Block: redisBlock,
	})
	return func() ([]byte, error) {
		frame, id := redisFirst(answer.Val())
		r.idle = frame == nil
		return r.keep(frame, id), nil
	}
}

// keep remembers what is to be acknowledged.
func (r *redisGroupReader) keep(frame []byte, id string) []byte {
	r.id = id
	return frame
}

func (r *redisGroupReader) settle(c redis.Pipeliner) {
	if r.id != "" {
		c.XAck(context.Background(), r.stream, redisGroup, r.id)
		c.XDel(context.Background(), r.stream, r.id)
		r.id = ""
	}
}

func (*redisGroupReader) facts() map[string]string { return redisStreamFacts() }
