package messaging

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"benchd/kernels"
)

// The headers of a request and its reply, as a widely used Kafka client for Java has them.
const (
	kafkaNumber    = "kafka_correlationId"
	kafkaPartition = "kafka_replyPartition"
	// kafkaClientName names the client among those that read the same partition.
	kafkaClientName = "benchd_client"
)

// kafkaWire is a client that reads one partition.
type kafkaWire struct {
	*inbox
	at        place
	client    *kgo.Client
	name      string // of a client, by which it knows its replies
	partition int32  // that it reads
	target    int32  // that a client sends its requests to
	sync      bool
	failed    atomic.Pointer[error] // the first message that the broker did not take
	cancel    context.CancelFunc
	ended     chan struct{}
	once      sync.Once
}

var _ kgo.HookBrokerDisconnect = (*kafkaWire)(nil)

// connect reads the partition of one of the services or one of the clients from its present
// end on.
func (kafkaDriver) connect(ctx context.Context, at place, p kernels.Params, r role) (wire, error) {
	w := &kafkaWire{inbox: newInbox(), at: at, partition: int32(r.lane), target: int32(r.lane % max(1, at.desks)), sync: p.Bool("sync"), ended: make(chan struct{})}
	topic := kafkaRequests(at)
	if !r.serving {
		topic, w.name = kafkaReplies(at), unguessable()
	}
	end, err := kafkaEnd(ctx, at, topic, w.partition)
	if err != nil {
		return nil, fmt.Errorf("find the end of a partition at the Kafka at %s: %w", at.url.Host, endOf(ctx, err))
	}
	acks := []kgo.Opt{kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite()}
	if w.sync {
		acks = []kgo.Opt{kgo.RequiredAcks(kgo.AllISRAcks())}
	}
	from := kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {w.partition: kgo.NewOffset().At(end)}})
	if w.client, err = kafkaClient(at, w, append(acks, from)...); err != nil {
		return nil, err
	}
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w.cancel = cancel
	go w.read(reading)
	return w, nil
}

// kafkaEnd asks for the offset after the last message of a partition: what is sent from now on
// comes after that.
func kafkaEnd(ctx context.Context, at place, topic string, partition int32) (int64, error) {
	c, err := kafkaClient(at, nil)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	bounded, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Partition, p.Timestamp = partition, -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic, t.Partitions = topic, append(t.Partitions, p)
	r := kmsg.NewPtrListOffsetsRequest()
	r.Topics = append(r.Topics, t)
	answer, err := r.RequestWith(bounded, c)
	switch {
	case err != nil:
		return 0, err
	case len(answer.Topics) != 1 || len(answer.Topics[0].Partitions) != 1:
		return 0, errors.New("the broker does not tell")
	}
	told := answer.Topics[0].Partitions[0]
	return told.Offset, kerr.ErrorForCode(told.ErrorCode)
}

// OnBrokerDisconnect tells that a connection is lost. The library would make another by
// itself; when and how often that is tried is for the lane to say.
func (w *kafkaWire) OnBrokerDisconnect(kgo.BrokerMetadata, net.Conn) { w.gone(errLost) }

func (w *kafkaWire) gone(err error) { w.once.Do(func() { w.lose(err) }) }

// read takes in what comes until the client is closed.
func (w *kafkaWire) read(ctx context.Context) {
	defer close(w.ended)
	for {
		batch := w.client.PollFetches(ctx)
		if ctx.Err() != nil || batch.IsClientClosed() {
			return
		}
		if err := batch.Err(); err != nil {
			w.gone(err)
			return
		}
		for r := range batch.RecordsAll() {
			if p := kafkaParcel(r); w.name == "" || p.to == w.name {
				w.deliver(p)
			}
		}
	}
}

// kafkaParcel takes a message out of its record.
func kafkaParcel(r *kgo.Record) parcel {
	p := parcel{body: r.Value, oneWay: true}
	for _, h := range r.Headers {
		switch {
		case h.Key == kafkaNumber && len(h.Value) == 8:
			p.number = binary.BigEndian.Uint64(h.Value)
		case h.Key == kafkaPartition && len(h.Value) == 4:
			p.reply, p.oneWay = strconv.FormatUint(uint64(binary.BigEndian.Uint32(h.Value)), 10), false
		case h.Key == kafkaClientName:
			p.to = string(h.Value)
		}
	}
	if !p.oneWay {
		p.reply += " " + p.to
	}
	return p
}

// send produces a message, and waits for the broker's acknowledgement if sync asks for that.
func (w *kafkaWire) send(ctx context.Context, p *parcel) error {
	r := &kgo.Record{
		Topic: kafkaRequests(w.at), Partition: w.target, Value: append([]byte(nil), p.body...),
		Headers: []kgo.RecordHeader{{Key: kafkaNumber, Value: binary.BigEndian.AppendUint64(nil, p.number)}},
	}
	if p.to != "" {
		text, name, _ := strings.Cut(p.to, " ")
		partition, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return &kernels.Failure{Class: malformed, Err: fmt.Errorf("a message names the reply partition %q", text)}
		}
		r.Topic, r.Partition = kafkaReplies(w.at), int32(partition)
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: kafkaClientName, Value: []byte(name)})
	} else if !p.oneWay {
		r.Headers = append(r.Headers,
			kgo.RecordHeader{Key: kafkaPartition, Value: binary.BigEndian.AppendUint32(nil, uint32(w.partition))},
			kgo.RecordHeader{Key: kafkaClientName, Value: []byte(w.name)})
	}
	if w.sync {
		return w.judge(ctx, w.client.ProduceSync(ctx, r).FirstErr())
	}
	w.client.Produce(ctx, r, func(_ *kgo.Record, err error) {
		if err != nil {
			w.failed.CompareAndSwap(nil, &err)
		}
	})
	return nil
}

// judge makes a Failure of an error.
func (*kafkaWire) judge(ctx context.Context, err error) error {
	return judge[*kerr.Error](ctx, "the Kafka broker", err)
}

// receive takes the next message. What was read is not read again by this wire, and it is
// committed nowhere.
func (w *kafkaWire) receive(ctx context.Context) (parcel, error) { return w.next(ctx) }

// confirm waits until the broker has acknowledged everything that was sent.
func (w *kafkaWire) confirm(ctx context.Context) error {
	if err := w.client.Flush(ctx); err != nil {
		return w.judge(ctx, err)
	}
	if err := w.failed.Swap(nil); err != nil {
		return w.judge(ctx, *err)
	}
	return nil
}

// describe tells what was asked of the broker.
func (w *kafkaWire) describe(_ bool) map[string]string {
	facts := map[string]string{"broker": "Kafka", "acks": "1", "flush.messages": "the broker's own", "linger.ms": "0", "commit": "none, each reader from the end on"}
	if w.at.fake {
		facts["broker"] = "kfake, a stand-in for Kafka"
	}
	if w.sync {
		facts["acks"], facts["flush.messages"] = "all", "1"
	}
	return facts
}

// close ends the client.
func (w *kafkaWire) close() error {
	w.gone(errLost)
	w.cancel()
	<-w.ended
	w.client.CloseAllowingRebalance()
	return nil
}
