package main

import (
	"fmt"
	"io"
	"strings"

	"benchd/worker/bench"
)

type suitesCommand struct {
	Markdown bool `help:"Print the table of the README."`
}

// Run prints the suites of this binary.
func (c suitesCommand) Run(t terminal) error {
	if c.Markdown {
		_, err := io.WriteString(t.out, suiteTable(bench.Suites()))
		return err
	}
	return lines(t.out, "suite\twhat it is", func(w io.Writer) {
		for _, s := range bench.Suites() {
			_, _ = fmt.Fprintf(w, "%s\t%s\n", s.Name, s.Title)
		}
	})
}

// suiteTable is the suites as a Markdown table.
func suiteTable(suites []bench.Suite) string {
	var b strings.Builder
	b.WriteString("| suite | what it is |\n| --- | --- |\n")
	for _, s := range suites {
		fmt.Fprintf(&b, "| `%s` | %s |\n", s.Name, s.Title)
	}
	return b.String()
}

// suiteNames lists the suites for a help text.
func suiteNames() string {
	var names []string
	for _, s := range bench.Suites() {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

func isSuite(name string) bool {
	_, ok := bench.SuiteNamed(name)
	return ok
}
