package envelope_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchd/kernels/envelope"
)

const (
	soap11 = "http://schemas.xmlsoap.org/soap/envelope/"
	open12 = `<s:Envelope xmlns:s="` + envelope.SOAP12 + `" xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:e="urn:benchd:echo">`
	open   = `<s:Envelope xmlns:s="` + soap11 + `" xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:e="urn:benchd:echo">`
	text   = `<e:echoText><e:in>hello</e:in></e:echoText>`
	sent   = `<e:sent>2026-11-30</e:sent>`
	full   = `<e:id>7</e:id><e:firstName>F</e:firstName><e:lastName>L</e:lastName><e:city>C</e:city><e:balance>1.5</e:balance><e:active>true</e:active>`
)

// body puts content into an envelope.
func body(content string) string {
	return open + "<s:Body>" + content + "</s:Body></s:Envelope>"
}

// in puts the content of a text field into an envelope.
func in(content string) string {
	return body("<e:echoText><e:in>" + content + "</e:in></e:echoText>")
}

// shipment puts the content of a shipment into an envelope.
func shipment(content string) string {
	return body("<e:echoDocument><e:in>" + content + "</e:in></e:echoDocument>")
}

// bean puts the content of the first bean into an envelope.
func bean(content string) string {
	return body("<e:echoBeans><e:in><e:a>" + content + "</e:a></e:in></e:echoBeans>")
}

func str(s string) envelope.String { return envelope.String{Value: s} }

func textMessage(s string) envelope.Message {
	return envelope.Message{Shape: envelope.ShapeText, Text: str(s)}
}

func shipmentMessage(s envelope.Shipment) envelope.Message {
	return envelope.Message{Shape: envelope.ShapeDocument, Shipment: s}
}

// parcel puts content behind the weight of a parcel.
func parcel(content string) string {
	return shipment(sent + "<e:load><e:parcel><e:weight>1</e:weight>" + content + "</e:parcel></e:load>")
}

// beanMessage is a message whose first bean is b and whose others are absent.
func beanMessage(b envelope.Bean, items ...envelope.String) envelope.Message {
	no := envelope.Bean{Nil: true}
	return envelope.Message{Shape: envelope.ShapeBeans, Bundle: envelope.Bundle{A: b, B: no, C: no, D: no, Items: items}}
}

// compare compares messages but not what does not count.
func compare(t *testing.T, want, got envelope.Message) {
	t.Helper()
	// A reader uses a message again and leaves what does not count as it was.
	if want.Shape != envelope.ShapeBeans {
		got.Bundle = envelope.Bundle{}
	}
	if want.Shape != envelope.ShapeText {
		got.Text = envelope.String{}
	}
	if want.Shape != envelope.ShapeRecords {
		got.Records = nil
	}
	if want.Shape != envelope.ShapeDocument {
		got.Shipment = envelope.Shipment{}
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("the message differs (-want +got):\n%s", diff)
	}
}

