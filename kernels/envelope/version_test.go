package envelope_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels/envelope"
)

// of makes a codec of a model for a version.
func of(tb testing.TB, model envelope.Model, v envelope.Version) *envelope.Codec {
	tb.Helper()
	c := codec(tb, model)
	c.Use(v)
	return c
}

// with12 puts a header and a body into an envelope of SOAP 1.2.
func with12(header, body string) string {
	return open12 + header + "<s:Body>" + body + "</s:Body></s:Envelope>"
}

// block is a header with a block that has these attributes.
func block(attributes string) string {
	return "<s:Header><e:x " + attributes + "><e:y/>z</e:x></s:Header>"
}

func TestSOAP12(t *testing.T) {
	t.Parallel()
	none := `s:mustUnderstand="1" s:role="` + envelope.SOAP12 + `/role/none"`
	rows := []struct{ name, doc string }{
		{"plain", with12("", text)},
		{"other prefix", strings.NewReplacer("<s:", "<", "</s:", "</", "xmlns:s=", "xmlns=").Replace(with12("", text))},
		{"header", with12(block(""), text)},
		{"header that need not be understood", with12(block(`s:mustUnderstand="false" s:relay="true"`), text)},
		{"header for another", with12(block(`s:mustUnderstand="true" s:role="urn:other"`), text)},
		{"header for nobody", with12(block(none), text)},
		{"the attribute of SOAP 1.1", with12(block(`m:mustUnderstand="1" xmlns:m="`+soap11+`"`), text)},
	}
	for _, model := range models {
		for _, row := range rows {
			t.Run(string(model)+"/"+row.name, func(t *testing.T) {
				t.Parallel()
				var got envelope.Message
				if err := of(t, model, envelope.V12).Decode([]byte(row.doc), &got); err != nil {
					t.Fatal(err)
				}
				compare(t, textMessage("hello"), got)
			})
		}
	}
}

func TestSOAP12Refuses(t *testing.T) {
	t.Parallel()
	role := func(name string) string {
		return `s:mustUnderstand="true" s:role="` + envelope.SOAP12 + `/role/` + name + `"`
	}
	unknown := []envelope.Name{{Space: envelope.Namespace, Local: "x"}}
	rows := []struct {
		name, doc, code, reason string
		blocks                  []envelope.Name
	}{
		{"SOAP 1.1", body(text), envelope.CodeVersionMismatch, "allowed is \"" + envelope.SOAP12, nil},
		{"the draft of December 2001", strings.Replace(with12("", text), "2003/05", "2001/12", 1), envelope.CodeVersionMismatch, "2001/12", nil},
		{"mandatory header", with12(block(`s:mustUnderstand="1"`), text), envelope.CodeMustUnderstand, `"x"`, unknown},
		{"mandatory header, true", with12(block(`s:mustUnderstand=" true "`), text), envelope.CodeMustUnderstand, `"x"`, unknown},
		{"mandatory header for no role", with12(block(`s:mustUnderstand="1" s:role=""`), text), envelope.CodeMustUnderstand, `"x"`, unknown},
		{"mandatory header for the next", with12(block(role("next")), text), envelope.CodeMustUnderstand, `"x"`, unknown},
		{"mandatory header for the last", with12(block(role("ultimateReceiver")), text), envelope.CodeMustUnderstand, `"x"`, unknown},
		{
			"the second header", with12(strings.Replace(block(`s:mustUnderstand="1"`), "<e:x", "<e:w/><e:x", 1), text),
			envelope.CodeMustUnderstand, `"x"`, unknown,
		},
		{
			"two headers, and one that need not be understood between them",
			with12(strings.Replace(block(`s:mustUnderstand="1"`), "<e:x", `<y:w xmlns:y="urn:y" s:mustUnderstand="1"/><e:z/><e:x`, 1), text),
			envelope.CodeMustUnderstand, `the header blocks "w", "x" have`,
			[]envelope.Name{{Space: "urn:y", Local: "w"}, unknown[0]},
		},
		{"something after the body", strings.Replace(with12("", text), "</s:Envelope>", "<e:more/></s:Envelope>", 1), envelope.CodeClient, "in the envelope", nil},
		{"no body", open12 + "</s:Envelope>", envelope.CodeClient, "no body", nil},
		{"body of SOAP 1.1", open12 + "<m:Body xmlns:m='" + soap11 + "'/></s:Envelope>", envelope.CodeClient, "in the envelope", nil},
		{"declared encoding", `<?xml version="1.0" encoding="UTF-16"?>` + with12("", text), envelope.CodeClient, "only UTF-8", nil},
		{"document type", `<!DOCTYPE x>` + with12("", text), envelope.CodeClient, "document type", nil},
	}
	for _, model := range models {
		for _, row := range rows {
			t.Run(string(model)+"/"+row.name, func(t *testing.T) {
				t.Parallel()
				var got envelope.Message
				var refused *envelope.Error
				if err := of(t, model, envelope.V12).Decode([]byte(row.doc), &got); !errors.As(err, &refused) {
					t.Fatalf("got %v, want a refusal", err)
				}
				if refused.Code != row.code || !strings.Contains(refused.Reason, row.reason) || !slices.Equal(refused.Blocks, row.blocks) {
					t.Errorf("got %s, %q, blocks %v; want %s, %q, %v", refused.Code, refused.Reason, refused.Blocks, row.code, row.reason, row.blocks)
				}
			})
		}
	}
}

