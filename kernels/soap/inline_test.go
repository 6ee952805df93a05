package soap_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"benchd/kernels"
	"benchd/kernels/soap"
)

// receiptOf is what the service answers of a content.
func receiptOf(content []byte) string {
	return fmt.Sprintf("<a:length>%d</a:length><a:checksum>%d</a:checksum>", len(content), crc32.ChecksumIEEE(content))
}

// inline is an envelope with a content of the text.
func inline(text string) string {
	return envelopeOpen + `<store xmlns="urn:benchd:attachment"><content>` + text + `</content></store>` + envelopeClose
}

// TestInlineAnswers: what the description calls base64Binary may stand in the envelope, which
// then need not be a part of anything.
func TestInlineAnswers(t *testing.T) {
	t.Parallel()
	url := serveAttachments(t)[kernels.Addr]
	content := []byte("\x89PNG\r\n\x1a\n--b and some more")
	text := base64.StdEncoding.EncodeToString(content)
	in12 := func(doc string) string {
		return strings.Replace(doc, "http://schemas.xmlsoap.org/soap/envelope/", "http://www.w3.org/2003/05/soap-envelope", 1)
	}
	header := `<e:Header><x:content xmlns:x="urn:x">AAAA</x:content><x:y xmlns:x="urn:x">?>]]&gt; "</x:y></e:Header><e:Body>`
	for _, row := range []struct {
		name, kind, body string
		content          []byte
	}{
		{"SOAP 1.1", "text/xml", inline(text), content},
		{"SOAP 1.2", soapXML, in12(inline(text)), content},
		{"SOAP 1.2 with an action", soapXML + `; action="urn:benchd:attachment#store"`, in12(inline(text)), content},
		{"lines", textXML, inline("\n" + text[:8] + "\r\n\t" + text[8:] + "\n"), content},
		{"lines as references", textXML, inline(text[:8] + "&#13;\n" + text[8:9] + "&#xD;&#x0a;" + text[9:]), content},
		{"CDATA", textXML, inline(text[:3] + "<![CDATA[" + text[3:] + "]]>"), content},
		{"comments", textXML, inline("<!-- > - <content> -->" + text[:3] + "<!--x-->" + text[3:]), content},
		{"a prefix and attributes", textXML, strings.NewReplacer(
			"<content>", "<p:content\n xmlns:p='urn:benchd:attachment' y='/>' >", "</content>", "</p:content>").Replace(inline(text)), content},
		{"another content in the header", textXML, strings.Replace(inline(text), "<e:Body>", header, 1), content},
		{"nothing", textXML, inline(""), nil},
		{"nothing, in one tag", textXML, strings.Replace(inline(""), "<content></content>", "<content/>", 1), nil},
		{"in a message of MTOM", xopType, inParts(xopHead, inline(text)), content},
		{"in a root that is plain", swaType, inParts(xmlHead, inline(text), dataHead, "x"), content},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := post(t, url, strings.NewReader(row.body), "Content-Type", row.kind, "SOAPAction", storeAction)
			if got.status != 200 || !strings.Contains(string(got.body), receiptOf(row.content)) {
				t.Errorf("%d %s, want %s", got.status, got.body, receiptOf(row.content))
			}
			if kind := got.header.Get("Content-Type"); strings.HasPrefix(row.kind, soapXML) != (kind == soapXML) {
				t.Errorf("the answer is %s", kind)
			}
		})
	}
}

