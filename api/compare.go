package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"benchd/api/store"
	"benchd/worker/bench"
	"benchd/worker/stats"
	"benchd/worker/stats/changes"
	"benchd/worker/stats/compare"
)

// compare tells what changed from one run to another.
//
//	@Summary		Compare two runs
//	@ID				compareRuns
//	@Description	A verdict for each case that both runs have, and one for the whole. A case is better or worse only if the change is no chance, by a test that is adjusted for the number of cases, and larger than both min_effect and the noise of that case on that host, which is taken from what the service measured there before. Parts are written like 0.02 or 2%.
//	@Tags			figures
//	@Produce		json
//	@Param			base		query		string		true	"the run that is compared with"	Format(uuid)
//	@Param			head		query		string		true	"the run that is compared"	Format(uuid)
//	@Param			min_effect	query		string		false	"a smaller change is the same"	default(1%)
//	@Param			q			query		string		false	"false alarms allowed: share of comparisons of equal things with any better or worse"	default(5%)
//	@Param			confidence	query		string		false	"level of the intervals"	default(95%)
//	@Param			across		query		[]string	false	"a fact that is meant to differ, such as governor; host for all facts of a machine"	collectionFormat(multi)
//	@Success		200			{object}	bench.Comparison
//	@Failure		404			{object}	bench.Problem	"there is no such run"
//	@Failure		409			{object}	bench.Problem	"a run is not over"
//	@Failure		422			{object}	bench.Problem	"a parameter that cannot be right"
//	@Failure		503			{object}	bench.Problem	"the store is away"
//	@Router			/v1/compare [get]
func (s *Server) compare(c echo.Context) error {
	q, err := parseQuery(c, "base", "head", "min_effect", "q", "confidence", "across")
	if err != nil {
		return err
	}
	o := compareOptions(q)
	ids := [2]string{q.need("base"), q.need("head")}
	if q.err != nil {
		return q.err
	}
	ctx := c.Request().Context()
	var results [2]bench.Result
	for i, text := range ids {
		id, err := parseRunID(text)
		if err != nil {
			return err
		}
		// Only what was measured counts here: neither composites nor standings.
		if results[i], err = s.config.Results.Result(ctx, id); err != nil {
			return err
		}
	}
	noise, err := s.noiseOf(ctx, results[0], results[1])
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, compare.Results(results[0], results[1], noise, o))
}

// compareOptions reads the rules of a comparison.
func compareOptions(q *query) compare.Options {
	o := compare.DefaultOptions()
	o.MinEffect = q.share("min_effect", o.MinEffect, 0, 1)
	o.Q = q.share("q", o.Q, 0.0001, 0.5)
	o.Confidence = q.share("confidence", o.Confidence, 0.5, 0.9999)
	o.Across = q.values["across"]
	for _, name := range o.Across {
		if allowed := compare.Across(); !slices.Contains(allowed, name) {
			q.fail("across", "unknown_value", allowed, "there is no fact %q that a comparison looks at; there are %s", clip(name), strings.Join(allowed, ", "))
		}
	}
	return o
}

// noiseOf gives the noise of every case of two runs that the store can tell: on the host as it
// was for the head, or else as it was for the base, since a new build of benchd makes another
// host of it. The runs themselves do not count: what is to be judged is no measure of itself.
func (s *Server) noiseOf(ctx context.Context, base, head bench.Result) (compare.Floors, error) {
	var floors []bench.NoiseFloor
	found, asked := make(map[string]bool), make(map[string]bool)
	for _, r := range []bench.Result{head, base} {
		for _, t := range r.Trials {
			fingerprint := r.Hosts[t.Host].Fingerprint
			place := placedKey(t)
			if t.Score == nil || found[place] || asked[place+fingerprint] {
				continue
			}
			asked[place+fingerprint] = true
			plan := r.Spec.PlanOf(t.Case())
			key := store.PastKey{
				Host: t.Host, Case: t.Case(), Operations: plan.Operations, Ramp: plan.Ramp, Pin: t.Placement.Pin, Awake: t.Placement.Awake,
				Metric: t.Score.Metric, Unit: t.Score.Unit, Better: t.Score.Better, Fingerprint: fingerprint,
				Slice: plan.Slice, Warmup: plan.Warmup, Except: []string{base.ID, head.ID},
			}
			n, _, err := s.noise(ctx, key)
			if err != nil {
				return nil, err
			}
			if found[place] = n != nil; n != nil {
				floors = append(floors, *n)
			}
		}
	}
	return compare.Index(floors), nil
}

// placedKey names a case on a host in a placement.
func placedKey(t bench.TrialResult) string {
	key := t.Host + "\x00" + t.Case().Key() + "\x00" + t.Placement.Pin
	if t.Placement.Awake {
		key += "\x00awake"
	}
	return key
}

// noise works out the noise of a case on a host from the past, or says why it cannot. Runs
// that repeated the case are best. Of other runs those count that came after the last change
// of level: before it the code, and not chance, was another.
func (s *Server) noise(ctx context.Context, k store.PastKey) (*bench.NoiseFloor, string, error) {
	k.Samples, k.Least = stats.MinSamples, compare.MinRuns
	past, calibrated, err := s.config.Past.Past(ctx, k)
	if err != nil {
		return nil, "", err
	}
	slices.Reverse(past)
	if !calibrated {
		past = past[lastChange(past):]
	}
	runs := make([][][]float64, len(past))
	for i, p := range past {
		for _, median := range p.Forks {
			runs[i] = append(runs[i], []float64{median})
		}
	}
	n, ok := compare.FloorOf(runs)
	if !ok {
		return nil, "too few runs of this case on this host as it is now; make a calibration, a run with repeat", nil
	}
	n.Host, n.Kernel, n.Params, n.Pin, n.Awake = k.Host, k.Case.Kernel, k.Case.Params, k.Pin, k.Awake
	if calibrated {
		n.Source = "calibrations: " + n.Source
	} else {
		n.Source = fmt.Sprintf("past runs, for want of a calibration: of %d runs on one level two differ by more than %.1f %% once in a hundred; the largest difference seen was %.1f %%",
			n.Runs, 100*n.Value, 100*n.Largest)
	}
	return &n, "", nil
}

// lastChange gives the first score of the level that the newest one is on.
func lastChange(past []store.PastScore) int {
	values := make([]float64, len(past))
	for i, p := range past {
		values[i] = p.Value
	}
	found := changes.Find(values, changes.Options{})
	if len(found) == 0 {
		return 0
	}
	return found[len(found)-1].Index
}
