package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"benchd/kernels/catalog"
	"benchd/worker/bench"
)

// A step is a command of the README with the output that it shows.
type step struct {
	command string
	output  []string
}

// steps reads the blocks marked console: a line that begins with "$ " is a command, what
// follows is its output, and a line of three dots stands for any number of lines.
func steps(t *testing.T) []step {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []step
	inside := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		command, is := strings.CutPrefix(line, "$ ")
		switch {
		case line == "```console":
			inside = true
		case line == "```":
			inside = false
		case inside && is:
			all = append(all, step{command: command})
		case inside:
			last := &all[len(all)-1]
			last.output = append(last.output, line)
		}
	}
	return all
}

// What stands around the tables that are made.
const (
	tableBegin = "<!-- kernels: made by benchd kernels --markdown -->\n"
	tableEnd   = "<!-- /kernels -->"
	suiteBegin = "<!-- suites: made by benchd suites --markdown -->\n"
	suiteEnd   = "<!-- /suites -->"
)

// TestReadme does what the README shows, in its order, and compares what comes out. Figures,
// ids and times are whatever they are; everything else has to be as shown.
func TestReadme(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("BENCHD_REQUIRE_SERVICES") == "1" {
				t.Fatalf("%s is not there, and it is required", tool)
			}
			t.Skipf("%s is not there", tool)
		}
	}
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(exe, filepath.Join(dir, "benchd")); err != nil {
		t.Fatal(err)
	}
	var service *process
	var soap string // the URL of the server of SOAP
	for _, s := range steps(t) {
		command := strings.ReplaceAll(s.command, "go run . ", "./benchd ")
		switch {
		case strings.HasPrefix(command, "go build"):
			continue // the test binary stands for it
		case strings.HasPrefix(command, "./benchd soap-server "):
			_, urls := beginSOAP(t)
			soap = strings.TrimSuffix(urls["soap.echo"], "/echo")
			same(t, s, "soap.echo "+urls["soap.echo"]+"\nsoap.attachment "+urls["soap.attachment"])
			continue
		case strings.HasSuffix(command, "&"):
			args := strings.Fields(strings.TrimSuffix(strings.TrimPrefix(command, "./benchd "), "&"))
			service = begin(t, append(args, "--addr", "127.0.0.1:0", "--data", filepath.Join(dir, "data"))...)
			same(t, s, "benchd listens on "+service.url)
			continue
		}
		if service != nil {
			command = strings.ReplaceAll(command, "http://127.0.0.1:8080", service.url)
		}
		if soap != "" {
			command = strings.ReplaceAll(command, "http://127.0.0.1:8081", soap)
		}
		same(t, s, bash(t, dir, service, command))
	}
}

// bash runs one command as the reader's shell would, which keeps the variables.
func bash(t *testing.T, dir string, service *process, command string) string {
	t.Helper()
	script := "touch variables\n. ./variables\n" + command + "\ndeclare -p ID LONG BASE HEAD SHORT > variables 2> /dev/null || true"
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-eo", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "BENCHD_TEST_MAIN=1", "BENCHD_LOCK="+lockOf(t))
	if service != nil && !strings.Contains(command, "calibrate $SHORT") { // which is without a service
		cmd.Env = append(cmd.Env, "BENCHD_SERVER="+service.url)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if strings.Contains(command, " run ") {
		cmd.Stdout, cmd.Stderr = &out, &out // its progress is shown too
	}
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s\n%v\n%s%s", command, err, out.String(), errs.String())
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// masks hide what differs each time.
func masks() []struct{ pattern, with string } {
	return []struct{ pattern, with string }{
		{`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`, "ID"},
		{`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?`, "TIME"},
		{`http://127\.0\.0\.1:\d+`, "URL"},
		{`host \S+: .*, \d+ CPUs, fingerprint [0-9a-f]{16}`, "HOST"},
		{`\(\S+ left\)`, "LEFT"},
		{`"(value|low|high|client|system|user_s|system_s|max_rss_bytes|operations)": ?[\d.e-]+`, `"$1":N`},
		{`"(low|high)":null`, `"$1":N`},
		{`,"reason":"the samples differ[^"]*"`, ""},
		{`"samples":\[[^]]*\]`, `"samples":[N]`},
		{`"valid":(true|false),"reasons":\[.*?\]`, `"valid":WHETHER`},
		{`\s(-\d+\.\d% \+\d+\.\d%|unknown)`, " INTERVAL"},
		{`(/s +)\d+ +(flat|warmup|slowdown|none|inconsistent)( \([\d.]+\))?`, "${1}N STEADY"},
		{`(/s +)\d+ *$`, "${1}N"},
		{`^(better|worse|same|undecided|incomparable) {2,}.*`, "A CASE"},
		{`^(better|worse|same|undecided|incomparable): (The two results have 2 cases in common): .*`, "WHOLE: $2"},
		{`((size=small threads=1|size=16B) +blue) .*`, "$1 NOISE"},
		{`^scimark size=small threads=1: .* x the fastest of 127 figures .*`, "STANDING"},
		{`noise >?[\d.]+%`, "NOISE"},
		{`\d+(\.\d+)?(ns|µs|ms)`, "LATENCY"},
		{` {2,}\S+ +INTERVAL`, " SCORE INTERVAL"},
		{`^(swa|mtom)( +\d+KB)( +[\d.]+){3} `, "$1$2 FIGURES "},
		{`  +`, " "},
		{` +$`, ""},
	}
}

func mask(line string) string {
	for _, m := range masks() {
		line = regexp.MustCompile(m.pattern).ReplaceAllString(line, m.with)
	}
	return line
}

// same compares an output with what the README shows.
func same(t *testing.T, s step, got string) {
	t.Helper()
	lines := strings.Split(got, "\n")
	if got == "" {
		lines = nil
	}
	skip := false
	for _, want := range s.output {
		if want == "..." {
			skip = true
			continue
		}
		want = mask(want)
		for skip && len(lines) > 0 && mask(lines[0]) != want {
			lines = lines[1:]
		}
		skip = false
		if len(lines) == 0 || mask(lines[0]) != want {
			t.Errorf("$ %s\ndoes not print\n%s\nbut\n%s", s.command, want, got)
			return
		}
		lines = lines[1:]
	}
	if len(lines) > 0 && !skip {
		t.Errorf("$ %s\nprints more than is shown:\n%s", s.command, strings.Join(lines, "\n"))
	}
}

var update = flag.Bool("update", false, "write the README's tables of kernels and suites")

// TestReadmeTables compares the tables of the README with the kernels and suites there are;
// with -update it writes them.
func TestReadmeTables(t *testing.T) {
	made(t, tableBegin, kernelTable(bench.DescribeKernels(bench.NewCatalog(catalog.Families())).Kernels), tableEnd)
	made(t, suiteBegin, suiteTable(bench.Suites()), suiteEnd)
}

// made compares what stands between two marks of the README with what is to stand there.
func made(t *testing.T, begin, want, end string) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), begin)
	got, after, found := strings.Cut(rest, end)
	switch {
	case !found:
		t.Fatalf("the README has no place for what begins with %s", begin)
	case got == want:
	case *update:
		if err := os.WriteFile("README.md", []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("what begins with %s is not as it is made:\n%s", begin, want)
	}
}
