package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"benchd/api/client"
	"benchd/api/export"
	"benchd/worker/bench"
)

// exportCommand turns a result into what another tool reads.
type exportCommand struct {
	serverFlag
	What   string `arg:"" name:"run|file" help:"A run of a service, or a result file (- for standard input)."`
	Format string `short:"f" required:"" help:"What to write: ${formats}." placeholder:"FORMAT"`
	Out    string `short:"o" help:"File to write to; by default standard output." placeholder:"FILE"`
}

// Run writes the result. That of a service is written there, so that a client of another
// version need not know its shape.
func (c exportCommand) Run(ctx context.Context, t terminal) error {
	format, known := export.ByName(c.Format)
	if !known {
		return exitError{exitUsage, fmt.Errorf("there is no format %q; there are %s", c.Format, strings.Join(export.Names(), ", "))}
	}
	var body []byte
	if isFile(c.What) {
		r, err := readResult(c.What, t.in)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := format.Write(&b, r); err != nil {
			err = fmt.Errorf("write %s as %s: %w", c.What, format.Name, err)
			if errors.Is(err, export.ErrNoTable) {
				return exitError{exitUsage, err}
			}
			return err
		}
		body = b.Bytes()
	} else {
		var err error
		if body, err = c.client().ResultBody(ctx, c.What, format.Name); err != nil {
			return err
		}
	}
	if c.Out == "" || c.Out == "-" {
		_, err := t.out.Write(body)
		return err
	}
	if err := os.WriteFile(c.Out, body, 0o644); err != nil {
		return exitError{exitUsage, fmt.Errorf("write the result: %w", err)}
	}
	return nil
}

// isFile tells a result file from the id of a run: it is there, or its name can be no id.
func isFile(what string) bool {
	if what == "-" || strings.ContainsRune(what, filepath.Separator) || filepath.Ext(what) != "" {
		return true
	}
	_, err := os.Stat(what)
	return err == nil
}

// readResult reads a result that benchd wrote as JSON. A request, another tool's file or a result
// of another schema would otherwise pass for a result in which nothing was measured.
func readResult(name string, in io.Reader) (bench.Result, error) {
	var r bench.Result
	text, err := readInput(name, in)
	if err != nil {
		return r, exitError{exitUsage, fmt.Errorf("read the result: %w", err)}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, exitError{exitUsage, fmt.Errorf("%s is no result of benchd: %w", name, err)}
	}
	switch {
	case r.Schema == 0 || r.ID == "" || r.Trials == nil:
		return r, exitError{exitUsage, fmt.Errorf("%s is no result of benchd: it has no schema, id and trials; give what benchd run or benchd results wrote", name)}
	case r.Schema != bench.Schema:
		return r, exitError{exitUsage, fmt.Errorf("%s is a result of schema %d; this benchd knows %d", name, r.Schema, bench.Schema)}
	case !r.State.Final():
		return r, exitError{exitUsage, fmt.Errorf("%s is a result of a run that is %q, and not over", name, r.State)}
	}
	return r, nil
}

// readInput reads a file, or standard input where it is named -.
func readInput(name string, in io.Reader) ([]byte, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxResult+1))
	if err == nil && len(text) > maxResult {
		err = fmt.Errorf("%s is longer than %d bytes", name, maxResult)
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
}

// maxResult is the longest result that is read: a thousand trials of a hundred forks are
// below it.
const maxResult = 1 << 30

// fetchResult reads a result file, or gets the result of a run.
func fetchResult(ctx context.Context, api *client.Client, what string, in io.Reader) (bench.Result, error) {
	if isFile(what) {
		return readResult(what, in)
	}
	r, err := api.Result(ctx, what)
	if e := bench.AsError(err); e != nil && e.Code == "unreachable" {
		return r, errors.Join(err, fmt.Errorf("(%s is no file here, and was taken for a run)", what))
	}
	return r, err
}
