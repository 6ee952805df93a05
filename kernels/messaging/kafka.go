package messaging

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"benchd/kernels"
)

// kafkaDriver speaks to Kafka. The requests are a topic with a partition for each of the
// services, the replies a topic with a partition for each of the clients; a request names the
// partition for its reply.
//
// The embedded cluster is no Kafka but a stand-in of the client library's, and is called so.
type kafkaDriver struct{}

var _ driver = kafkaDriver{}

const (
	// kafkaLargest is the largest message that the topics take, in bytes.
	kafkaLargest = 8 << 20
	// kafkaRetention is how long, in milliseconds, a topic keeps messages, in case nobody is left
	// to remove it.
	kafkaRetention = 3_600_000
	// kafkaWait is how long a broker holds a fetch that finds nothing.
	kafkaWait = time.Second
	// kafkaIdle is the longest that the library lets a connection rest: a closed one is a lost one.
	kafkaIdle = 15 * time.Minute
)

// start runs the stand-in, which keeps its topics in a folder of its own.
func (kafkaDriver) start(_ context.Context, p kernels.Params) (string, func(), error) {
	folder, err := os.MkdirTemp("", "benchd-kfake-")
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for the stand-in for Kafka: %w", err)
	}
	forget := func() { _ = os.RemoveAll(folder) } // what stays is in the system's folder for such things
	options := []kfake.Opt{kfake.NumBrokers(1), kfake.DataDir(folder)}
	if p.Bool("sync") {
		options = append(options, kfake.SyncWrites())
	}
	c, err := kfake.NewCluster(options...)
	if err != nil {
		forget()
		return "", nil, fmt.Errorf("start the stand-in for Kafka: %w", err)
	}
	return "kafka://" + c.ListenAddrs()[0] + "#fake=true", func() {
		c.Close()
		forget()
	}, nil
}

func kafkaRequests(at place) string { return at.queue + "-requests" }
func kafkaReplies(at place) string  { return at.queue + "-replies" }

// prepare makes the two topics.
func (kafkaDriver) prepare(ctx context.Context, at place, p kernels.Params) (func(), error) {
	c, err := kafkaClient(at, nil)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	r := kmsg.NewPtrCreateTopicsRequest()
	for topic, partitions := range map[string]int{kafkaRequests(at): max(1, at.desks), kafkaReplies(at): max(1, p.Int("clients"))} {
		r.Topics = append(r.Topics, kafkaTopic(topic, partitions, p.Bool("sync")))
	}
	bounded, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	answer, err := r.RequestWith(bounded, c)
	if err != nil {
		return nil, fmt.Errorf("make the topics at the Kafka at %s: %w", at.url.Host, endOf(ctx, err))
	}
	for _, t := range answer.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			return nil, fmt.Errorf("make the topic %s at the Kafka at %s: %w", t.Topic, at.url.Host, err)
		}
	}
	return func() { kafkaRemove(context.WithoutCancel(ctx), at) }, nil
}

// kafkaTopic describes a topic. With sync the broker writes each message to its disk before it
// confirms.
func kafkaTopic(name string, partitions int, sync bool) kmsg.CreateTopicsRequestTopic {
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, int32(partitions), -1
	set := map[string]string{"max.message.bytes": strconv.Itoa(kafkaLargest), "retention.ms": strconv.Itoa(kafkaRetention)}
	if sync {
		set["flush.messages"] = "1"
	}
	for key, value := range set {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = key, &value
		t.Configs = append(t.Configs, c)
	}
	return t
}

// kafkaRemove deletes the two topics.
func kafkaRemove(ctx context.Context, at place) {
	c, err := kafkaClient(at, nil)
	if err != nil {
		return // as below
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	r := kmsg.NewPtrDeleteTopicsRequest()
	for _, name := range []string{kafkaRequests(at), kafkaReplies(at)} {
		t := kmsg.NewDeleteTopicsRequestTopic()
		t.Topic = &name
		r.Topics = append(r.Topics, t)
		r.TopicNames = append(r.TopicNames, name)
	}
	_, _ = r.RequestWith(ctx, c) // a broker that is gone is told by everything else
}

// kafkaClient makes a client. It sends a message as soon as it has it, and gives up what it
// cannot send within the time that a lane waits.
func kafkaClient(at place, hook kgo.Hook, more ...kgo.Opt) (*kgo.Client, error) {
	options := []kgo.Opt{
		kgo.SeedBrokers(at.hostPort()), kgo.ClientID("benchd"),
		kgo.Dialer(func(ctx context.Context, _, host string) (net.Conn, error) { return dialTCP(ctx, host) }),
		kgo.ConnIdleTimeout(kafkaIdle), kgo.RetryTimeout(connectPatience),
		kgo.ProducerLinger(0), kgo.ProducerBatchMaxBytes(kafkaLargest), kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.RecordDeliveryTimeout(replyPatience),
		kgo.FetchMaxWait(kafkaWait), kgo.FetchMinBytes(1), kgo.FetchMaxPartitionBytes(kafkaLargest),
	}
	if hook != nil {
		options = append(options, kgo.WithHooks(hook))
	}
	if at.url.User != nil {
		user, password := at.credentials("", "")
		options = append(options, kgo.SASL(plain.Auth{User: user, Pass: password}.AsMechanism()))
	}
	c, err := kgo.NewClient(append(options, more...)...)
	if err != nil {
		return nil, fmt.Errorf("make a client for the Kafka at %s: %w", at.url.Host, err)
	}
	return c, nil
}
