package api_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchd/api/store"
	"benchd/worker/bench"
)

const simple = `{"cases":[{"kernel":"soap.echo"}]}`

func TestPost(t *testing.T) {
	s := start(t)
	s.saveHost("blue", true, bench.DefaultLimits(4), nil)
	s.saveHost("green", false, bench.DefaultLimits(4), nil)
	a := s.ask(http.MethodPost, "/v1/runs", `{
		"cases": [{"kernel": "soap.echo", "params": {"model": ["dom", "stream"], "clients": 4}}, {"kernel": "scimark"}],
		"hosts": {"names": ["blue", "green"]}, "plan": {"forks": 1}, "labels": {"commit": "abc123"}}`)
	run := read[bench.Run](t, a, http.StatusAccepted)
	if got := a.Header.Get("Location"); got != "/v1/runs/"+run.ID {
		t.Errorf("Location %q", got)
	}
	var got []string
	for _, tr := range run.Trials {
		got = append(got, tr.Host+" "+tr.Case().Key()+" "+string(tr.State))
	}
	want := []string{
		"blue soap.echo clients=4 keepalive=true model=dom size=1KB queued",
		"blue soap.echo clients=4 keepalive=true model=stream size=1KB queued",
		"blue scimark.fft size=small threads=1 queued",
		"blue scimark.lu size=small threads=1 queued",
		"green soap.echo clients=4 keepalive=true model=dom size=1KB queued",
		"green soap.echo clients=4 keepalive=true model=stream size=1KB queued",
		"green scimark.fft size=small threads=1 queued",
		"green scimark.lu size=small threads=1 queued",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("trials (-want +got):\n%s", d)
	}
	if run.State != bench.Queued || run.Progress.Total != 8 || run.Progress.ETA != nil || run.Spec.Plan.Slices == 0 {
		t.Errorf("state %s, progress %+v, plan %+v", run.State, run.Progress, run.Spec.Plan)
	}
	same := read[bench.Run](t, s.ask(http.MethodGet, "/v1/runs/"+run.ID, ""), http.StatusOK)
	if d := cmp.Diff(run, same); d != "" {
		t.Errorf("the run as posted and as shown:\n%s", d)
	}
}

// TestPostAgain: the spec of a run can be posted again as it is and asks for the same.
func TestPostAgain(t *testing.T) {
	s := start(t)
	for _, body := range []string{simple, `{"cases":[{"kernel":"scimark","params":{"size":["small","large"]}}],"hosts":{"labels":{"zone":"a"}},"timeout":"5m"}`} {
		first := s.post(body)
		text := mustJSON(t, first.Spec)
		second := s.post(text)
		if d := cmp.Diff(first.Spec, second.Spec); d != "" {
			t.Errorf("%s posted again:\n%s", text, d)
		}
		if len(first.Trials) != len(second.Trials) {
			t.Errorf("%d trials, then %d", len(first.Trials), len(second.Trials))
		}
	}
}

func TestIdempotencyKey(t *testing.T) {
	s := start(t)
	key := with("Idempotency-Key", "build 17")
	first := s.post(simple, key)
	for _, same := range []string{simple, ` { "cases" : [ {"kernel":"soap.echo"} ] } `} {
		a := s.ask(http.MethodPost, "/v1/runs", same, key)
		if run := read[bench.Run](t, a, http.StatusOK); run.ID != first.ID || a.Header.Get("Location") != "/v1/runs/"+first.ID {
			t.Errorf("the same key and body gave run %s at %s, not %s", run.ID, a.Header.Get("Location"), first.ID)
		}
	}
	a := s.ask(http.MethodPost, "/v1/runs", `{"cases":[{"kernel":"scimark"}]}`, key)
	if p := a.problem(t); p.Status != http.StatusConflict || p.Code != "idempotency_conflict" {
		t.Errorf("%+v", p)
	}
	if other := s.post(simple, with("Idempotency-Key", "build 18")); other.ID == first.ID {
		t.Error("another key gave the same run")
	}
	if n := s.stored(); n != 2 {
		t.Errorf("%d runs are stored, not 2", n)
	}
}

