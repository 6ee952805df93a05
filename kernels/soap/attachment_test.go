package soap_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/envelope"
	"benchd/kernels/kerneltest"
	"benchd/kernels/soap"
)

const (
	storeAction = `"urn:benchd:attachment#store"`
	xopType     = `multipart/related; boundary="b"; type="application/xop+xml"; start="<r>"; start-info="text/xml"`
	swaType     = `multipart/related; boundary=b; type="text/xml"; start="<r>"`
	noStart     = `multipart/related; boundary=b; type="text/xml"`
	xmlHead     = "Content-Type: text/xml; charset=utf-8\r\nContent-ID: <r>\r\n"
	xopHead     = "Content-Type: application/xop+xml; charset=\"UTF-8\"; type=\"text/xml\"\r\nContent-ID: <r>\r\n"
	dataHead    = "Content-Type: image/png\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <d@x>\r\n"

	envelopeOpen  = `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>`
	envelopeClose = `</e:Body></e:Envelope>`
	swaStore      = envelopeOpen + `<store xmlns="urn:benchd:attachment"><content href="cid:d@x"/></store>` + envelopeClose
	xopStore      = envelopeOpen + `<store xmlns="urn:benchd:attachment"><content><i:Include xmlns:i="http://www.w3.org/2004/08/xop/include" href="cid:d%40x"/></content></store>` + envelopeClose
)

// TestAttachmentSizes runs the conformance suite on attachments of other sizes.
func TestAttachmentSizes(t *testing.T) {
	kerneltest.Run(t, soap.Attachment{}, kerneltest.Operations(2),
		kerneltest.Also(kernels.Params{"size": "1B"}), kerneltest.Also(kernels.Params{"size": "1MB", "encoding": "swa"}), kerneltest.Also(kernels.Params{"size": "64MB"}))
}

// serveAttachments runs the service for a test and returns the parameters with its address.
func serveAttachments(tb testing.TB) kernels.Params {
	tb.Helper()
	return start(tb, soap.Attachment{}, soap.Attachment{}.Info().Defaults())
}

// attach opens a trial for a test.
func attach(tb testing.TB, p kernels.Params) kernels.Trial {
	tb.Helper()
	return openTrial(tb, soap.Attachment{}, p)
}

// inParts makes a message of parts, each a head and a content.
func inParts(parts ...string) string {
	var b strings.Builder
	for i := 0; i < len(parts); i += 2 {
		b.WriteString("--b\r\n" + parts[i] + "\r\n" + parts[i+1] + "\r\n")
	}
	return b.String() + "--b--\r\n"
}

func TestAttachmentAnswers(t *testing.T) {
	url := serveAttachments(t)[kernels.Addr]
	data := "\x89PNG\r\n\x1a\n--b"
	folded := strings.Replace(xopHead, "; type", ";\r\n\ttype", 1)
	for _, row := range []struct{ name, kind, body string }{
		{"mtom", xopType, inParts(xopHead, xopStore, dataHead, data)},
		{"swa", swaType, inParts(xmlHead, swaStore, dataHead, data)},
		{"root last", swaType, inParts(dataHead, data, xmlHead, swaStore)},
		{"first part is the root", noStart, inParts("Content-Type: text/xml\r\n", swaStore, dataHead, data)},
		{"folded head", xopType, inParts(folded, xopStore, dataHead, data)},
		{"other parts too", swaType, inParts(xmlHead, swaStore, "", "no ID", "Content-ID: <e>\r\n", "another", dataHead, data, "", "no ID")},
		{"preamble", swaType, "This is a message in parts.\r\n" + inParts(xmlHead, swaStore, dataHead, data)},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := post(t, url, strings.NewReader(row.body), "Content-Type", row.kind, "SOAPAction", storeAction)
			want := fmt.Sprintf("<a:length>%d</a:length><a:checksum>%d</a:checksum>", len(data), crc32.ChecksumIEEE([]byte(data)))
			if got.status != 200 || got.header.Get("Content-Type") != textXML || !strings.Contains(string(got.body), want) {
				t.Errorf("%d %s, want %s", got.status, got.body, want)
			}
		})
	}
}

