package soap_test

import (
	"encoding/xml"
	"net/http"
	"strings"
	"testing"

	"github.com/beevik/etree"
	"github.com/google/go-cmp/cmp"

	"benchd/kernels"
	"benchd/kernels/envelope"
)

// describedBy asks the service for its description.
func describedBy(t *testing.T, query string) (*etree.Document, string) {
	t.Helper()
	url := serve(t, "stream")[kernels.Addr]
	got := send(t, http.MethodGet, url+query, http.NoBody)
	if got.status != http.StatusOK || got.header.Get("Content-Type") != textXML {
		t.Fatalf("%d with %q", got.status, got.header.Get("Content-Type"))
	}
	doc := etree.NewDocument()
	if err := doc.ReadFromBytes(got.body); err != nil {
		t.Fatal(err)
	}
	return doc, url
}

// TestWSDL checks that what stands in the description is there, refers to what is there, and
// that each binding has every operation with the action that the codec knows.
func TestWSDL(t *testing.T) {
	for _, query := range []string{"?wsdl", "?WSDL"} {
		doc, url := describedBy(t, query)
		actions := make(map[string]string)
		for _, shape := range []envelope.Shape{envelope.ShapeBeans, envelope.ShapeText, envelope.ShapeRecords, envelope.ShapeDocument} {
			actions[string(shape)] = shape.Action()
		}
		for _, prefix := range []string{"soap", "soap12"} {
			got := make(map[string]string)
			for _, o := range doc.FindElements("//wsdl:binding/wsdl:operation/" + prefix + ":operation") {
				got[o.Parent().SelectAttrValue("name", "")] = o.SelectAttrValue("soapAction", "")
			}
			if d := cmp.Diff(actions, got); d != "" {
				t.Errorf("%s: %s", prefix, d)
			}
			if a := doc.FindElement("//wsdl:port/" + prefix + ":address"); a == nil || a.SelectAttrValue("location", "") != url {
				t.Errorf("the address of %s is not %s", prefix, url)
			}
		}
	}
}

// TestWSDLReferences looks every reference up.
func TestWSDLReferences(t *testing.T) {
	doc, _ := describedBy(t, "?wsdl")
	for path, row := range map[string]struct{ attr, to string }{
		"//wsdl:part":           {"element", "//xsd:schema/xsd:element"},
		"//xsd:element":         {"type", "//xsd:schema/*[@name]"},
		"//wsdl:input":          {"message", "//wsdl:message"},
		"//wsdl:output":         {"message", "//wsdl:message"},
		"//wsdl:binding":        {"type", "//wsdl:portType"},
		"//wsdl:port":           {"binding", "//wsdl:binding"},
		"//wsdl:portType/*[1]":  {"name", "//wsdl:binding/wsdl:operation"},
		"//wsdl:binding/*[4]":   {"name", "//wsdl:portType/wsdl:operation"},
		"//wsdl:message":        {"name", "//xsd:schema/xsd:element"},
		"//xsd:schema/*[@name]": {"name", "//xsd:schema/*"},
	} {
		names := make(map[string]bool)
		for _, e := range doc.FindElements(row.to) {
			names[e.SelectAttrValue("name", "")] = true
		}
		found := doc.FindElements(path)
		if len(found) == 0 {
			t.Errorf("there is no %s", path)
		}
		for _, e := range found {
			value := strings.TrimPrefix(e.SelectAttrValue(row.attr, ""), "tns:")
			if value != "" && !strings.HasPrefix(value, "xsd:") && !names[value] {
				t.Errorf("%s %q refers to no %s", path, value, row.to)
			}
		}
	}
}

// TestWSDLMatchesCodec goes through what the codec writes: each element is declared where it
// stands, in the order of its sequence.
func TestWSDLMatchesCodec(t *testing.T) {
	doc, _ := describedBy(t, "?wsdl")
	records, err := envelope.Records(1<<10, 1)
	if err != nil {
		t.Fatal(err)
	}
	text, err := envelope.Text(1<<10, 1)
	if err != nil {
		t.Fatal(err)
	}
	document, err := envelope.Document(1<<10, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []envelope.Message{envelope.Beans(1), text, records, document} {
		for _, answer := range []bool{false, true} {
			m.Answer = answer
			written := etree.NewDocument()
			if err := written.ReadFromBytes(newCodec(t, envelope.Stream).Append(nil, &m)); err != nil {
				t.Fatal(err)
			}
			top := written.FindElement("//soap:Body/*")
			declared := doc.FindElement("//xsd:schema/xsd:element[@name='" + top.Tag + "']")
			if declared == nil {
				t.Fatalf("%s is not declared", top.Tag)
			}
			follow(t, doc, declared.FindElement("xsd:complexType/xsd:sequence"), top)
		}
	}
}

// follow checks the children of an element against a sequence.
func follow(t *testing.T, doc *etree.Document, sequence, e *etree.Element) {
	t.Helper()
	declared := sequence.ChildElements()
	at := 0
	for _, c := range e.ChildElements() {
		for at < len(declared) && declared[at].SelectAttrValue("name", "") != c.Tag {
			at++
		}
		if at == len(declared) {
			t.Fatalf("%s is not declared at its place in %s", c.Tag, e.Tag)
		}
		kind := declared[at].SelectAttrValue("type", "")
		if inner := doc.FindElement("//xsd:complexType[@name='" + strings.TrimPrefix(kind, "tns:") + "']/xsd:sequence"); inner != nil {
			follow(t, doc, inner, c)
		} else if len(c.ChildElements()) > 0 {
			t.Errorf("%s of the type %s has elements", c.Tag, kind)
		}
	}
}

// TestWSDLOfAnyHost asks with a host that has to be escaped: the document stays XML.
func TestWSDLOfAnyHost(t *testing.T) {
	t.Parallel()
	p := serve(t, "stream")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p[kernels.Addr]+"?wsdl", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = `a&b'c`
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	d := xml.NewDecoder(resp.Body)
	for {
		if _, err = d.Token(); err != nil {
			break
		}
	}
	if resp.StatusCode == http.StatusOK && err.Error() != "EOF" {
		t.Errorf("status %d: %v", resp.StatusCode, err)
	}
}
