package messaging

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	amqp "github.com/rabbitmq/amqp091-go"

	"benchd/kernels"
)

// The headers by which a client of each AMQP asks for its version. A server that has it
// begins, or sends the same header back; one that has not sends the header of one that it has.
const (
	amqpHeader091 = "AMQP\x00\x00\x09\x01"
	amqpHeader10  = "AMQP\x03\x01\x00\x00" // with SASL in front, which every broker has
)

// amqpSpeaks asks for a version of AMQP on a connection of its own.
func amqpSpeaks(ctx context.Context, at place, header string) (bool, error) {
	c, err := at.dial(ctx)
	if err != nil {
		return false, fmt.Errorf("connect to the broker at %s: %w", at.url.Host, err)
	}
	defer func() { _ = c.Close() }()
	release := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer release()
	answer := make([]byte, len(header))
	if _, err = c.Write([]byte(header)); err == nil {
		_, err = io.ReadFull(c, answer)
	}
	switch {
	case ctx.Err() != nil:
		return false, fmt.Errorf("ask the broker at %s which AMQP it speaks: %w", at.url.Host, ctx.Err())
	case err != nil:
		return false, fmt.Errorf("ask the broker at %s which AMQP it speaks: %w", at.url.Host, err)
	case bytes.HasPrefix(answer, []byte("AMQP")):
		return string(answer) == header, nil
	default:
		// The other protocol begins with a frame of type 1, a method, on channel 0.
		return header == amqpHeader091 && bytes.HasPrefix(answer, []byte{1, 0, 0}), nil
	}
}

// inquire reads the properties that the server tells with connection.start, and times
// basic.qos, which does nothing here.
func (rabbitDriver) inquire(ctx context.Context, at place) (finding, error) {
	if ok, err := amqpSpeaks(ctx, at, amqpHeader091); err != nil {
		return finding{}, err
	} else if !ok {
		return finding{}, fmt.Errorf("the broker at %s does not speak AMQP 0-9-1; the address of one that speaks AMQP 1.0 begins with amqp10://", at.url.Host)
	}
	l, err := rabbitConnect(ctx, at)
	if err != nil {
		return finding{}, err
	}
	defer func() { _ = l.close() }()
	release := context.AfterFunc(ctx, func() { _ = l.socket.Close() })
	defer release()
	f := finding{Report: kernels.Report{Supports: append([]string{"AMQP 0-9-1"}, rabbitFeatures(l.conn)...)}}
	f.Product, f.Version = productOf(l.version())
	if f.RoundTrip, err = kernels.Repeat(ctx, func(context.Context) error { return l.channel.Qos(rabbitPrefetch, 0, false) }); err != nil {
		return finding{}, fmt.Errorf("ask something of the RabbitMQ at %s: %w", at.url.Host, endOf(ctx, err))
	}
	return f, nil
}

// rabbitFeatures tells of the extensions that a trial may use, and of the limits.
func rabbitFeatures(c *amqp.Connection) []string {
	var out []string
	there, _ := c.Properties["capabilities"].(amqp.Table)
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if on, _ := there[name].(bool); on && (name == "publisher_confirms" || name == "basic.nack") {
			out = append(out, name)
		}
	}
	if c.Config.FrameSize > 0 {
		out = append(out, "frame_max "+strconv.Itoa(c.Config.FrameSize))
	}
	return out
}
