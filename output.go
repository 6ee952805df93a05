package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"benchd/worker/bench"
)

// A resultFile is where the result of a run goes. It is opened before anything is measured,
// so that a folder that cannot be written to is told at once.
type resultFile struct {
	name string   // asked for; empty: named after the run
	file *os.File // a part that gets its name at the end, or what is not a regular file itself
	part bool
}

// openResult opens the file for a result; "-" needs none.
func openResult(name string) (*resultFile, error) {
	r := &resultFile{name: name}
	if name == "-" {
		return r, nil
	}
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		return nil, fmt.Errorf("the result cannot be written to %s: it is a folder; name a file", name)
	}
	if err == nil && !info.Mode().IsRegular() { // such as /dev/null
		r.file, err = os.OpenFile(name, os.O_WRONLY, 0)
	} else {
		r.part = true
		r.file, err = os.CreateTemp(filepath.Dir(name), ".benchd-*.part")
	}
	if err != nil {
		return nil, fmt.Errorf("the result cannot be written: %w; name another file with --out", err)
	}
	return r, nil
}

// write writes the result and tells where it is. When that fails after all, it is kept among
// the temporary files rather than lost.
func (r *resultFile) write(result bench.Result) (string, error) {
	name := r.name
	if name == "" {
		name = "benchd-" + result.ID + ".json"
	}
	err := errors.Join(writeJSON(r.file, result), r.file.Close())
	if err == nil && r.part {
		// A file made by CreateTemp is for its owner only; a result is for whoever may look.
		err = errors.Join(os.Chmod(r.file.Name(), 0o644), os.Rename(r.file.Name(), name))
	}
	if err == nil {
		r.file = nil
		return name, nil
	}
	return "", errors.Join(fmt.Errorf("write the result to %s: %w", name, err), keep(result))
}

// keep writes a result among the temporary files and says where, as an error.
func keep(result bench.Result) error {
	f, err := os.CreateTemp("", "benchd-"+result.ID+"-*.json")
	if err != nil {
		return fmt.Errorf("keep the result elsewhere: %w", err)
	}
	if err := errors.Join(writeJSON(f, result), f.Close()); err != nil {
		return fmt.Errorf("keep the result elsewhere: %w", err)
	}
	return fmt.Errorf("the result is kept in %s", f.Name())
}

// discard removes what was opened and not written.
func (r *resultFile) discard() {
	if r.file == nil {
		return
	}
	_ = r.file.Close()
	if r.part {
		_ = os.Remove(r.file.Name())
	}
}
