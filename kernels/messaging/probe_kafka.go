package messaging

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"benchd/kernels"
)

// kafkaStandIn is the name of the cluster by which the client library's stand-in tells itself.
const kafkaStandIn = "kfake"

// inquire asks which requests the broker knows, by which its version can be guessed since it
// does not tell it, and times that. Then it asks for the cluster.
func (kafkaDriver) inquire(ctx context.Context, at place) (finding, error) {
	c, err := kafkaClient(at, nil)
	if err != nil {
		return finding{}, err
	}
	defer c.Close()
	var known *kmsg.ApiVersionsResponse
	f := finding{Report: kernels.Report{Product: "Kafka"}}
	f.RoundTrip, err = kernels.Repeat(ctx, func(ctx context.Context) error {
		known, err = kafkaVersions(ctx, c)
		return err
	})
	if err != nil {
		return finding{}, fmt.Errorf("ask the Kafka at %s what it knows: %w", at.url.Host, endOf(ctx, err))
	}
	question := kmsg.NewPtrMetadataRequest()
	question.Topics = []kmsg.MetadataRequestTopic{} // none; without a list it would be all
	cluster, err := question.RequestWith(ctx, c)
	if err != nil {
		return finding{}, fmt.Errorf("ask the Kafka at %s for its cluster: %w", at.url.Host, endOf(ctx, err))
	}
	f.Supports = []string{fmt.Sprintf("%d requests, as %s", len(known.ApiKeys), kversion.FromApiVersionsResponse(known).VersionGuess())}
	f.Supports = append(f.Supports, fmt.Sprintf("brokers: %d", len(cluster.Brokers)))
	if id := cluster.ClusterID; id != nil && *id == kafkaStandIn {
		f.Product = "a stand-in for Kafka"
	}
	return f, nil
}

// kafkaVersions asks the broker of the address itself, once and without trying again.
func kafkaVersions(ctx context.Context, c *kgo.Client) (*kmsg.ApiVersionsResponse, error) {
	question := kmsg.NewPtrApiVersionsRequest()
	question.ClientSoftwareName, question.ClientSoftwareVersion = "benchd", "1"
	answer, err := c.SeedBrokers()[0].Request(ctx, question)
	if err != nil {
		return nil, err
	}
	known, ok := answer.(*kmsg.ApiVersionsResponse)
	if !ok {
		return nil, errors.New("the answer is none to that")
	}
	return known, kerr.ErrorForCode(known.ErrorCode)
}
