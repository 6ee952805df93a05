package envelope_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/beevik/etree"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"benchd/kernels/envelope"
)

// domCodec makes a codec of the model DOM.
func domCodec(tb testing.TB) *envelope.Codec {
	tb.Helper()
	c, err := envelope.NewCodec(envelope.DOM, envelope.DefaultLimits())
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// TestTreesOneAfterAnother lets one codec read and write large and small messages and broken
// ones. None finds anything of another's tree in its own, and what was read stays as it was.
func TestTreesOneAfterAnother(t *testing.T) {
	t.Parallel()
	records, err := envelope.Records(1<<20, 3)
	if err != nil {
		t.Fatal(err)
	}
	document, err := envelope.Document(10<<10, 4)
	if err != nil {
		t.Fatal(err)
	}
	sent := []envelope.Message{envelope.Beans(1), records, textMessage("short"), document, envelope.Beans(2)}
	codec := domCodec(t)
	read := make([]envelope.Message, len(sent))
	for i := range sent {
		doc := codec.Append(nil, &sent[i])
		for end := 0; end < len(doc); end += max(1, len(doc)/7) {
			var broken envelope.Message
			if codec.Decode(doc[:end], &broken) == nil {
				t.Fatalf("%s, cut at %d bytes, was read", sent[i].Shape, end)
			}
		}
		if err := codec.Decode(doc, &read[i]); err != nil {
			t.Fatalf("read %s: %v", sent[i].Shape, err)
		}
		clear(doc) // the message has strings of its own
	}
	for i := range sent {
		compare(t, sent[i], read[i])
	}
}

// TestTreeAllocations holds the model to reading and writing beans with a few blocks of
// memory, whatever the number of nodes.
func TestTreeAllocations(t *testing.T) {
	codec, m := domCodec(t), envelope.Beans(1)
	doc := codec.Append(nil, &m)
	var got envelope.Message
	read := testing.AllocsPerRun(100, func() {
		if err := codec.Decode(doc, &got); err != nil {
			t.Fatal(err)
		}
	})
	room := make([]byte, 0, 2*len(doc))
	wrote := testing.AllocsPerRun(100, func() { room = codec.Append(room[:0], &m) })
	if read > 8 || wrote > 3 {
		t.Errorf("to read beans takes %.0f allocations and to write them %.0f, want at most 8 and 3", read, wrote)
	}
}

// TestTreesAreWrittenAsByEtree reads what the model wrote by etree, writes it by etree, and
// finds the same, but for how an element without content is written.
func TestTreesAreWrittenAsByEtree(t *testing.T) {
	t.Parallel()
	empty := regexp.MustCompile(`<([^ <>/]+)([^<>]*)/>`)
	rapid.Check(t, func(t *rapid.T) {
		m := anyMessage().Draw(t, "message")
		codec, err := envelope.NewCodec(envelope.DOM, envelope.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		ours := codec.Append(nil, &m)
		tree := etree.NewDocument()
		if err := tree.ReadFromBytes(ours); err != nil {
			t.Fatal(err)
		}
		tree.WriteSettings = etree.WriteSettings{CanonicalText: true, CanonicalAttrVal: true, CanonicalEndTags: true}
		var theirs strings.Builder
		if _, err := tree.WriteTo(&theirs); err != nil {
			t.Fatal(err)
		}
		if want := empty.ReplaceAllString(string(ours), "<$1$2></$1>"); theirs.String() != want {
			t.Errorf("etree writes %s, want %s", theirs.String(), want)
		}
	})
}

// TestLend reads many messages by one codec that lends their strings. Each is right until the
// next is read, and a fault stays what it was.
func TestLend(t *testing.T) {
	t.Parallel()
	for _, model := range []envelope.Model{envelope.Stream, envelope.DOM} {
		for _, version := range []envelope.Version{envelope.V11, envelope.V12} {
			t.Run(string(model)+" "+string(version), func(t *testing.T) {
				t.Parallel()
				codec, err := envelope.NewCodec(model, envelope.DefaultLimits())
				if err != nil {
					t.Fatal(err)
				}
				codec.Use(version)
				codec.Lend()
				said := envelope.Fault{Code: envelope.CodeServer, String: "out of <paper>", Actor: "urn:tray", Detail: "tray 2"}
				var fault *envelope.Fault
				if err := codec.Decode(codec.AppendFault(nil, &said), new(envelope.Message)); !errors.As(err, &fault) {
					t.Fatalf("read a fault: %v", err)
				}
				large, err := envelope.Records(1<<20, 1)
				if err != nil {
					t.Fatal(err)
				}
				var got envelope.Message
				for _, sent := range []envelope.Message{envelope.Beans(1), textMessage(strings.Repeat("x&<", 100)), large, envelope.Beans(2), textMessage("")} {
					if err := codec.Decode(codec.Append(nil, &sent), &got); err != nil {
						t.Fatal(err)
					}
					compare(t, sent, got)
				}
				if diff := cmp.Diff(&said, fault); diff != "" {
					t.Errorf("the fault is now another (-said +read):\n%s", diff)
				}
			})
		}
	}
}

// TestLentAllocations: with lent strings a stream is read without an allocation.
func TestLentAllocations(t *testing.T) {
	codec, err := envelope.NewCodec(envelope.Stream, envelope.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	codec.Lend()
	m, got := envelope.Beans(1), envelope.Message{}
	doc := codec.Append(nil, &m)
	if n := testing.AllocsPerRun(100, func() {
		if err := codec.Decode(doc, &got); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("to read beans takes %.1f allocations, want none", n)
	}
}
