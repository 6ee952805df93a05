package soap_test

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"benchd/kernels/soap"
)

// A readPart is a part as it was read.
type readPart struct{ ID, Type, Content string }

// readParts reads a message to its end.
func readParts(r io.Reader, boundary string) ([]readPart, error) {
	parts, err := soap.NewPartReader(r, boundary)
	if err != nil {
		return nil, err
	}
	var all []readPart
	for {
		part, err := parts.Next()
		if errors.Is(err, io.EOF) {
			return all, parts.Rest()
		}
		if err != nil {
			return all, err
		}
		got := readPart{ID: string(part.ID), Type: string(part.Type)}
		content, err := parts.AppendAll(nil, 1<<20)
		if err != nil {
			return all, err
		}
		got.Content = string(content)
		all = append(all, got)
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	one := []readPart{{Content: "x"}}
	for _, row := range []struct {
		name, boundary, message string
		want                    []readPart
	}{
		{"one part", "b", "--b\r\n\r\nx\r\n--b--", one},
		{"two parts", "b", "--b\r\nContent-ID: <1>\r\n\r\nx\r\n--b\r\nContent-Type: a/b\r\n\r\ny\r\n--b--\r\n", []readPart{{ID: "1", Content: "x"}, {Type: "a/b", Content: "y"}}},
		{"no part", "b", "--b--", nil},
		{"preamble and epilogue", "b", "hello --b\r\n--b\r\n\r\nx\r\n--b--\r\n--b\r\n\r\ny", one},
		{"white space behind the delimiter", "b", "--b \t\r\n\r\nx\r\n--b-- \r\n", one},
		{"empty content", "b", "--b\r\nX: y\r\n\r\n\r\n--b--", []readPart{{}}},
		{"empty content without a line end of its own", "b", "--b\r\nX: y\r\n\r\n--b--", []readPart{{}}},
		{"content of line ends", "b", "--b\r\n\r\n\r\n\r\n\r\n--b--", []readPart{{Content: "\r\n\r\n"}}},
		{"beginnings of delimiters", "bcd", "--bcd\r\n\r\n\r\n--bc\r\n--\r\r\n\n--bcd--\r\n--bcd--", []readPart{{Content: "\r\n--bc\r\n--\r\r\n\n--bcd--"}}},
		{"boundary inside a line", "b", "--b\r\n\r\n --b--\r\n--b--", []readPart{{Content: " --b--"}}},
		{"line feeds alone", "b", "--b\r\n\r\n\n--b\n\r\n--b--", []readPart{{Content: "\n--b\n"}}},
		{"folded field", "b", "--b\r\nContent-Type: a/b;\r\n\tc=d\r\n\r\nx\r\n--b--", []readPart{{Type: "a/b;  \tc=d", Content: "x"}}},
		{"names in any case", "b", "--b\r\ncontent-id: <1>\r\nCONTENT-TYPE:a/b \r\ncontent-transfer-encoding: BINARY\r\n\r\nx\r\n--b--", []readPart{{"1", "a/b", "x"}}},
		{"the longest boundary", strings.Repeat("b", 70), "--" + strings.Repeat("b", 70) + "\r\n\r\nx\r\n--" + strings.Repeat("b", 70) + "--", one},
		{"nested", "b", "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\ny\r\n--c--\r\n--b--", []readPart{{Type: "multipart/mixed; boundary=c", Content: "--c\r\n\r\ny\r\n--c--"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for name, r := range map[string]io.Reader{
				"whole": strings.NewReader(row.message), "by bytes": iotest.OneByteReader(strings.NewReader(row.message)),
				"by halves": iotest.HalfReader(strings.NewReader(row.message)), "end with the data": iotest.DataErrReader(strings.NewReader(row.message)),
			} {
				got, err := readParts(r, row.boundary)
				if d := cmp.Diff(row.want, got); err != nil || d != "" {
					t.Errorf("%s: %v %s", name, err, d)
				}
			}
		})
	}
}

func TestPartsRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, boundary, message, reason string }{
		{"no boundary", "", "--\r\n\r\nx\r\n----", "the boundary"},
		{"a long boundary", strings.Repeat("b", 71), "", "the boundary"},
		{"a boundary that ends with a space", "b ", "", "the boundary"},
		{"a boundary with a line end", "b\r\nc", "", "the boundary"},
		{"a boundary with a letter that is none", "bž", "", "the boundary"},
		{"nothing", "b", "", "ends before"},
		{"no delimiter", "b", "hello", "ends before"},
		{"a long preamble", "b", strings.Repeat("hello\r\n", 20000) + "--b--", "before the first part"},
		{"part without end", "b", "--b\r\n\r\nx", "ends before"},
		{"cut in the last delimiter", "b", "--b\r\n\r\nx\r\n--b-", "ends before"},
		{"cut in a head", "b", "--b\r\nX: y\r\n", "ends before"},
		{"head without an empty line", "b", "--b\r\nX: y\r\n--b--\r\n\r\n", "no empty line"},
		{"a longer delimiter", "b", "--b\r\n\r\nx\r\n--bc\r\n--b--", "not alone"},
		{"a huge line", "b", "--b\r\nX: " + strings.Repeat("y", 200000) + "\r\n\r\nx\r\n--b--", "no end within"},
		{"many lines", "b", "--b\r\n" + strings.Repeat("X: y\r\n", 20000) + "\r\nx\r\n--b--", "no end within"},
		{"line without a colon", "b", "--b\r\nhello\r\n\r\nx\r\n--b--", "no field"},
		{"name with a space", "b", "--b\r\nContent-ID : <1>\r\n\r\nx\r\n--b--", "no field"},
		{"folded first line", "b", "--b\r\n X: y\r\n\r\nx\r\n--b--", "no field"},
		{"ID without brackets", "b", "--b\r\nContent-ID: 1\r\n\r\nx\r\n--b--", "angle brackets"},
		{"empty ID", "b", "--b\r\nContent-ID: <>\r\n\r\nx\r\n--b--", "angle brackets"},
		{"two IDs", "b", "--b\r\nContent-ID: <1>\r\nContent-ID: <2>\r\n\r\nx\r\n--b--", "twice"},
		{"two types", "b", "--b\r\nContent-Type: a/b\r\nContent-Type: a/b\r\n\r\nx\r\n--b--", "twice"},
		{"base64", "b", "--b\r\nContent-Transfer-Encoding: base64\r\n\r\neA==\r\n--b--", "transfer encoding"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for _, r := range []io.Reader{strings.NewReader(row.message), iotest.HalfReader(strings.NewReader(row.message))} {
				got, err := readParts(r, row.boundary)
				var wrong *soap.MultipartError
				if !errors.As(err, &wrong) || !strings.Contains(wrong.Reason, row.reason) || wrong.Offset < 0 || wrong.Offset > int64(len(row.message)) {
					t.Errorf("%v after %q, want a refusal with %q", err, got, row.reason)
				}
			}
		})
	}
}

