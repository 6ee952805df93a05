// Package examples_test checks the request files beside it.
package examples_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels/catalog"
	"benchd/worker/bench"
)

// resolve reads a file as the API reads the body of a request, on a host with one core.
func resolve(t *testing.T, body []byte) (bench.Spec, []bench.Case) {
	t.Helper()
	spec, present, err := bench.ParseSpec(body)
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	spec, cases, err := bench.NewCatalog(catalog.Families()).Resolve(spec, present, bench.DefaultLimits(1))
	if err != nil {
		t.Fatalf("resolve: %v", err)
	}
	return spec, cases
}

func files(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("found no request files: %v", err)
	}
	return names
}

func TestRequestFilesResolve(t *testing.T) {
	t.Parallel()
	for _, name := range files(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			spec, cases := resolve(t, body)
			all := time.Duration(len(cases)) * spec.Plan.TrialTime()
			if all > spec.Timeout.Std() {
				t.Errorf("the trials take about %s, over the run's timeout of %s", all, spec.Timeout)
			}
			if len(spec.Labels) == 0 {
				t.Error("there is no label to find the run by")
			}
		})
	}
}

// TestTableTellsTheTruth compares the README's table with what the files resolve to.
func TestTableTellsTheTruth(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| \\[`(.+\\.json)`\\]\\((.+)\\) \\|.*\\| (\\d+) \\| (\\d+) min \\|$")
	told := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		if m[1] != m[2] {
			t.Errorf("the row of %s links to %s", m[1], m[2])
		}
		told[m[1]] = fmt.Sprintf("%s trials, %s min", m[3], m[4])
	}
	found := map[string]string{}
	for _, name := range files(t) {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		spec, cases := resolve(t, body)
		minutes := math.Ceil(float64(len(cases)) * spec.Plan.TrialTime().Minutes())
		found[name] = fmt.Sprintf("%d trials, %.0f min", len(cases), minutes)
	}
	if diff := cmp.Diff(found, told); diff != "" {
		t.Errorf("the table differs from the files (- files, + table):\n%s", diff)
	}
}

// TestCI holds the file for CI to what a job can wait for and to the labels it is found by.
func TestCI(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("ci.json")
	if err != nil {
		t.Fatal(err)
	}
	spec, cases := resolve(t, body)
	if all := time.Duration(len(cases)) * spec.Plan.TrialTime(); all > 75*time.Second {
		t.Errorf("the trials take about %s; a job waits for about a minute", all)
	}
	for _, label := range []string{"commit", "branch"} {
		if spec.Labels[label] == "" {
			t.Errorf("there is no label %q", label)
		}
	}
	families := map[string]bool{}
	for _, c := range cases {
		family, _, _ := strings.Cut(c.Kernel, ".")
		families[family] = true
	}
	if len(families) < 3 {
		t.Errorf("only %d families are measured", len(families))
	}
}
