package envelope_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels/envelope"
)

// seeds gives a fuzz test the samples, and some documents that are refused.
func seeds(f *testing.F) {
	f.Helper()
	for _, doc := range samples(f) {
		f.Add(doc)
	}
	fault := codec(f, envelope.Stream).AppendFault(nil, &envelope.Fault{Code: "Client", String: "x", Detail: "y"})
	f.Add(fault)
	for _, doc := range []string{
		"", "<a/>", "<a>]]></a>", "<a b='c' d=\"&lt;\">&#x41;</a>", "<!DOCTYPE a><a/>", "<?xml version='1.0'?><a/>", "<a xmlns='b'><c xmlns=''/></a>",
		"<a:b xmlns:a='c' a:d='e'/>", "<a><![CDATA[]]]]></a>", "<a>\r\n\r</a>", "<xml:a xml:b=''/>", "<a><?b?></a>", "<é/>",
	} {
		f.Add([]byte(doc))
	}
}

// FuzzDecode checks that both models and the standard library agree on a document, and that
// what is read can be written and read again.
func FuzzDecode(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, doc []byte) {
		stream, dom := codecs(t, doc)
		if !agree(t, stream, dom, doc) {
			return
		}
		var m, again envelope.Message
		if err := stream.Decode(doc, &m); err != nil {
			t.Fatal(err)
		}
		out := stream.Append(nil, &m)
		if !bytes.Equal(out, dom.Append(nil, &m)) {
			t.Fatalf("the models write different bytes for what they read of\n%s", doc)
		}
		if err := stream.Decode(out, &again); err != nil || !m.Equal(&again) {
			t.Fatalf("what was read of\n%s\ncannot be read again from\n%s\n%v", doc, out, err)
		}
	})
}

// FuzzScanner compares the tokens with those of encoding/xml, which is known to be laxer
// and, in names with letters above ASCII, stricter.
func FuzzScanner(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, doc []byte) {
		if ownWay(doc) {
			t.Skip()
		}
		ours, err := tokens(doc)
		theirs, errXML := xmlTokens(doc)
		switch {
		case err == nil && errXML != nil && strings.Contains(errXML.Error(), "invalid XML name"):
			t.Skip("a name of the fifth edition, which encoding/xml does not know")
		case err == nil && errXML != nil:
			t.Fatalf("accepted, but encoding/xml says %v", errXML)
		case err == nil:
			if diff := cmp.Diff(theirs, ours); diff != "" {
				t.Fatalf("the tokens differ (-encoding/xml +ours):\n%s", diff)
			}
		case errXML == nil && !stricter(err):
			t.Fatalf("encoding/xml accepts it, but: %v", err)
		}
	})
}

// ownWay tells whether a document may have names that encoding/xml treats in its own way.
func ownWay(doc []byte) bool {
	return bytes.Contains(doc, []byte("xmlns>")) || bytes.Contains(doc, []byte("xmlns/")) || bytes.Contains(doc, []byte("<xmlns"))
}

// stricter tells whether the scanner refuses a document for something that encoding/xml
// does not look at.
func stricter(err error) bool {
	for _, reason := range []string{
		"declar", "processing instruction", "outside of the root", "second root", "no element", "there twice", "prefix", "nested", "attributes",
		"namespaces", "encoding", "version", "standalone", "white space", "name was expected", "a comment holds a character", "without a start tag",
	} {
		if strings.Contains(err.Error(), reason) {
			return true
		}
	}
	return false
}

// tokens lists what the scanner makes of a document.
func tokens(doc []byte) ([]string, error) {
	s := envelope.NewScanner(envelope.DefaultLimits())
	if err := s.Reset(doc); err != nil {
		return nil, err
	}
	var list tokenList
	for range len(doc) + 2 { // each token but the ends of empty elements takes a byte
		kind, err := s.Next()
		if err != nil {
			return nil, err
		}
		switch kind {
		case envelope.StartTag:
			list.add("<" + string(s.URI()) + " " + string(s.Local()))
			depth := s.Depth()
			if depth == 0 {
				return nil, errors.New("no element is open after a start tag")
			}
		case envelope.EndTag:
			list.add("/" + string(s.Local()))
		case envelope.Chars:
			list.text(string(s.AppendText(nil)))
		case envelope.EOF:
			return list.list, nil
		}
	}
	return nil, fmt.Errorf("more tokens than %d bytes can have", len(doc))
}

// xmlTokens lists what encoding/xml makes of a document.
func xmlTokens(doc []byte) ([]string, error) {
	d := xml.NewDecoder(bytes.NewReader(doc))
	var list tokenList
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return list.list, nil
		}
		if err != nil {
			return nil, err
		}
		switch v := token.(type) {
		case xml.StartElement:
			depth++
			list.add("<" + v.Name.Space + " " + v.Name.Local)
		case xml.EndElement:
			depth--
			list.add("/" + v.Name.Local)
		case xml.CharData:
			if depth > 0 {
				list.text(string(v))
			}
		}
	}
}

// A tokenList joins texts that follow one another: where they are cut means nothing.
type tokenList struct {
	list   []string
	texted bool
}

func (l *tokenList) add(s string) {
	l.list = append(l.list, s)
	l.texted = false
}

func (l *tokenList) text(s string) {
	if s == "" {
		return
	}
	if !l.texted {
		l.list = append(l.list, "#")
		l.texted = true
	}
	l.list[len(l.list)-1] += s
}
