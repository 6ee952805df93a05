package soap

import (
	"context"
	"net"
	"time"

	"benchd/kernels"
	"benchd/kernels/envelope"
)

// ServeOn runs the services on a listener until ctx is done.
func ServeOn(ctx context.Context, l net.Listener) error {
	made, err := newService(envelope.Stream, Limits{})
	if err != nil {
		return err
	}
	return newServer(made, nil, false).serve(ctx, l)
}

// SetPatience makes a trial that has not called yet wait so long for answers.
func SetPatience(t kernels.Trial, patience time.Duration) {
	switch t := t.(type) {
	case *trial:
		t.client.guard.patience = patience
	case *attachmentTrial:
		t.client.guard.patience = patience
	}
}