func TestAttachmentRefused(t *testing.T) {
	url := serveAttachments(t)[kernels.Addr]
	good := inParts(xmlHead, swaStore, dataHead, "x")
	in := func(envelope string) string { return inParts(xmlHead, envelope, dataHead, "x") }
	replace := strings.ReplaceAll
	for _, row := range []struct {
		name, kind, body string
		status           int
		code, reason     string
	}{
		{"neither in parts nor an envelope", "application/json", swaStore, 415, "Client", "multipart/related, one with its content in the envelope text/xml or"},
		{"a reference, and no parts", textXML, swaStore, 500, "Client", "no attachment"},
		{"no content type", "", good, 415, "Client", "cannot be read"},
		{"content type that is none", "multipart/related; start=<r>", good, 415, "Client", "cannot be read"},
		{"multipart/mixed", "multipart/mixed; boundary=b", good, 415, "Client", "multipart/related"},
		{"no boundary", `multipart/related; type="text/xml"`, good, 415, "Client", "no boundary"},
		{"no type of the root", "multipart/related; boundary=b", good, 415, "Client", "type of the root"},
		{"another start-info", replace(xopType, `info="text/xml"`, `info="text/html"`), good, 415, "Client", "start-info"},
		{"another type of the root", replace(swaType, "text/xml", "text/html"), good, 415, "Client", "type of the root"},
		{"start without brackets", replace(swaType, "<r>", "r"), good, 415, "Client", "angle brackets"},
		{"long boundary", replace(swaType, "boundary=b", "boundary="+strings.Repeat("b", 71)), good, 500, "Client", "the boundary"},
		{"another boundary", replace(swaType, "boundary=b", "boundary=c"), good, 500, "Client", "ends before"},
		{"missing start part", replace(swaType, "<r>", "<q>"), good, 500, "Client", "no part is the root"},
		{"no part", swaType, "--b--", 500, "Client", "no part is the root"},
		{"empty", swaType, "", 500, "Client", "ends before"},
		{"part without end", swaType, good[:len(good)-6], 500, "Client", "ends before"},
		{"two roots", swaType, inParts(xmlHead, swaStore, xmlHead, swaStore), 500, "Client", "two parts"},
		{"attachment with the root's ID", noStart, inParts(strings.Replace(dataHead, "image/png", "text/xml", 1), swaStore, dataHead, "x"), 500, "Client", "two parts"},
		{"two attachments with one ID", swaType, inParts(xmlHead, swaStore, dataHead, "x", dataHead, "y"), 500, "Client", "two parts"},
		{"many parts", swaType, inParts(append([]string{xmlHead, swaStore}, strings.Split(strings.Repeat(",x,", 20), ",")[:40]...)...), 500, "Client", "more than 16 parts"},
		{"root in another encoding", swaType, inParts(replace(xmlHead, "utf-8", "utf-16"), swaStore, dataHead, "x"), 500, "Client", "only UTF-8"},
		{"root of another type", swaType, inParts(replace(xmlHead, "text/xml", "text/html"), swaStore, dataHead, "x"), 500, "Client", "root part"},
		{"root without a type", swaType, inParts("Content-ID: <r>\r\n", swaStore, dataHead, "x"), 500, "Client", "root part"},
		{"nested root", swaType, inParts("Content-Type: multipart/related; boundary=c\r\nContent-ID: <r>\r\n", "--c\r\n\r\n--c--", dataHead, "x"), 500, "Client", "root part"},
		{"plain root where XOP is said", xopType, inParts(xmlHead, xopStore, dataHead, "x"), 500, "Client", "root part"},
		{"a long root", swaType, in(swaStore + strings.Repeat(" ", 100<<10)), 500, "Client", "longer than"},
		{"base64", swaType, inParts(xmlHead, swaStore, replace(dataHead, "binary", "base64"), "eA=="), 500, "Client", "transfer encoding"},
		{"huge head", swaType, inParts(xmlHead, swaStore, "X: "+strings.Repeat("y", 100<<10)+"\r\n"+dataHead, "x"), 500, "Client", "no end within"},
		{"cid that is not there", swaType, in(replace(swaStore, "cid:d", "cid:e")), 500, "Client", "no attachment"},
		{"cid of the root", swaType, in(replace(swaStore, "cid:d@x", "cid:r")), 500, "Client", "no attachment"},
		{"not a cid", swaType, in(replace(swaStore, "cid:d", "http://d")), 500, "Client", "no reference"},
		{"empty cid", swaType, in(replace(swaStore, "cid:d@x", "cid:")), 500, "Client", "no reference"},
		{"bad escape", swaType, in(replace(swaStore, "cid:d@x", "cid:d%4")), 500, "Client", "no reference"},
		{"no href", swaType, in(replace(swaStore, "href", "ref")), 500, "Client", "no href"},
		{"XOP in a plain root", swaType, in(xopStore), 500, "Client", "only text"},
		{"base64 and an Include", xopType, inParts(xopHead, replace(xopStore, "<content>", "<content>eA=="), dataHead, "x"), 500, "Client", "only elements"},
		{"no Include", xopType, inParts(xopHead, swaStore, dataHead, "x"), 500, "Client", "xop:Include"},
		{"two Includes", xopType, inParts(xopHead, replace(xopStore, "</content>", `<b/></content>`), dataHead, "x"), 500, "Client", "none is allowed"},
		{"bad XML", swaType, in(swaStore[:len(swaStore)-1]), 500, "Client", "not closed"},
		{"DTD", swaType, in("<!DOCTYPE a>" + swaStore), 500, "Client", "document type"},
		{"another operation", swaType, in(replace(swaStore, "store", "fetch")), 500, "Client", "operation"},
		{"two operations", swaType, in(replace(swaStore, "</store>", "</store><store/>")), 500, "Client", "one too many"},
		{"two contents", swaType, in(replace(swaStore, "</store>", "<content/></store>")), 500, "Client", "one too many"},
		{"nothing to store", swaType, in(envelopeOpen + `<store xmlns="urn:benchd:attachment"/>` + envelopeClose), 500, "Client", "lacks"},
		{"empty body", swaType, in(envelopeOpen + envelopeClose), 500, "Client", "body is empty"},
		{"no body", swaType, in(`<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"/>`), 500, "Client", "no body"},
		{"no envelope", swaType, in("<a/>"), 500, "Client", "not a SOAP envelope"},
		{"another version", swaType, in(replace(swaStore, "http://schemas.xmlsoap.org/soap/envelope/", "http://www.w3.org/2003/05/soap-envelope")), 500, "VersionMismatch", "namespace"},
		{"mandatory header", swaType, in(replace(swaStore, "<e:Body>", `<e:Header><a xmlns="urn:a" e:mustUnderstand="1"/></e:Header><e:Body>`)), 500, "MustUnderstand", "understood"},
		{"a fault", swaType, in(fault(t)), 500, "Client", "fault"},
		{"an answer", swaType, in(replace(swaStore, "store", "storeResponse")), 500, "Client", "operation"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := post(t, url, strings.NewReader(row.body), "Content-Type", row.kind, "SOAPAction", storeAction).isFault(t, row.status)
			if f.Code != row.code || !strings.Contains(f.String, row.reason) {
				t.Errorf("got %v, want code %s and %q", f, row.code, row.reason)
			}
		})
	}
	t.Run("another action", func(t *testing.T) {
		f := post(t, url, strings.NewReader(good), "Content-Type", swaType, "SOAPAction", action).isFault(t, 500)
		if !strings.Contains(f.String, "does not belong") {
			t.Error(f)
		}
	})
}

