package soap_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/envelope"
	"benchd/kernels/soap"
)

// zipped compresses a text.
func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text) // into memory
	_ = w.Close()
	return b.String()
}

// unzipped does the opposite.
func unzipped(tb testing.TB, b []byte) []byte {
	tb.Helper()
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		tb.Fatalf("%v: %q", err, b)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// TestServiceUnpacks sends requests that are compressed, or say that they are not.
func TestServiceUnpacks(t *testing.T) {
	request := beans(t)
	half := len(request) / 2
	url := serve(t, "stream")[kernels.Addr]
	for _, row := range []struct{ name, coding, body string }{
		{"gzip", "gzip", zipped(request)},
		{"in capitals", "GZIP", zipped(request)},
		{"by its other name", "x-gzip", zipped(request)},
		{"two streams", "gzip", zipped(request[:half]) + zipped(request[half:])},
		{"an empty stream before", "gzip", zipped("") + zipped(request)},
		{"identity", "identity", request},
		{"identity and gzip", "identity, gzip", zipped(request)},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := post(t, url, strings.NewReader(row.body), "Content-Type", textXML, "SOAPAction", action, "Content-Encoding", row.coding)
			var m envelope.Message
			sent := envelope.Beans(1)
			if err := newCodec(t, envelope.Stream).Decode(got.body, &m); err != nil || got.status != 200 || !m.Equal(&sent) {
				t.Errorf("%d, %v: %s", got.status, err, got.body)
			}
		})
	}
}

// TestServicePacks asks for answers in every way: a compressed one says so, and only to a
// client that likes it.
func TestServicePacks(t *testing.T) {
	url := serve(t, "stream")[kernels.Addr]
	for accept, want := range map[string]bool{
		"gzip": true, "GZip": true, "x-gzip": true, "*": true, "br, gzip;q=0.5": true, "gzip; q=1.0, identity; q=0.5, *;q=0": true,
		"identity;q=0, *": true, "gzip;q=0.001": true, "gzip, identity": true,
		"identity": false, "br": false, "gzip;q=0": false, "*;q=0": false, "gzip;q=0, *": false, "gzip;q=0.5, identity": false,
		"gzip;q=x": false, "gzip;q=2": false, "gzip;q=NaN": false, ",;,": false,
	} {
		for _, body := range []string{beans(t), "<"} {
			got := post(t, url, strings.NewReader(body), "Content-Type", textXML, "SOAPAction", action, "Accept-Encoding", accept)
			coding := got.header.Get("Content-Encoding")
			if (coding == "gzip") != want || !want && coding != "" {
				t.Errorf("Accept-Encoding %q: the answer has the coding %q", accept, coding)
				continue
			}
			if want {
				got.body = unzipped(t, got.body)
			}
			var m envelope.Message
			var fault *envelope.Fault
			if err := newCodec(t, envelope.Stream).Decode(got.body, &m); body == "<" && !errors.As(err, &fault) || body != "<" && err != nil {
				t.Errorf("Accept-Encoding %q: got %d, %v: %s", accept, got.status, err, got.body)
			}
		}
	}
}

// TestServiceRefusesCodings sends what is in another coding, or not in the one it says.
func TestServiceRefusesCodings(t *testing.T) {
	good := zipped(beans(t))
	wrong := []byte(good)
	wrong[len(wrong)-6] ^= 1 // in the checksum
	long := zipped(strings.Repeat(" ", 64<<20))
	rows := []struct {
		name, coding, body string
		status             int
		takes, reason      string
	}{
		{"deflate", "deflate", good, 415, "gzip", `"deflate" is not known`},
		{"twice", "gzip, gzip", good, 415, "gzip", `"gzip, gzip" is not known`},
		{"no coding known", "br", good, 415, "gzip", `"br" is not known`},
		{"plain", "gzip", beans(t), 400, "", "not gzip"},
		{"empty", "gzip", "", 400, "", "not gzip"},
		{"more behind", "gzip", good + "x", 400, "", "not gzip"},
		{"wrong checksum", "gzip", string(wrong), 400, "", "not gzip"},
		{"sixty-four megabytes in few", "gzip", long, 413, "", "longer than"},
		{"compressed, but not said", "identity", good, 500, "", ""},
		{"good gzip of bad XML", "gzip", zipped("<"), 500, "", ""},
	}
	for _, model := range models {
		url := serve(t, model)[kernels.Addr]
		for _, row := range rows {
			t.Run(model+"/"+row.name, func(t *testing.T) {
				got := post(t, url, strings.NewReader(row.body), "Content-Type", textXML, "SOAPAction", action, "Content-Encoding", row.coding)
				f := got.isFault(t, row.status)
				if f.Code != "Client" || !strings.Contains(f.String, row.reason) || got.header.Get("Accept-Encoding") != row.takes {
					t.Errorf("got %v, and %q is taken; want %q, and %q", f, got.header.Get("Accept-Encoding"), row.reason, row.takes)
				}
			})
		}
	}
	t.Run("attachments", func(t *testing.T) {
		message := zipped(inParts(xmlHead, swaStore, dataHead, "x"))
		got := post(t, serveAttachments(t)[kernels.Addr], strings.NewReader(message), "Content-Type", swaType, "SOAPAction", storeAction, "Content-Encoding", "gzip")
		if f := got.isFault(t, 415); got.header.Get("Accept-Encoding") != "identity" {
			t.Errorf("%v, and %q is taken", f, got.header.Get("Accept-Encoding"))
		}
	})
}

