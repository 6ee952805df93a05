package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// TestCommittedDocument: the files in the tree are what the comments say, and pass every
// check.
func TestCommittedDocument(t *testing.T) {
	if err := run([]string{"-check", "-root", "../.."}, io.Discard); err != nil {
		t.Error(err)
	}
}

func TestDrift(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "openapi"), 0o755); err != nil {
		t.Fatal(err)
	}
	f := file{"openapi.json", []byte("one\ntwo\n")}
	if err := f.keep(root, true); err == nil {
		t.Error("a missing file is no drift")
	}
	if err := f.keep(root, false); err != nil {
		t.Fatal(err)
	}
	if err := f.keep(root, true); err != nil {
		t.Error(err)
	}
	f.text = []byte("one\nthree\n")
	if err := f.keep(root, true); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("drift: %v", err)
	}
}

func TestEmptySchemas(t *testing.T) {
	object := openapi3.NewObjectSchema
	for _, row := range []struct {
		name   string
		schema *openapi3.SchemaRef
		bad    string
	}{
		{"nothing", nil, "x"},
		{"no type", (&openapi3.Schema{}).NewRef(), "x"},
		{"object without properties", object().NewRef(), "x"},
		{"free object", object().WithAnyAdditionalProperties().NewRef(), "x"},
		{"map of strings", object().WithAdditionalProperties(openapi3.NewStringSchema()).NewRef(), ""},
		{"text", openapi3.NewStringSchema().NewRef(), ""},
		{"field without type", object().WithProperty("y", &openapi3.Schema{}).NewRef(), "x.y"},
		{"list of nothing", openapi3.NewArraySchema().WithItems(&openapi3.Schema{}).NewRef(), "x[]"},
		{"one of several", openapi3.NewAnyOfSchema(openapi3.NewStringSchema()).NewRef(), ""},
	} {
		if got := strings.Join(empty("x", row.schema), " "); got != row.bad {
			t.Errorf("%s: complains of %q, not %q", row.name, got, row.bad)
		}
	}
}

func TestTornSchemas(t *testing.T) {
	object, text := openapi3.NewObjectSchema, openapi3.NewStringSchema
	// all is a nullable reference as nullable leaves it.
	all := func(own, other *openapi3.Schema) *openapi3.Schema {
		own.Nullable, own.AllOf = true, openapi3.SchemaRefs{openapi3.NewSchemaRef("#/components/schemas/Other", other)}
		return own
	}
	chosen := func(nullable bool, values ...any) *openapi3.Schema {
		s := text().WithEnum(values...)
		s.Nullable = nullable
		return s
	}
	for _, row := range []struct {
		name   string
		schema *openapi3.Schema
		bad    string
	}{
		{"an object by reference", object().WithProperty("y", all(object(), object())), ""},
		{"a text by reference", object().WithProperty("y", all(object(), text())), "x.y (object and string)"},
		{"a list of texts by reference", openapi3.NewArraySchema().WithItems(all(object(), text())), "x[] (object and string)"},
		{"a map of texts by reference", object().WithAdditionalProperties(all(object(), text())), "x{} (object and string)"},
		{"a text of a type of its own", all(text(), text()), ""},
		{"an enum", object().WithProperty("y", chosen(false, "a")), ""},
		{"an enum or null", object().WithProperty("y", chosen(true, "a", nil)), ""},
		{"an enum that forbids its null", object().WithProperty("y", chosen(true, "a")), "x.y (its enum has no null)"},
	} {
		if got := strings.Join(torn("x", row.schema.NewRef()), " "); got != row.bad {
			t.Errorf("%s: complains of %q, not %q", row.name, got, row.bad)
		}
	}
}

// A nullable enum gets its null, once.
func TestNullable(t *testing.T) {
	s := openapi3.NewStringSchema().WithEnum("a")
	s.Nullable = true
	parent := openapi3.NewObjectSchema().WithProperty("y", s)
	for range 2 {
		finishSchema("", parent)
	}
	if len(s.Enum) != 2 || s.Enum[1] != nil || !s.Type.Is("string") {
		t.Errorf("enum %v, type %v", s.Enum, s.Type)
	}
}

func TestComplaints(t *testing.T) {
	var j journal
	j.Printf("Generating %s", "bench.Run")
	j.Printf("Skipping '%s', already parsed.", "bench.Run")
	if bad := j.complaints(); len(bad) > 0 {
		t.Errorf("complains of %q", bad)
	}
	j.Printf("warning: failed to evaluate const %s", "x")
	if bad := j.complaints(); len(bad) != 1 {
		t.Errorf("complains of %q", bad)
	}
}