// TestAttachmentLies says that the body has two gigabytes, and sends one that never ends.
func TestAttachmentLies(t *testing.T) {
	head := "POST /attachment HTTP/1.1\r\nHost: x\r\nContent-Type: " + swaType + "\r\nSOAPAction: " + storeAction + "\r\n"
	addr := hostOf(serveAttachments(t))
	t.Run("two gigabytes", func(t *testing.T) { lie(t, addr, head+"Content-Length: 2147483648\r\n\r\n<", "") })
	t.Run("without end", func(t *testing.T) {
		begin := "--b\r\n" + xmlHead + "\r\n" + swaStore + "\r\n--b\r\n" + dataHead + "\r\n"
		lie(t, addr, fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", head, len(begin), begin), "10000\r\n"+strings.Repeat("x", 0x10000)+"\r\n")
	})
}

// TestAttachmentTruncated sends beginnings of a message. Each is answered with a fault.
func TestAttachmentTruncated(t *testing.T) {
	url := serveAttachments(t)[kernels.Addr]
	for _, row := range []struct{ kind, body string }{
		{xopType, inParts(xopHead, xopStore, dataHead, "x")}, {swaType, inParts(xmlHead, swaStore, dataHead, "x")},
	} {
		end := len(row.body) - len("--\r\n") // from where on the last delimiter may be another's beginning
		for n := 0; n <= end; n += 7 {
			got := post(t, url, strings.NewReader(row.body[:n]), "Content-Type", row.kind, "SOAPAction", storeAction)
			if f := got.isFault(t, 500); f.Code != envelope.CodeClient {
				t.Fatalf("the first %d bytes: got %v", n, f)
			}
		}
	}
}

// FuzzAttachment sends any bytes under any content type: each is acknowledged or refused
// with a fault, and the service goes on. The service has goroutines of its own, which makes
// what an input covers vary: -fuzzminimizetime=1x keeps the fuzzer from minimizing for ever.
func FuzzAttachment(f *testing.F) {
	url := serveAttachments(f)[kernels.Addr]
	f.Add(xopType, []byte(inParts(xopHead, xopStore, dataHead, "x")))
	f.Add(swaType, []byte(inParts(xmlHead, swaStore, dataHead, "x")))
	f.Add(xop12Type, []byte(inParts(xop12Head, by12(xopStore), dataHead, "x")))
	f.Add(swa12Type, []byte(inParts(xml12Head, by12(swaStore), dataHead, "x")))
	f.Add(noStart, []byte(inParts("Content-Type: text/xml\r\n", swaStore, "Content-Type: multipart/related; boundary=c\r\n"+dataHead, "--c\r\n\r\n--c--")))
	f.Add(`multipart/related; boundary="a b"; type=text/xml; start="<\""`, []byte("--a b--"))
	client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
	f.Cleanup(client.CloseIdleConnections)
	f.Fuzz(func(t *testing.T, kind string, message []byte) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(message))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {kind}, "Soapaction": {storeAction}}
		resp, err := client.Do(r)
		if err != nil {
			if strings.Contains(err.Error(), "invalid header field") {
				t.Skip("HTTP cannot carry the content type")
			}
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode == http.StatusOK && bytes.Contains(body, []byte("<a:storeResponse>")) {
			return
		}
		version := envelope.V11
		if resp.Header.Get("Content-Type") == soapXML {
			version = envelope.V12
		}
		if f := (answer{resp.StatusCode, resp.Header, body}).isFaultOf(t, resp.StatusCode, version); f.String == "" {
			t.Errorf("status %d without a word: %s", resp.StatusCode, body)
		}
	})
}

