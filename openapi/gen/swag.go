package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/swaggo/swag"
)

// annotated reads the comments with swag and gives the Swagger 2.0 document they make.
//
// swag only logs some of what it cannot do and goes on with an empty schema, so its log is
// read and any complaint is an error.
func annotated(root string) (*openapi2.T, error) {
	journal := &journal{}
	p := swag.New(swag.SetDebugger(journal), swag.SetStrict(true), swag.SetUseStructName(true), swag.SetParseDependency(0))
	p.RequiredByDefault = true
	dirs := []string{filepath.Join(root, "api"), filepath.Join(root, "worker", "bench"), filepath.Join(root, "kernels")}
	if err := p.ParseAPIMultiSearchDir(dirs, "api.go", 0); err != nil {
		return nil, fmt.Errorf("read the comments: %w", err)
	}
	if bad := journal.complaints(); len(bad) > 0 {
		return nil, fmt.Errorf("swag complains: %s", strings.Join(bad, "; "))
	}
	text, err := json.Marshal(p.GetSwagger())
	if err != nil {
		return nil, fmt.Errorf("write Swagger 2.0: %w", err)
	}
	var doc openapi2.T
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("read Swagger 2.0: %w", err)
	}
	return &doc, nil
}

// A journal keeps what swag logs.
type journal struct{ lines []string }

// Printf keeps one line.
func (j *journal) Printf(format string, v ...any) {
	j.lines = append(j.lines, strings.TrimSpace(fmt.Sprintf(format, v...)))
}

// complaints gives the lines that are no plain progress.
func (j *journal) complaints() []string {
	var bad []string
	for _, line := range j.lines {
		if !strings.HasPrefix(line, "Generat") && !strings.HasPrefix(line, "Skipping '") {
			bad = append(bad, line)
		}
	}
	return bad
}
