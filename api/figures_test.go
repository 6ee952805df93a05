package api_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"benchd/api"
	"benchd/api/export"
	"benchd/kernels/catalog"
	"benchd/openapi"
	"benchd/worker/bench"
)

// score posts a request and reports for each of its trials three forks of samples around a
// level, one level for each trial.
func (s *service) score(body string, levels ...float64) bench.Run {
	s.t.Helper()
	run := s.post(body)
	for i := range run.Trials {
		s.started(run, i)
		r := measured(bench.Succeeded)
		r.Forks = nil
		noise := rand.New(rand.NewPCG(uint64(i), 7))
		level := levels[i%len(levels)]
		for range 3 {
			f := bench.Fork{Samples: []float64{}, Slices: []bench.Slice{}, Warmup: bench.Warmup{Samples: []float64{}}}
			for range 10 {
				f.Samples = append(f.Samples, level*(1+0.002*noise.NormFloat64()))
			}
			r.Forks = append(r.Forks, f)
		}
		low, high := 0.999*level, 1.001*level
		r.Score.Value, r.Score.Low, r.Score.High, r.Score.N = &level, &low, &high, 30
		r.Placement.Pin = run.Spec.Plan.Pin
		report := s.report(run, i, bench.Finished, r)
		if s.build != "" {
			report.Snapshot.Fingerprint, report.Snapshot.Facts.Build = s.build, s.build
		}
		if ok, err := s.store.RecordFinished(context.Background(), report); err != nil || !ok {
			s.t.Fatal(ok, err)
		}
	}
	return run
}

const onBlue = `{"cases":[{"kernel":"scimark.fft"},{"kernel":"scimark.lu"}],"hosts":{"names":["blue"]},"labels":{"commit":"c1","branch":"main"}}`

// known makes a service that knows the host blue.
func known(t *testing.T) *service {
	t.Helper()
	s := start(t)
	s.saveHost("blue", true, bench.DefaultLimits(4), nil)
	return s
}

func TestCompare(t *testing.T) {
	s := known(t)
	base, same, slow := s.score(onBlue, 100, 200), s.score(onBlue, 100.1, 200.1), s.score(onBlue, 80, 200)
	other := s.score(`{"cases":[{"kernel":"soap.echo"}]}`, 5)
	for _, row := range []struct {
		name, query string
		head        bench.Run
		verdict     bench.Verdict
		worse       int
	}{
		{"the same", "", same, bench.Same, 0},
		{"a slow-down", "", slow, bench.Worse, 1},
		{"a slow-down that does not matter", "&min_effect=30%25", slow, bench.Same, 0},
		{"a slow-down that matters", "&min_effect=0.1&confidence=99%25&q=0.01&across=host", slow, bench.Worse, 1},
		{"nothing in common", "", other, bench.Incomparable, 0},
	} {
		got := read[bench.Comparison](t, s.ask(http.MethodGet, "/v1/compare?base="+base.ID+"&head="+row.head.ID+row.query, ""), http.StatusOK)
		if got.Verdict != row.verdict || got.Counts.Worse != row.worse || got.Base.ID != base.ID || got.Head.ID != row.head.ID {
			t.Errorf("%s: %s (%+v), %s", row.name, got.Verdict, got.Counts, got.Reason)
		}
	}
	if got := read[bench.Comparison](t, s.ask(http.MethodGet, "/v1/compare?base="+base.ID+"&head="+slow.ID, ""), http.StatusOK); got.Cases[0].Noise != nil {
		t.Errorf("noise of two runs that are compared, of themselves: %+v", got.Cases[0].Noise)
	}
}