// TestIdempotencyKeyAtOnce: requests with one key that arrive together make one run.
func TestIdempotencyKeyAtOnce(t *testing.T) {
	s := start(t)
	ids := make(chan string, 8)
	for range cap(ids) {
		go func() {
			var run bench.Run
			a := s.ask(http.MethodPost, "/v1/runs", simple, with("Idempotency-Key", "together"))
			if err := json.Unmarshal(a.body, &run); err != nil {
				t.Error(err)
			}
			ids <- run.ID
		}()
	}
	first := <-ids
	for range cap(ids) - 1 {
		if id := <-ids; id != first || id == "" {
			t.Errorf("runs %q and %q", first, id)
		}
	}
	if n := s.stored(); n != 1 {
		t.Errorf("%d runs are stored, not 1", n)
	}
}

// TestIdempotencyKeyAfterFailure: a run that failed stays the answer to its key; nobody is
// blocked, since a new key makes a new run.
func TestIdempotencyKeyAfterFailure(t *testing.T) {
	s := start(t)
	s.saveHost("blue", true, bench.DefaultLimits(4), nil)
	const body = `{"cases":[{"kernel":"soap.echo"}],"hosts":{"names":["blue"]}}`
	key := with("Idempotency-Key", "once")
	run := s.post(body, key)
	s.finish(run, bench.Failed)
	again := read[bench.Run](t, s.ask(http.MethodPost, "/v1/runs", body, key), http.StatusOK)
	if again.ID != run.ID || again.State != bench.Failed || again.Trials[0].Error == nil {
		t.Errorf("run %s is %s", again.ID, again.State)
	}
}

func TestList(t *testing.T) {
	s := start(t)
	var ids []string
	for i := range 7 {
		kernel := []string{"soap.echo", "scimark"}[i%2]
		run := s.post(fmt.Sprintf(`{"cases":[{"kernel":%q}],"labels":{"n":"%d","parity":"%d"}}`, kernel, i, i%2))
		ids = append([]string{run.ID}, ids...)
	}
	s.cancel(ids[0])
	for _, row := range []struct {
		query string
		want  []string
	}{
		{"", ids},
		{"?limit=3", ids[:3]},
		{"?kernel=scimark.lu", []string{ids[1], ids[3], ids[5]}},
		{"?label=parity%3D1", []string{ids[1], ids[3], ids[5]}},
		{"?label=parity%3D1&label=n%3D3", []string{ids[3]}},
		{"?label=parity%3D1&label=n%3D2", nil},
		{"?state=canceled", ids[:1]},
		{"?state=canceled&state=queued", ids},
		{"?state=queued&state=canceled&limit=1", ids[:1]},
		{"?suite=quick", nil},
		{"?host=blue", nil},
		{"?since=" + url.QueryEscape(time.Now().Add(time.Hour).Format(time.RFC3339)), nil},
		{"?since=2020-01-01T00:00:00Z", ids},
	} {
		page := read[bench.RunPage](t, s.ask(http.MethodGet, "/v1/runs"+row.query, ""), http.StatusOK)
		var got []string
		for _, r := range page.Runs {
			got = append(got, r.ID)
			if r.Trials != nil || r.Progress.Total == 0 {
				t.Errorf("%s: %d trials, progress %+v", row.query, len(r.Trials), r.Progress)
			}
		}
		if d := cmp.Diff(row.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", row.query, d)
		}
	}
}

// TestPages: following the cursors gives every run once, also while more are posted.
func TestPages(t *testing.T) {
	s := start(t)
	want := make(map[string]bool)
	for range 10 {
		want[s.post(simple).ID] = true
	}
	query := "?limit=3"
	for pages := 0; ; pages++ {
		page := read[bench.RunPage](t, s.ask(http.MethodGet, "/v1/runs"+query, ""), http.StatusOK)
		for _, r := range page.Runs {
			if !want[r.ID] {
				t.Errorf("page %d shows %s, which was shown before or posted since", pages, r.ID)
			}
			delete(want, r.ID)
		}
		if page.Next == "" {
			break
		}
		query = "?limit=3&cursor=" + url.QueryEscape(page.Next)
		s.post(simple)
	}
	if len(want) > 0 {
		t.Errorf("never shown: %v", want)
	}
}

