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