// TestCompareWithCalibration: a run that repeats its cases tells the noise, and a change below
// it is none.
func TestCompareWithCalibration(t *testing.T) {
	s := known(t)
	base, head := s.score(onBlue, 100, 200), s.score(onBlue, 94, 200)
	if got := read[bench.Comparison](t, s.ask(http.MethodGet, "/v1/compare?base="+base.ID+"&head="+head.ID, ""), http.StatusOK); got.Verdict != bench.Worse {
		t.Errorf("without noise: %s, %+v", got.Verdict, got.Cases[0])
	}
	calibration := s.score(strings.Replace(onBlue, "{", `{"repeat":6,`, 1), 90, 110, 100, 95, 105, 100)
	for i, tr := range calibration.Trials {
		if tr.Repeat != i%6+1 || tr.Kernel != []string{"scimark.fft", "scimark.lu"}[i/6] {
			t.Errorf("trial %d is repeat %d of %s", i, tr.Repeat, tr.Kernel)
		}
	}
	turns := read[bench.Run](t, s.ask(http.MethodPost, "/v1/runs", strings.Replace(onBlue, "{", `{"repeat":2,"plan":{"order":"interleaved"},`, 1)), http.StatusAccepted)
	for i, tr := range turns.Trials {
		if tr.Repeat != i/2+1 || tr.Kernel != []string{"scimark.fft", "scimark.lu"}[i%2] {
			t.Errorf("in turn, trial %d is repeat %d of %s", i, tr.Repeat, tr.Kernel)
		}
	}
	got := read[bench.Comparison](t, s.ask(http.MethodGet, "/v1/compare?base="+base.ID+"&head="+head.ID, ""), http.StatusOK)
	c := got.Cases[0]
	if c.Noise == nil || c.Noise.Runs != 6 || c.Noise.Value < 0.1 || c.Noise.Host != "blue" || !strings.HasPrefix(c.Noise.Source, "calibrations: 6 runs") {
		t.Fatalf("noise %+v", c.Noise)
	}
	if c.Verdict == bench.Worse || c.Verdict == bench.Better {
		t.Errorf("a change within the noise is %s: %s", c.Verdict, c.Reason)
	}
	s.build = "another"
	rebuilt := s.score(onBlue, 95, 200)
	got = read[bench.Comparison](t, s.ask(http.MethodGet, "/v1/compare?base="+base.ID+"&head="+rebuilt.ID, ""), http.StatusOK)
	if n := got.Cases[0].Noise; n == nil || n.Runs != 6 || got.Cases[0].Verdict == bench.Incomparable {
		t.Errorf("noise after a new build %+v, verdict %s", n, got.Cases[0].Verdict)
	}
}

func TestBadFigures(t *testing.T) {
	s := known(t)
	done, waits := s.score(onBlue, 1), s.post(onBlue)
	const nobody = "0192f3a4-7b1c-7def-8a01-23456789abcd"
	for _, row := range []struct {
		path   string
		status int
		code   string
		says   string
	}{
		{"/v1/compare?base=" + done.ID, 422, "missing_parameter", "head: must be given"},
		{"/v1/compare?head=" + done.ID, 422, "missing_parameter", "base: must be given"},
		{"/v1/compare?base=" + done.ID + "&head=" + nobody, 404, "unknown_run", nobody},
		{"/v1/compare?base=latest&head=" + done.ID, 404, "unknown_run", "latest"},
		{"/v1/compare?base=" + done.ID + "&head=" + waits.ID, 409, "not_finished", "queued"},
		{"/v1/compare?base=a&head=b&min_effect=2%", 400, "bad_query", "%25"},
		{"/v1/compare?base=a&head=b&min_effect=200%25", 422, "out_of_range", "like 0.02 or 2%"},
		{"/v1/compare?base=a&head=b&min_effect=NaN", 422, "out_of_range", "from 0 to 1"},
		{"/v1/compare?base=a&head=b&min_effect=-1%25", 422, "out_of_range", "from 0 to 1"},
		{"/v1/compare?base=a&head=b&confidence=1", 422, "out_of_range", "confidence"},
		{"/v1/compare?base=a&head=b&q=few", 422, "out_of_range", "few"},
		{"/v1/compare?base=a&head=b&across=colour", 422, "unknown_value", "governor"},
		{"/v1/compare?base=a&head=b&limit=3", 422, "unknown_parameter", "base, head, min_effect"},
		{"/v1/history?limit=1001", 422, "out_of_range", "1 to 1000"},
		{"/v1/history?param.=1", 422, "unknown_parameter", "param.NAME"},
		{"/v1/history?param=1", 422, "unknown_parameter", "param.NAME"},
		{"/v1/history?param.size=1&param.size=2", 422, "repeated_parameter", "param.size"},
		{"/v1/history?label=a%3D1&label.a=2", 422, "bad_value", "two values"},
		{"/v1/history?since=soon", 422, "bad_value", "RFC 3339"},
		{"/v1/leaderboard?kernel=", 422, "bad_value", "leave it out"},
		{"/v1/leaderboard?limit=3", 422, "unknown_parameter", "kernel, host"},
		{"/v1/references?table=none", 422, "unknown_value", "scimark-small"},
		{"/v1/references?source=none", 422, "unknown_value", "erlang-jvm"},
		{"/v1/runs/" + done.ID + "/results?format=xls", 406, "not_acceptable", "csv, benchfmt"},
	} {
		p := s.ask(http.MethodGet, row.path, "").problem(t)
		if p.Status != row.status || p.Code != row.code || !strings.Contains(p.Detail, row.says) {
			t.Errorf("%s: %d %s %q, not %d %s with %q", row.path, p.Status, p.Code, p.Detail, row.status, row.code, row.says)
		}
	}
}

