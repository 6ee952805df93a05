package messaging

import (
	"context"
	"fmt"

	"benchd/kernels"
)

// inquire reads the properties of the broker's open frame, and times the begin of sessions.
func (amqpDriver) inquire(ctx context.Context, at place) (finding, error) {
	if ok, err := amqpSpeaks(ctx, at, amqpHeader10); err != nil {
		return finding{}, err
	} else if !ok {
		return finding{}, fmt.Errorf("the broker at %s does not speak AMQP 1.0; the address of one that speaks AMQP 0-9-1 begins with amqp://", at.url.Host)
	}
	l, err := amqpConnect(ctx, at)
	if err != nil {
		return finding{}, err
	}
	defer func() { _ = l.close() }()
	f := finding{Report: kernels.Report{Supports: []string{"AMQP 1.0"}}}
	f.Product, f.Version = productOf(l.product())
	f.RoundTrip, err = kernels.Repeat(ctx, func(ctx context.Context) error {
		_, err := l.conn.NewSession(ctx, nil) // it ends with the connection
		return err
	})
	if err != nil {
		return finding{}, fmt.Errorf("begin a session at the AMQP broker at %s: %w", at.url.Host, endOf(ctx, err))
	}
	return f, nil
}
