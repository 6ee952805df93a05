package envelope_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels/envelope"
)

func TestFaultCodes(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, doc, code string }{
		{"SOAP 1.2", `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"/>`, envelope.CodeVersionMismatch},
		{"no namespace", `<Envelope/>`, envelope.CodeVersionMismatch},
		{
			"mandatory header", open + `<s:Header><e:x s:mustUnderstand="1"/></s:Header><s:Body>` + text + "</s:Body></s:Envelope>",
			envelope.CodeMustUnderstand,
		},
		{
			"mandatory header for the next", open + `<s:Header><e:x s:mustUnderstand="1" s:actor="http://schemas.xmlsoap.org/soap/actor/next"/></s:Header><s:Body>` +
				text + "</s:Body></s:Envelope>",
			envelope.CodeMustUnderstand,
		},
		{"malformed", "<", envelope.CodeClient},
	}
	for _, model := range models {
		for _, row := range rows {
			t.Run(string(model)+"/"+row.name, func(t *testing.T) {
				t.Parallel()
				var got envelope.Message
				var refused *envelope.Error
				err := codec(t, model).Decode([]byte(row.doc), &got)
				if !errors.As(err, &refused) || refused.Fault().Code != row.code {
					t.Errorf("got %v, want a fault with code %s", err, row.code)
				}
			})
		}
	}
}

func TestFault(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		sent envelope.Fault
	}{
		{"short", envelope.Fault{Code: envelope.CodeServer, String: "It is raining."}},
		{"full", envelope.Fault{Code: "Client.Authentication", String: "<no> & \"no\"", Actor: "urn:me", Detail: "a\nb"}},
		{"empty string", envelope.Fault{Code: envelope.CodeClient}},
	}
	for _, row := range rows {
		for _, v := range versions {
			t.Run(row.name+"/"+string(v), func(t *testing.T) {
				t.Parallel()
				carried(t, row.sent, v)
			})
		}
	}
}

// carried writes a fault by both models and reads it by both.
func carried(t *testing.T, sent envelope.Fault, v envelope.Version) {
	t.Helper()
	doc := of(t, envelope.Stream, v).AppendFault(nil, &sent)
	if diff := cmp.Diff(string(doc), string(of(t, envelope.DOM, v).AppendFault(nil, &sent))); diff != "" {
		t.Errorf("the models write different faults (-stream +dom):\n%s", diff)
	}
	for _, model := range models {
		var m envelope.Message
		var got *envelope.Fault
		if err := of(t, model, v).Decode(doc, &m); !errors.As(err, &got) {
			t.Fatalf("%s: decode %s: got %v, want a fault", model, doc, err)
		}
		if diff := cmp.Diff(sent, *got); diff != "" {
			t.Errorf("%s: the fault changed (-sent +got):\n%s", model, diff)
		}
	}
}

// TestFaultOfOthers reads faults as other stacks write them.
func TestFaultOfOthers(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, content string
		want          *envelope.Fault // nil: it is none
	}{
		{"code without a prefix", "<faultcode>Client</faultcode><faultstring>x</faultstring>", &envelope.Fault{Code: "Client", String: "x"}},
		{
			"code of another's making", `<faultcode xmlns:a="http://xml.apache.org/axis/"> a:HTTP </faultcode><faultstring>(500)</faultstring>`,
			&envelope.Fault{Code: "HTTP", String: "(500)"},
		},
		{
			"detail with elements", "<faultstring xml:lang='en'>x</faultstring><faultcode>s:Server</faultcode><detail><e:a>one</e:a><e:b><![CDATA[ two]]></e:b></detail>",
			&envelope.Fault{Code: "Server", String: "x", Detail: "one two"},
		},
		{
			"more than is known", "<faultcode>s:Server</faultcode><e:x><y/></e:x><faultstring>x</faultstring><z>1<y/></z>",
			&envelope.Fault{Code: "Server", String: "x"},
		},
		{"no code", "<faultstring>x</faultstring>", nil},
		{"no string", "<faultcode>s:Client</faultcode>", nil},
		{"parts of the wrong namespace", "<s:faultcode>s:Client</s:faultcode><s:faultstring>x</s:faultstring>", nil},
	}
	for _, model := range models {
		for _, row := range rows {
			t.Run(string(model)+"/"+row.name, func(t *testing.T) {
				t.Parallel()
				sameFault(t, codec(t, model), body("<s:Fault>"+row.content+"</s:Fault>"), row.want)
			})
		}
	}
}

// sameFault reads a document and compares the fault that comes of it; nil for none.
func sameFault(t *testing.T, c *envelope.Codec, doc string, want *envelope.Fault) {
	t.Helper()
	var m envelope.Message
	var got *envelope.Fault
	err := c.Decode([]byte(doc), &m)
	if isFault := errors.As(err, &got); isFault != (want != nil) {
		t.Fatalf("got %v, want a fault: %v", err, want != nil)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the fault differs (-want +got):\n%s", diff)
	}
}

// TestFaultBrokenBehind makes sure that a fault does not hide what is wrong behind it.
func TestFaultBrokenBehind(t *testing.T) {
	t.Parallel()
	for _, model := range models {
		var m envelope.Message
		var refused *envelope.Error
		doc := body("<s:Fault><faultcode>s:Client</faultcode><faultstring>x</faultstring></s:Fault>") + "<"
		if err := codec(t, model).Decode([]byte(doc), &m); !errors.As(err, &refused) {
			t.Errorf("%s: got %v, want a refusal", model, err)
		}
	}
}