func TestHistory(t *testing.T) {
	s := known(t)
	if h := read[bench.History](t, s.ask(http.MethodGet, "/v1/history", ""), http.StatusOK); h.Series == nil || len(h.Series) != 0 {
		t.Errorf("history of nothing: %+v", h)
	}
	var runs []bench.Run
	for i := range 40 {
		level := 100 + float64(i%3)
		if i >= 20 {
			level *= 0.8
		}
		runs = append(runs, s.score(strings.Replace(onBlue, "c1", fmt.Sprint("c", i), 1), level, 200))
	}
	since := url.QueryEscape(time.Now().Add(-time.Hour).Format(time.RFC3339))
	for _, row := range []struct {
		query  string
		series int
		points int
		total  int
		cut    bool
	}{
		{"", 2, 40, 40, false},
		{"?kernel=scimark", 2, 40, 40, false},
		{"?kernel=scimark.fft&host=blue&param.size=small&param.threads=1", 1, 40, 40, false},
		{"?param.size=large", 0, 0, 0, false},
		{"?limit=5", 2, 5, 40, true},
		{"?label.commit=c7&label=branch%3Dmain", 2, 1, 1, false},
		{"?label.commit=none", 0, 0, 0, false},
		{"?since=" + since, 2, 40, 40, false},
		{"?since=2999-01-01T00:00:00Z", 0, 0, 0, false},
	} {
		h := read[bench.History](t, s.ask(http.MethodGet, "/v1/history"+row.query, ""), http.StatusOK)
		if len(h.Series) != row.series || h.Cut {
			t.Errorf("%s: %d series, cut %v, want %d", row.query, len(h.Series), h.Cut, row.series)
			continue
		}
		for _, b := range h.Series {
			if len(b.Points) != row.points || b.Total != row.total || b.Cut != row.cut {
				t.Errorf("%s: %d points of %d, cut %v", row.query, len(b.Points), b.Total, b.Cut)
			}
		}
	}
	h := read[bench.History](t, s.ask(http.MethodGet, "/v1/history?kernel=scimark.fft&limit=30", ""), http.StatusOK)
	b := h.Series[0]
	if len(b.Changes) != 1 || b.Changes[0].Index != 10 || b.Changes[0].Run != runs[20].ID || !b.Changes[0].Confirmed || b.Changes[0].Change > -0.1 {
		t.Errorf("changes %+v", b.Changes)
	}
	if b.Points[0].Commit != "c10" || b.Points[0].Run != runs[10].ID {
		t.Errorf("first point %+v", b.Points[0])
	}
	if b.Noise == nil || b.Noise.Runs != 20 || b.Noise.Value > 0.1 {
		t.Errorf("noise %+v (%s): it is that of the runs after the change", b.Noise, b.Reason)
	}
}

func TestLeaderboard(t *testing.T) {
	s := known(t)
	s.saveHost("green", true, bench.DefaultLimits(4), nil)
	s.score(onBlue, 100, 200)
	s.score(strings.Replace(onBlue, "blue", "green", 1), 150, 200)
	s.score(strings.Replace(onBlue, `"labels"`, `"plan":{"pin":"one"},"labels"`, 1), 120, 300)
	l := read[bench.Leaderboard](t, s.ask(http.MethodGet, "/v1/leaderboard?kernel=scimark&param.size=small", ""), http.StatusOK)
	var got []string
	for _, b := range l.Boards {
		for _, r := range b.Rows {
			got = append(got, fmt.Sprintf("%s %d %s %s %v %.2f", b.Kernel, r.Rank, r.Host, r.Pin, r.Value, *r.OfBest))
		}
	}
	want := `scimark.fft 1 green free 150 1.00
scimark.fft 2 blue one 120 0.80
scimark.fft 3 blue free 100 0.67
scimark.lu 1 blue one 300 1.00
scimark.lu 2 green free 200 0.67
scimark.lu 2 blue free 200 0.67`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("boards:\n%s", text)
	}
	if l := read[bench.Leaderboard](t, s.ask(http.MethodGet, "/v1/leaderboard?kernel=soap", ""), http.StatusOK); l.Boards == nil || len(l.Boards) != 0 {
		t.Errorf("boards of a kernel that nobody measured: %+v", l)
	}
}

func TestReferences(t *testing.T) {
	s := start(t)
	all := read[bench.ReferenceList](t, s.ask(http.MethodGet, "/v1/references", ""), http.StatusOK)
	small := read[bench.ReferenceList](t, s.ask(http.MethodGet, "/v1/references?kernel=scimark&table=scimark-small&param.size=small", ""), http.StatusOK)
	if len(small.References) != 127 || len(small.Tables) != 1 || len(all.References) < 245 {
		t.Errorf("%d figures in all, %d of SciMark small in %d tables", len(all.References), len(small.References), len(small.Tables))
	}
}

