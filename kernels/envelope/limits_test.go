package envelope_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"benchd/kernels/envelope"
)

// TestLimits sends what costs a careless reader memory or time.
func TestLimits(t *testing.T) {
	t.Parallel()
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	header := func(blocks string) string { return open + "<s:Header>" + blocks }
	rows := []struct{ name, doc, want string }{
		{"100,000 elements deep", header(strings.Repeat("<e:a>", 100_000) + strings.Repeat("</e:a>", 100_000)), "deep"},
		{"10,000 attributes", body("<a" + many(10_000, " x%d=''") + "/>"), "attributes"},
		{"10,000 namespaces", body("<a" + many(10_000, " xmlns:x%d='urn:x'") + "/>"), "attributes"},
		{"namespaces at every depth", header(many(50, "<e:a xmlns:a%[1]d='a' xmlns:b%[1]d='b' xmlns:c%[1]d='c' xmlns:d%[1]d='d'>")), "namespaces"},
		{"9 MiB", in(strings.Repeat("x", 9<<20)), "bytes"},
	}
	for _, model := range models {
		for _, row := range rows {
			t.Run(string(model)+"/"+row.name, func(t *testing.T) {
				t.Parallel()
				var m envelope.Message
				var refused *envelope.Error
				err := codec(t, model).Decode([]byte(row.doc), &m)
				if !errors.As(err, &refused) || !strings.Contains(refused.Reason, row.want) {
					t.Errorf("got %v, want a refusal with %q", err, row.want)
				}
			})
		}
	}
}

// TestUnderTheLimits sends much that is allowed.
func TestUnderTheLimits(t *testing.T) {
	t.Parallel()
	var blocks strings.Builder
	for i := range 20_000 { // namespaces of elements that are closed again do not count
		fmt.Fprintf(&blocks, "<x:a xmlns:x='urn:%d'/>", i)
	}
	doc := open + "<s:Header>" + blocks.String() + "</s:Header><s:Body>" + text + "</s:Body></s:Envelope>"
	for _, model := range models {
		var m envelope.Message
		if err := codec(t, model).Decode([]byte(doc), &m); err != nil {
			t.Errorf("%s: %v", model, err)
		}
	}
}

// TestDepthOfBeans draws the limit just above and just below where the fields of a bean are.
func TestDepthOfBeans(t *testing.T) {
	t.Parallel()
	m := envelope.Beans(1)
	doc := codec(t, envelope.Stream).Append(nil, &m)
	for _, model := range models {
		for depth, want := range map[int]string{5: "nested more than 5 deep", 6: ""} {
			limits := envelope.DefaultLimits()
			limits.Depth = depth
			c, err := envelope.NewCodec(model, limits)
			if err != nil {
				t.Fatal(err)
			}
			var got envelope.Message
			err = c.Decode(doc, &got)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s, depth %d: got %v, want %q", model, depth, err, want)
			}
		}
	}
}

// TestAllocations holds the stream model to what the package promises, for every payload.
func TestAllocations(t *testing.T) {
	for name, sent := range documents(t) {
		c := codec(t, envelope.Stream)
		doc := c.Append(nil, &sent)
		var got envelope.Message
		decode := func() {
			if err := c.Decode(doc, &got); err != nil {
				t.Fatal(err)
			}
		}
		decode()
		if n := testing.AllocsPerRun(20, decode); n > 1 {
			t.Errorf("%s: to read a message takes %v allocations, want 1", name, n)
		}
		out := make([]byte, 0, 2*len(doc))
		if n := testing.AllocsPerRun(20, func() { out = c.Append(out[:0], &sent) }); n > 0 {
			t.Errorf("%s: to write a message takes %v allocations, want 0", name, n)
		}
	}
}

// TestLetsGo reads large messages, each with one element less, into one message, and then a
// small one: none of the large ones' memory is kept by strings in what is no more of account.
func TestLetsGo(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	rows := map[string]struct{ begin, one, end string }{
		"items": {"<e:echoBeans><e:in>", "<e:items>x</e:items>", "<e:items>" + large + "</e:items></e:in></e:echoBeans>"},
		"records": {
			"<e:echoRecords><e:in>", "<e:record><e:id>1</e:id><e:city>x</e:city><e:balance>1</e:balance><e:active>1</e:active></e:record>",
			"<e:record>" + strings.Replace(full, ">C<", ">"+large+"<", 1) + "</e:record></e:in></e:echoRecords>",
		},
		"document": {
			"<e:echoDocument><e:in>" + sent + "<e:load>", "<e:parcel><e:weight>1</e:weight><e:item><e:article>x</e:article><e:pieces>1</e:pieces></e:item></e:parcel>",
			"<e:parcel><e:mark>" + large + "</e:mark><e:weight>1</e:weight></e:parcel></e:load></e:in></e:echoDocument>",
		},
	}
	for _, model := range models {
		for name, row := range rows {
			c := codec(t, model)
			var m envelope.Message
			before := inUse()
			for n := 40; n >= 0; n-- {
				if err := c.Decode([]byte(body(row.begin+strings.Repeat(row.one, n)+row.end)), &m); err != nil {
					t.Fatalf("%s, %s: %v", model, name, err)
				}
			}
			if now := inUse(); now > before+8<<20 {
				t.Errorf("%s, %s: %d bytes are kept of messages long gone", model, name, now-before)
			}
			runtime.KeepAlive(&m)
		}
	}
}

// inUse returns the bytes of the heap that are in use.
func inUse() uint64 {
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return now.HeapAlloc
}

// TestOwnStrings makes sure that a message does not change with the buffer it was read from.
func TestOwnStrings(t *testing.T) {
	t.Parallel()
	for _, model := range models {
		c := codec(t, model)
		sent, other := envelope.Beans(1), envelope.Beans(2)
		doc := c.Append(nil, &sent)
		var got, second envelope.Message
		if err := c.Decode(doc, &got); err != nil {
			t.Fatal(err)
		}
		doc = c.Append(doc[:0], &other)
		if err := c.Decode(doc, &second); err != nil {
			t.Fatal(err)
		}
		clear(doc)
		if !got.Equal(&sent) || !second.Equal(&other) {
			t.Errorf("%s: a message changed with the buffer", model)
		}
	}
}