// TestPartsSourceFails: what the source says is told as it is.
func TestPartsSourceFails(t *testing.T) {
	t.Parallel()
	bad := errors.New("it is raining")
	for _, begin := range []string{"", "--b\r\nX", "--b\r\n\r\nx", "--b\r\n\r\nx\r\n--b--"} {
		if _, err := readParts(io.MultiReader(strings.NewReader(begin), iotest.ErrReader(bad)), "b"); !errors.Is(err, bad) {
			t.Errorf("after %q: %v, want %v", begin, err, bad)
		}
	}
}

// TestPartsStream reads a part of 64 MB, which is made as it is read, and counts what that
// takes of memory in all: nothing that grows with the part.
func TestPartsStream(t *testing.T) {
	const size = 64 << 20
	source := io.MultiReader(strings.NewReader("--b\r\n\r\n"), io.LimitReader(endlessBytes{}, size), strings.NewReader("\r\n--b--"))
	parts, err := soap.NewPartReader(source, "b")
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := parts.Next(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for {
		piece, err := parts.Piece()
		n += len(piece)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			break
		}
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; n != size || took > 256<<10 {
		t.Errorf("read %d bytes of %d with %d bytes of memory", n, size, took)
	}
}

// endlessBytes is a source without end.
type endlessBytes struct{}

func (endlessBytes) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "line\r\n--"[i%8]
	}
	return len(p), nil
}

