package envelope_test

import (
	"bytes"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchd/kernels/envelope"
)

// samples are valid envelopes with some of everything.
func samples(tb testing.TB) map[string][]byte {
	tb.Helper()
	m := envelope.Beans(1)
	records, err := envelope.Records(1<<10, 1)
	if err != nil {
		tb.Fatal(err)
	}
	hard := beanMessage(envelope.Bean{ID: -5, FirstName: str("<&>\r\n"), City: envelope.String{Nil: true}, Balance: -1e-9}, str("Ž馬🐎"), str(""))
	document, err := envelope.Document(800, 1)
	if err != nil {
		tb.Fatal(err)
	}
	document.Shipment.Number, document.Shipment.Sent.Zoned, document.Shipment.To.Nil = str("<\r"), true, true
	c := codec(tb, envelope.Stream)
	newer := codec(tb, envelope.Stream)
	newer.Use(envelope.V12)
	return map[string][]byte{
		"beans":    c.Append(nil, &m),
		"records":  newer.Append(nil, &records),
		"document": c.Append(nil, &document),
		"fault":    newer.AppendFault(nil, &envelope.Fault{Code: "Client.Late", String: "x", Actor: "urn:me", Detail: "y"}),
		"header":   []byte(open12 + `<s:Header><e:x s:mustUnderstand="true" s:role="urn:other"/></s:Header><s:Body>` + text + "</s:Body></s:Envelope>"),
		"hard":     c.Append(nil, &hard),
		"other": []byte("\uFEFF<?xml version='1.0' encoding='UTF-8'?><!--c--><Envelope xmlns='" + soap11 + "'><Header a='&#65;'/><Body><e:echoText xmlns:e='urn:benchd:echo'>" +
			"<e:in>a<![CDATA[<b>]]>&amp;c<!-- d --></e:in></e:echoText></Body></Envelope>\n"),
	}
}

// codecs makes codecs of both models for the version that a document is meant to have.
func codecs(tb testing.TB, doc []byte) (stream, dom *envelope.Codec) {
	tb.Helper()
	stream, dom = codec(tb, envelope.Stream), codec(tb, envelope.DOM)
	if bytes.Contains(doc, []byte(envelope.SOAP12)) {
		stream.Use(envelope.V12)
		dom.Use(envelope.V12)
	}
	return stream, dom
}

// TestTruncated cuts a valid envelope at every byte: none of the parts is an envelope.
func TestTruncated(t *testing.T) {
	t.Parallel()
	for name, doc := range samples(t) {
		if doc[len(doc)-1] == '\n' {
			doc = doc[:len(doc)-1] // the white space at the end is of no account
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stream, dom := codecs(t, doc)
			var m envelope.Message
			for n := range doc {
				for _, c := range []*envelope.Codec{stream, dom} {
					var refused *envelope.Error
					if err := c.Decode(doc[:n:n], &m); !errors.As(err, &refused) {
						t.Fatalf("the first %d bytes: got %v, want a refusal", n, err)
					}
				}
			}
		})
	}
}

// TestFlipped changes a valid envelope at every byte in many ways. What comes of it is a
// refusal by both models or the same message by both, which the standard library reads too.
func TestFlipped(t *testing.T) {
	t.Parallel()
	for name, doc := range samples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stream, dom := codecs(t, doc)
			accepted := 0
			for broken := range flipped(doc) {
				if agree(t, stream, dom, broken) {
					accepted++
				}
			}
			if accepted == 0 && name != "fault" {
				t.Error("no change was harmless, not even one in a text")
			}
		})
	}
}

// flipped gives a document with each byte changed in many ways, one at a time. In a long one
// not each change is made at each byte.
func flipped(doc []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		broken := bytes.Clone(doc)
		step := 1 + len(doc)/600
		for i := range doc {
			for k, b := range flips(doc[i]) {
				broken[i] = b
				if (i+k)%step == 0 && !yield(broken) {
					return
				}
			}
			broken[i] = doc[i]
		}
	}
}

// flips returns what a byte is changed into: each bit, and what means something to XML.
func flips(b byte) []byte {
	var list []byte
	for bit := range 8 {
		list = append(list, b^1<<bit)
	}
	for _, c := range []byte("<>&;\"'/:=!?]- \r\x00\xFFA") {
		if c != b {
			list = append(list, c)
		}
	}
	return list
}

// agree reads a document by both models and the standard library and fails the test if they
// differ in what they should not. It tells whether the models accepted the document.
func agree(t *testing.T, stream, dom *envelope.Codec, doc []byte) bool {
	t.Helper()
	var a, b envelope.Message
	errA, errB := stream.Decode(doc, &a), dom.Decode(doc, &b)
	var faultA, faultB *envelope.Fault
	switch {
	case errors.As(errA, &faultA) && errors.As(errB, &faultB):
		if diff := cmp.Diff(faultA, faultB); diff != "" {
			t.Fatalf("the models read different faults of\n%s\n(-stream +dom):\n%s", doc, diff)
		}
		return false
	case (errA == nil) != (errB == nil), (faultA == nil) != (faultB == nil):
		t.Fatalf("the models differ on\n%s\nstream: %v\ndom: %v", doc, errA, errB)
	case errA != nil:
		return false
	case a.Answer != b.Answer || !a.Equal(&b):
		t.Fatalf("the models read different messages of\n%s\n(-stream +dom):\n%s", doc, cmp.Diff(a, b))
	}
	if a.Answer {
		return true
	}
	other, err := viaXML(doc)
	if err != nil {
		t.Fatalf("accepted, but encoding/xml refuses\n%s\n%v", doc, err)
	}
	if !a.Equal(&other) {
		t.Fatalf("encoding/xml reads another message of\n%s\n(-ours +theirs):\n%s", doc, cmp.Diff(a, other, cmpopts.EquateEmpty()))
	}
	return true
}

// TestEveryByte puts every byte at every place of a text and of an attribute's value, so
// that each comes to stand at each place of the blocks in which texts are looked at.
func TestEveryByte(t *testing.T) {
	t.Parallel()
	stream, dom := codec(t, envelope.Stream), codec(t, envelope.DOM)
	for b := range 256 {
		for at := range 17 {
			content := bytes.Repeat([]byte{'a'}, 24)
			content[at] = byte(b)
			want := strings.ReplaceAll(string(content), "\r", "\n")
			accepted := agree(t, stream, dom, []byte(in(string(content))))
			if ok := xmlByte(byte(b)); accepted != ok {
				t.Fatalf("byte %#x at %d of a text: accepted %v, want %v", b, at, accepted, ok)
			}
			var got envelope.Message
			if accepted && (stream.Decode([]byte(in(string(content))), &got) != nil || got.Text.Value != want) {
				t.Fatalf("byte %#x at %d of a text: read %q, want %q", b, at, got.Text.Value, want)
			}
			sent := textMessage(string(content))
			if !bytes.Equal(stream.Append(nil, &sent), dom.Append(nil, &sent)) {
				t.Fatalf("byte %#x at %d of a text: the models write different bytes", b, at)
			}
			agree(t, stream, dom, []byte(body("<e:echoText x='"+string(content)+"'><e:in/></e:echoText>")))
		}
	}
}

// xmlByte tells whether a byte alone may stand in a text.
func xmlByte(b byte) bool {
	return b == '\t' || b == '\n' || b == '\r' || b >= ' ' && b < 0x80 && b != '<' && b != '&'
}