func TestWait(t *testing.T) {
	s := start(t)
	s.saveHost("blue", true, bench.DefaultLimits(4), nil)
	run := s.post(`{"cases":[{"kernel":"scimark"}],"hosts":{"names":["blue"]}}`)
	waiting := func() chan bench.Run {
		got := make(chan bench.Run, 1)
		go func() {
			got <- read[bench.Run](t, s.ask(http.MethodGet, "/v1/runs/"+run.ID+"?wait=30s", ""), http.StatusOK)
		}()
		time.Sleep(50 * time.Millisecond) // for the request to wait; an early change would be seen at once
		return got
	}
	receive := func(c chan bench.Run) bench.Run {
		t.Helper()
		select {
		case r := <-c:
			return r
		case <-time.After(10 * time.Second):
			t.Fatal("a change did not end the wait")
			return bench.Run{}
		}
	}
	c := waiting()
	s.started(run, 0)
	if r := receive(c); r.State != bench.Running || r.Trials[0].State != bench.Running || r.Progress.ETA == nil {
		t.Errorf("state %s, trial %s, ETA %v", r.State, r.Trials[0].State, r.Progress.ETA)
	}
	c = waiting()
	s.started(run, 1) // the run's state stays, a trial's changes
	if r := receive(c); r.State != bench.Running || r.Trials[1].State != bench.Running {
		t.Errorf("state %s, trial %s", r.State, r.Trials[1].State)
	}
	s.finish(run, bench.Succeeded)
	if r := receive(waiting()); r.State != bench.Succeeded || r.Progress.Percent != 100 {
		t.Errorf("a final run: state %s, progress %+v", r.State, r.Progress)
	}
}

