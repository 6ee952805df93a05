package references

import (
	"embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"benchd/kernels"
	"benchd/worker/bench"
)

//go:embed data/*.csv
var data embed.FS

// Load reads the figures out of the binary. An error tells that the data are broken, which a
// test rules out.
func Load() (*Set, error) {
	s := &Set{}
	for _, src := range sources() {
		if err := s.load(src); err != nil {
			return nil, fmt.Errorf("read the figures of %s: %w", src.name, err)
		}
	}
	return s, nil
}

// load adds the figures of one article and counts them into its tables. A figure of a table
// that is not named in sources is an error: nobody would have decided what it compares with.
func (s *Set) load(src source) error {
	f, err := data.Open("data/" + src.name + ".csv")
	if err != nil {
		return err
	}
	defer f.Close()
	tables := make(map[string]*bench.ReferenceTable)
	for i := range src.tables {
		t := &src.tables[i]
		t.Source = src.name
		tables[t.Name] = t
	}
	rows := newReader(f)
	for {
		row, err := rows.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		ref, err := row.reference()
		if err != nil {
			return fmt.Errorf("line %d of the data: %w", rows.line(), err)
		}
		t, ok := tables[ref.Table]
		if !ok {
			return fmt.Errorf("line %d of the data: there is no table %q", rows.line(), ref.Table)
		}
		ref.Source, ref.Comparable = src.name, t.Comparable
		if ref.Value == nil {
			t.Failed++
		} else {
			t.Count++
		}
		s.refs = append(s.refs, ref)
	}
	s.tables = append(s.tables, src.tables...)
	return nil
}

// A reader reads rows of a file with a header.
type reader struct {
	csv    *csv.Reader
	header []string
}

func newReader(r io.Reader) *reader { return &reader{csv: csv.NewReader(r)} }

// line is where in the data the row stands that was read last.
func (r *reader) line() int {
	line, _ := r.csv.FieldPos(0)
	return line
}

// next returns the next row, or io.EOF.
func (r *reader) next() (record, error) {
	if r.header == nil {
		header, err := r.csv.Read()
		if err != nil {
			return nil, fmt.Errorf("header: %w", err)
		}
		r.header = header
	}
	cells, err := r.csv.Read()
	if err != nil {
		return nil, err
	}
	rec := make(record, len(cells))
	for i, c := range cells {
		rec[r.header[i]] = c
	}
	return rec, nil
}

// A record is the cells of a row by the names of their columns.
type record map[string]string

// reference reads a row. Empty cells are what the article does not tell.
func (r record) reference() (bench.Reference, error) {
	ref := bench.Reference{
		Table: r["table"], Kernel: r["kernel"], Params: params(r["params"]),
		Metric: r["metric"], Unit: r["unit"], Better: r["better"],
		System: r["system"], Runtime: r["runtime"], Server: r["server"], CPU: r["cpu"],
		Reason: r["reason"], Note: r["note"],
	}
	var errs [5]error
	ref.Value, errs[0] = r.figure("value")
	ref.Error, errs[1] = r.figure("error")
	ref.MHz, errs[2] = r.figure("mhz")
	ref.Line, errs[3] = strconv.Atoi(r["line"])
	if v := r["stable_cycles"]; v != "" {
		var n int64
		n, errs[4] = strconv.ParseInt(v, 10, 64)
		ref.StableCycles = &n
	}
	return ref, errors.Join(errs[:]...)
}

// figure reads a cell that may be empty.
func (r record) figure(name string) (*float64, error) {
	if r[name] == "" {
		return nil, nil //nolint:nilnil // an empty cell is no figure and no error
	}
	f, err := strconv.ParseFloat(r[name], 64)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &f, nil
}

// params reads "size=small threads=1".
func params(text string) kernels.Params {
	p := make(kernels.Params)
	for pair := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(pair, "=")
		p[name] = value
	}
	return p
}
