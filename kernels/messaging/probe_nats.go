package messaging

import (
	"context"
	"fmt"

	"benchd/kernels"
)

// inquire reads the server's INFO, which comes with the connection, and times PING and PONG.
func (natsDriver) inquire(ctx context.Context, at place) (finding, error) {
	l, err := natsConnect(ctx, at)
	if err != nil {
		return finding{}, err
	}
	defer func() { _ = l.close() }()
	f := finding{Report: kernels.Report{Product: "NATS", Version: l.conn.ConnectedServerVersion()}}
	if f.RoundTrip, err = kernels.Repeat(ctx, l.conn.FlushWithContext); err != nil {
		return finding{}, fmt.Errorf("ping the NATS server at %s: %w", at.url.Host, err)
	}
	jetstream, _ := l.conn.ConnectedServerJetStream()
	if jetstream {
		f.Supports = append(f.Supports, "JetStream")
	} else {
		f.Supports = append(f.Supports, "no JetStream")
	}
	f.Supports = append(f.Supports, "max_payload "+kernels.FormatSize(l.conn.MaxPayload()))
	if l.conn.HeadersSupported() {
		f.Supports = append(f.Supports, "headers")
	}
	if name := l.conn.ConnectedClusterName(); name != "" {
		f.Supports = append(f.Supports, "cluster "+name)
	}
	return f, nil
}