// TestServiceTruncatedGzip sends beginnings of a compressed request on one connection, which
// each leaves good for the next.
func TestServiceTruncatedGzip(t *testing.T) {
	t.Parallel()
	l := newLine(t, hostOf(serve(t, "stream")))
	whole := zipped(beans(t))
	for n := range len(whole) {
		head := fmt.Sprintf("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nSOAPAction: \"\"\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n", n)
		_ = l.conn.SetDeadline(time.Now().Add(30 * time.Second))
		if _, err := io.WriteString(l.conn, head+whole[:n]); err != nil {
			t.Fatal(err)
		}
		if status, body := l.answer(t); status != http.StatusBadRequest || !bytes.Contains(body, []byte("is not gzip")) {
			t.Fatalf("the first %d bytes: %d: %s", n, status, body)
		}
	}
	if status, _ := l.call(t, []byte(beans(t))); status != 200 {
		t.Errorf("a good call behind them has status %d", status)
	}
}

// encoded makes an answer that says its coding.
func encoded(coding, body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", coding, len(body), body)
}

// TestClientUnpacks has services that answer in codings, rightly and wrongly.
func TestClientUnpacks(t *testing.T) {
	t.Parallel()
	good := echoed(t)
	whole := zipped(good)
	rows := []struct {
		name, asked, answer, class string
	}{
		{"gzip", "true", encoded("gzip", whole), ""},
		{"by its other name", "true", encoded("X-GZIP", whole), ""},
		{"not compressed", "true", reply(200, good), ""}, // the check, and not a call, tells it
		{"a fault", "true", encoded("gzip", zipped(fault(t))), "fault"},
		{"compressed, but not said", "true", reply(200, whole), "malformed"},
		{"said, but not compressed", "true", encoded("gzip", good), "malformed"},
		{"cut", "true", encoded("gzip", whole[:len(whole)-9]), "malformed"},
		{"empty", "true", encoded("gzip", ""), "malformed"},
		{"more behind", "true", encoded("gzip", whole+"x"), "malformed"},
		{"another coding", "true", encoded("deflate", whole), "malformed"},
		{"twice", "true", encoded("gzip, gzip", zipped(whole)), "malformed"},
		{"sixty-four megabytes in few", "true", encoded("gzip", zipped(strings.Repeat(" ", 64<<20))), "malformed"},
		{"unasked for", "false", encoded("gzip", whole), "malformed"},
		{"identity", "false", encoded("identity", good), ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			addr := script(t, func(conn net.Conn) { answerEach(conn, row.answer, row.asked == "true") })
			trial := open(t, echoDefaults().With("gzip", row.asked).With(kernels.Addr, addr))
			for range 2 { // a failure does not spoil the next call
				err := trial.Do(t.Context(), 1)
				var failed *kernels.Failure
				switch {
				case row.class == "" && err != nil:
					t.Fatal(err)
				case row.class != "" && (!errors.As(err, &failed) || failed.Class != row.class):
					t.Fatalf("got %v, want a failure of class %s", err, row.class)
				}
			}
		})
	}
}

