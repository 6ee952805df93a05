package envelope_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"benchd/kernels/envelope"
)

func TestPayload(t *testing.T) {
	t.Parallel()
	for _, size := range []int{400, 1 << 10, 10 << 10, 1 << 20} {
		doc, err := envelope.Payload(size, 7)
		if err != nil {
			t.Fatal(err)
		}
		if len(doc) != size {
			t.Errorf("the envelope has %d bytes, want %d", len(doc), size)
		}
		again, err := envelope.Payload(size, 7)
		if err != nil || !bytes.Equal(doc, again) {
			t.Errorf("the same seed gave another envelope of %d bytes: %v", size, err)
		}
		other, err := envelope.Payload(size, 8)
		if err != nil || bytes.Equal(doc, other) {
			t.Errorf("another seed gave the same envelope of %d bytes: %v", size, err)
		}
		for _, model := range models {
			var m envelope.Message
			if err := codec(t, model).Decode(doc, &m); err != nil || m.Shape != envelope.ShapeText {
				t.Errorf("%s: decode: %v, shape %q", model, err, m.Shape)
			}
		}
	}
}

// TestPayloadIsPinned fails if the beans of a seed change: results of different builds could
// no longer be compared.
func TestPayloadIsPinned(t *testing.T) {
	t.Parallel()
	m := envelope.Beans(1)
	doc := codec(t, envelope.Stream).Append(nil, &m)
	if got := fmt.Sprintf("%x", sha256.Sum256(doc)); got != beansDigest {
		t.Errorf("the digest of the envelope is %s, want %s:\n%s", got, beansDigest, doc)
	}
}

const beansDigest = "d0cae5ec249b21792e1a4856f102926f35696521b95f352ba9859207e38dedd6"

// TestSizes checks that the envelope of each payload is as long as it is asked for, and
// nearly so in the other version, and that the seed and nothing else decides what is in it.
func TestSizes(t *testing.T) {
	t.Parallel()
	makers := map[string]func(int, uint64) (envelope.Message, error){"beans": envelope.SizedBeans, "text": envelope.Text, "records": envelope.Records, "document": envelope.Document}
	for name, maker := range makers {
		for _, size := range []int{1 << 10, 2253, 10 << 10, 1 << 20} {
			t.Run(fmt.Sprint(name, " ", size), func(t *testing.T) {
				t.Parallel()
				for seed := range uint64(5) {
					sized(t, maker, size, seed)
				}
			})
		}
		for _, size := range []int{-1, 0, 300} {
			if _, err := maker(size, 1); err == nil && name != "text" {
				t.Errorf("%s of %d bytes were made", name, size)
			}
		}
	}
}

// sized makes one payload and looks at it.
func sized(t *testing.T, maker func(int, uint64) (envelope.Message, error), size int, seed uint64) {
	t.Helper()
	var docs []string
	for _, s := range []uint64{seed, seed, seed + 100} {
		m, err := maker(size, s)
		if err != nil {
			t.Fatal(err)
		}
		doc := of(t, envelope.Stream, envelope.V11).Append(nil, &m)
		newer := of(t, envelope.Stream, envelope.V12).Append(nil, &m)
		if len(doc) != size || len(newer) != size-2 {
			t.Fatalf("seed %d: the envelopes have %d and %d bytes, want %d and two less", s, len(doc), len(newer), size)
		}
		docs = append(docs, string(doc))
		for _, model := range models {
			var got envelope.Message
			if err := of(t, model, envelope.V11).Decode(doc, &got); err != nil || !got.Equal(&m) {
				t.Fatalf("seed %d, %s: %v, or it changed", s, model, err)
			}
		}
	}
	if docs[0] != docs[1] || docs[0] == docs[2] {
		t.Errorf("seed %d: the same seed gives another envelope, or another the same", seed)
	}
}

// TestManySmallElements holds the records to what they are for.
func TestManySmallElements(t *testing.T) {
	t.Parallel()
	m, err := envelope.Records(1<<20, 1)
	if err != nil {
		t.Fatal(err)
	}
	doc := codec(t, envelope.Stream).Append(nil, &m)
	if n := bytes.Count(doc, []byte("</b:")); n < 40_000 {
		t.Errorf("1 MB of records has %d elements, want at least 40,000", n)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(doc)); got != recordsDigest {
		t.Errorf("the digest of the records is %s, want %s", got, recordsDigest)
	}
}

const recordsDigest = "a18d5a497500214b2335424a217380e0bdcfab56740ad9e6eefcdf5d35887842"

