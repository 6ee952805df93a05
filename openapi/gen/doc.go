package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// comments gives the doc comment of each type in the folder of the shapes, by the type's
// name. swag takes descriptions of fields from the code but none of types.
func comments(root string) (map[string]string, error) {
	folder := filepath.Join(root, "worker", "bench")
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("list the shapes in %s: %w", folder, err)
	}
	out := make(map[string]string)
	set := token.NewFileSet()
	for _, name := range files {
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read the comments of %s: %w", name, err)
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				addTypes(out, g)
			}
		}
	}
	return out, nil
}

// addTypes notes the comments of one declaration.
func addTypes(out map[string]string, g *ast.GenDecl) {
	for _, spec := range g.Specs {
		t, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		doc := t.Doc
		if doc == nil {
			doc = g.Doc
		}
		out[t.Name.Name] = strings.TrimSpace(doc.Text())
	}
}
