package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Times of the HTTP server. A client that sends or reads more slowly is cut off; a long
// poll asks for more time by itself.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
	// grace is how long requests may take to end once the server shall.
	grace = 10 * time.Second
)

// HTTPServer makes the net/http server with the time-outs and limits that a server on a
// network needs. Its Shutdown ends the waiting long polls.
func (s *Server) HTTPServer() *http.Server {
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelDebug),
	}
	h.RegisterOnShutdown(s.Close)
	return h
}

// Serve answers requests on a listener until ctx ends, then ends the long polls, lets the
// other requests finish, and returns nil. It closes the listener.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := s.HTTPServer()
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve HTTP on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := h.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) {
		s.config.Logger.Warn("some requests did not end in time and were cut off")
		err = h.Close()
	}
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("shut down HTTP on %s: %w", l.Addr(), err)
	}
	return nil
}
