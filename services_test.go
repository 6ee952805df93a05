package main

import (
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchd/kernels/soap"
	"benchd/worker/bench"
)

// serviceHere serves SOAP in this process until the test ends.
func serviceHere(t *testing.T, tls bool) soap.Addresses {
	t.Helper()
	at := make(chan soap.Addresses, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- soap.Services{Model: "stream", TLS: tls}.Serve(t.Context(), func(a soap.Addresses) { at <- a })
	}()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case a := <-at:
		return a
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
		return soap.Addresses{}
	}
}

// ran runs benchd run to its end, and gives the result and what it said.
func ran(t *testing.T, args ...string) (bench.Result, string, int) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.json")
	p := begin(t, append([]string{"run", "soap.echo", "--slices", "6", "--slice", "20ms", "-o", out}, args...)...)
	code := p.wait()
	text, err := os.ReadFile(out)
	if err != nil {
		return bench.Result{}, p.log(), code
	}
	var r bench.Result
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r, p.log() + string(text), code
}

// TestRunAtServices measures at services of this process: one by HTTP that every finds, one by
// TLS with an authority of its own, one where nobody listens.
func TestRunAtServices(t *testing.T) {
	t.Parallel()
	plain, secure := serviceHere(t, false), serviceHere(t, true)
	dir := t.TempDir()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Authority})
	write(t, filepath.Join(dir, "ca.pem"), string(authority))
	file := filepath.Join(dir, "services.json")
	write(t, file, `{"secure": {"url": "`+secure.Echo+`", "ca": "ca.pem"}}`)

	r, said, code := ran(t, "-p", "server=every", "--service", "mine="+strings.Replace(plain.Echo, "://", "://bob:s3cret@", 1), "--services", file)
	var servers []string
	for _, tr := range r.Trials {
		servers = append(servers, tr.Params["server"])
		ours := tr.Params["server"] == "embedded"
		if tr.State != bench.Succeeded || (tr.Forks[0].Server != nil) != ours || ours == strings.Contains(tr.Forks[0].CPU.Reason, "no process of this worker") {
			t.Errorf("at %s: %s %+v, CPU %+v", tr.Params["server"], tr.State, tr.Error, tr.Forks)
		}
	}
	if code != exitOK || strings.Join(servers, " ") != "embedded mine secure" {
		t.Errorf("exit code %d, measured at %v\n%s", code, servers, said)
	}
	for _, secret := range []string{plain.Echo, secure.Echo, "s3cret", "#ca="} {
		if strings.Contains(said, secret) {
			t.Errorf("%q is told", secret)
		}
	}
}

