package api

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"benchd/worker/bench"
)

// healthy tells that the process answers; it asks no other part, so that a supervisor does
// not restart the API because Redis is away.
//
//	@Summary	Is the process alive?
//	@ID				healthz
//	@Tags		service
//	@Produce	json
//	@Success	200	{object}	bench.Health
//	@Failure	422	{object}	bench.Problem	"a parameter that cannot be right"
//	@Router		/healthz [get]
func (s *Server) healthy(c echo.Context) error {
	return blob(c, echo.MIMEApplicationJSON, []byte(`{"status":"ok"}`))
}

// readyPatience is how long a part may take to answer before it counts as away.
const readyPatience = 2 * time.Second

// ready tells whether the parts are there: the store and Redis.
//
//	@Summary	Can the service do its work?
//	@ID				readyz
//	@Tags		service
//	@Produce	json
//	@Success	200	{object}	bench.Health
//	@Failure	422	{object}	bench.Problem	"a parameter that cannot be right"
//	@Failure	503	{object}	bench.Problem	"the store or Redis is away; the code and the sentence say which"
//	@Router		/readyz [get]
func (s *Server) ready(c echo.Context) error {
	if _, err := parseQuery(c); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyPatience)
	defer cancel()
	if err := s.config.Count.Ping(ctx); err != nil {
		return s.away(c, "store_unavailable", "the store does not answer", err)
	}
	if err := s.config.Queue.Ping(ctx); err != nil {
		return s.away(c, "redis_unavailable", "Redis does not answer", err)
	}
	return c.JSONBlob(http.StatusOK, []byte(`{"status":"ok"}`))
}

// away says which part is missing; why is for the log, since it may hold addresses.
func (s *Server) away(c echo.Context, code, sentence string, err error) error {
	s.config.Logger.Warn("not ready", "code", code, "error", err, "request_id", c.Response().Header().Get(echo.HeaderXRequestID))
	return bench.Errorf(bench.Unavailable, code, "%s", sentence)
}
