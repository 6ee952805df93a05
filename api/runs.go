package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"benchd/api/store"
	"benchd/worker/bench"
)

// listRuns shows a page of runs.
//
//	@Summary		List runs
//	@ID				listRuns
//	@Description	Newest first, without their trials. A page that is not the last carries the cursor of the next.
//	@Tags			runs
//	@Produce		json
//	@Param			state	query		[]string	false	"only runs in these states"	collectionFormat(multi)	Enums(queued,running,canceling,succeeded,failed,canceled,lost)
//	@Param			host	query		string		false	"only runs measured on this host"
//	@Param			kernel	query		string		false	"only runs with a trial of this kernel"
//	@Param			suite	query		string		false	"only runs of this suite"
//	@Param			label	query		[]string	false	"only runs with this label, as name=value; may be repeated, all must match"	collectionFormat(multi)
//	@Param			since	query		string		false	"only runs created at or after this time (RFC 3339)"	Format(date-time)
//	@Param			limit	query		int			false	"runs of a page"	minimum(1)	maximum(200)	default(50)
//	@Param			cursor	query		string		false	"the next of the page before"
//	@Success		200		{object}	bench.RunPage
//	@Failure		422		{object}	bench.Problem	"a parameter that cannot be right"
//	@Failure		503		{object}	bench.Problem	"the store is away"
//	@Router			/v1/runs [get]
func (s *Server) listRuns(c echo.Context) error {
	q, err := parseQuery(c, "state", "host", "kernel", "suite", "label", "since", "limit", "cursor")
	if err != nil {
		return err
	}
	filter := store.Filter{
		States: q.states("state"), Host: q.one("host"), Kernel: q.one("kernel"), Suite: q.one("suite"),
		Labels: q.labels("label"), Since: q.time("since"), Limit: q.number("limit", 50, 1, 200), Cursor: q.one("cursor"),
	}
	if q.err != nil {
		return q.err
	}
	runs, next, err := s.config.Runs.Runs(c.Request().Context(), filter)
	if err != nil {
		return err
	}
	if runs == nil {
		runs = []bench.Run{}
	}
	return writeJSON(c, http.StatusOK, bench.RunPage{Runs: runs, Next: next})
}

// getRun shows a run, at once or at its next change.
//
//	@Summary		Get a run
//	@ID				getRun
//	@Description	State, progress and trials. With wait it answers at the next change of state of the run or of one of its trials, at once when the run is final, and with the run as it is when the time is over.
//	@Tags			runs
//	@Produce		json
//	@Param			id		path		string	true	"the run"	Format(uuid)
//	@Param			wait	query		string	false	"how long to wait for a change, at most 60s"	example(30s)
//	@Success		200		{object}	bench.Run
//	@Failure		404		{object}	bench.Problem	"there is no such run"
//	@Failure		422		{object}	bench.Problem	"a parameter that cannot be right"
//	@Failure		503		{object}	bench.Problem	"the store is away"
//	@Router			/v1/runs/{id} [get]
func (s *Server) getRun(c echo.Context) error {
	q, err := parseQuery(c, "wait")
	if err != nil {
		return err
	}
	wait := q.duration("wait", maxWait)
	if q.err != nil {
		return q.err
	}
	id, err := runID(c)
	if err != nil {
		return err
	}
	run, err := s.await(c, id, wait)
	if err != nil {
		return err
	}
	s.merge(c.Request().Context(), &run)
	return writeJSON(c, http.StatusOK, run)
}

// cancelRun asks for a run's cancellation.
//
//	@Summary		Cancel a run
//	@ID				cancelRun
//	@Description	Trials that wait are canceled at once; those that run are stopped, and the run is canceled when their processes are gone.
//	@Tags			runs
//	@Produce		json
//	@Param			id	path		string	true	"the run"	Format(uuid)
//	@Success		202	{object}	bench.Run	"canceling, or already canceled when nothing ran"
//	@Failure		403	{object}	bench.Problem	"a page of another site asked"
//	@Failure		404	{object}	bench.Problem	"there is no such run"
//	@Failure		409	{object}	bench.Problem	"the run is over"
//	@Failure		422	{object}	bench.Problem	"a parameter that cannot be right"
//	@Failure		503	{object}	bench.Problem	"the store is away"
//	@Router			/v1/runs/{id} [delete]
func (s *Server) cancelRun(c echo.Context) error {
	if _, err := parseQuery(c); err != nil {
		return err
	}
	id, err := runID(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	run, err := s.config.Runs.CancelRun(ctx, id, bench.CancelAsked)
	if err != nil {
		return err
	}
	s.merge(ctx, &run)
	return writeJSON(c, http.StatusAccepted, run)
}

// runID reads the id of a run from the path. What is no UUID cannot be the id of a run.
func runID(c echo.Context) (string, error) { return parseRunID(c.Param("id")) }

func parseRunID(text string) (string, error) {
	id, err := uuid.Parse(text)
	if err != nil || len(text) != len(uuid.Nil.String()) {
		return "", bench.Errorf(bench.NotFound, "unknown_run", "there is no run %q", clip(text))
	}
	return id.String(), nil
}

// redisPatience is how long a request waits for a Redis that does not answer.
const redisPatience = 2 * time.Second

// merge adds to a run what only Redis knows, the phases of running trials, and works out
// how far it is.
func (s *Server) merge(ctx context.Context, run *bench.Run) {
	var running []string
	for _, t := range run.Trials {
		if t.State == bench.Running || t.State == bench.Canceling {
			running = append(running, t.ID)
		}
	}
	if len(running) > 0 {
		s.addPhases(ctx, run, running)
	}
	run.Progress = bench.ComputeProgress(run.Spec, run.Trials)
}

func (s *Server) addPhases(ctx context.Context, run *bench.Run, running []string) {
	ctx, cancel := context.WithTimeout(ctx, redisPatience)
	defer cancel()
	phases, err := s.config.Queue.Phases(ctx, running)
	if err != nil {
		s.config.Logger.Debug("cannot read the phases of running trials", slog.String("run", run.ID), slog.Any("error", err))
		return
	}
	for i, t := range run.Trials {
		if p, ok := phases[t.ID]; ok {
			run.Trials[i].Phase = &p
		}
	}
}
