package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"benchd/worker/bench"
)

// Kinds of error that only HTTP knows.
const (
	unknownMethod bench.Kind = "unknown_method"
	unacceptable  bench.Kind = "unacceptable"
	wrongMedia    bench.Kind = "wrong_media"
	forbidden     bench.Kind = "forbidden"
	gone          bench.Kind = "gone" // the client went away before its answer
)

// statusOf is the one table from kinds of error to HTTP status.
func statusOf(k bench.Kind) int {
	switch k {
	case bench.Malformed:
		return http.StatusBadRequest
	case forbidden:
		return http.StatusForbidden
	case bench.NotFound:
		return http.StatusNotFound
	case unknownMethod:
		return http.StatusMethodNotAllowed
	case unacceptable:
		return http.StatusNotAcceptable
	case bench.Conflict:
		return http.StatusConflict
	case bench.TooLarge:
		return http.StatusRequestEntityTooLarge
	case wrongMedia:
		return http.StatusUnsupportedMediaType
	case bench.Invalid:
		return http.StatusUnprocessableEntity
	case gone:
		return 499 // as nginx counts them; nobody receives it
	case bench.Unavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// internalError is all that a client learns about a fault of ours.
func internalError() *bench.Error {
	return bench.Errorf(bench.InternalKind, "internal",
		"the service failed to answer; its log says why under the request_id given here")
}

// classify turns any error into one that may be shown. It reports whether the cause is a
// fault of ours, which belongs in the log.
func classify(c echo.Context, err error) (e *bench.Error, fault bool) {
	if e = bench.AsError(err); e != nil {
		return e, e.Kind == bench.InternalKind
	}
	if errors.Is(err, context.Canceled) && c.Request().Context().Err() != nil {
		return bench.Errorf(gone, "gone", "the client went away before its answer"), false
	}
	var he *echo.HTTPError
	if !errors.As(err, &he) {
		return internalError(), true
	}
	switch he.Code {
	case http.StatusNotFound:
		return bench.Errorf(bench.NotFound, "unknown_path",
			"there is nothing at %s; /openapi.json and /docs list what there is", clip(c.Request().URL.Path)), false
	case http.StatusMethodNotAllowed:
		return bench.Errorf(unknownMethod, "method_not_allowed", "%s cannot be used on %s; allowed are %s",
			clip(c.Request().Method), clip(c.Request().URL.Path), c.Response().Header().Get(echo.HeaderAllow)), false
	}
	return internalError(), true
}

// fail writes an error as a problem. Echo calls it for its own errors, observe for ours.
func (s *Server) fail(err error, c echo.Context) {
	e, fault := classify(c, err)
	id := c.Response().Header().Get(echo.HeaderXRequestID)
	if fault {
		s.config.Logger.Error("request failed", slog.String("request_id", id), slog.String("method", c.Request().Method),
			slog.String("route", c.Path()), slog.Any("error", err))
		e = internalError()
	}
	if e.Kind == bench.Unavailable {
		s.config.Logger.Warn("a part is away", slog.String("request_id", id), slog.String("route", c.Path()), slog.Any("error", err))
	}
	if c.Response().Committed {
		return
	}
	status := statusOf(e.Kind)
	p := bench.Problem{
		Type: "about:blank", Title: title(status), Status: status,
		Detail: e.Message, Code: e.Code, RequestID: id, Errors: e.Fields,
	}
	if e.Kind == bench.Unavailable {
		c.Response().Header().Set(echo.HeaderRetryAfter, "5")
	}
	body, err := json.Marshal(p)
	if err == nil {
		err = c.Blob(status, "application/problem+json", body)
	}
	if err != nil {
		s.config.Logger.Debug("cannot write a problem", slog.String("request_id", id), slog.Any("error", err))
	}
}

func title(status int) string {
	if t := http.StatusText(status); t != "" {
		return t
	}
	return "Client Closed Request"
}

// clip shortens a text of the client's for a message and drops what is no UTF-8.
func clip(s string) string {
	if len(s) > 64 {
		s = s[:64] + "…"
	}
	return strings.ToValidUTF8(s, "�")
}

// badParameter refuses a query parameter or a header.
func badParameter(name, code, message string, allowed []string) error {
	return &bench.Error{
		Kind: bench.Invalid, Code: code, Message: name + ": " + message,
		Fields: []bench.FieldError{{Parameter: name, Code: code, Message: message, Allowed: allowed}},
	}
}

// writeJSON writes a value as JSON. A value that is no JSON, such as NaN, is a fault of ours
// and nothing of it is written.
func writeJSON(c echo.Context, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.Blob(status, echo.MIMEApplicationJSON, body)
}

// mustJSON gives the JSON of a value of our own that is known at the start.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
