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
