package soap

import (
	"context"
	"errors"
	"net"
	"net/http"
)

// serve runs a handler of net/http on a random loopback port until ctx is done. It is for a
// service whose calls are so long that a few allocations more do not matter.
func serve(ctx context.Context, handler http.Handler, ready func(addr string)) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: callTimeout,
		ReadTimeout:       callTimeout,
		WriteTimeout:      callTimeout,
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