// TestAttachmentMemory sends 64 MB, with both sides in this process, and counts what that
// takes of memory in all: a few buffers, and nothing that grows with the attachment.
func TestAttachmentMemory(t *testing.T) {
	p := serveAttachments(t)
	for _, encoding := range []string{"mtom", "swa"} {
		trial := attach(t, p.With("size", "64MB").With("encoding", encoding))
		for range 2 { // the first call may make what is kept
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := trial.Do(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			took := after.TotalAlloc - before.TotalAlloc
			t.Logf("%s: 64 MB took %d bytes of memory on both sides", encoding, took)
			if took > 2<<20 {
				t.Errorf("%s: 64 MB took %d bytes of memory", encoding, took)
			}
		}
	}
}

// stored is the envelope of the answer to the kernel's default attachment.
func stored(tb testing.TB, p kernels.Params, trial func(kernels.Params) kernels.Trial) string {
	tb.Helper()
	var body string
	addr := script(tb, func(conn net.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		parts, err := soap.NewPartReader(r.Body, strings.Split(r.Header.Get("Content-Type"), `"`)[1])
		if err != nil {
			return
		}
		for range 2 {
			if _, err := parts.Next(); err != nil {
				return
			}
		}
		content, err := parts.AppendAll(nil, 1<<20)
		if err != nil {
			return
		}
		body = fmt.Sprintf(`%s<storeResponse xmlns="urn:benchd:attachment"><length>%d</length><checksum>%d</checksum></storeResponse>%s`,
			envelopeOpen, len(content), crc32.ChecksumIEEE(content), envelopeClose)
		_, _ = io.WriteString(conn, reply(200, body))
	})
	if err := trial(p.With(kernels.Addr, addr)).Do(tb.Context(), 1); err != nil {
		tb.Fatal(err)
	}
	return body
}

// TestAttachmentClient has a service that answers each call with one text.
func TestAttachmentClient(t *testing.T) {
	defaults := soap.Attachment{}.Info().Defaults()
	open := func(p kernels.Params) kernels.Trial { return attach(t, p) }
	good := stored(t, defaults, open)
	inRelated := func(kind, body string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", kind, len(body), body)
	}
	for _, row := range []struct{ name, answer, class string }{
		{"plain", reply(200, good), ""},
		{"in parts", inRelated(xopType, inParts(xopHead, good)), ""},
		{"in parts, plain", inRelated(swaType, inParts("", "x", xmlHead, good)), ""},
		{"in parts without the root", inRelated(swaType, inParts("", "x")), "malformed"},
		{"in parts without a boundary", inRelated("multipart/related", inParts(xmlHead, good)), "malformed"},
		{"in parts with a bad boundary", inRelated(strings.ReplaceAll(swaType, "=b", `="<>"`), inParts(xmlHead, good)), "malformed"},
		{"in parts without end", inRelated(swaType, "--b\r\n"+xmlHead+"\r\n"+good), "malformed"},
		{"in parts of another type", inRelated(swaType, inParts(xopHead, good)), "malformed"},
		{"fault", reply(500, fault(t)), "fault"},
		{"cut fault", reply(500, fault(t)[:len(fault(t))-9]), "malformed"},
		{"another length", reply(200, strings.Replace(good, "10240", "10241", 1)), "mismatch"},
		{"another checksum", reply(200, strings.Replace(good, "<checksum>", "<checksum>1", 1)), "malformed"},
		{"checksum of another", reply(200, strings.Replace(good, ">10240</length><checksum>", ">10240</length><checksum>0</checksum><!--", 1)), "malformed"},
		{"no number", reply(200, strings.Replace(good, "10240", "many", 1)), "malformed"},
		{"right answer with status 202", reply(202, good), "malformed"},
		{"not SOAP", reply(200, "hello"), "malformed"},
		{"nothing", "", "reset"},
	} {
		t.Run(row.name, func(t *testing.T) {
			addr := script(t, func(conn net.Conn) {
				r, err := http.ReadRequest(bufio.NewReader(conn))
				if err == nil {
					_, err = io.Copy(io.Discard, r.Body)
				}
				if err == nil {
					_, _ = io.WriteString(conn, row.answer)
				}
			})
			err := attach(t, defaults.With(kernels.Addr, addr)).Do(t.Context(), 1)
			var failed *kernels.Failure
			switch {
			case row.class == "" && err != nil:
				t.Error(err)
			case row.class != "" && (!errors.As(err, &failed) || failed.Class != row.class):
				t.Errorf("got %v, want a failure of class %s", err, row.class)
			}
		})
	}
}

// TestAttachmentRefusedEarly has a service that answers and hangs up before it has read the
// attachment: the fault is told, and not the write that could not end.
func TestAttachmentRefusedEarly(t *testing.T) {
	addr := script(t, func(conn net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
			return
		}
		_, _ = io.WriteString(conn, reply(500, fault(t)))
		if half, ok := conn.(*net.TCPConn); ok {
			_ = half.CloseWrite()
		}
		time.Sleep(50 * time.Millisecond) // for the client to read it before the connection is reset
	})
	trial := attach(t, soap.Attachment{}.Info().Defaults().With("size", "64MB").With(kernels.Addr, addr))
	var failed *kernels.Failure
	if err := trial.Do(t.Context(), 1); !errors.As(err, &failed) || failed.Class != "fault" {
		t.Errorf("got %v, want the fault", err)
	}
}

func TestAttachmentUnknown(t *testing.T) {
	t.Parallel()
	p := soap.Attachment{}.Info().Defaults().With(kernels.Addr, "127.0.0.1:1")
	for _, p := range []kernels.Params{p.With("encoding", "dime"), p.With(kernels.Addr, "x"), p} {
		if _, err := (soap.Attachment{}).Open(context.Background(), p); err == nil {
			t.Errorf("a client was opened with %v", map[string]string(p))
		}
	}
}

// BenchmarkAttachment is a whole call, with service and client in this one process.
func BenchmarkAttachment(b *testing.B) {
	p := serveAttachments(b)
	for _, encoding := range []string{"mtom", "swa"} {
		for _, size := range []string{"10KB", "1MB", "64MB"} {
			b.Run(encoding+"/"+size, func(b *testing.B) {
				p := p.With("encoding", encoding).With("size", size)
				trial := attach(b, p)
				b.SetBytes(int64(p.Bytes("size")))
				b.ReportAllocs()
				for b.Loop() {
					if err := trial.Do(b.Context(), 1); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