// TestFaultBytes pins the faults of both versions down to the byte, in both models.
func TestFaultBytes(t *testing.T) {
	t.Parallel()
	full := envelope.Fault{Code: "Client.Late.Very", String: "a<b", Actor: "urn:me", Detail: "d"}
	unknown := envelope.Fault{Code: envelope.CodeMustUnderstand, String: "x", Blocks: []envelope.Name{{Space: "urn:a&\"b", Local: "sec"}}}
	upgrade := `<soap:Header><u:Upgrade xmlns:u="http://www.w3.org/2003/05/soap-envelope"><u:SupportedEnvelope qname="u:Envelope"/>` +
		`<u:SupportedEnvelope xmlns:v="http://schemas.xmlsoap.org/soap/envelope/" qname="v:Envelope"/></u:Upgrade></soap:Header>`
	reason := `<soap:Reason><soap:Text xml:lang="en">x</soap:Text></soap:Reason>`
	two := unknown
	two.Blocks = append(slices.Clone(two.Blocks), envelope.Name{Local: "bare"})
	rows := []struct {
		name    string
		version envelope.Version
		fault   envelope.Fault
		want    string
	}{
		{
			"full, 1.1", envelope.V11, full,
			`<soap:Body><soap:Fault><faultcode>soap:Client.Late.Very</faultcode><faultstring>a&lt;b</faultstring>` +
				`<faultactor>urn:me</faultactor><detail><b:text>d</b:text></detail></soap:Fault></soap:Body>`,
		},
		{
			"full, 1.2", envelope.V12, full,
			`<soap:Body><soap:Fault><soap:Code><soap:Value>soap:Sender</soap:Value><soap:Subcode><soap:Value>b:Late</soap:Value>` +
				`<soap:Subcode><soap:Value>b:Very</soap:Value></soap:Subcode></soap:Subcode></soap:Code>` +
				`<soap:Reason><soap:Text xml:lang="en">a&lt;b</soap:Text></soap:Reason><soap:Node>urn:me</soap:Node>` +
				`<soap:Detail><b:text>d</b:text></soap:Detail></soap:Fault></soap:Body>`,
		},
		{
			"the service's, 1.2", envelope.V12,
			envelope.Fault{Code: envelope.CodeServer, String: "x"},
			`<soap:Body><soap:Fault><soap:Code><soap:Value>soap:Receiver</soap:Value></soap:Code>` + reason + `</soap:Fault></soap:Body>`,
		},
		{
			"a code of another's making, 1.2", envelope.V12,
			envelope.Fault{Code: "HTTP", String: "x"},
			`<soap:Body><soap:Fault><soap:Code><soap:Value>soap:Receiver</soap:Value><soap:Subcode><soap:Value>b:HTTP</soap:Value></soap:Subcode></soap:Code>` +
				reason + `</soap:Fault></soap:Body>`,
		},
		{
			"version, 1.1", envelope.V11,
			envelope.Fault{Code: envelope.CodeVersionMismatch, String: "x"},
			upgrade + `<soap:Body><soap:Fault><faultcode>soap:VersionMismatch</faultcode><faultstring>x</faultstring></soap:Fault></soap:Body>`,
		},
		{
			"version, 1.2", envelope.V12,
			envelope.Fault{Code: envelope.CodeVersionMismatch, String: "x"},
			upgrade + `<soap:Body><soap:Fault><soap:Code><soap:Value>soap:VersionMismatch</soap:Value></soap:Code>` + reason + `</soap:Fault></soap:Body>`,
		},
		{
			"not understood, 1.1", envelope.V11, unknown,
			`<soap:Body><soap:Fault><faultcode>soap:MustUnderstand</faultcode><faultstring>x</faultstring></soap:Fault></soap:Body>`,
		},
		{
			"two not understood, 1.2", envelope.V12, two,
			`<soap:Header><u:NotUnderstood xmlns:u="http://www.w3.org/2003/05/soap-envelope" xmlns:n="urn:a&amp;&quot;b" qname="n:sec"/>` +
				`<u:NotUnderstood xmlns:u="http://www.w3.org/2003/05/soap-envelope" qname="bare"/></soap:Header>` +
				`<soap:Body><soap:Fault><soap:Code><soap:Value>soap:MustUnderstand</soap:Value></soap:Code>` + reason + `</soap:Fault></soap:Body>`,
		},
		{
			"not understood, 1.2", envelope.V12, unknown,
			`<soap:Header><u:NotUnderstood xmlns:u="http://www.w3.org/2003/05/soap-envelope" xmlns:n="urn:a&amp;&quot;b" qname="n:sec"/></soap:Header>` +
				`<soap:Body><soap:Fault><soap:Code><soap:Value>soap:MustUnderstand</soap:Value></soap:Code>` + reason + `</soap:Fault></soap:Body>`,
		},
	}
	for _, model := range models {
		for _, row := range rows {
			t.Run(string(model)+"/"+row.name, func(t *testing.T) {
				t.Parallel()
				doc := string(of(t, model, row.version).AppendFault(nil, &row.fault))
				_, doc, _ = strings.Cut(doc, `xmlns:b="urn:benchd:echo">`)
				if diff := cmp.Diff(row.want+"</soap:Envelope>", doc); diff != "" {
					t.Errorf("the fault differs (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestFault12OfOthers reads faults of SOAP 1.2 as other stacks write them.
func TestFault12OfOthers(t *testing.T) {
	t.Parallel()
	code := "<s:Code><s:Value>s:Sender</s:Value></s:Code>"
	reason := "<s:Reason><s:Text xml:lang='en'>x</s:Text></s:Reason>"
	rows := []struct {
		name, content string
		want          *envelope.Fault // nil: it is none
	}{
		{"short", code + reason, &envelope.Fault{Code: "Client", String: "x"}},
		{
			"subcodes", "<s:Code> <s:Value> s:Receiver\n</s:Value><s:Subcode><s:Value xmlns:m='urn:m'>m:A</s:Value><s:Subcode><s:Value>B</s:Value></s:Subcode></s:Subcode></s:Code>" + reason,
			&envelope.Fault{Code: "Server.A.B", String: "x"},
		},
		{
			"two languages", code + "<s:Reason><s:Text xml:lang='en'>x</s:Text><s:Text xml:lang='cs'>y</s:Text></s:Reason>",
			&envelope.Fault{Code: "Client", String: "x"},
		},
		{
			"node, role and detail", code + reason + "<s:Node>urn:n</s:Node><s:Role>urn:r</s:Role><s:Detail><e:a>one</e:a><e:b> two</e:b></s:Detail>",
			&envelope.Fault{Code: "Client", String: "x", Actor: "urn:n", Detail: "one two"},
		},
		{"more than is known", code + "<e:z><y/></e:z>" + reason + "<w>1</w>", &envelope.Fault{Code: "Client", String: "x"}},
		{"no code", reason, nil},
		{"no value", "<s:Code/>" + reason, nil},
		{
			"a nil subcode", "<s:Code><s:Value>s:Sender</s:Value><s:Subcode xmlns:xsi='" + envelope.Instance + "' xsi:nil='true'/></s:Code>" + reason,
			&envelope.Fault{Code: "Client", String: "x"},
		},
		{"subcode without a value", "<s:Code><s:Value>s:Sender</s:Value><s:Subcode/></s:Code>" + reason, nil},
		{"no reason", code, nil},
		{"reason without a text", code + "<s:Reason/>", nil},
		{"text in the reason", code + "<s:Reason>x</s:Reason>", nil},
		{"parts of SOAP 1.1", "<faultcode>s:Client</faultcode><faultstring>x</faultstring>", nil},
	}
	for _, model := range models {
		for _, row := range rows {
			t.Run(string(model)+"/"+row.name, func(t *testing.T) {
				t.Parallel()
				sameFault(t, of(t, model, envelope.V12), with12("", "<s:Fault>"+row.content+"</s:Fault>"), row.want)
			})
		}
	}
}

// TestUse changes the version of one codec back and forth.
func TestUse(t *testing.T) {
	t.Parallel()
	for _, model := range models {
		c := codec(t, model)
		for _, v := range []envelope.Version{envelope.V12, envelope.V11, envelope.V12, "2.0", envelope.V11} {
			c.Use(v)
			sent := textMessage("hello")
			doc := c.Append(nil, &sent)
			var got envelope.Message
			if err := c.Decode(doc, &got); err != nil {
				t.Fatalf("%s, %s: %v", model, v, err)
			}
			if is12 := strings.Contains(string(doc), envelope.SOAP12); is12 != (v == envelope.V12) {
				t.Errorf("%s: the envelope of version %s is\n%s", model, v, doc)
			}
		}
	}
}