// TestPartsAllocate: to read a message with a reader that is there costs nothing.
func TestPartsAllocate(t *testing.T) {
	message := []byte("--b\r\nContent-Type: text/xml\r\nContent-ID: <1>\r\n\r\nx\r\n--b\r\nContent-ID: <2>\r\n\r\ny\r\n--b--")
	source := bytes.NewReader(message)
	parts, err := soap.NewPartReader(source, "b")
	if err != nil {
		t.Fatal(err)
	}
	read := func() {
		source.Reset(message)
		if err := parts.Reset(source, "b"); err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := parts.Next(); err != nil {
				return
			}
		}
	}
	read()
	if n := testing.AllocsPerRun(100, read); n > 0 {
		t.Errorf("%v allocations for a message in two parts", n)
	}
}

// TestPartsAsWritten reads what the standard library writes.
func TestPartsAsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var message bytes.Buffer
		w := multipart.NewWriter(&message)
		boundary := w.Boundary()
		piece := rapid.SampledFrom([]string{"\r", "\n", "\r\n", "--", "\r\n--", "--" + boundary, "\r\n--" + boundary[:20], "a", "\r\n--\r\n--"})
		var want []readPart
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			var content []byte
			for _, p := range rapid.SliceOf(piece).Draw(t, "content") {
				// No line of the content may begin with the boundary.
				if p == "--"+boundary && (len(content) == 0 || bytes.HasSuffix(content, []byte("\r\n"))) {
					continue
				}
				if next := slices.Concat(content, []byte(p)); !bytes.Contains(next, []byte("\r\n--"+boundary)) {
					content = next
				}
			}
			part, err := w.CreatePart(map[string][]string{"Content-Id": {"<1>"}})
			if err != nil {
				t.Fatal(err)
			}
			_, _ = part.Write(content) // into memory
			want = append(want, readPart{ID: "1", Content: string(content)})
		}
		_ = w.Close()
		got, err := readParts(iotest.HalfReader(&message), boundary)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Fatalf("%v %s", err, d)
		}
	})
}

// FuzzParts reads any bytes: no panic, no hang, and the same parts whatever pieces they come
// in. What is read as parts is written again and read as the same.
func FuzzParts(f *testing.F) {
	for _, seed := range []string{
		"--b\r\n\r\nx\r\n--b--", "--b\r\nContent-ID: <1>\r\nContent-Type: a/b;\r\n c=d\r\n\r\nx\r\n--b\r\n\r\n--b--",
		"pre\r\n--b \r\nX: y\r\n\r\n\r\n--b--epi", "--b\r\n--b--", "--bb\r\n\r\nx\r\n--b--", "--b\r\nContent-Type: multipart/mixed; boundary=\"c\"\r\n\r\n--c\r\n\r\ny\r\n--c--\r\n--b--",
	} {
		f.Add([]byte(seed), "b")
		f.Add(bytes.ReplaceAll([]byte(seed), []byte("b"), []byte("a b'?")), "a b'?")
	}
	f.Fuzz(func(t *testing.T, message []byte, boundary string) {
		got, err := readParts(bytes.NewReader(message), boundary)
		again, otherErr := readParts(iotest.OneByteReader(bytes.NewReader(message)), boundary)
		if d := cmp.Diff(got, again); d != "" || (err == nil) != (otherErr == nil) {
			t.Fatalf("by bytes it is other parts: %v, %v: %s", err, otherErr, d)
		}
		var wrong *soap.MultipartError
		if err != nil && !errors.As(err, &wrong) {
			t.Fatalf("%v is no refusal", err)
		}
		if err != nil {
			return
		}
		var written bytes.Buffer
		for _, p := range got {
			written.WriteString("--" + boundary + "\r\n")
			if p.ID != "" {
				written.WriteString("Content-ID: <" + p.ID + ">\r\n")
			}
			written.WriteString("Content-Type: " + p.Type + "\r\n\r\n" + p.Content + "\r\n")
		}
		written.WriteString("--" + boundary + "--")
		back, err := readParts(&written, boundary)
		if d := cmp.Diff(got, back); err != nil || d != "" {
			t.Fatalf("written again it is something else: %v %s", err, d)
		}
	})
}
