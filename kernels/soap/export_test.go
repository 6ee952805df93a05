package soap

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
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
	return newServer(made, nil, 0).serve(ctx, l)
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

// Inline takes an envelope in that holds its content and gives the content's length and
// checksum.
func Inline(doc []byte) (length int64, checksum uint32, err error) {
	x, err := newStoring()
	if err != nil {
		return 0, 0, err
	}
	got, refused := x.store(&http.Request{
		Header: http.Header{"Content-Type": {mediaType}, "Soapaction": {`"` + storeAction + `"`}},
		Body:   io.NopCloser(bytes.NewReader(doc)), ContentLength: int64(len(doc)),
	})
	if refused != nil {
		return 0, 0, &refused.fault
	}
	return got.length, got.checksum, nil
}