// TestDocument holds the document to what it is for: elements six deep in the body's, many of
// each kind, and no text beside them.
func TestDocument(t *testing.T) {
	t.Parallel()
	for size, want := range documentDigests() {
		m, err := envelope.Document(size, 1)
		if err != nil {
			t.Fatal(err)
		}
		doc := codec(t, envelope.Stream).Append(nil, &m)
		if got := fmt.Sprintf("%x", sha256.Sum256(doc)); got != want {
			t.Errorf("the digest of the document of %d bytes is %s, want %s", size, got, want)
		}
		s := envelope.NewScanner(envelope.DefaultLimits())
		if err := s.Reset(doc); err != nil {
			t.Fatal(err)
		}
		deepest, elements, after := 0, 0, envelope.Kind(0)
		for kind := envelope.Kind(0); kind != envelope.EOF; after = kind {
			if kind, err = s.Next(); err != nil {
				t.Fatal(err)
			}
			switch {
			case kind == envelope.StartTag:
				elements++
				deepest = max(deepest, s.Depth())
				if after == envelope.Chars {
					t.Errorf("text and the element %s stand side by side", s.Local())
				}
			case kind == envelope.Chars && after == envelope.EndTag:
				t.Errorf("an element and the text %q stand side by side", s.AppendText(nil))
			}
		}
		if deepest != envelopeDepth+6 || elements < size/45 {
			t.Errorf("%d bytes have %d elements, %d deep", size, elements, deepest)
		}
	}
}

// envelopeDepth is how deep the operation's element is: Envelope, Body, echoDocument.
const envelopeDepth = 3

// documentDigests are those of the envelopes of some sizes.
func documentDigests() map[int]string {
	return map[int]string{
		1 << 10:  "8dfd5df078ce04352e891d1dc4fb2991fbfedf162ac664b5b82fd0ad28d14c06",
		10 << 10: "8be5e11463cbb6564949849f1a206077b5ec72353c0de8311eb0b4bed0dc33b2",
		1 << 20:  "79d4cde68dcf71458ee655bb37c0cbd7ddea0c1da25c9eabe6fce75c630993c7",
	}
}

func TestPayloadTooSmall(t *testing.T) {
	t.Parallel()
	smallest, err := envelope.Wrap("", 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	least := len(bytes.ReplaceAll(smallest, []byte("  "), nil))
	for _, size := range []int{-1, 0, 100} {
		if _, err := envelope.Payload(size, 1); err == nil {
			t.Errorf("an envelope of %d bytes was made", size)
		}
	}
	for size := least - 4; size < least+4; size++ {
		doc, err := envelope.Payload(size, 1)
		if err == nil && len(doc) != size {
			t.Errorf("the envelope has %d bytes, want %d", len(doc), size)
		}
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, content string
		size          int
		ok            bool
	}{
		{"empty", "", 400, true},
		{"short", "x", 1 << 10, true},
		{"escaped", "<&>", 1 << 10, true},
		{"too long", strings.Repeat("x", 1<<10), 1 << 10, false},
		{"too long once escaped", strings.Repeat("&", 200), 500, false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			doc, err := envelope.Wrap(row.content, row.size)
			if (err == nil) != row.ok {
				t.Fatalf("wrap: %v", err)
			}
			if !row.ok {
				return
			}
			var m envelope.Message
			if err := codec(t, envelope.Stream).Decode(doc, &m); err != nil {
				t.Fatal(err)
			}
			if len(doc) != row.size || strings.TrimRight(m.Text.Value, " ") != row.content {
				t.Errorf("%d bytes with %q, want %d bytes with %q", len(doc), m.Text.Value, row.size, row.content)
			}
		})
	}
}

func TestWrapTight(t *testing.T) {
	t.Parallel()
	for size := 200; size < 400; size++ {
		doc, err := envelope.Wrap("abc", size)
		if err == nil && len(doc) != size {
			t.Fatalf("the envelope has %d bytes, want %d", len(doc), size)
		}
		if err == nil && !bytes.Contains(doc, []byte("<b:in>abc</b:in>")) {
			t.Fatalf("the smallest envelope has more than its content: %s", doc)
		}
		if err == nil {
			return
		}
	}
	t.Fatal("no envelope was made")
}

func TestCheck(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, sent, got, want string }{
		{"equal", "abc", "abc", ""},
		{"changed", "abc", "aXc", "first at byte 1"},
		{"cut", "abc", "ab", "first at byte 2"},
		{"longer", "abc", "abcd", "first at byte 3"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			err := envelope.Check([]byte(row.sent), []byte(row.got))
			if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}

func TestNewCodec(t *testing.T) {
	t.Parallel()
	if _, err := envelope.NewCodec("sax", envelope.DefaultLimits()); err == nil {
		t.Error("a codec of an unknown model was made")
	}
}
