package catalog_test

import (
	"strings"
	"testing"

	"benchd/kernels/catalog"
	"benchd/kernels/kerneltest"
)

// TestNames holds what requests rely on: a name means one kernel, and a family's name all
// of its kernels and no other's.
func TestNames(t *testing.T) {
	t.Parallel()
	families := make(map[string]bool)
	names := make(map[string]bool)
	for _, f := range catalog.Families() {
		if f.Name == "" || families[f.Name] {
			t.Errorf("the family name %q is empty or stands twice", f.Name)
		}
		families[f.Name] = true
		if f.Title == "" || len(f.Kernels) == 0 {
			t.Errorf("family %s has no title or no kernels", f.Name)
		}
		for _, k := range f.Kernels {
			name := k.Info().Name
			if !strings.HasPrefix(name, f.Name+".") {
				t.Errorf("kernel %s is in family %s", name, f.Name)
			}
			if names[name] {
				t.Errorf("the kernel name %s stands twice", name)
			}
			names[name] = true
		}
	}
}

// TestInfo checks every description without opening anything; the families' own tests run
// the whole conformance suite.
func TestInfo(t *testing.T) {
	t.Parallel()
	for _, f := range catalog.Families() {
		for _, k := range f.Kernels {
			for _, err := range kerneltest.CheckInfo(k.Info()) {
				t.Errorf("%s: %v", k.Info().Name, err)
			}
		}
	}
}