// TestRunAtBadServices: the trial fails, and says which service it was.
func TestRunAtBadServices(t *testing.T) {
	t.Parallel()
	secure := serviceHere(t, true)
	for _, tt := range []struct{ name, url, want string }{
		{"nobody listens", "http://127.0.0.1:1/echo", "connection refused"},
		{"an authority that it does not know", secure.Echo, "certificate"},
		{"another scheme's server", strings.Replace(secure.Echo, "https:", "http:", 1), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, said, code := ran(t, "-p", "server=mine", "--service", "mine="+tt.url)
			if code != exitFailed || len(r.Trials) != 1 {
				t.Fatalf("exit code %d\n%s", code, said)
			}
			tr := r.Trials[0]
			if tr.State != bench.Failed || !strings.HasPrefix(tr.Error.Message, `with the service "mine": `) || !strings.Contains(tr.Error.Message, tt.want) {
				t.Errorf("%s %+v", tr.State, tr.Error)
			}
		})
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestServiceFlags: what cannot be is told at the start, and nothing of an address is.
func TestServiceFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secure := serviceHere(t, true)
	block := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Authority}))
	write(t, filepath.Join(dir, "ca.pem"), block)
	write(t, filepath.Join(dir, "two.pem"), block+block)
	write(t, filepath.Join(dir, "bad.pem"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
	write(t, filepath.Join(dir, "none.pem"), "hello")
	for _, tt := range []struct {
		name, flag, file, want string
	}{
		{"no equals sign", "s3cret", "", `--service is written NAME=URL`},
		{"a bad name", "Mine=http://bob:s3cret@a/", "", `"Mine" is not`},
		{"a name that means something else", "embedded=http://a/", "", `"embedded" is no name for a service`},
		{"no scheme", "mine=bob:s3cret@127.0.0.1", "", `the service "mine" is no URL`},
		{"no host", "mine=http:///s3cret", "", `the service "mine" is no URL`},
		{"not a URL at all", "mine=http://bob:s3cret%zz@a/", "", `the service "mine" is no URL`},
		{"a fragment", "mine=http://bob:s3cret@a/#ca=AAAA", "", `has a part behind "#"`},
		{"twice", "mine=http://a/ mine=http://bob:s3cret@b/", "", `the service "mine" is named twice`},
		{"in flag and file", "mine=http://a/", `{"mine": "http://b/"}`, `the service "mine" is named twice`},
		{"twice in the file", "", `{"mine": "http://a/", "mine": "http://b/"}`, `the service "mine" is named twice`},
		{"no JSON", "", `{"mine": http}`, `it is no JSON near byte`},
		{"cut off", "", `{"mine": "http://a/"`, `it is no JSON near byte`},
		{"a list", "", `["http://a/"]`, `it is no JSON object`},
		{"more behind", "", `{} {}`, `more after its JSON object`},
		{"an unknown field", "", `{"mine": {"url": "http://bob:s3cret@a/", "key": "k"}}`, `unknown field "key"`},
		{"no URL", "", `{"mine": {"ca": "ca.pem"}}`, `the service "mine" is no URL`},
		{"a number", "", `{"mine": 7}`, `is a URL or an object`},
		{"no file of the authority", "", `{"mine": {"url": "https://a/", "ca": "gone.pem"}}`, `the authority of the service "mine": open `},
		{"no certificate", "", `{"mine": {"url": "https://a/", "ca": "none.pem"}}`, `holds no certificate in PEM`},
		{"a broken certificate", "", `{"mine": {"url": "https://a/", "ca": "bad.pem"}}`, `holds no certificate: `},
		{"two certificates", "", `{"mine": {"url": "https://a/", "ca": "two.pem"}}`, `more than one certificate`},
		{"an authority of plain HTTP", "", `{"mine": {"url": "http://a/", "ca": "ca.pem"}}`, `http has no certificates`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := workerFlags{Clients: 1, Bytes: 1, TrialTime: 3600e9}
			if tt.flag != "" {
				f.Service = []string{tt.flag}
			}
			if tt.file != "" {
				f.Services = filepath.Join(dir, strings.ReplaceAll(tt.name, " ", "-")+".json")
				write(t, f.Services, tt.file)
			}
			err := f.Validate()
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
	write(t, filepath.Join(dir, "good.json"), `{"mine": {"url": "https://a/", "ca": "ca.pem"}}`)
	f := workerFlags{serviceFlags: serviceFlags{Service: []string{"a=http://a:1/x  b=amqp://u:p@b/v", "c=nats://c"}, Services: filepath.Join(dir, "good.json")}, Clients: 1, Bytes: 1, TrialTime: 3600e9}
	addrs, err := f.addresses()
	if err != nil || f.Validate() != nil || len(addrs) != 4 || addrs["b"] != "amqp://u:p@b/v" || !strings.HasPrefix(addrs["mine"], "https://a/#ca=MII") {
		t.Errorf("%v, %v", addrs, err)
	}
}

// TestRunWithoutServices: what this host has not, no other will bring, so that the command ends
// at once and says what there is.
func TestRunWithoutServices(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "request.json")
	write(t, file, `{"cases":[{"kernel":"soap.echo"}],"hosts":{"labels":{"zone":"a"}}}`)
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"there is none", []string{"run", "soap.echo", "-p", "server=nosuch"}, `this host has no service "nosuch"; it has none: --service NAME=URL gives it one`},
		{
			"there are others",
			[]string{"run", "soap", "-p", "server=embedded,nosuch", "--service", "b=https://bob:s3cret@127.0.0.1:1/ a=HTTP://127.0.0.1:1/"},
			`this host has no service "nosuch"; it has a (http), b (https)`,
		},
		{"to calibrate", []string{"calibrate", "soap.echo", "-p", "server=nosuch"}, `this host has no service "nosuch"`},
		{"no label", []string{"run", file, "--label", "zone=b"}, `this host has no label "zone=a"`},
		{"no kernel", []string{"run", "soap.echo", "--service", "bad=ftp://bob:s3cret@h/"}, `the service "bad" is at an address of the scheme ftp, which no kernel can use; they use amqp`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := begin(t, tt.args...)
			if code := p.wait(); code != exitUsage || !strings.Contains(p.log(), tt.want) || strings.Contains(p.log(), "s3cret") {
				t.Errorf("exit code %d, and it says %s\nwant %s", code, p.log(), tt.want)
			}
		})
	}
}

// TestHostsTellServices: the first request finds the services of the worker in its process, and
// one that names another waits.
func TestHostsTellServices(t *testing.T) {
	t.Parallel()
	p := begin(t, "serve", "--addr", "127.0.0.1:0", "--data", t.TempDir(), "--name", "blue", "--service", "mine=http://bob:s3cret@127.0.0.1:1/echo", "--service", "mq=amqp://127.0.0.1:1")
	run := submit(t, p.client(), `{"cases":[{"kernel":"soap.echo","params":{"server":"every"}}],"plan":{"forks":1,"warmup":0,"slices":1,"slice":"10ms"}}`)
	if len(run.Trials) != 2 || run.Trials[1].Params["server"] != "mine" {
		t.Errorf("every service is %+v", run.Trials)
	}
	waits := submit(t, p.client(), `{"cases":[{"kernel":"soap.echo","params":{"server":"axis"}}]}`)
	named := submit(t, p.client(), `{"cases":[{"kernel":"soap.echo","params":{"server":"axis"}}],"hosts":{"names":["blue"]}}`)
	_, err := p.client().Submit(t.Context(), []byte(`{"cases":[{"kernel":"soap.echo","params":{"server":"mq"}}],"hosts":{"names":["blue"]}}`), "")
	if err == nil || !strings.Contains(err.Error(), `server must be a service at an address of the scheme http or https; that of "mq" is of the scheme amqp`) {
		t.Errorf("a service of another scheme: %v", err)
	}
	for id, want := range map[string]string{
		waits.ID: `no live host with the service "axis"`,
		named.ID: `host blue has no service "axis"`,
	} {
		var reason string
		within(t, 30*time.Second, "the run says why it waits", func() bool {
			run, err := p.client().Run(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			reason = run.Reason
			return reason != ""
		})
		if reason != want {
			t.Errorf("it waits because %q, not %q", reason, want)
		}
	}
	var out, errs strings.Builder
	if code := command([]string{"hosts", "--server", p.url}, terminal{strings.NewReader(""), &out, &errs}); code != exitOK {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	if !strings.Contains(out.String(), "mine=http") || strings.Contains(out.String()+p.log(), "s3cret") {
		t.Errorf("the hosts are\n%s\nand the log is\n%s", out.String(), p.log())
	}
}
