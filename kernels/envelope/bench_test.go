package envelope_test

import (
	"encoding/xml"
	"io"
	"testing"

	"github.com/beevik/etree"

	"benchd/kernels/envelope"
)

// documents are what the codec's figures are taken from.
func documents(tb testing.TB) map[string]envelope.Message {
	tb.Helper()
	all := map[string]envelope.Message{"beans": envelope.Beans(1)}
	var err error
	if all["text-1MB"], err = envelope.Text(1<<20, 1); err != nil {
		tb.Fatal(err)
	}
	if all["records-1MB"], err = envelope.Records(1<<20, 1); err != nil {
		tb.Fatal(err)
	}
	if all["document-1KB"], err = envelope.Document(1<<10, 1); err != nil {
		tb.Fatal(err)
	}
	if all["document-1MB"], err = envelope.Document(1<<20, 1); err != nil {
		tb.Fatal(err)
	}
	return all
}

// each runs a benchmark for each document, in bytes of the document.
func each(b *testing.B, f func(b *testing.B, m *envelope.Message, doc []byte)) {
	b.Helper()
	for name, m := range documents(b) {
		doc := codec(b, envelope.Stream).Append(nil, &m)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			f(b, &m, doc)
		})
	}
}

func decode(b *testing.B, model envelope.Model) {
	b.Helper()
	each(b, func(b *testing.B, _ *envelope.Message, doc []byte) {
		b.Helper()
		c := codec(b, model)
		var got envelope.Message
		for b.Loop() {
			if err := c.Decode(doc, &got); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func encode(b *testing.B, model envelope.Model) {
	b.Helper()
	each(b, func(b *testing.B, m *envelope.Message, doc []byte) {
		b.Helper()
		c := codec(b, model)
		out := make([]byte, 0, 2*len(doc))
		for b.Loop() {
			out = c.Append(out[:0], m)
		}
	})
}

func BenchmarkDecodeStream(b *testing.B) { decode(b, envelope.Stream) }
func BenchmarkDecodeDOM(b *testing.B)    { decode(b, envelope.DOM) }
func BenchmarkEncodeStream(b *testing.B) { encode(b, envelope.Stream) }
func BenchmarkEncodeDOM(b *testing.B)    { encode(b, envelope.DOM) }

// BenchmarkScan takes the scanner alone, to the end of the document.
func BenchmarkScan(b *testing.B) {
	each(b, func(b *testing.B, _ *envelope.Message, doc []byte) {
		b.Helper()
		s := envelope.NewScanner(envelope.DefaultLimits())
		for b.Loop() {
			if err := s.Reset(doc); err != nil {
				b.Fatal(err)
			}
			for kind := envelope.Kind(0); kind != envelope.EOF; {
				var err error
				if kind, err = s.Next(); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// BenchmarkDecodeXML is the standard library's way to the same values.
func BenchmarkDecodeXML(b *testing.B) {
	each(b, func(b *testing.B, _ *envelope.Message, doc []byte) {
		b.Helper()
		for b.Loop() {
			var got xmlEnvelope
			if err := xml.Unmarshal(doc, &got); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkEncodeXML is the standard library's way from the same values.
func BenchmarkEncodeXML(b *testing.B) {
	each(b, func(b *testing.B, _ *envelope.Message, doc []byte) {
		b.Helper()
		var v xmlEnvelope
		if err := xml.Unmarshal(doc, &v); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if err := xml.NewEncoder(io.Discard).Encode(&v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkDecodeEtree is a tree built by etree's own reader; nothing is read from it.
func BenchmarkDecodeEtree(b *testing.B) {
	each(b, func(b *testing.B, _ *envelope.Message, doc []byte) {
		b.Helper()
		for b.Loop() {
			if err := etree.NewDocument().ReadFromBytes(doc); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkBytes is the least a reader can do: look at each byte once.
func BenchmarkBytes(b *testing.B) {
	each(b, func(b *testing.B, _ *envelope.Message, doc []byte) {
		b.Helper()
		tags := 0
		for b.Loop() {
			for _, c := range doc {
				if c == '<' {
					tags++
				}
			}
		}
		if tags == 0 {
			b.Fatal("no tag")
		}
	})
}
