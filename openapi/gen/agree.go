package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// agreeing refuses schemas that no value fits: those whose own type is not that of what they
// refer to, as swag makes of a pointer to a named text, and enums that forbid the null that
// "nullable" allows. Validators of documents let both pass.
func agreeing(doc *openapi3.T) error {
	var bad []string
	for _, name := range sorted(doc.Components.Schemas) {
		bad = append(bad, torn(name, doc.Components.Schemas[name])...)
	}
	if len(bad) > 0 {
		return fmt.Errorf("schemas that contradict themselves: %s", strings.Join(bad, ", "))
	}
	return nil
}

// torn names the parts of a schema that contradict themselves, and how.
func torn(at string, s *openapi3.SchemaRef) []string {
	if s == nil || s.Value == nil {
		return nil
	}
	v := s.Value
	var bad []string
	if v.Nullable && len(v.Enum) > 0 && !slices.Contains(v.Enum, any(nil)) {
		bad = append(bad, at+" (its enum has no null)")
	}
	for _, part := range v.AllOf {
		if own, other := v.Type, part.Value; own != nil && other != nil && other.Type != nil && !slices.Equal(*own, *other.Type) {
			bad = append(bad, fmt.Sprintf("%s (%s and %s)", at, strings.Join(*own, "/"), strings.Join(*other.Type, "/")))
		}
	}
	for _, name := range sorted(v.Properties) {
		if p := v.Properties[name]; p != nil && p.Ref == "" { // what is referred to is looked at under its own name
			bad = append(bad, torn(at+"."+name, p)...)
		}
	}
	for suffix, p := range map[string]*openapi3.SchemaRef{"[]": v.Items, "{}": v.AdditionalProperties.Schema} {
		if p != nil && p.Ref == "" {
			bad = append(bad, torn(at+suffix, p)...)
		}
	}
	return bad
}
