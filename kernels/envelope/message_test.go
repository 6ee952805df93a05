package envelope_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels/envelope"
)

// models are both message models.
var models = []envelope.Model{envelope.Stream, envelope.DOM}

// versions are both versions of SOAP.
var versions = []envelope.Version{envelope.V11, envelope.V12}

// codec makes a codec with the default limits.
func codec(tb testing.TB, m envelope.Model) *envelope.Codec {
	tb.Helper()
	c, err := envelope.NewCodec(m, envelope.DefaultLimits())
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestBeans(t *testing.T) {
	t.Parallel()
	for _, model := range models {
		for seed := range uint64(50) {
			c := codec(t, model)
			sent := envelope.Beans(seed)
			doc := c.Append(nil, &sent)
			if len(doc) != envelope.BeansSize {
				t.Fatalf("%s: the envelope of seed %d has %d bytes, want %d", model, seed, len(doc), envelope.BeansSize)
			}
			var got envelope.Message
			if err := c.Decode(doc, &got); err != nil {
				t.Fatalf("%s: decode: %v\n%s", model, err, doc)
			}
			if diff := cmp.Diff(sent, got); diff != "" {
				t.Fatalf("%s: the beans changed (-sent +got):\n%s", model, diff)
			}
		}
	}
}
