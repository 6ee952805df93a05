package soap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Content codings (RFC 9110, section 8.4.1).
const (
	codingPlain = ""
	codingGzip  = "gzip"
	codingNone  = "identity"
)

// codingOf returns the coding of a message's body: codingPlain, codingGzip, or whatever else
// the head says. Only what is said counts; nothing is guessed from the bytes.
func codingOf(h http.Header) string {
	values := h["Content-Encoding"]
	if len(values) == 0 {
		return codingPlain
	}
	var codings []string
	for c := range strings.SplitSeq(strings.Join(values, ","), ",") {
		switch c = strings.ToLower(strings.TrimSpace(c)); c {
		case "", codingNone:
		case "x-gzip": // another name of it (section 8.4.1.3)
			codings = append(codings, codingGzip)
		default:
			codings = append(codings, c)
		}
	}
	return strings.Join(codings, ", ")
}

// acceptsGzip tells whether the sender of a request wants its answer by gzip (RFC 9110,
// section 12.5.3): it says so, and does not like the plain answer better. A request without
// a word on it gets a plain answer.
func acceptsGzip(h http.Header) bool {
	values := h["Accept-Encoding"]
	if len(values) == 0 {
		return false
	}
	weights := map[string]float64{}
	for item := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, weight := weighed(item)
		if name == "x-gzip" {
			name = codingGzip
		}
		weights[name] = weight
	}
	zipped, said := weights[codingGzip]
	if !said {
		zipped = weights["*"]
	}
	plain := weights[codingNone]
	return zipped > 0 && zipped >= plain
}

// weighed reads one item of a list with weights (RFC 9110, section 12.4.2). A weight that
// cannot be read is none, which refuses the item.
func weighed(item string) (name string, weight float64) {
	name, params, _ := strings.Cut(item, ";")
	weight = 1
	if text, ok := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(params, " ", "")), "q="); ok {
		var err error
		if weight, err = strconv.ParseFloat(text, 64); err != nil || !(weight >= 0 && weight <= 1) {
			weight = 0
		}
	}
	return strings.ToLower(strings.TrimSpace(name)), weight
}

// A packer compresses, with a writer that it keeps: a new one takes some hundred kilobytes.
// The level is that of the library, 6, which most servers have too.
type packer struct {
	to     sink
	writer *gzip.Writer
}

// A sink appends what is written to it.
type sink struct{ b []byte }

func (s *sink) Write(p []byte) (int, error) {
	s.b = append(s.b, p...)
	return len(p), nil
}

// pack appends src, compressed, to dst.
func (p *packer) pack(dst, src []byte) []byte {
	p.to.b = dst
	if p.writer == nil {
		p.writer = gzip.NewWriter(&p.to)
	} else {
		p.writer.Reset(&p.to)
	}
	_, _ = p.writer.Write(src) // into memory, which takes it all
	_ = p.writer.Close()
	return p.to.b
}

// An unpacker takes the compression off, with a reader that it keeps.
type unpacker struct {
	source bytes.Reader
	reader *gzip.Reader
}

// unpack appends what src holds to dst, all of it or until dst is longer than limit: of what
// is made to grow a thousandfold no more is unpacked than that. One body may be several
// streams one after another (RFC 1952, section 2.2); bytes behind the last are refused.
func (u *unpacker) unpack(dst, src []byte, limit int) ([]byte, error) {
	err := u.open(src)
	if err == nil {
		dst, err = readAll(u.reader, dst, limit)
	}
	return dst, whole(err)
}

// whole says of the end of what is compressed that it comes too soon: not one byte was there.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// open makes the reader read src, and reads the first head.
func (u *unpacker) open(src []byte) (err error) {
	u.source.Reset(src)
	if u.reader != nil {
		return u.reader.Reset(&u.source)
	}
	u.reader, err = gzip.NewReader(&u.source)
	if err != nil {
		u.reader = nil
	}
	return err
}
