package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/soap"
)

// beginSOAP starts benchd soap-server as a process of its own and returns the URLs that it
// prints, by the names of the kernels that call them.
func beginSOAP(t *testing.T, args ...string) (p *process, urls map[string]string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p = &process{t: t, cmd: exec.Command(exe, append([]string{"soap-server"}, args...)...)}
	p.cmd.Env = append(os.Environ(), "BENCHD_TEST_MAIN=1")
	if p.stderr, err = os.CreateTemp(t.TempDir(), "stderr"); err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	urls = map[string]string{}
	lines := bufio.NewScanner(out)
	for len(urls) < 2 && lines.Scan() {
		name, url, _ := strings.Cut(lines.Text(), " ")
		urls[name] = url
	}
	if len(urls) < 2 {
		t.Fatalf("benchd soap-server did not start: %s", p.log())
	}
	return p, urls
}

// TestSOAPServer calls both services of benchd soap-server as a client elsewhere would, and
// ends it by a signal while the clients are connected.
func TestSOAPServer(t *testing.T) {
	t.Parallel()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	for _, row := range []struct {
		name string
		args []string
		ends os.Signal
	}{
		{"plain", nil, syscall.SIGTERM},
		{"a tree", []string{"--model", "dom", "--addr", "localhost:0"}, os.Interrupt},
		{"by TLS", []string{"--tls", "--ca", ca}, syscall.SIGTERM},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p, urls := beginSOAP(t, row.args...)
			fragment := ""
			if row.name == "by TLS" {
				fragment = "#ca=" + authorityOf(t, ca)
			}
			for _, k := range soap.Family().Kernels {
				call(t, k, k.Info().Defaults().With(kernels.Addr, urls[k.Info().Name]+fragment))
			}
			p.signal(row.ends)
			if code := p.wait(); code != exitOK {
				t.Errorf("exit code %d\n%s", code, p.log())
			}
		})
	}
}

// authorityOf reads the authority in a file as an address has it.
func authorityOf(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		t.Fatalf("%s is not PEM: %s", file, text)
	}
	return base64.RawURLEncoding.EncodeToString(block.Bytes)
}

// call makes calls and checks the answers. The connection stays until the test ends.
func call(t *testing.T, k kernels.Kernel, p kernels.Params) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	trial, err := k.Open(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = trial.Close() })
	if err := trial.Do(ctx, 3); err != nil {
		t.Fatal(err)
	}
	if c, ok := trial.(kernels.Checker); !ok || c.Check() != nil {
		t.Errorf("the check fails: %v", c.Check())
	}
}

// TestSOAPServerMeasured measures the server as a named service of the worker, believing the
// authority that the server wrote.
func TestSOAPServerMeasured(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, urls := beginSOAP(t, "--tls", "--ca", filepath.Join(dir, "ca.pem"))
	services := filepath.Join(dir, "services.json")
	text := fmt.Sprintf(`{"theirs": {"url": %q, "ca": "ca.pem"}, "strangers": %q}`, urls["soap.echo"], urls["soap.echo"])
	if err := os.WriteFile(services, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		code int
		want string
	}{
		"theirs":    {exitOK, "call/s"},
		"strangers": {exitFailed, "certificate signed by unknown authority"},
	} {
		cmd := exec.Command(exe, "run", "soap.echo", "--services", services, "-p", "server="+name, "-p", "tls=true", "-p", "gzip=true",
			"--forks", "1", "--warmup", "0s", "--slices", "6", "--slice", "10ms", "-o", filepath.Join(dir, name+".json"))
		cmd.Env = append(os.Environ(), "BENCHD_TEST_MAIN=1", "BENCHD_LOCK="+lockOf(t))
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != row.code || !strings.Contains(string(out), row.want) {
			t.Errorf("%s: %v, want exit code %d and %q in\n%s", name, err, row.code, row.want, out)
		}
	}
}
