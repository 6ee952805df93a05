package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"sigs.k8s.io/yaml"
)

// render writes the document in both forms, after it has passed every check.
func render(doc *openapi3.T) ([]file, error) {
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the document: %w", err)
	}
	text = append(text, '\n')
	if err := valid(text); err != nil {
		return nil, err
	}
	other, err := yaml.JSONToYAML(text)
	if err != nil {
		return nil, fmt.Errorf("write the document as YAML: %w", err)
	}
	return []file{{"openapi.json", text}, {"openapi.yaml", other}}, nil
}

// valid checks a document as its readers get it: by two validators that know different
// rules, and for schemas that say nothing.
func valid(text []byte) error {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(text)
	if err != nil {
		return fmt.Errorf("load the document: %w", err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		return fmt.Errorf("kin-openapi refuses the document: %w", err)
	}
	if err := validOther(text); err != nil {
		return err
	}
	return errors.Join(complete(doc), agreeing(doc))
}

func validOther(text []byte) error {
	doc, err := libopenapi.NewDocument(bytes.Clone(text))
	if err != nil {
		return fmt.Errorf("libopenapi cannot read the document: %w", err)
	}
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		return fmt.Errorf("libopenapi cannot build the document: %w", errors.Join(errs...))
	}
	ok, wrong := v.ValidateDocument()
	if ok {
		return nil
	}
	var all []error
	for _, w := range wrong {
		all = append(all, fmt.Errorf("%s: %s", w.Message, w.Reason))
		for _, s := range w.SchemaValidationErrors {
			all = append(all, fmt.Errorf("%s: %s", s.KeywordLocation, s.Reason))
		}
	}
	return fmt.Errorf("libopenapi-validator refuses the document: %w", errors.Join(all...))
}

// complete refuses schemas that say nothing: what swag makes of a type it cannot resolve.
func complete(doc *openapi3.T) error {
	var bad []string
	for _, name := range sorted(doc.Components.Schemas) {
		bad = append(bad, empty(name, doc.Components.Schemas[name])...)
	}
	for _, path := range sorted(doc.Paths.Map()) {
		for method, op := range doc.Paths.Value(path).Operations() {
			for code, r := range op.Responses.Map() {
				for media, m := range r.Value.Content {
					bad = append(bad, empty(method+" "+path+" "+code+" "+media, m.Schema)...)
				}
			}
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("schemas that say nothing: %s", strings.Join(bad, ", "))
	}
	return nil
}

// empty names the parts of a schema that say nothing about the value.
func empty(at string, s *openapi3.SchemaRef) []string {
	if s == nil || s.Value == nil {
		return []string{at}
	}
	v := s.Value
	composed := len(v.AllOf)+len(v.AnyOf)+len(v.OneOf) > 0
	more := v.AdditionalProperties.Schema != nil
	var bad []string
	if object := v.Type.Is("object"); !composed && (v.Type == nil || object && len(v.Properties) == 0 && !more) {
		bad = append(bad, at)
	}
	if s.Ref != "" {
		return bad // its own schema is looked at under its own name
	}
	for _, name := range sorted(v.Properties) {
		bad = append(bad, empty(at+"."+name, v.Properties[name])...)
	}
	if v.Items != nil {
		bad = append(bad, empty(at+"[]", v.Items)...)
	}
	return bad
}
