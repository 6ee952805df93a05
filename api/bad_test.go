package api_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"benchd/worker/bench"
)

// many is a request whose matrix expands to n trials.
func many(n int) string {
	var sizes []string
	for i := range n {
		sizes = append(sizes, fmt.Sprintf("%q", fmt.Sprintf("%dB", 2048+i)))
	}
	return `{"cases":[{"kernel":"soap.echo","params":{"size":[` + strings.Join(sizes, ",") + `]}}]}`
}

// badRequests are requests for a run that must be refused with nothing queued.
var badRequests = []struct {
	name    string
	body    string
	status  int
	code    string
	pointer string // of the first field error; "-" when the whole is wrong and no field is named
	says    string // part of the sentence: the field, and what is allowed
}{
	{"unknown field", `{"suit":"quick"}`, 422, "unknown_field", "/suit", "allowed are cases, hosts, labels, params, plan, repeat, suite, timeout"},
	{"unknown field of the plan", `{"suite":"quick","plan":{"fork":1}}`, 422, "unknown_field", "/plan/fork", "allowed are awake, confidence, forks"},
	{"unknown kernel", `{"cases":[{"kernel":"scimark.ftt"}]}`, 422, "unknown_kernel", "/cases/0/kernel", "scimark.fft, scimark.lu, soap.echo, scimark, soap"},
	{"unknown parameter", `{"cases":[{"kernel":"soap.echo","params":{"colour":"dom"}}]}`, 422, "unknown_param", "/cases/0/params/colour", "allowed are model, size, clients, keepalive"},
	{"unknown value", `{"cases":[{"kernel":"soap.echo","params":{"model":"sax"}}]}`, 422, "unknown_value", "/cases/0/params/model", "stream or dom"},
	{"unknown host", `{"cases":[{"kernel":"soap.echo"}],"hosts":{"names":["blue","grey"]}}`, 422, "unknown_host", "/hosts/names/1", "known are blue, green"},
	{"unknown suite", `{"suite":"quik"}`, 422, "unknown_suite", "/suite", "quick, full"},
	{"nothing asked", `{}`, 422, "nothing_asked", "", `give "suite" or "cases"`},
	{"more than 1,000 trials", strings.Replace(many(501), `"params":{`, `"params":{"model":["stream","dom"],`, 1), 422, "too_many_trials", "/cases/0", "1000"},
	{"more than 1,000 trials over two hosts", strings.TrimSuffix(many(501), "}") + `,"hosts":{"names":["blue","green"]}}`, 422, "too_many_trials", "/cases", "expands to 1002 trials; at most 1000"},
	{"clients beyond the named host's limit", `{"cases":[{"kernel":"soap.echo","params":{"clients":65}}],"hosts":{"names":["green"]}}`, 422, "out_of_range", "/cases/0/params/clients", "from 1 to 64"},
	{"clients beyond every host's limit", `{"cases":[{"kernel":"soap.echo","params":{"clients":129}}]}`, 422, "out_of_range", "/cases/0/params/clients", "from 1 to 128"},
	{"threads beyond the labelled host's cores", `{"cases":[{"kernel":"scimark.fft","params":{"threads":3}}],"hosts":{"labels":{"zone":"b"}}}`, 422, "out_of_range", "/cases/0/params/threads", "from 1 to 2"},
	{"bytes beyond the limit", `{"cases":[{"kernel":"soap.echo","params":{"size":"1GB"}}]}`, 422, "out_of_range", "/cases/0/params/size", "from 1KB to 64MB"},
	{"time beyond the limit", `{"cases":[{"kernel":"soap.echo"}],"plan":{"limit":"2h"}}`, 422, "out_of_range", "/plan/limit", "from 1s to 1h"},
	{"plan over its own limit", `{"cases":[{"kernel":"soap.echo"}],"plan":{"limit":"5s"}}`, 422, "plan_over_limit", "/plan/limit", "raise the limit"},
	{"wrong type", `{"cases":[{"kernel":"soap.echo"}],"plan":{"forks":"three"}}`, 422, "wrong_type", "/plan/forks", `not the string "three"`},
	{"label too long", `{"cases":[{"kernel":"soap.echo"}],"labels":{"a":"` + strings.Repeat("x", 129) + `"}}`, 422, "bad_label", "/labels/a", "at most 128 bytes"},
	{"not JSON", `suite=quick`, 400, "not_json", "-", "not JSON"},
	{"broken off", `{"suite":"quick"`, 400, "not_json", "-", "ends in the middle"},
	{"nothing", ``, 400, "not_json", "-", "ends in the middle"},
	{"two JSON documents", `{"suite":"quick"} {"suite":"quick"}`, 400, "not_json", "-", "send one document"},
	{"a name twice", `{"suite":"quick","suite":"full"}`, 400, "repeated_name", "-", "/suite"},
	{"2 MiB", `{"suite":"` + strings.Repeat("q", 2<<20) + `"}`, 413, "body_too_large", "-", "1048576 bytes"},
	{"a list", `[]`, 422, "wrong_type", "", "must be an object"},
}