func TestDecode(t *testing.T) {
	whole := envelope.Bean{ID: 7, FirstName: str("F"), LastName: str("L"), City: str("C"), Balance: 1.5, Active: true}
	null := envelope.String{Nil: true}
	day := envelope.Date{Year: 2026, Month: 11, Day: 30}
	little := envelope.Shipment{Number: null, Sent: day, From: envelope.Party{Nil: true}, To: envelope.Party{Nil: true}}
	answer := textMessage("hello")
	answer.Answer = true
	rows := []struct {
		name, doc string
		want      envelope.Message
	}{
		{"plain", body(text), textMessage("hello")},
		{"answer", body("<e:echoTextResponse><e:return>hello</e:return></e:echoTextResponse>"), answer},
		{"declaration", `<?xml version="1.0"?>` + body(text), textMessage("hello")},
		{"declaration in full", "<?xml  version = '1.0'\tencoding=\"utf-8\" standalone='yes' ?>\n" + body(text), textMessage("hello")},
		{"byte order mark", "\uFEFF<?xml version='1.0' encoding='UTF-8'?>" + body(text), textMessage("hello")},
		{"other prefixes", `<Envelope xmlns="` + soap11 + `"><Body><echoText xmlns="urn:benchd:echo"><in>hello</in></echoText></Body></Envelope>`, textMessage("hello")},
		{"prefixes swapped", `<e:Envelope xmlns:e="` + soap11 + `"><e:Body><s:echoText xmlns:s="urn:benchd:echo"><s:in>hello</s:in></s:echoText></e:Body></e:Envelope>`, textMessage("hello")},
		{"prefix declared anew", body(`<x:echoText xmlns:x="urn:benchd:echo"><x:in xmlns:s="urn:other">hello</x:in></x:echoText>`), textMessage("hello")},
		{"namespace with a reference", strings.Replace(body(text), "urn:benchd:echo", "urn:ben&#99;hd:echo", 1), textMessage("hello")},
		{"white space everywhere", strings.NewReplacer("hello<", "hello<", "<", "\r\n\t <").Replace(in("hello")) + "\n", textMessage("hello")},
		{"white space in tags", body("<e:echoText ><e:in\n>hello</e:in ></e:echoText\t>"), textMessage("hello")},
		{"comments", "<!-- - -->" + body("<!----><e:echoText><!--<a>&b;--><e:in>he<!-- x -->llo</e:in></e:echoText>") + "<!-- z -->", textMessage("hello")},
		{"entities", in("&lt;&amp;&gt;&apos;&quot;&#65;&#x42;&#x1F40E;"), textMessage(`<&>'"AB🐎`)},
		{"CDATA", in("a<![CDATA[<b>&amp;]]]]><![CDATA[>]]>c"), textMessage("a<b>&amp;]]>c")},
		{"line ends", in("a\r\nb\rc\nd&#13;e<![CDATA[\r\n]]>"), textMessage("a\nb\nc\nd\re\n")},
		{"white space kept", in("  a  "), textMessage("  a  ")},
		{"many bytes a letter", in("Žluťoučký 馬🐎\uFFFD"), textMessage("Žluťoučký 馬🐎\uFFFD")},
		{"brackets", in("]] > ]>"), textMessage("]] > ]>")},
		{"empty, two tags", in(""), textMessage("")},
		{"empty, one tag", body("<e:echoText><e:in/></e:echoText>"), textMessage("")},
		{"nil", body(`<e:echoText><e:in i:nil="true"/></e:echoText>`), envelope.Message{Shape: envelope.ShapeText, Text: null}},
		{"nil as a number", body(`<e:echoText><e:in i:nil=' 1 '></e:in></e:echoText>`), envelope.Message{Shape: envelope.ShapeText, Text: null}},
		{"not nil", body(`<e:echoText><e:in i:nil="false">x</e:in></e:echoText>`), textMessage("x")},
		{"nil of no namespace", body(`<e:echoText><e:in nil="true">x</e:in></e:echoText>`), textMessage("x")},
		{"header", open + `<s:Header><x xmlns="urn:x" s:mustUnderstand="0"><y/>z</x></s:Header><s:Body>` + text + "</s:Body></s:Envelope>", textMessage("hello")},
		{"header for another", open + `<s:Header><e:x s:mustUnderstand="1" s:actor="urn:other"/></s:Header><s:Body>` + text + "</s:Body></s:Envelope>", textMessage("hello")},
		{"after the body", open + `<s:Body>` + text + "</s:Body><e:more>x<e:y/></e:more></s:Envelope>", textMessage("hello")},
		{"bean", bean(full), beanMessage(whole)},
		{"bean in another order", bean("<e:active>1</e:active><e:balance> 15e-1\n</e:balance><e:city>C</e:city><e:lastName>L</e:lastName><e:firstName>F</e:firstName><e:id> +7 </e:id>"), beanMessage(whole)},
		{"bean with other prefixes", body(`<e:echoBeans><e:in><f:a xmlns:f="urn:benchd:echo" xmlns="urn:benchd:echo">` + strings.ReplaceAll(full, "e:city", "f:city") + `</f:a></e:in></e:echoBeans>`), beanMessage(whole)},
		{"bean without prefixes", body(`<e:echoBeans><e:in><e:a xmlns="urn:benchd:echo">` + strings.ReplaceAll(full, "e:", "") + `</e:a></e:in></e:echoBeans>`), beanMessage(whole)},
		{"bean with attributes and white space", bean(strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(full, "e:id>", "e:id >"), "<e:city>", "<e:city x='1'>"), "><e:", ">\n <e:")), beanMessage(whole)},
		{"nil bean", body(`<e:echoBeans><e:in><e:a i:nil="true"/></e:in></e:echoBeans>`), beanMessage(envelope.Bean{Nil: true})},
		{
			"strings absent and nil", bean(`<e:id>0</e:id><e:city i:nil="true"/><e:balance>-INF</e:balance><e:active>0</e:active>`),
			beanMessage(envelope.Bean{FirstName: null, LastName: null, City: null, Balance: math.Inf(-1)}),
		},
		{
			"records", body(`<e:echoRecords><e:in><e:record>` + full + `</e:record> <e:record i:nil="true"/><!-- x --></e:in></e:echoRecords>`),
			envelope.Message{Shape: envelope.ShapeRecords, Records: []envelope.Bean{whole, {Nil: true}}},
		},
		{"no records", body("<e:echoRecords><e:in/></e:echoRecords>"), envelope.Message{Shape: envelope.ShapeRecords}},
		{"empty bundle", body("<e:echoBeans><e:in/></e:echoBeans>"), beanMessage(envelope.Bean{Nil: true})},
		{
			"items", body(`<e:echoBeans><e:in><e:items>x</e:items><e:items/><e:items i:nil="true"/></e:in></e:echoBeans>`),
			beanMessage(envelope.Bean{Nil: true}, str("x"), str(""), null),
		},
		{
			"shipment", shipment(`<e:number>N</e:number>` + sent + `<e:from><e:name>A</e:name><e:city/></e:from><e:to><e:city>B</e:city></e:to><e:load><e:parcel><e:mark>M</e:mark>` +
				`<e:weight>+01.50</e:weight><e:item><e:article>I</e:article><e:pieces> 3 </e:pieces><e:duty><e:tariff>T</e:tariff><e:amount>-.001</e:amount></e:duty></e:item></e:parcel></e:load>`),
			shipmentMessage(envelope.Shipment{
				Number: str("N"), Sent: day, From: envelope.Party{Name: str("A"), City: str("")}, To: envelope.Party{Name: null, City: str("B")},
				Load: []envelope.Parcel{{Mark: str("M"), Weight: 1500, Items: []envelope.Item{{Article: str("I"), Pieces: 3, Duty: envelope.Duty{Tariff: str("T"), Amount: -1}}}}},
			}),
		},
		{"shipment with little", shipment(sent + "<e:load/>"), shipmentMessage(little)},
		{"shipment in another order", shipment("<e:load> </e:load>\n<e:to i:nil='1'/>" + sent + "<!-- x --><e:number i:nil='true'/>"), shipmentMessage(little)},
		{
			"shipment with nothing inside", shipment(sent + "<e:from/><e:load><e:parcel><e:item><e:pieces>0</e:pieces></e:item><e:weight>0</e:weight><e:item><e:duty><e:amount>0</e:amount></e:duty><e:pieces>1</e:pieces></e:item></e:parcel></e:load>"),
			shipmentMessage(envelope.Shipment{
				Number: null, Sent: day, From: envelope.Party{Name: null, City: null}, To: envelope.Party{Nil: true},
				Load: []envelope.Parcel{{Mark: null, Items: []envelope.Item{{Article: null, Duty: envelope.Duty{Nil: true}}, {Article: null, Pieces: 1, Duty: envelope.Duty{Tariff: null}}}}},
			}),
		},
	}
	for _, model := range models {
		c := codec(t, model) // one for all rows: nothing may stay from a row to the next
		for _, row := range rows {
			t.Run(string(model)+"/"+row.name, func(t *testing.T) {
				var got envelope.Message
				if err := c.Decode([]byte(row.doc), &got); err != nil {
					t.Fatalf("decode %s: %v", row.doc, err)
				}
				compare(t, row.want, got)
			})
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	rows := []struct{ name, doc, want string }{
		{"nothing", "", "no element"},
		{"white space", " \n", "no element"},
		{"text", "hello", "outside of the root"},
		{"doctype", `<!DOCTYPE x [<!ENTITY a "b">]>` + body(text), "document type declaration"},
		{"billion laughs", `<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "lol"><!ENTITY b "&a;&a;">]>` + in("&b;"), "document type declaration"},
		{"external entity", `<!DOCTYPE x SYSTEM "file:///etc/passwd">` + body(text), "document type declaration"},
		{"doctype inside", body("<!DOCTYPE x>" + text), "document type declaration"},
		{"unknown entity", in("&nbsp;"), "a reference"},
		{"open entity", in("&amp"), "a reference"},
		{"number of no character", in("&#0;"), "a reference"},
		{"number of a surrogate", in("&#xD800;"), "a reference"},
		{"number too large", in("&#x110000;"), "a reference"},
		{"number without digits", in("&#x;"), "a reference"},
		{"processing instruction", `<?php x?>` + body(text), "processing instruction"},
		{"declaration in the wrong place", " <?xml version='1.0'?>" + body(text), "processing instruction"},
		{"version", `<?xml version="1.1"?>` + body(text), "version"},
		{"no version", `<?xml encoding="UTF-8"?>` + body(text), "version"},
		{"standalone", `<?xml version="1.0" standalone="maybe"?>` + body(text), "standalone"},
		{"declaration out of order", `<?xml version="1.0" standalone="no" encoding="UTF-8"?>` + body(text), "XML declaration"},
		{"declaration open", `<?xml version="1.0`, "XML declaration"},
		{"Latin 1", `<?xml version="1.0" encoding="ISO-8859-1"?>` + body(text), "only UTF-8"},
		{"UTF-16", "\xFF\xFE<\x00", "only UTF-8"},
		{"not UTF-8", in("\xE9t\xE9"), "cannot hold"},
		{"overlong", in("\xC0\xAF"), "cannot hold"},
		{"surrogate in UTF-8", in("\xED\xA0\x80"), "cannot hold"},
		{"control character", in("\x01"), "cannot hold"},
		{"no character", in("\uFFFE"), "cannot hold"},
		{"control character in a comment", body("<!--\x01-->" + text), "cannot hold"},
		{"control character in CDATA", in("<![CDATA[\x00]]>"), "cannot hold"},
		{"end of CDATA in text", in("]]>"), "]]>"},
		{"hyphens in a comment", body("<!-- -- -->" + text), "comment"},
		{"open comment", body(text) + "<!-- ", "comment"},
		{"open CDATA", open + "<![CDATA[ ", "CDATA"},
		{"CDATA outside", "<![CDATA[x]]>" + body(text), "outside of the root"},
		{"conditional section", body("<![IGNORE[x]]>" + text), "not allowed here"},
		{"second root", body(text) + body(text), "second root"},
		{"text behind", body(text) + "x", "outside of the root"},
		{"end tag behind", body(text) + "</x>", "without a start tag"},
		{"wrong end tag", body("<e:echoText><e:in>hello</e:echoText></e:in>"), "not closed"},
		{"end tag in another prefix", body(`<e:echoText><e:in>hello</e:in></x:echoText>`), "not closed"},
		{"longer end tag", body("<e:echoText><e:in>hello</e:int></e:echoText>"), "not closed"},
		{"open tag", open + "<s:Body", "ends inside a tag"},
		{"bare <", in("<"), "name was expected"},
		{"no name", body("< e:echoText/>"), "name was expected"},
		{"number as a name", body("<e:1/>"), "name was expected"},
		{"prefix only", body("<e:/>"), "name was expected"},
		{"two colons", body("<e:a:b/>"), "white space or the end"},
		{"undeclared prefix", body("<x:echoText/>"), "not declared"},
		{"prefix out of scope", body(`<x:a xmlns:x="urn:x"/><x:b/>`), "more than one element|no operation \"a\"|not declared"},
		{"undeclared prefix of an attribute", body(`<e:echoText x:y="z"/>`), "not declared"},
		{"xmlns as a prefix", body("<xmlns:a/>"), "not declared"},
		{"xmlns declared", body(`<e:a xmlns:xmlns="urn:x"/>`), "cannot be declared"},
		{"xml declared as another", body(`<e:a xmlns:xml="urn:x"/>`), "its own namespace"},
		{"prefix of nothing", body(`<e:a xmlns:x=""/>`), "no namespace"},
		{"attribute twice", body(`<e:a x="1" x="2"/>`), "there twice"},
		{"attribute twice by URI", body(`<e:a xmlns:f="urn:benchd:echo" e:x="1" f:x="2"/>`), "there twice"},
		{"prefix declared twice", body(`<e:a xmlns:f="urn:f" xmlns:f="urn:g"/>`), "there twice"},
		{"attribute without value", body("<e:a x/>"), "without a value"},
		{"attribute without quotes", body("<e:a x=1/>"), "not quoted"},
		{"attribute with <", body(`<e:a x="<"/>`), "holds a <"},
		{"attribute with a control character", body("<e:a x='\x02'/>"), "cannot hold"},
		{"attribute with an unknown entity", body("<e:a x='&y;'/>"), "a reference"},
		{"attribute open", body("<e:a x='"), "inside the value|holds a <"},
		{"attributes without a space", body(`<e:a x="1"y="2"/>`), "white space"},
		{"not SOAP", "<a/>", "not a SOAP envelope"},
		{"no body", open + "</s:Envelope>", "no body"},
		{"empty body", body(" "), "empty"},
		{"two bodies", open + "<s:Body>" + text + "</s:Body><s:Body/></s:Envelope>", "not allowed in the envelope"},
		{"header block without a namespace", open + "<s:Header><x/></s:Header><s:Body>" + text + "</s:Body></s:Envelope>", "has no namespace"},
		{"mustUnderstand of no meaning", open + "<s:Header><e:x s:mustUnderstand='yes'/></s:Header><s:Body>" + text + "</s:Body></s:Envelope>", "neither true nor false"},
		{"mustUnderstand of nothing", open + "<s:Header><e:x s:mustUnderstand='' s:actor='urn:other'/></s:Header><s:Body>" + text + "</s:Body></s:Envelope>", "neither true nor false"},
		{"header after the body", open + "<s:Body>" + text + "</s:Body><s:Header/></s:Envelope>", "not allowed in the envelope"},
		{"two headers", open + "<s:Header/><s:Header/><s:Body>" + text + "</s:Body></s:Envelope>", "not allowed in the envelope"},
		{"text in the body", body("x" + text), "only elements"},
		{"two operations", body(text + text), "more than one"},
		{"unknown operation", body("<e:shout/>"), `there is no operation "shout" in the namespace "urn:benchd:echo"; there are echoBeans, echoText`},
		{"operation of another namespace", body("<echoText><e:in/></echoText>"), `no operation "echoText" in the namespace ""`},
		{"no parameter", body("<e:echoText/>"), "one parameter"},
		{"two parameters", body("<e:echoText><e:in/><e:in/></e:echoText>"), "one parameter"},
		{"parameter of an answer", body("<e:echoText><e:return/></e:echoText>"), "one parameter"},
		{"parameter of no namespace", body("<e:echoText><in/></e:echoText>"), "one parameter"},
		{"element in a text", in("a<e:b/>"), "text"},
		{"nil with content", body(`<e:echoText><e:in i:nil="true">x</e:in></e:echoText>`), "has content"},
		{"nil of no meaning", body(`<e:echoText><e:in i:nil="yes"/></e:echoText>`), "neither true nor false"},
		{"unknown element in a bundle", body("<e:echoBeans><e:in><e:z/></e:in></e:echoBeans>"), "in a bundle"},
		{"bean twice", body(`<e:echoBeans><e:in><e:a i:nil="1"/><e:a i:nil="1"/></e:in></e:echoBeans>`), "in a bundle"},
		{"unknown element in a list", body("<e:echoRecords><e:in><e:a/></e:in></e:echoRecords>"), "in a list of records"},
		{"record of another namespace", body("<e:echoRecords><e:in><record/></e:in></e:echoRecords>"), "in a list of records"},
		{"bad record", body("<e:echoRecords><e:in><e:record>" + full + "</e:record><e:record/></e:in></e:echoRecords>"), "lacks"},
		{"text among records", body("<e:echoRecords><e:in>x</e:in></e:echoRecords>"), "only elements"},
		{"unknown element in a bean", bean(full + "<e:z/>"), "in a bean"},
		{"field twice", bean(full + "<e:id>8</e:id>"), "in a bean"},
		{"field of another namespace", bean(strings.Replace(full, "e:city", "city", 2)), "in a bean"},
		{"fields of the default namespace", body(`<e:echoBeans><e:in><e:a xmlns="urn:other">` + strings.ReplaceAll(full, "e:", "") + `</e:a></e:in></e:echoBeans>`), "in a bean"},
		{"fields of another prefix", body(`<e:echoBeans><e:in><f:a xmlns:f="urn:benchd:echo" xmlns:e="urn:other">` + full + `</f:a></e:in></e:echoBeans>`), "in a bean"},
		{"field with a longer name", bean(strings.ReplaceAll(full, "e:id", "e:idx")), "in a bean"},
		{"field with a shorter name", bean(strings.ReplaceAll(full, "e:id", "e:i")), "in a bean"},
		{"field that is not closed", bean("<e:id>7</e:ie>"), "not closed"},
		{"bean without id", bean("<e:balance>1</e:balance><e:active>1</e:active>"), "lacks"},
		{"text in a bean", bean(full + "x"), "only elements"},
		{"id too large", bean(strings.Replace(full, ">7<", ">2147483648<", 1)), "not of its type"},
		{"id not a number", bean(strings.Replace(full, ">7<", "><", 1)), "not of its type"},
		{"balance in hex", bean(strings.Replace(full, "1.5", "0x1p-2", 1)), "not of its type"},
		{"balance infinite in Go's way", bean(strings.Replace(full, "1.5", "Infinity", 1)), "not of its type"},
		{"shipment without a load", shipment(sent), "a shipment lacks its sent or load"},
		{"shipment without a day", shipment("<e:load/>"), "a shipment lacks"},
		{"unknown element in a shipment", shipment(sent + "<e:load/><e:z/>"), "in a shipment"},
		{"load twice", shipment(sent + "<e:load/><e:load/>"), "in a shipment"},
		{"shipment of another namespace", shipment(sent + "<load/>"), "in a shipment"},
		{"party twice", shipment(sent + "<e:load/><e:to i:nil='1'/><e:to i:nil='1'/>"), "in a shipment"},
		{"unknown element in a party", shipment(sent + "<e:load/><e:to><e:zip/></e:to>"), "in a party"},
		{"city twice", shipment(sent + "<e:load/><e:to><e:city/><e:city/></e:to>"), "in a party"},
		{"party that is nil with content", shipment(sent + "<e:load/><e:to i:nil='1'>x</e:to>"), "has content"},
		{"item outside of a parcel", shipment(sent + "<e:load><e:item/></e:load>"), "in a load"},
		{"text in a load", shipment(sent + "<e:load>x</e:load>"), "only elements"},
		{"parcel without a weight", shipment(sent + "<e:load><e:parcel/></e:load>"), "a parcel lacks its weight"},
		{"parcel that is nil", shipment(sent + "<e:load><e:parcel i:nil='true'/></e:load>"), "a parcel lacks its weight"},
		{"weight twice", parcel("<e:weight>1</e:weight>"), "in a parcel"},
		{"item without pieces", parcel("<e:item/>"), "an item lacks its pieces"},
		{"item among the items", parcel("<e:item><e:item/></e:item>"), "in an item"},
		{"pieces with a point", parcel("<e:item><e:pieces>1.0</e:pieces></e:item>"), "not of its type"},
		{"duty without an amount", parcel("<e:item><e:pieces>1</e:pieces><e:duty/></e:item>"), "a duty lacks its amount"},
		{"unknown element in a duty", parcel("<e:item><e:pieces>1</e:pieces><e:duty><e:rate/></e:duty></e:item>"), "in a duty"},
		{"active in Go's way", bean(strings.Replace(full, "true", "T", 1)), "not of its type"},
	}
	for _, model := range models {
		c := codec(t, model)
		for _, row := range rows {
			t.Run(string(model)+"/"+row.name, func(t *testing.T) {
				var got envelope.Message
				err := c.Decode([]byte(row.doc), &got)
				var refused *envelope.Error
				if !errors.As(err, &refused) {
					t.Fatalf("decode %s: got %v, want a refusal", row.doc, err)
				}
				if refused.Code != envelope.CodeClient {
					t.Errorf("the code is %s, want %s", refused.Code, envelope.CodeClient)
				}
				if !containsOne(refused.Reason, row.want) {
					t.Errorf("the reason is %q, want something with %q", refused.Reason, row.want)
				}
			})
		}
	}
}

// containsOne tells whether s contains one of the parts of want between its bars.
func containsOne(s, want string) bool {
	for part := range strings.SplitSeq(want, "|") {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}
