package api

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"benchd/worker/bench"
)

// apiPolicy is the content security policy of every answer but the pages': nothing in it
// may run or be framed.
const apiPolicy = "default-src 'none'; frame-ancestors 'none'"

// observe is the one middleware: it names the request, sets the headers that every answer
// carries, keeps other sites' pages out, turns errors and panics into problems, and then
// logs and counts. One layer instead of six keeps the path of a request short.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	guard := http.NewCrossOriginProtection()
	return func(c echo.Context) error {
		begin := time.Now()
		id := requestID(c.Request().Header.Get(echo.HeaderXRequestID))
		setHeaders(c.Response().Header(), id)
		err := guard.Check(c.Request())
		if err != nil {
			err = bench.Errorf(forbidden, "cross_origin", "the request comes from a page of another site; the API can be used from its own pages and by programs")
		} else {
			err = rescue(next, c)
		}
		if err != nil {
			s.fail(err, c)
		}
		s.account(c, id, time.Since(begin))
		return nil
	}
}

// requestID takes over the client's name for the request when it is a short plain word, so
// that logs on both sides can be matched, and makes one otherwise.
func requestID(given string) string {
	if given != "" && len(given) <= 64 && plainWord(given) {
		return given
	}
	return uuid.NewString()
}

func plainWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
		if !ok {
			return false
		}
	}
	return true
}

func setHeaders(h http.Header, id string) {
	h.Set(echo.HeaderXRequestID, id)
	h.Set(echo.HeaderXContentTypeOptions, "nosniff")
	h.Set(echo.HeaderContentSecurityPolicy, apiPolicy)
	h.Set(echo.HeaderReferrerPolicy, "no-referrer")
	h.Set(echo.HeaderXFrameOptions, "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set(echo.HeaderCacheControl, "no-store")
}

// rescue calls the handler and turns a panic into an error with its stack.
func rescue(next echo.HandlerFunc, c echo.Context) (err error) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if e, ok := r.(error); ok && errors.Is(e, http.ErrAbortHandler) {
			panic(r)
		}
		err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
	}()
	return next(c)
}

// account logs and counts a request that was answered.
func (s *Server) account(c echo.Context, id string, took time.Duration) {
	route, method := routeOf(c), methodOf(c.Request().Method)
	status := c.Response().Status
	s.metrics.request(route, method, strconv.Itoa(status), took)
	level := slog.LevelInfo
	if status < http.StatusBadRequest && method != http.MethodPost && method != http.MethodDelete {
		level = slog.LevelDebug
	}
	ctx := c.Request().Context()
	if s.config.Logger.Enabled(ctx, level) {
		s.config.Logger.LogAttrs(ctx, level, "request", slog.String("method", method), slog.String("route", route),
			slog.Int("status", status), slog.Duration("duration", took), slog.String("request_id", id))
	}
}

// routeOf names the route, not the path, so that metrics stay few and logs hold no ids.
func routeOf(c echo.Context) string {
	if p := c.Path(); p != "" {
		return p
	}
	return "unknown"
}

// methodOf bounds the number of methods in metrics to those that exist.
func methodOf(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodPatch:
		return m
	default:
		return "other"
	}
}