func TestBadRequests(t *testing.T) {
	s := start(t)
	limits := func(clients, threads int) bench.Limits {
		return bench.Limits{Clients: clients, Threads: threads, TrialTime: bench.Duration(time.Hour), Bytes: 64 << 20}
	}
	s.saveHost("blue", true, limits(128, 8), map[string]string{"zone": "a"})
	s.saveHost("green", true, limits(64, 2), map[string]string{"zone": "b"})
	for _, row := range badRequests {
		t.Run(row.name, func(t *testing.T) {
			a := s.ask(http.MethodPost, "/v1/runs", row.body, with("Content-Type", "application/json"))
			p := a.problem(t)
			if p.Status != row.status || p.Code != row.code {
				t.Errorf("%d %s, not %d %s: %s", p.Status, p.Code, row.status, row.code, p.Detail)
			}
			if !strings.Contains(p.Detail, row.says) {
				t.Errorf("the sentence %q does not say %q", p.Detail, row.says)
			}
			switch {
			case row.pointer == "-" && len(p.Errors) > 0:
				t.Errorf("field errors of a request that cannot be read: %v", p.Errors)
			case row.pointer != "-" && (len(p.Errors) == 0 || p.Errors[0].Pointer != row.pointer):
				t.Errorf("field errors %v, not one at %q", p.Errors, row.pointer)
			}
			if len(a.body) > 64<<10 {
				t.Errorf("a problem of %d bytes", len(a.body))
			}
		})
	}
	if n := s.stored(); n != 0 {
		t.Errorf("%d runs were stored", n)
	}
	depth, err := s.queue.Depth(t.Context())
	if err != nil || len(depth) != 0 {
		t.Errorf("queues %v, error %v", depth, err)
	}
}

// TestEveryBadFieldIsNamed: a client mends all of a request at once.
func TestEveryBadFieldIsNamed(t *testing.T) {
	s := start(t)
	p := s.ask(http.MethodPost, "/v1/runs", `{"cases":[{"kernel":"x"}],"hosts":{"names":["y"]},"plan":{"forks":0}}`).problem(t)
	var at []string
	for _, e := range p.Errors {
		at = append(at, e.Pointer)
	}
	slices.Sort(at)
	if want := []string{"/cases/0/kernel", "/hosts/names/0", "/plan/forks"}; !slices.Equal(at, want) {
		t.Errorf("errors at %v, not %v", at, want)
	}
}

// TestBodies: how a body is sent makes no difference to what is refused.
func TestBodies(t *testing.T) {
	s := start(t)
	const good = `{"cases":[{"kernel":"soap.echo"}]}`
	chunked := func(text string) io.Reader { return io.MultiReader(strings.NewReader(text)) }
	for _, row := range []struct {
		name   string
		body   io.Reader
		change change
		status int
		code   string
	}{
		{"as JSON with a charset", strings.NewReader(good), with("Content-Type", "application/json; charset=utf-8"), 202, ""},
		{"without a type", strings.NewReader(good), func(r *http.Request) { r.Header.Del("Content-Type") }, 202, ""},
		{"in chunks", chunked(good), with("X-Request-Id", "chunks"), 202, ""},
		{"as a form", strings.NewReader(good), with("Content-Type", "application/x-www-form-urlencoded"), 415, "unsupported_media_type"},
		{"as nonsense", strings.NewReader(good), with("Content-Type", ";;"), 415, "unsupported_media_type"},
		{"2 MiB in chunks", chunked(`{"suite":"` + strings.Repeat("q", 2<<20) + `"}`), with("X-Request-Id", "chunks"), 413, "body_too_large"},
		{"empty key", strings.NewReader(good), with("Idempotency-Key", ""), 422, "bad_idempotency_key"},
		{"long key", strings.NewReader(good), with("Idempotency-Key", strings.Repeat("k", 201)), 422, "bad_idempotency_key"},
		{"two keys", strings.NewReader(good), func(r *http.Request) { r.Header["Idempotency-Key"] = []string{"a", "b"} }, 422, "bad_idempotency_key"},
		{"from another site's page", strings.NewReader(good), with("Sec-Fetch-Site", "cross-site"), 403, "cross_origin"},
		{"from another origin", strings.NewReader(good), with("Origin", "http://evil.example"), 403, "cross_origin"},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := s.stored()
			a := s.send(http.MethodPost, "/v1/runs", row.body, row.change)
			if a.StatusCode != row.status {
				t.Fatalf("status %d, not %d: %s", a.StatusCode, row.status, a.body)
			}
			if row.code != "" && a.problem(t).Code != row.code {
				t.Errorf("%s, not %s", a.body, row.code)
			}
			if n := s.stored() - before; (n == 1) != (row.status == 202) {
				t.Errorf("%d runs more are stored", n)
			}
		})
	}
}

