package main_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/licensecheck"
)

// allowedLicences may be part of the binary: they ask for a notice, MPL-2.0 and EPL-2.0
// also for changes to their own files, and none of them for benchd's source. EPL-2.0 is that
// of the MQTT client, which may be had under the terms of BSD-3-Clause as well.
var allowedLicences = []string{
	"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSD-Source-Code", "BSL-1.0", "CC0-1.0",
	"EPL-2.0", "ISC", "MIT", "MIT-0", "MPL-2.0", "Unlicense", "Zlib",
}

// licenceName is what modules call the files with their licences.
var licenceName = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright)`)

// readByHand are files whose text no tool knows: SQLite's dedication to the public domain,
// and the terms of a logo that is not part of the binary.
var readByHand = []string{"LICENSE-SQLITE", "LICENSE-LOGO"}

// A linked package is one that is part of the binary.
type linked struct {
	ImportPath string
	Dir        string
	Module     *struct{ Path, Version, Dir string }
}

// Every module that is linked into the binary on any platform has a licence that is known
// and allowed.
func TestLicences(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the Go tool is not there to list what is linked")
	}
	dirs := map[string][]string{} // by module: its root, and the folders of its linked packages
	for _, platform := range []string{"linux", "darwin", "windows"} {
		for _, p := range list(t, platform) {
			if p.Module == nil || p.Module.Path == "benchd" {
				continue
			}
			name := p.Module.Path + "@" + p.Module.Version
			if dirs[name] == nil {
				dirs[name] = []string{p.Module.Dir}
			}
			dirs[name] = append(dirs[name], p.Dir)
		}
	}
	if len(dirs) < 20 {
		t.Fatalf("only %d modules are linked, which cannot be", len(dirs))
	}
	counts := map[string]int{}
	for module, folders := range dirs {
		slices.Sort(folders)
		for _, id := range licences(t, module, slices.Compact(folders)) {
			counts[id]++
			if !slices.Contains(allowedLicences, id) {
				t.Errorf("%s is under %s, which is not allowed", module, id)
			}
		}
	}
	t.Logf("%d modules: %v", len(dirs), counts)
}

// list lists the packages that the binary is made of on a platform.
func list(t *testing.T, goos string) []linked {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Module", ".")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []linked
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p linked
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// isLicence tells whether a file holds a licence's text that a tool can know.
func isLicence(e os.DirEntry) bool {
	return !e.IsDir() && licenceName.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" && !slices.Contains(readByHand, e.Name())
}

// licences tells the licences in the folders of a module. There is at least one, and the text
// of every licence file is known for the greater part.
func licences(t *testing.T, module string, folders []string) []string {
	t.Helper()
	var ids []string
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !isLicence(e) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(folder, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			known := licensecheck.Scan(text)
			if known.Percent < 50 {
				t.Errorf("%s: only %.0f %% of %s is a licence that is known", module, known.Percent, e.Name())
			}
			for _, m := range known.Match {
				if !m.IsURL && !slices.Contains(ids, m.ID) {
					ids = append(ids, m.ID)
				}
			}
		}
	}
	if len(ids) == 0 {
		t.Errorf("%s has no licence that is known", module)
	}
	return ids
}
