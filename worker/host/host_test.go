package host_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"benchd/worker/bench"
	"benchd/worker/host"
)

var update = flag.Bool("update", false, "write what was read into testdata as what is wanted")

// wantFile is the file of a machine's archive that holds the snapshot wanted of it.
const wantFile = "want.json"

// Every machine in testdata reads as its archive says.
func TestReadMachines(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) < 7 {
		t.Fatalf("%d machines in testdata, error %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			machine, want := load(t, name)
			got := normal(t, read(machine))
			if *update {
				store(t, name, got)
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

// load reads a machine's files and the snapshot that is wanted of it.
func load(t *testing.T, name string) (machine fstest.MapFS, want string) {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	machine = fstest.MapFS{}
	for _, f := range archive.Files {
		if f.Name == wantFile {
			want = string(f.Data)
			continue
		}
		machine[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return machine, want
}

// store writes the snapshot into the machine's archive.
func store(t *testing.T, name, got string) {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == wantFile })
	archive.Files = append(archive.Files, txtar.File{Name: wantFile, Data: []byte(got)})
	if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// read reads a machine at a fixed time with a fixed build.
func read(machine fstest.MapFS) bench.HostSnapshot {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	return host.Read(context.Background(), host.Options{
		Root:  machine,
		Now:   func() time.Time { return at },
		Build: "v1.0.0",
	})
}

// normal writes a snapshot as JSON, without what depends on the binary that runs the test.
func normal(t *testing.T, s bench.HostSnapshot) string {
	t.Helper()
	s.Fingerprint = ""
	s.Facts.Arch, s.Facts.ArchLevel, s.Facts.Go = "", "", ""
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// A null stands beside its reason, and a value has none: for the whole of a snapshot, read
// from every machine in testdata and from this one. The clock offset is the worker's.
func TestEveryNullHasAReason(t *testing.T) {
	t.Parallel()
	snapshots := map[string]bench.HostSnapshot{
		"this machine": host.Read(t.Context(), host.Options{}),
		"empty":        read(fstest.MapFS{}),
	}
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		machine, _ := load(t, name)
		snapshots[name] = read(machine)
	}
	for name, s := range snapshots {
		for field, value := range values(t, s) {
			reason, unknown := s.Unknown[field]
			switch {
			case value == nil && reason == "" && field != "clock_offset_s":
				t.Errorf("%s: %s is null without a reason", name, field)
			case value != nil && unknown:
				t.Errorf("%s: %s is %v and has a reason: %s", name, field, value, reason)
			}
		}
	}
}

// values gives the facts and the volatile readings by their names in JSON.
func values(t *testing.T, s bench.HostSnapshot) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, part := range []any{s.Facts, s.Volatile} {
		text, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// The machine that runs the test can be read, and says so much about itself on any platform.
func TestReadThisMachine(t *testing.T) {
	t.Parallel()
	s := host.Read(t.Context(), host.Options{})
	f := s.Facts
	if f.OS != runtime.GOOS || f.Arch != runtime.GOARCH || f.Go != runtime.Version() {
		t.Errorf("os %q arch %q go %q", f.OS, f.Arch, f.Go)
	}
	if f.Threads < 1 || f.CPUModel == "" || f.ArchLevel == "" || f.Build == "" {
		t.Errorf("threads %d, model %q, level %q, build %q", f.Threads, f.CPUModel, f.ArchLevel, f.Build)
	}
	if age := time.Since(s.Volatile.At); age < 0 || age > time.Minute {
		t.Errorf("read at %v, which is %v ago", s.Volatile.At, age)
	}
	if again := host.Read(t.Context(), host.Options{}); again.Fingerprint != s.Fingerprint {
		t.Errorf("fingerprint %s, then %s:\n%s", s.Fingerprint, again.Fingerprint, cmp.Diff(s.Facts, again.Facts))
	}
}