// TestWaitSeesOtherProcesses: what another process writes into the same store ends a wait
// too.
func TestWaitSeesOtherProcesses(t *testing.T) {
	s := start(t)
	run := s.post(simple)
	done := make(chan bench.Run, 1)
	go func() {
		done <- read[bench.Run](t, s.ask(http.MethodGet, "/v1/runs/"+run.ID+"?wait=60s", ""), http.StatusOK)
	}()
	time.Sleep(50 * time.Millisecond)
	other, err := store.Open(t.Context(), s.path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.CancelRun(t.Context(), run.ID, bench.CancelAsked); err != nil {
		t.Fatal(err)
	}
	select {
	case r := <-done:
		if r.State != bench.Canceled {
			t.Errorf("state %s", r.State)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the wait goes on")
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}

func TestWaitEnds(t *testing.T) {
	s := start(t)
	run := s.post(simple)
	begin := time.Now()
	r := read[bench.Run](t, s.ask(http.MethodGet, "/v1/runs/"+run.ID+"?wait=300ms", ""), http.StatusOK)
	if took := time.Since(begin); r.State != bench.Queued || took < 300*time.Millisecond {
		t.Errorf("%s after %s", r.State, took)
	}
	done := make(chan bench.Run, 1)
	go func() {
		done <- read[bench.Run](t, s.ask(http.MethodGet, "/v1/runs/"+run.ID+"?wait=60s", ""), http.StatusOK)
	}()
	time.Sleep(50 * time.Millisecond)
	if err := s.Config.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the server's end did not end the wait")
	}
}

// TestPhases: a running trial shows what it does, and a run without Redis shows all else.
func TestPhases(t *testing.T) {
	s := start(t)
	s.saveHost("blue", true, bench.DefaultLimits(4), nil)
	run := s.post(`{"cases":[{"kernel":"scimark"}],"hosts":{"names":["blue"]}}`)
	s.started(run, 0)
	value := 17.5
	phase := bench.Phase{Name: "measure", Fork: 1, Forks: 3, Slice: 5, Slices: 10, Percent: 50, Value: &value}
	if err := s.queue.SetPhase(t.Context(), run.Trials[0].ID, phase); err != nil {
		t.Fatal(err)
	}
	r := read[bench.Run](t, s.ask(http.MethodGet, "/v1/runs/"+run.ID, ""), http.StatusOK)
	if d := cmp.Diff(&phase, r.Trials[0].Phase); d != "" {
		t.Errorf("phase (-want +got):\n%s", d)
	}
	if r.Progress.Percent != 25 || r.Trials[1].Phase != nil {
		t.Errorf("progress %+v, the trial that waits %+v", r.Progress, r.Trials[1])
	}
	s.redis.Close()
	r = read[bench.Run](t, s.ask(http.MethodGet, "/v1/runs/"+run.ID, ""), http.StatusOK)
	if r.Trials[0].State != bench.Running || r.Trials[0].Phase != nil {
		t.Errorf("without Redis: %+v", r.Trials[0])
	}
}

func TestCancel(t *testing.T) {
	s := start(t)
	run := s.post(simple)
	r := s.cancel(run.ID)
	if r.State != bench.Canceled || r.Trials[0].State != bench.Canceled {
		t.Errorf("a run that waited: %s, its trial %s", r.State, r.Trials[0].State)
	}
	p := s.ask(http.MethodDelete, "/v1/runs/"+run.ID, "").problem(t)
	if p.Status != http.StatusConflict || p.Code != "final_state" {
		t.Errorf("%+v", p)
	}
	s.saveHost("blue", true, bench.DefaultLimits(4), nil)
	run = s.post(`{"cases":[{"kernel":"scimark"}],"hosts":{"names":["blue"]}}`)
	s.started(run, 0)
	for range 2 { // asking twice is asking once
		r = s.cancel(run.ID)
		if r.State != bench.Canceling || r.Trials[0].State != bench.Canceling || r.Trials[1].State != bench.Canceled {
			t.Errorf("a run that ran: %s, its trials %s and %s", r.State, r.Trials[0].State, r.Trials[1].State)
		}
	}
}

func TestResult(t *testing.T) {
	s := start(t)
	s.saveHost("blue", true, bench.DefaultLimits(4), nil)
	run := s.post(`{"cases":[{"kernel":"scimark"},{"kernel":"soap.echo"}],"hosts":{"names":["blue"]}}`)
	s.finish(run, bench.Succeeded)
	for _, change := range []change{with("Accept", "application/json"), with("Accept", "*/*"), with("Accept", "text/csv;q=0.1, application/*;q=0.5"), with("X-None", "")} {
		a := s.ask(http.MethodGet, "/v1/runs/"+run.ID+"/results", "", change)
		result := read[bench.Result](t, a, http.StatusOK)
		if result.State != bench.Succeeded || len(result.Trials) != 3 || result.Hosts["blue"].Fingerprint == "" {
			t.Errorf("%s", a.body)
		}
		if len(result.Composites) != 1 || result.Composites[0].Name != "scimark" || result.Composites[0].Value == nil || *result.Composites[0].Value != 100 {
			t.Errorf("composites %+v", result.Composites)
		}
	}
	for _, accept := range []string{"image/png", "application/json;q=0", "*/*;q=0"} {
		p := s.ask(http.MethodGet, "/v1/runs/"+run.ID+"/results", "", with("Accept", accept)).problem(t)
		if p.Status != http.StatusNotAcceptable || !strings.Contains(p.Detail, "application/json") {
			t.Errorf("Accept %s: %+v", accept, p)
		}
	}
}

// TestResultOfCanceled: a result with nothing measured is a result too.
func TestResultOfCanceled(t *testing.T) {
	s := start(t)
	run := s.post(simple)
	s.cancel(run.ID)
	result := read[bench.Result](t, s.ask(http.MethodGet, "/v1/runs/"+run.ID+"/results?format=json", ""), http.StatusOK)
	if result.State != bench.Canceled || len(result.Trials) != 1 || result.Trials[0].Score != nil {
		t.Errorf("%+v", result)
	}
}
