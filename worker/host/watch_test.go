package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"benchd/worker/bench"
	"benchd/worker/host"
)

// A changing machine is a file system whose files are written over while it is watched.
type changing struct {
	mu    sync.Mutex
	files fstest.MapFS
}

// Open hides all that a file can do beyond what every file can.
func (c *changing) Open(name string) (fs.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := c.files.Open(name)
	return struct{ fs.File }{f}, err
}

// ReadDir lists a folder.
func (c *changing) ReadDir(name string) ([]fs.DirEntry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.files.ReadDir(name)
}

// change writes the files of an archive that are in a folder.
func (c *changing) change(a *txtar.Archive, folder string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range a.Files {
		if name, ok := strings.CutPrefix(f.Name, folder+"/"); ok {
			c.files[name] = &fstest.MapFile{Data: f.Data}
		}
	}
}

// watch watches a machine for ten seconds, in which the trial uses one core.
func watch(t *testing.T, a *txtar.Archive, o host.WatchOptions) (n bench.Noise) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		machine := &changing{files: fstest.MapFS{}}
		machine.change(a, "before")
		o.Root = machine
		begun := time.Now()
		if o.Used == nil {
			o.Used = func(pids []int) (time.Duration, error) {
				if len(pids) != 2 || pids[0] != 17 || pids[1] != 4 {
					t.Errorf("asked for processes %v, want 17 and 4", pids)
				}
				return time.Since(begun), nil
			}
		}
		w := host.NewWatch(o)
		w.Start(t.Context(), func() []int { return []int{17, 4} })
		time.Sleep(5*time.Second + time.Millisecond)
		machine.change(a, "during")
		time.Sleep(5*time.Second - time.Millisecond)
		machine.change(a, "after")
		n = w.Stop()
	})
	return n
}

// Every machine in testdata is as noisy as its archive says.
func TestWatchMachines(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/noise/*.txtar")
	if err != nil || len(names) < 5 {
		t.Fatalf("%d machines in testdata, error %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			_, want := load(t, name)
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			n := watch(t, archive, host.WatchOptions{})
			text, err := json.MarshalIndent(struct {
				Noise  bench.Noise `json:"noise"`
				Doubts []string    `json:"doubts"`
			}{n, host.Doubts(n, 2)}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got := string(text) + "\n"
			if *update {
				store(t, name, got)
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			explained(t, n)
		})
	}
}

// explained fails the test unless every null of a noise stands beside its reason, and no
// value does.
func explained(t *testing.T, n bench.Noise) {
	t.Helper()
	text, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	delete(all, "unknown")
	for name, v := range all {
		if reason, unknown := n.Unknown[name]; (v == nil) != unknown || unknown && reason == "" {
			t.Errorf("%s is %v, its reason %q", name, v, reason)
		}
	}
	for name := range n.Unknown {
		if _, ok := all[name]; !ok {
			t.Errorf("there is a reason for %s, which is no reading", name)
		}
	}
}

func TestWatchAwake(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/noise/metal-6.8.txtar")
	if err != nil {
		t.Fatal(err)
	}
	n := watch(t, archive, host.WatchOptions{Awake: true})
	if n.PressureCPU != nil || !strings.Contains(n.Unknown["pressure_cpu"], "spinners") {
		t.Errorf("pressure on the CPUs %v, reason %q; spinners make it", n.PressureCPU, n.Unknown["pressure_cpu"])
	}
	if n.PressureIO == nil {
		t.Errorf("no pressure on input and output: %s", n.Unknown["pressure_io"])
	}
	explained(t, n)
}

// A trial whose CPU time cannot be told leaves that of others unknown, and nothing else.
func TestWatchWithoutUsed(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/noise/metal-6.8.txtar")
	if err != nil {
		t.Fatal(err)
	}
	n := watch(t, archive, host.WatchOptions{Used: func([]int) (time.Duration, error) { return 0, errors.New("no such clock") }})
	if n.Others != nil || n.Unknown["others"] != "no such clock" || n.Steal == nil {
		t.Errorf("others %v, reason %q, steal %v", n.Others, n.Unknown["others"], n.Steal)
	}
	explained(t, n)
}

// A watch whose context ends in the middle samples no more, and still tells what it saw.
func TestWatchContextEnds(t *testing.T) {
	t.Parallel()
	w := host.NewWatch(host.WatchOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	w.Start(ctx, func() []int { return nil })
	cancel()
	n := w.Stop()
	if n.Elapsed < 0 || n.Elapsed > 60 {
		t.Errorf("it watched for %v s", n.Elapsed)
	}
	explained(t, n)
}
