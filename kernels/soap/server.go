package soap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"benchd/kernels"
)

// Path is where the embedded service is.
const Path = "/echo"

// The time-outs of the embedded service. A client that stalls loses its connection; one
// that pauses between two calls does not, as long as a trial may pause.
const (
	headerTimeout = 10 * time.Second
	bodyTimeout   = time.Minute
	answerTimeout = 2 * time.Minute
	idleTimeout   = 10 * time.Minute
	headerLimit   = 16 << 10
)

// parting is how long calls at work may take to end after the service was told to.
const parting = 500 * time.Millisecond

// Serve runs the service on a random loopback port until ctx is done. It calls ready with
// the URL of the service.
func (Echo) Serve(ctx context.Context, p kernels.Params, ready func(addr string)) error {
	handler, err := newService(p)
	if err != nil {
		return fmt.Errorf("serve soap.echo: %w", err)
	}
	if err := serve(ctx, handler, ready); err != nil {
		return fmt.Errorf("serve soap.echo: %w", err)
	}
	return nil
}

// serve runs a handler on a random loopback port until ctx is done.
func serve(ctx context.Context, handler http.Handler, ready func(addr string)) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       bodyTimeout,
		WriteTimeout:      answerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerLimit,
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		end(ctx, server)
	})
	ready("http://" + listener.Addr().String() + Path)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return errors.Join(err, server.Close())
	}
	<-ended
	return nil
}

// end lets calls at work end and then closes every connection. That of a client which has
// not called yet counts as at work, so the time for it is short.
func end(ctx context.Context, server *http.Server) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), parting)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		_ = server.Close() // of connections that are no more of use to anybody
	}
}
