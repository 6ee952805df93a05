package store_test

import (
	"strings"
	"testing"
	"time"

	"benchd/api/store"
	"benchd/worker/bench"
)

// TestListPlans checks that SQLite finds each kind of page by walking an index in order:
// nothing is scanned whole, and nothing is sorted but the few rows that several states gave.
func TestListPlans(t *testing.T) {
	t.Parallel()
	s := open(t)
	if _, err := s.Seed(t.Context(), time.Unix(1e9, 0), bench.Spec{}, 600, 2); err != nil {
		t.Fatal(err)
	}
	rare := map[string]string{"release": "yes"}
	for _, row := range []struct {
		name   string
		filter store.Filter
		first  string // how the driving table is searched
		sorts  bool
	}{
		{"all", store.Filter{}, "SEARCH r USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)", false},
		{"host", store.Filter{Host: "blue"}, "SEARCH d USING PRIMARY KEY (kind=? AND value=? AND run>? AND run<?)", false},
		{"host and rare label", store.Filter{Host: "blue", Labels: rare}, "SEARCH d USING PRIMARY KEY (kind=? AND value=? AND run>? AND run<?)", false},
		{"host and common state", store.Filter{Host: "rare", States: []bench.State{bench.Succeeded}}, "SEARCH d USING PRIMARY KEY (kind=? AND value=? AND run>? AND run<?)", false},
		{"one state", store.Filter{States: []bench.State{bench.Failed}}, "SEARCH s USING COVERING INDEX runs_state (state=? AND seq>? AND seq<?)", true},
		{"states", store.Filter{States: []bench.State{bench.Failed, bench.Lost}}, "SEARCH s USING COVERING INDEX runs_state (state=? AND seq>? AND seq<?)", true},
		{"rare state and host", store.Filter{Host: "blue", States: []bench.State{bench.Lost}}, "SEARCH s USING COVERING INDEX runs_state (state=? AND seq>? AND seq<?)", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			plan, err := s.Plan(t.Context(), row.filter)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(plan, "\n")
			if !strings.Contains(text, row.first) {
				t.Errorf("the plan does not begin with %s:\n%s", row.first, text)
			}
			for _, line := range plan {
				// d and x are the rows that the states gave, a page of each.
				if strings.HasPrefix(line, "SCAN") && line != "SCAN d" && line != "SCAN x" {
					t.Errorf("%s:\n%s", line, text)
				}
				if strings.Contains(line, "TEMP B-TREE") && !row.sorts {
					t.Errorf("%s:\n%s", line, text)
				}
			}
		})
	}
}

// TestQueryPlans runs the whole suite of deeds once and checks every statement that was
// prepared for it: none may scan a table that grows with the number of runs.
func TestQueryPlans(t *testing.T) {
	t.Parallel()
	s := open(t)
	exercise(t, s)
	queries := s.Queries()
	if len(queries) < 30 {
		t.Fatalf("only %d statements were prepared", len(queries))
	}
	for _, query := range queries {
		plan, err := s.Explain(t.Context(), query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
		}
		for _, line := range plan {
			for _, table := range []string{"runs", "trials", "tags", "results", "scores", "r", "t", "p", "s"} {
				partial := strings.Contains(line, "runs_waiting") || strings.Contains(line, "trials_sent") || strings.Contains(line, "trials_active")
				if (line == "SCAN "+table || strings.HasPrefix(line, "SCAN "+table+" ")) && !partial {
					t.Errorf("%s\n  %s", query, strings.Join(plan, "\n  "))
				}
			}
		}
	}
}