// TestStanding: a composite that the articles published is set beside them, in the result.
func TestStanding(t *testing.T) {
	s := known(t)
	run := s.post(onBlue)
	for i := range run.Trials {
		r := measured(bench.Succeeded)
		r.Score.Unit = "Mflop/s"
		if ok, err := s.store.RecordFinished(context.Background(), s.report(run, i, bench.Finished, r)); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	result := read[bench.Result](t, s.ask(http.MethodGet, "/v1/runs/"+run.ID+"/results", ""), http.StatusOK)
	if len(result.Composites) != 1 || result.Composites[0].Standing == nil || result.Composites[0].Standing.Count != 127 {
		t.Errorf("composites %+v", result.Composites)
	}
	if result.Trials[0].Standing != nil {
		t.Errorf("a kernel of which nothing was published stands %+v", result.Trials[0].Standing)
	}
}

// TestFormats asks for a result in every format that it can be had in, by name and by media
// type.
func TestFormats(t *testing.T) {
	s := known(t)
	run := s.score(onBlue, 100, 200)
	path := "/v1/runs/" + run.ID + "/results"
	for _, f := range export.Formats() {
		if f.Suites != nil {
			continue
		}
		for _, a := range []answer{s.ask(http.MethodGet, path+"?format="+f.Name, "", with("Accept", "image/png")), s.ask(http.MethodGet, path, "", with("Accept", "image/png, "+f.MediaType+";q=0.5"))} {
			_, disposition, err := mime.ParseMediaType(a.Header.Get("Content-Disposition"))
			if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != f.ContentType() || err != nil || disposition["filename"] != "benchd-"+run.ID+f.Extension {
				t.Errorf("%s: %d, %v: %s", f.Name, a.StatusCode, a.Header, a.body)
			}
			if !strings.Contains(string(a.body), "100") {
				t.Errorf("%s has no figure: %s", f.Name, a.body)
			}
		}
		if !strings.Contains(string(openapi.JSON()), `"`+f.MediaType+`"`) {
			t.Errorf("the document does not name %s", f.MediaType)
		}
	}
	for _, row := range []struct{ accept, media string }{
		{"", "application/json"},
		{"*/*", "application/json"},
		{"text/csv;q=0.5, application/json;q=0.4", "text/csv; charset=utf-8; header=present"},
		{"text/*", "text/csv; charset=utf-8; header=present"},
		{"application/json;q=0, text/csv;q=0.1", "text/csv; charset=utf-8; header=present"},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "application/json"},
	} {
		if a := s.ask(http.MethodGet, path, "", with("Accept", row.accept)); a.Header.Get("Content-Type") != row.media || a.Header.Get("Vary") != "Accept" {
			t.Errorf("Accept %q: %s", row.accept, a.Header.Get("Content-Type"))
		}
	}
	p := s.ask(http.MethodGet, path, "", with("Accept", "image/png")).problem(t)
	if p.Status != http.StatusNotAcceptable || !strings.Contains(p.Detail, "application/json, text/csv") {
		t.Errorf("%+v", p)
	}
}

// TestArticle: a result has its suite's article's table, and what is of no article has none.
func TestArticle(t *testing.T) {
	s := start(t, func(c *api.Config) { c.Catalog = bench.NewCatalog(catalog.Families()) })
	s.saveHost("blue", true, bench.DefaultLimits(4), nil)
	path := func(run bench.Run) string { return "/v1/runs/" + run.ID + "/results?format=article" }
	run := s.score(`{"suite":"soaprunner-attachments","cases":[{"kernel":"soap.attachment","params":{"size":"1KB"}}],"hosts":{"names":["blue"]}}`, 100, 200, 300, 400, 500)
	a := s.ask(http.MethodGet, path(run), "", with("Accept", "image/png"))
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Fatalf("%d %v: %s", a.StatusCode, a.Header, a.body)
	}
	text := string(a.body)
	if !strings.Contains(text, "attachment by") || !strings.Contains(text, " 200.0") || strings.Contains(text, " 500.0") {
		t.Errorf("not the table of the suite's four cases:\n%s", text)
	}
	for name, body := range map[string]string{"no suite": onBlue, "a suite of no article": `{"suite":"quick","hosts":{"names":["blue"]}}`} {
		run := s.score(body, 100, 200)
		p := s.ask(http.MethodGet, path(run), "").problem(t)
		if p.Status != http.StatusNotAcceptable || p.Code != "not_acceptable" || !strings.Contains(p.Detail, "those of soap-2004, ") {
			t.Errorf("%s: %+v", name, p)
		}
		if len(p.Errors) != 1 || slices.Contains(p.Errors[0].Allowed, "article") || !slices.Contains(p.Errors[0].Allowed, "markdown") {
			t.Errorf("%s: allowed are %+v", name, p.Errors)
		}
	}
}
