package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"mime"
	"net/http"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"benchd/api/store"
	"benchd/worker/bench"
)

// maxKey bounds an Idempotency-Key, in bytes.
const maxKey = 200

// postRun takes a request for a run.
//
//	@Summary		Ask for a run
//	@ID				postRun
//	@Description	Stores the run and answers at once; the hosts measure it when they are free. The answer shows the run with every default filled in. With an Idempotency-Key the same request can be sent again without asking twice.
//	@Tags			runs
//	@Accept			json
//	@Produce		json
//	@Param			Idempotency-Key	header		string		false	"names the request: the same key and body give the same run, the same key with another body is refused"	maxlength(200)
//	@Param			request			body		bench.Spec	true	"what to measure, where and how"
//	@Success		200				{object}	bench.Run	"the run that the same key and body made before"
//	@Success		202				{object}	bench.Run	"the run, stored and queued"
//	@Header			200,202			{string}	Location		"the path of the run"
//	@Failure		400				{object}	bench.Problem	"not one JSON document"
//	@Failure		403				{object}	bench.Problem	"a page of another site asked"
//	@Failure		409				{object}	bench.Problem	"the key was used with another body"
//	@Failure		413				{object}	bench.Problem	"the body is over 1 MiB"
//	@Failure		415				{object}	bench.Problem	"the body is not application/json"
//	@Failure		422				{object}	bench.Problem	"a field that cannot be right"
//	@Failure		503				{object}	bench.Problem	"the store is away"
//	@Router			/v1/runs [post]
func (s *Server) postRun(c echo.Context) error {
	if _, err := parseQuery(c); err != nil {
		return err
	}
	key, err := idempotencyKey(c.Request().Header)
	if err != nil {
		return err
	}
	body, err := readBody(c.Request())
	if err != nil {
		return err
	}
	run, err := s.makeRun(c, body)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	run, existed, err := s.config.Runs.CreateRun(ctx, store.NewRun{Run: run, IdempotencyKey: key, BodyHash: hashBody(body)})
	if err != nil {
		return err
	}
	status := http.StatusAccepted
	if existed {
		status = http.StatusOK
	}
	s.merge(ctx, &run)
	c.Response().Header().Set(echo.HeaderLocation, "/v1/runs/"+run.ID)
	return writeJSON(c, status, run)
}

// makeRun checks a request and expands it into a run that waits.
func (s *Server) makeRun(c echo.Context, body []byte) (bench.Run, error) {
	spec, present, err := bench.ParseSpec(body)
	if err != nil {
		return bench.Run{}, err
	}
	limits, unknown, err := s.limitsFor(c.Request().Context(), spec.Hosts)
	if err != nil {
		return bench.Run{}, err
	}
	services, err := s.servicesFor(c.Request().Context(), spec.Hosts)
	if err != nil {
		return bench.Run{}, err
	}
	spec, cases, err := s.config.Catalog.Resolve(spec, present, limits, services...)
	if e := bench.AsError(err); e != nil && len(unknown) > 0 {
		unknown = append(unknown, e.Fields...)
	} else if err != nil {
		return bench.Run{}, err
	}
	if err := bench.InvalidFields(unknown); err != nil {
		return bench.Run{}, err
	}
	return s.newRun(spec, cases)
}

// newRun makes the run and its trials: every case on each named host, or once where the
// host is to be found, and as often as is asked.
func (s *Server) newRun(spec bench.Spec, cases []bench.Case) (bench.Run, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return bench.Run{}, err
	}
	run := bench.Run{ID: id.String(), State: bench.Queued, Spec: spec, Hosts: spec.Hosts.Names, Created: s.config.Now().UTC()}
	hosts := spec.Hosts.Names
	if len(hosts) == 0 {
		run.Hosts, hosts = []string{}, []string{""}
	}
	run.Trials = make([]bench.Trial, 0, len(cases)*len(hosts)*spec.Repeat)
	for _, host := range hosts {
		for _, t := range inOrder(cases, spec) {
			id, err := uuid.NewV7()
			if err != nil {
				return bench.Run{}, err
			}
			t.ID, t.Host, t.State = id.String(), host, bench.Queued
			run.Trials = append(run.Trials, t)
		}
	}
	return run, nil
}

// inOrder lists the trials of one host as they are measured: all repeats of a case before the
// next case, or, interleaved, each case once before its next repeat.
func inOrder(cases []bench.Case, spec bench.Spec) []bench.Trial {
	trials := make([]bench.Trial, len(cases)*spec.Repeat)
	for c, cs := range cases {
		for r := range spec.Repeat {
			at := c*spec.Repeat + r
			if spec.Plan.Order == bench.Interleaved {
				at = r*len(cases) + c
			}
			trials[at] = bench.Trial{Kernel: cs.Kernel, Params: cs.Params, Repeat: r + 1}
		}
	}
	return trials
}

// idempotencyKey reads the header of draft-ietf-httpapi-idempotency-key-header.
func idempotencyKey(h http.Header) (string, error) {
	values := h.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	printable := true
	for i := range len(key) {
		printable = printable && key[i] >= ' ' && key[i] <= '~'
	}
	if len(values) > 1 || key == "" || len(key) > maxKey || !printable {
		return "", badParameter("Idempotency-Key", "bad_idempotency_key", "must be given once, with 1 to 200 printable ASCII characters", nil)
	}
	return key, nil
}

// readBody reads a body of at most bench.MaxBody bytes, declared or in chunks.
func readBody(r *http.Request) ([]byte, error) {
	if given := r.Header.Get(echo.HeaderContentType); given != "" {
		if media, _, err := mime.ParseMediaType(given); err != nil || media != echo.MIMEApplicationJSON {
			return nil, bench.Errorf(wrongMedia, "unsupported_media_type", "the body is sent as %s; only application/json is taken", clip(given))
		}
	}
	tooLarge := bench.Errorf(bench.TooLarge, "body_too_large", "the body is over the limit of %d bytes", bench.MaxBody)
	if r.ContentLength > drained || r.ContentLength > bench.MaxBody && r.Header.Get("Expect") != "" {
		return nil, tooLarge // nothing of it is read
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, bench.MaxBody+1))
	if err != nil {
		return nil, bench.Errorf(bench.Malformed, "unreadable_body", "the body broke off before its end")
	}
	if len(body) > bench.MaxBody {
		drain(r)
		return nil, tooLarge
	}
	return body, nil
}

// drained is how much of a body that is too large is read for the client's sake.
const drained = 4 * bench.MaxBody

// drain reads on for a little, since a client that is still sending when the connection is
// closed may never see why.
func drain(r *http.Request) {
	_, err := io.CopyN(io.Discard, r.Body, drained)
	_ = err // the request is refused either way
}

// hashBody tells bodies apart, white space aside.
func hashBody(body []byte) [32]byte {
	var plain bytes.Buffer
	plain.Grow(len(body))
	if json.Compact(&plain, body) != nil {
		return sha256.Sum256(body)
	}
	return sha256.Sum256(plain.Bytes())
}