// answerEach answers each request that is compressed as it is to be, and says so, with one
// text. Others it does not answer.
func answerEach(conn net.Conn, answer string, compressed bool) {
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if compressed != (r.Header.Get("Content-Encoding") == "gzip" && r.Header.Get("Accept-Encoding") == "gzip") {
			return
		}
		var body io.Reader = r.Body
		if compressed {
			if body, err = gzip.NewReader(r.Body); err != nil {
				return
			}
		}
		if text, err := io.ReadAll(body); err != nil || !bytes.HasPrefix(text, []byte("<?xml")) {
			return
		}
		if _, err := io.WriteString(conn, answer); err != nil {
			return
		}
	}
}

// TestCheckFindsPlainAnswers: a service that takes gzip and answers without it would be
// measured as what it is not.
func TestCheckFindsPlainAnswers(t *testing.T) {
	t.Parallel()
	p := serve(t, "stream")
	// In between stands one who takes the wish for gzip out of the requests.
	addr := script(t, func(conn net.Conn) {
		to, err := net.Dial("tcp", hostOf(p))
		if err != nil {
			return
		}
		defer func() { _ = to.Close() }()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = io.Copy(conn, to)
		}()
		in := bufio.NewReader(conn)
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				break
			}
			r.Header.Del("Accept-Encoding")
			r.Header.Set("Accept-Encoding", "identity")
			if r.Write(to) != nil {
				break
			}
		}
		_ = to.Close()
		<-ended
	})
	trial := open(t, p.With("gzip", "true").With(kernels.Addr, addr))
	if err := trial.Do(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	c, ok := trial.(kernels.Checker)
	if !ok {
		t.Fatal("the trial is no Checker")
	}
	if err := c.Check(); err == nil || !strings.Contains(err.Error(), "answers without it") {
		t.Errorf("the check says %v", err)
	}
}

// TestGzipMemory makes compressed calls, with both sides in this process: writers and readers
// are kept, of which a new one takes more than the limit here.
func TestGzipMemory(t *testing.T) {
	trial := open(t, serve(t, "stream").With("gzip", "true"))
	const calls = 50
	var before, after runtime.MemStats
	for range 2 {
		runtime.ReadMemStats(&before)
		if err := trial.Do(t.Context(), calls); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
	}
	took := (after.TotalAlloc - before.TotalAlloc) / calls
	t.Logf("a call took %d bytes of memory on both sides", took)
	if took > 100<<10 {
		t.Errorf("a call took %d bytes of memory", took)
	}
}

// FuzzGzip sends any bytes as gzip: the service answers those that the library reads as a
// request, and refuses all else with a fault. Then a client gets the same bytes for an answer.
func FuzzGzip(f *testing.F) {
	m := envelope.Message{Shape: envelope.ShapeText, Text: envelope.String{Value: "x"}}
	request := string(newCodec(f, envelope.Stream).Append(nil, &m))
	for _, seed := range []string{"", zipped(""), zipped(request), zipped(request)[:60], zipped(request[:9]) + zipped(request[9:]), zipped("<a>") + "x"} {
		f.Add([]byte(seed))
	}
	addr := hostOf(serve(f, "stream"))
	next := make(chan []byte, 1)
	client := script(f, func(conn net.Conn) { answerOnce(conn, next) })
	f.Fuzz(func(t *testing.T, body []byte) {
		head := fmt.Sprintf("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nSOAPAction: \"\"\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n", len(body))
		want := "200"
		if got, err := answerTo(body); err != nil || got.Answer {
			want = "a fault"
		}
		said := talk(t, addr, head+string(body))
		if len(said) != 1 || (said[0] == "200") != (want == "200") || !slices.Contains([]string{"200", "400", "413 close", "500"}, said[0]) {
			t.Errorf("the service said %q, want %s", said, want)
		}
		trial, err := soap.Echo{}.Open(t.Context(), echoDefaults().With("gzip", "true").With(kernels.Addr, client))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = trial.Close() }()
		next <- []byte(encoded("gzip", string(body)))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		var failed *kernels.Failure
		if err := trial.Do(ctx, 1); err != nil && !errors.As(err, &failed) {
			t.Fatalf("got %v, want a failure of the call", err)
		}
	})
}

// answerTo reads a compressed request as the library does.
func answerTo(body []byte) (got envelope.Message, err error) {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return got, err
	}
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return got, err
	}
	codec, err := envelope.NewCodec(envelope.Stream, envelope.DefaultLimits())
	if err != nil {
		return got, err
	}
	return got, codec.Decode(text, &got)
}
