package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"

	"benchd/kernels"
)

// problemMedia is the media type of RFC 9457.
const problemMedia = "application/problem+json"

// convert makes the OpenAPI 3.0.3 document and adds what the comments cannot say.
func convert(doc *openapi2.T, texts map[string]string, families []kernels.Family) (*openapi3.T, error) {
	made, err := openapi2conv.ToV3(doc)
	if err != nil {
		return nil, fmt.Errorf("convert to OpenAPI 3: %w", err)
	}
	made.Info.Contact = nil
	made.Servers = openapi3.Servers{{URL: "/", Description: "the service that gave this document"}}
	for _, path := range sorted(made.Paths.Map()) {
		item := made.Paths.Value(path)
		for _, method := range sorted(item.Operations()) {
			op := item.Operations()[method]
			finishOperation(op)
			addParams(op, families)
		}
	}
	for name, s := range made.Components.Schemas {
		finishSchema(name, s.Value)
		s.Value.Description = texts[name]
	}
	if err := addRequest(made.Components.Schemas, families); err != nil {
		return nil, err
	}
	return made, nil
}

func sorted[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// finishOperation gives every failure the media type of a problem, adds the failures that
// every operation has, and the headers that answers carry.
func finishOperation(op *openapi3.Operation) {
	addFailure(op, 400, "the request cannot be read")
	addFailure(op, 422, "a parameter that is not known here or cannot be right")
	addFailure(op, 500, "a fault of the service; its log says more under the request_id")
	for code, r := range op.Responses.Map() {
		if r.Value.Headers == nil {
			r.Value.Headers = make(openapi3.Headers)
		}
		r.Value.Headers["X-Request-Id"] = header("names the request in the service's log; taken from the request when it is there")
		if code >= "400" {
			r.Value.Content = problem()
		} else {
			onlyJSON(r.Value.Content)
		}
		if code == "503" {
			r.Value.Headers["Retry-After"] = header("seconds after which to ask again")
		}
	}
	if op.RequestBody != nil {
		op.RequestBody.Value.Extensions = nil
	}
	for _, p := range op.Parameters {
		finishSchema("", p.Value.Schema.Value)
	}
}

// onlyJSON keeps the schema of an answer to its JSON. swag gives it to every media type that
// the answer can be had as; the others are another tool's text, or another tool's JSON.
func onlyJSON(content openapi3.Content) {
	for media, m := range content {
		switch {
		case len(content) == 1 || media == "application/json":
		case strings.HasSuffix(media, "+json"):
			m.Schema = openapi3.NewAnyOfSchema(openapi3.NewObjectSchema(), openapi3.NewArraySchema().WithItems(openapi3.NewObjectSchema())).NewRef()
		default:
			m.Schema = openapi3.NewStringSchema().NewRef()
		}
	}
}

// byParams tells the operations that can be narrowed down by parameters of a case.
func byParams(id string) bool {
	return id == "getHistory" || id == "getLeaderboard" || id == "listReferences"
}

// addParams adds a query parameter for each parameter of the kernels.
func addParams(op *openapi3.Operation, families []kernels.Family) {
	if !byParams(op.OperationID) {
		return
	}
	seen := make(map[string]bool)
	for _, f := range families {
		for _, k := range f.Kernels {
			for _, p := range k.Info().Params {
				if seen[p.Name] {
					continue
				}
				seen[p.Name] = true
				op.AddParameter(openapi3.NewQueryParameter("param." + p.Name).WithSchema(openapi3.NewStringSchema()).
					WithDescription("only cases with this " + p.Name))
			}
		}
	}
}

func addFailure(op *openapi3.Operation, status int, description string) {
	if op.Responses.Status(status) == nil {
		op.AddResponse(status, openapi3.NewResponse().WithDescription(description))
	}
}

func problem() openapi3.Content {
	return openapi3.Content{problemMedia: openapi3.NewMediaType().WithSchemaRef(
		openapi3.NewSchemaRef("#/components/schemas/Problem", nil))}
}

func header(description string) *openapi3.HeaderRef {
	return &openapi3.HeaderRef{Value: &openapi3.Header{Parameter: openapi3.Parameter{
		Description: description, Schema: openapi3.NewStringSchema().NewRef(),
	}}}
}

// asked tells the schemas that a client sends. All of their fields may be left out, and no
// other field is taken.
func asked(name string) bool {
	return name == "Spec" || name == "CaseSpec" || name == "HostSelector" || name == "Plan"
}

// finishSchema repairs what the way over Swagger 2.0 loses.
func finishSchema(name string, s *openapi3.Schema) {
	if s == nil {
		return
	}
	s.Extensions = nil // swag's notes on Go constants, of no use outside of Go
	if asked(name) {
		s.Required = nil
		s.AdditionalProperties = openapi3.AdditionalProperties{Has: openapi3.Ptr(false)}
	}
	for field, p := range s.Properties {
		if field == "params" && p.Value != nil && p.Value.Type.Is("object") {
			p.Value.AdditionalProperties = openapi3.AdditionalProperties{Schema: scalar().NewRef()}
		}
		if p.Value != nil && p.Value.Nullable {
			nullable(p.Value)
		}
		finishSchema("", p.Value)
	}
	if s.Items != nil {
		finishSchema("", s.Items.Value)
	}
}

// nullable completes a schema whose value may be null. In OpenAPI 3.0.3 "nullable" counts only
// beside a "type", so of a reference an object is named there and its shape left to allOf; and
// an enum forbids null unless null is in it (Clarify Semantics of nullable in OpenAPI 3.0,
// https://spec.openapis.org/oas/proposals).
func nullable(s *openapi3.Schema) {
	if s.Type == nil {
		s.Type = &openapi3.Types{"object"}
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, any(nil)) {
		s.Enum = append(s.Enum, nil)
	}
}

// scalar is the value of one parameter.
func scalar() *openapi3.Schema {
	return openapi3.NewAnyOfSchema(openapi3.NewStringSchema(), openapi3.NewInt64Schema(), openapi3.NewBoolSchema())
}

// addRequest completes the schemas of a request: a parameter may have a list of values, and
// the kernels with their parameters are told in a table.
func addRequest(schemas openapi3.Schemas, families []kernels.Family) error {
	cs := schemas["CaseSpec"]
	if cs == nil || cs.Value.Properties["params"] == nil {
		return fmt.Errorf("the schema CaseSpec with its params is missing")
	}
	list := openapi3.NewArraySchema().WithItems(scalar())
	list.MinItems = 1
	value := scalar()
	value.AnyOf = append(value.AnyOf, list.NewRef())
	cs.Value.Properties["params"].Value.AdditionalProperties = openapi3.AdditionalProperties{Schema: value.NewRef()}
	cs.Value.Required = []string{"kernel"}
	cs.Value.Description = strings.TrimSpace(cs.Value.Description) + "\n\n" + table(families)
	return nil
}

// table lists the kernels and their parameters in Markdown, each parameter with its default
// first.
func table(families []kernels.Family) string {
	var b strings.Builder
	b.WriteString("| kernel | measures | unit | parameters (the first value is the default) |\n| --- | --- | --- | --- |\n")
	for _, f := range families {
		for _, k := range f.Kernels {
			i := k.Info()
			params := make([]string, len(i.Params))
			for n, p := range i.Params {
				params[n] = "`" + p.Name + "` " + describe(p)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", i.Name, cell(i.Title), i.Unit, strings.Join(params, "; "))
		}
	}
	return strings.TrimSpace(b.String())
}

func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

// where tells of a service with which values of another parameter it can be the kernel's own.
func where(p kernels.Param) string {
	var inside []string
	for _, v := range sorted(p.Servers) {
		if p.Servers[v].Embedded {
			inside = append(inside, v)
		}
	}
	if p.Of == "" {
		return ""
	}
	return fmt.Sprintf(" where %s is %s", p.Of, strings.Join(inside, ", "))
}

// describe tells the values of one parameter.
func describe(p kernels.Param) string {
	values := p.Values
	if p.Kind == kernels.Bool {
		values = []string{"false", "true"}
	}
	if len(values) > 0 {
		rest := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == p.Default })
		return strings.Join(append([]string{p.Default}, rest...), ", ")
	}
	if p.Kind == kernels.Service {
		return fmt.Sprintf("%s%s, or the name of a service of the host (%s)", p.Default, where(p), strings.Join(p.Schemes, ", "))
	}
	if p.Kind == kernels.Size {
		return fmt.Sprintf("%s, from %s to %s", p.Default, kernels.FormatSize(p.Min), kernels.FormatSize(p.Max))
	}
	return fmt.Sprintf("%s, from %d to %d", p.Default, p.Min, p.Max)
}
