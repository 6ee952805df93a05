package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"benchd/api/export"
	"benchd/worker/bench"
	"benchd/worker/stats"
)

// getResult gives what a run measured.
//
//	@Summary		Get a run's result
//	@ID				getResult
//	@Description	Everything that was measured, once the run is over. Trials that failed, were canceled or lost are in it with their reason. The format is the one that format names, or the one that the Accept header prefers.
//	@Tags			runs
//	@Produce		json,text/csv,text/plain,application/x.jmh+json,application/x.bmf+json,application/xml,application/openmetrics-text,text/markdown
//	@Param			id		path		string	true	"the run"	Format(uuid)
//	@Param			format	query		string	false	"how to write the result; goes before the Accept header"	Enums(json,csv,benchfmt,jmh,bmf,junit,openmetrics,markdown,article)
//	@Success		200		{object}	bench.Result
//	@Header			200		{string}	Content-Disposition	"a name for the file"
//	@Failure		404		{object}	bench.Problem	"there is no such run"
//	@Failure		406		{object}	bench.Problem	"a format that there is not, or not of this result"
//	@Failure		409		{object}	bench.Problem	"the run is not over"
//	@Failure		422		{object}	bench.Problem	"a parameter that cannot be right"
//	@Failure		503		{object}	bench.Problem	"the store is away"
//	@Router			/v1/runs/{id}/results [get]
func (s *Server) getResult(c echo.Context) error {
	q, err := parseQuery(c, "format")
	if err != nil {
		return err
	}
	name := q.one("format")
	if q.err != nil {
		return q.err
	}
	c.Response().Header().Set(echo.HeaderVary, echo.HeaderAccept)
	format, err := chooseFormat(name, strings.Join(c.Request().Header.Values(echo.HeaderAccept), ","))
	if err != nil {
		return err
	}
	id, err := runID(c)
	if err != nil {
		return err
	}
	result, err := s.result(c.Request().Context(), id)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	err = format.Write(&body, result)
	if errors.Is(err, export.ErrNoTable) {
		return noFormat("format", err.Error(), fitting(result))
	}
	if err != nil {
		return fmt.Errorf("write the result of run %s as %s: %w", id, format.Name, err)
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, fmt.Sprintf("inline; filename=%q", "benchd-"+id+format.Extension))
	return c.Blob(http.StatusOK, format.ContentType(), body.Bytes())
}

// chooseFormat gives the format that is asked for by name, or the one that an Accept header
// (RFC 9110, section 12.5.1) weighs most; of several alike the first, which is JSON.
func chooseFormat(name, accept string) (export.Format, error) {
	if name != "" {
		f, ok := export.ByName(name)
		if !ok {
			return f, noFormat("format", fmt.Sprintf("there is no format %q", clip(name)), export.Names())
		}
		return f, nil
	}
	var best export.Format
	most := 0.0
	var media []string
	for _, f := range export.Formats() {
		if !slices.Contains(media, f.MediaType) {
			media = append(media, f.MediaType)
		}
		kind, subtype, _ := strings.Cut(f.MediaType, "/")
		if w := preference(accept, kind, subtype); w > most {
			best, most = f, w
		}
	}
	// A browser asks for pages and for XML before anything else; whoever wants a test report
	// does not ask for pages.
	if json := export.Formats()[0]; preference(accept, "application", "json") > 0 && strings.Contains(accept, "text/html") {
		return json, nil
	}
	if most == 0 {
		return best, noFormat(echo.HeaderAccept, fmt.Sprintf("a result cannot be had as %s", clip(accept)), media)
	}
	return best, nil
}

// fitting names the formats that a result can be had in.
func fitting(r bench.Result) []string {
	var names []string
	for _, f := range export.Formats() {
		if f.Fits(r) {
			names = append(names, f.Name)
		}
	}
	return names
}

// noFormat says what a result can be had as.
func noFormat(parameter, message string, allowed []string) error {
	message += "; it can be had as " + strings.Join(allowed, ", ")
	return &bench.Error{
		Kind: unacceptable, Code: "not_acceptable", Message: message,
		Fields: []bench.FieldError{{Parameter: parameter, Code: "not_acceptable", Message: message, Allowed: allowed}},
	}
}

// result gives a run's result with all that follows from it: its composites, its scores as
// parts of their floors, and where its figures would stand among the published ones.
func (s *Server) result(ctx context.Context, id string) (bench.Result, error) {
	r, err := s.config.Results.Result(ctx, id)
	if err != nil {
		return r, err
	}
	r.Composites = stats.Composites(s.config.Catalog.Families(), r.Spec.Plan.Interval, r.Trials)
	s.config.Catalog.SetFloors(r.Trials)
	for i := range r.Trials {
		t := &r.Trials[i]
		if t.Series == nil { // the score of a ramp is not of the lanes that its case tells
			t.Standing = s.standing(t.Case(), t.Score)
		}
	}
	for i := range r.Composites {
		f := &r.Composites[i]
		f.Standing = s.standing(bench.Case{Kernel: f.Name, Params: f.Params}, &f.Score)
	}
	return r, nil
}

// standing tells where the score of a case, or of a composite by its name, would stand among the published figures, or nil.
func (s *Server) standing(c bench.Case, score *bench.Score) *bench.Standing {
	if score == nil || score.Value == nil {
		return nil
	}
	return s.config.References.Stand(c.Kernel, c.Params, score.Unit, *score.Value)
}