func TestInlineRefused(t *testing.T) {
	t.Parallel()
	url := serveAttachments(t)[kernels.Addr]
	for _, row := range []struct {
		name, kind, body string
		status           int
		reason           string
	}{
		{"no base64", textXML, inline("{}"), 500, "not base64"},
		{"half a group", textXML, inline("AAA"), 500, "not base64"},
		{"bits that mean nothing", textXML, inline("AB=="), 500, "not base64"},
		{"more behind the end", textXML, inline(strings.Repeat("A", 4<<10-2) + "==AAAA"), 500, "behind its end"},
		{"padding in the middle", textXML, inline("AA==AAAA"), 500, "not base64"},
		{"a reference to a letter", textXML, inline("AAA&#65;"), 500, "not base64"},
		{"an entity", textXML, inline("AAA&amp;"), 500, "not base64"},
		{"a bracket in CDATA", textXML, inline("<![CDATA[AA]A]]>"), 500, "not base64"},
		{"an element", textXML, inline("AAAA<b/>"), 500, "only text"},
		{"more than one", textXML, strings.Replace(inline("AAAA"), "</store>", "<content>AAAA</content></store>", 1), 500, "one too many"},
		{"far more than one", textXML, strings.Replace(inline("AAAA"), "</store>", strings.Repeat("<content>AAAA</content>", 20)+"</store>", 1), 500, "more than 16"},
		{"no end", textXML, strings.TrimSuffix(inline("AAAA"), envelopeClose), 500, "ends inside"},
		{"an instruction", textXML, inline("<?x AAAA>?>AAAA"), 500, "processing instruction"},
		{"two roots", textXML, inline("AAAA") + "<x/>", 500, ""},
		{"a document type", textXML, "<!DOCTYPE a [<!ENTITY b '<content>AAAA</content>'>]>" + inline("AAAA"), 500, "document type"},
		{"a long envelope", textXML, inline("AAAA") + strings.Repeat(" ", 100<<10), 500, "longer than"},
		{"another encoding", "text/xml; charset=utf-16", inline("AAAA"), 500, "only UTF-8"},
		{"another version", soapXML, inline("AAAA"), 500, "namespace"},
		{"too much", textXML, inline(strings.Repeat("A", (64<<20)/3*4+8)), 413, "longer than"},
		{"too much white space", textXML, inline(strings.Repeat(" ", 97<<20)), 413, "longer than"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := post(t, url, struct{ io.Reader }{strings.NewReader(row.body)}, "Content-Type", row.kind, "SOAPAction", storeAction)
			if got.status != row.status || !strings.Contains(string(got.body), "Fault>") || !strings.Contains(string(got.body), row.reason) {
				t.Errorf("%d %.300s, want %d and %q", got.status, got.body, row.status, row.reason)
			}
		})
	}
	t.Run("another action", func(t *testing.T) {
		t.Parallel()
		f := post(t, url, strings.NewReader(inline("AAAA")), "Content-Type", textXML, "SOAPAction", action).isFault(t, 500)
		if !strings.Contains(f.String, "does not belong") {
			t.Error(f)
		}
	})
}

// TestInlineCut: an envelope that ends early is refused wherever it does.
func TestInlineCut(t *testing.T) {
	t.Parallel()
	whole := "<?xml version='1.0'?><!-- x -->" + inline("<![CDATA[AAAA]]>AAA<!-- y -->A&#10;")
	for n := range len(whole) {
		if _, _, err := soap.Inline([]byte(whole[:n])); err == nil {
			t.Errorf("the first %d bytes of the envelope are taken", n)
		}
	}
}

// TestInlineAny: any content arrives, however its base64 is broken up.
func TestInlineAny(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		content := bytes.Repeat(rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(t, "content"), rapid.IntRange(1, 300).Draw(t, "times"))
		rest := base64.StdEncoding.EncodeToString(content)
		var b strings.Builder
		for rest != "" {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			piece, between := rest[:n], rapid.SampledFrom([]string{"", "\n", " \r\n", "&#xd;\n", "<!--AAAA-->", "<!---->"}).Draw(t, "between")
			if rapid.Bool().Draw(t, "section") {
				piece = "<![CDATA[" + piece + "]]>"
			}
			b.WriteString(piece + between)
			rest = rest[n:]
		}
		length, checksum, err := soap.Inline([]byte(inline(b.String())))
		if err != nil || length != int64(len(content)) || checksum != crc32.ChecksumIEEE(content) {
			t.Fatalf("got %d bytes with %08x, %v, of %d with %08x", length, checksum, err, len(content), crc32.ChecksumIEEE(content))
		}
	})
}

// FuzzInline: no document makes the service panic, and what it leaves of one is never longer.
func FuzzInline(f *testing.F) {
	for _, text := range []string{"", "AAAA", "<![CDATA[AA]]>AA", "<!-- - -->&#10;", "<content>", "<!x>", "<? ?>", "'\"/>"} {
		f.Add([]byte(inline(text)))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		length, _, err := soap.Inline(doc)
		if err == nil && length > int64(len(doc)) {
			t.Errorf("%d bytes came out of %d", length, len(doc))
		}
	})
}

// TestInlineMemory: a content of 48 MB in the envelope costs the service a buffer.
func TestInlineMemory(t *testing.T) {
	url := serveAttachments(t)[kernels.Addr]
	send := func(groups int) uint64 {
		doc := inline("?")
		open, end, _ := strings.Cut(doc, "?")
		body := io.MultiReader(strings.NewReader(open), io.LimitReader(endless{}, int64(groups)*4), strings.NewReader(end))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := post(t, url, body, "Content-Type", textXML, "SOAPAction", storeAction)
		runtime.ReadMemStats(&after)
		if want := fmt.Sprintf("<a:length>%d<", groups*3); got.status != 200 || !strings.Contains(string(got.body), want) {
			t.Fatalf("%d %s, want %s", got.status, got.body, want)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	send(1)
	if took := send(16 << 20); took > 4<<20 {
		t.Errorf("%d bytes were allocated for 48 MB", took)
	}
}

// endless is base64 without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'A'
	}
	return len(p), nil
}
