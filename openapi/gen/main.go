// Command gen makes the OpenAPI document from the comments on the handlers in package api,
// the shapes in worker/bench and the catalog of kernels:
//
//	go run ./openapi/gen          writes openapi/openapi.json and openapi/openapi.yaml
//	go run ./openapi/gen -check   exits 1 when those files are not what it would write
//
// It refuses what swag lets pass: warnings in swag's log, a type that was not resolved, a
// schema that says nothing. It runs in the root of the module.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"benchd/kernels/catalog"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "openapi/gen:", err)
		os.Exit(1)
	}
}

// run makes the document and writes or compares it.
func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("gen", flag.ContinueOnError)
	check := flags.Bool("check", false, "compare with the files instead of writing them")
	root := flags.String("root", ".", "the root of the module")
	if err := flags.Parse(args); err != nil {
		return err
	}
	doc, err := annotated(*root)
	if err != nil {
		return err
	}
	texts, err := comments(*root)
	if err != nil {
		return err
	}
	made, err := convert(doc, texts, catalog.Families())
	if err != nil {
		return err
	}
	files, err := render(made)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := f.keep(*root, *check); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%d paths, %d schemas, valid\n", made.Paths.Len(), len(made.Components.Schemas))
	return nil
}

// A file is one form of the document.
type file struct {
	name string
	text []byte
}

// keep writes the file, or compares it with what is there.
func (f file) keep(root string, check bool) error {
	path := filepath.Join(root, "openapi", f.name)
	if !check {
		return os.WriteFile(path, f.text, 0o644)
	}
	have, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, f.text) {
		return fmt.Errorf("%s is not what the comments say (first difference in line %d); run: go run ./openapi/gen", path, differs(have, f.text))
	}
	return nil
}

// differs gives the number of the first line in which two texts differ.
func differs(a, b []byte) int {
	left, right := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(left), len(right)) {
		if !bytes.Equal(left[i], right[i]) {
			return i + 1
		}
	}
	return min(len(left), len(right)) + 1
}
