package api

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"benchd/worker/bench"
)

// maxWait bounds the wait of a long poll; most proxies give up on a silent answer soon
// after.
const maxWait = time.Minute

// lookEvery is how often a waiting request looks for changes that another process wrote.
const lookEvery = time.Second

// await gives a run at its next change of state, or as it is when it is final, when the
// time is over, or when the server ends.
func (s *Server) await(c echo.Context, id string, wait time.Duration) (bench.Run, error) {
	ctx := c.Request().Context()
	if wait == 0 {
		return s.config.Runs.Run(ctx, id)
	}
	// The channel and the version come before the run, so that no change falls between.
	changed, stop := s.config.Watch.Watch(id)
	defer stop()
	version, err := s.config.Watch.Version(ctx, id)
	if err != nil {
		return bench.Run{}, err
	}
	run, err := s.config.Runs.Run(ctx, id)
	if err != nil || run.State.Final() {
		return run, err
	}
	s.allow(c, wait)
	before := outline(run)
	over, look := time.NewTimer(wait), time.NewTicker(lookEvery)
	defer over.Stop()
	defer look.Stop()
	for {
		select {
		case <-changed:
		case <-look.C:
		case <-over.C:
			return run, nil
		case <-s.closing:
			return run, nil
		case <-ctx.Done():
			return run, ctx.Err()
		}
		now, err := s.config.Watch.Version(ctx, id)
		if err != nil {
			return run, err
		}
		if now == version {
			continue
		}
		version = now
		if run, err = s.config.Runs.Run(ctx, id); err != nil || outline(run) != before {
			return run, err
		}
	}
}

// allow lets the answer take longer than the server's usual time.
func (s *Server) allow(c echo.Context, wait time.Duration) {
	deadline := time.Now().Add(wait + writeTimeout)
	if err := http.NewResponseController(c.Response()).SetWriteDeadline(deadline); err != nil {
		s.config.Logger.Debug("cannot extend the time of a long poll", slog.Any("error", err))
	}
}

// outline is what a change of state changes: the states of the run and its trials, their
// attempts, and why the run waits.
func outline(run bench.Run) string {
	var b strings.Builder
	b.WriteString(string(run.State))
	b.WriteString(run.Reason)
	for _, t := range run.Trials {
		b.WriteByte(' ')
		b.WriteString(string(t.State))
		b.WriteString(strconv.Itoa(t.Attempt))
	}
	return b.String()
}
