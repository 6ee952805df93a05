// Package references holds the figures that five articles published, as data, and tells
// where a score of ours would stand among them.
//
// The data are one CSV file for each article, with the line of its text for every figure;
// no sentence of an article is in them, remarks are our own. The articles go by short names:
//
//	java-on-many-machines  SciMark, SOAP calls with Axis and gSOAP on many machines
//	soaprunner             two SOAP engines, and messages with attachments
//	cxf-on-sparc           CXF on a SPARC T4; its charts are lost, three figures are in its text
//	erlang-jvm             two libraries for the Erlang distribution on the JVM
//	page-small-heap        a web page served by a JVM with 16, 32 and 64 MB of heap
//
// Only figures that mean the same are compared. A table says whether its figures do and what
// is compared; a score is compared with those figures of the table whose every parameter it
// shares. Machines differ by twenty years: the ratio is between what was published and what
// was measured, not between programs.
package references

import (
	"slices"
	"strings"

	"benchd/kernels"
	"benchd/worker/bench"
)

// A Set is the published figures, read once. It never changes and may be shared.
type Set struct {
	refs   []bench.Reference
	tables []bench.ReferenceTable
}

// All returns every figure in the order of the articles and of their lines. The caller owns
// the slice, but not what its elements point at.
func (s *Set) All() []bench.Reference { return slices.Clone(s.refs) }

// Tables describes every table in the order in which its figures are listed.
func (s *Set) Tables() []bench.ReferenceTable { return slices.Clone(s.tables) }

// A Query narrows the figures down. A zero field asks for nothing.
type Query struct {
	Kernel string         // a kernel or composite, or a family for all of its kernels
	Params kernels.Params // parameters that the figure must have with these values
	Table  string
	Source string
	Text   string // words that all occur, in any case, in what the figure was measured on
}

// List returns the figures that a query asks for, with the tables they are of.
func (s *Set) List(q Query) bench.ReferenceList {
	list := bench.ReferenceList{Tables: []bench.ReferenceTable{}, References: []bench.Reference{}}
	named := make(map[string]bool)
	for _, r := range s.refs {
		if q.asks(r) {
			list.References = append(list.References, r)
			named[r.Table] = true
		}
	}
	for _, t := range s.tables {
		if named[t.Name] {
			list.Tables = append(list.Tables, t)
		}
	}
	return list
}

func (q Query) asks(r bench.Reference) bool {
	if q.Kernel != "" && r.Kernel != q.Kernel && !strings.HasPrefix(r.Kernel, q.Kernel+".") {
		return false
	}
	if q.Table != "" && r.Table != q.Table || q.Source != "" && r.Source != q.Source {
		return false
	}
	return shares(q.Params, r.Params) && mentions(r, q.Text)
}

// mentions tells whether every word of the text occurs in what a figure was measured on.
func mentions(r bench.Reference, text string) bool {
	all := strings.ToLower(strings.Join([]string{r.System, r.Runtime, r.Server, r.CPU, r.Note, r.Reason, r.Table, r.Metric}, " "))
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// shares tells whether every parameter of part stands in whole with the same value.
func shares(part, whole kernels.Params) bool {
	for name, v := range part {
		w, ok := whole[name]
		if !ok || !sameValue(v, w) {
			return false
		}
	}
	return true
}

// sameValue compares two values, sizes by their bytes: "12795" and "12795B" are the same.
func sameValue(a, b string) bool {
	if a == b {
		return true
	}
	m, errA := kernels.ParseSize(a)
	n, errB := kernels.ParseSize(b)
	return errA == nil && errB == nil && m == n
}