// TestBadQueries: ids that are not there, made-up cursors, parameters that are not known.
func TestBadQueries(t *testing.T) {
	s := start(t)
	run := s.post(`{"cases":[{"kernel":"soap.echo"}]}`)
	const nobody = "0192f3a4-7b1c-7def-8a01-23456789abcd"
	for _, row := range []struct {
		method, path string
		status       int
		code         string
		says         string
	}{
		{"GET", "/v1/runs/" + nobody, 404, "unknown_run", nobody},
		{"GET", "/v1/runs/" + nobody + "?wait=1s", 404, "unknown_run", nobody},
		{"GET", "/v1/runs/none", 404, "unknown_run", "none"},
		{"GET", "/v1/runs/%7B" + nobody + "%7D", 404, "unknown_run", nobody},
		{"DELETE", "/v1/runs/" + nobody, 404, "unknown_run", nobody},
		{"GET", "/v1/runs/" + nobody + "/results", 404, "unknown_run", nobody},
		{"GET", "/v1/runs/" + run.ID + "/results", 409, "not_finished", "queued"},
		{"GET", "/v1/runs/" + run.ID + "/results?format=xls", 406, "not_acceptable", "json"},
		{"GET", "/v1/runs/" + run.ID + "?wait=61s", 422, "out_of_range", "0s to 1m"},
		{"GET", "/v1/runs/" + run.ID + "?wait=-1s", 422, "out_of_range", "wait"},
		{"GET", "/v1/runs/" + run.ID + "?wait=30", 422, "out_of_range", `like "30s"`},
		{"GET", "/v1/runs/" + run.ID + "?wait=1s&wait=2s", 422, "repeated_parameter", "wait"},
		{"GET", "/v1/runs/" + run.ID + "?wiat=1s", 422, "unknown_parameter", "allowed are wait"},
		{"GET", "/v1/runs?cursor=made-up", 422, "bad_cursor", "cursor"},
		{"GET", "/v1/runs?limit=0", 422, "out_of_range", "1 to 200"},
		{"GET", "/v1/runs?limit=201", 422, "out_of_range", "1 to 200"},
		{"GET", "/v1/runs?limit=ten", 422, "out_of_range", "limit"},
		{"GET", "/v1/runs?state=done", 422, "unknown_value", "queued or running"},
		{"GET", "/v1/runs?label=commit", 422, "bad_value", "name=value"},
		{"GET", "/v1/runs?since=yesterday", 422, "bad_value", "RFC 3339"},
		{"GET", "/v1/runs?hosts=blue", 422, "unknown_parameter", "state, host, kernel"},
		{"GET", "/v1/runs?host=%00", 422, "bad_value", "host"},
		{"GET", "/v1/runs?host=%ff", 422, "bad_value", "UTF-8"},
		{"GET", "/v1/runs?host=%zz", 400, "bad_query", "hexadecimal"},
		{"POST", "/v1/runs?dry=1", 422, "unknown_parameter", "none is allowed"},
		{"GET", "/v1/hosts/grey", 404, "unknown_host", "grey"},
		{"GET", "/v1/kernels?family=soap", 422, "unknown_parameter", "family"},
		{"GET", "/v2/runs", 404, "unknown_path", "/openapi.json"},
		{"GET", "/v1/runs/", 404, "unknown_path", "/v1/runs/"},
		{"PUT", "/v1/runs", 405, "method_not_allowed", "POST"},
		{"DELETE", "/v1/runs", 405, "method_not_allowed", "GET"},
		{"POST", "/v1/runs/" + run.ID, 405, "method_not_allowed", "DELETE"},
		{"GET", "/docs/secret", 404, "unknown_path", "secret"},
		{"GET", "/docs/..%2fapi.go", 404, "unknown_path", "api.go"},
	} {
		t.Run(row.method+" "+row.path, func(t *testing.T) {
			a := s.ask(row.method, row.path, "")
			p := a.problem(t)
			if p.Status != row.status || p.Code != row.code || !strings.Contains(p.Detail, row.says) {
				t.Errorf("%d %s %q, not %d %s with %q", p.Status, p.Code, p.Detail, row.status, row.code, row.says)
			}
			if allow := a.Header.Get("Allow"); (allow != "") != (row.status == 405) {
				t.Errorf("Allow: %q", allow)
			}
		})
	}
	if n := s.stored(); n != 1 {
		t.Errorf("%d runs are stored, not 1", n)
	}
}
