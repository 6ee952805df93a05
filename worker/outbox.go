package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"benchd/worker/bench"
)

// An outbox keeps finished reports on disk, a file each, until they are acknowledged. What
// the disk does not take is kept in memory, so that only the end of the process loses it.
type outbox struct {
	dir string

	mu   sync.Mutex
	held map[string]bench.Report // by the name that their file would have
}

func openOutbox(data string) (*outbox, error) {
	dir := filepath.Join(data, "outbox")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for results that wait: %w", err)
	}
	return &outbox{dir: dir, held: make(map[string]bench.Report)}, nil
}

const outboxEnd = ".json"

// put writes a report so that it survives the end of this process and of the machine. With
// an error it is held in memory only.
func (b *outbox) put(r bench.Report) error {
	name := fmt.Sprintf("%s.%d%s", r.Trial, r.Attempt, outboxEnd)
	err := b.write(name, r)
	if err != nil {
		b.mu.Lock()
		b.held[name] = r
		b.mu.Unlock()
	}
	return err
}

func (b *outbox) write(name string, r bench.Report) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write report %s: %w", r.Trial, err)
	}
	f, err := os.CreateTemp(b.dir, "*.part")
	if err != nil {
		return fmt.Errorf("write report %s: %w", r.Trial, err)
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(b.dir, name))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write report %s: %w", r.Trial, err), os.Remove(f.Name()))
	}
	return nil
}

// names lists the reports that wait.
func (b *outbox) names() []string {
	b.mu.Lock()
	names := slices.Collect(maps.Keys(b.held))
	b.mu.Unlock()
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return names
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), outboxEnd) {
			names = append(names, e.Name())
		}
	}
	return names
}

// trials lists the trials whose reports wait.
func (b *outbox) trials() []string {
	names := b.names()
	ids := make([]string, len(names))
	for i, n := range names {
		ids[i], _, _ = strings.Cut(n, ".")
	}
	return ids
}

func (b *outbox) get(name string) (bench.Report, error) {
	b.mu.Lock()
	r, held := b.held[name]
	b.mu.Unlock()
	if held {
		return r, nil
	}
	text, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		return r, fmt.Errorf("read a report that waits: %w", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("read the report %s: %w", name, err)
	}
	return r, nil
}

func (b *outbox) drop(name string) error {
	b.mu.Lock()
	_, held := b.held[name]
	delete(b.held, name)
	b.mu.Unlock()
	if held {
		return nil
	}
	return os.Remove(filepath.Join(b.dir, name))
}

// send sends what waits in the outbox, again and again until it is acknowledged.
func (w *Worker) send(ctx context.Context) {
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	for {
		w.sendOnce(ctx)
		select {
		case <-tick.C:
		case <-w.sendNow:
		case <-ctx.Done():
			return
		}
	}
}

// sendOnce goes through the outbox once. An error leaves the file for the next time.
func (w *Worker) sendOnce(ctx context.Context) {
	for _, name := range w.outbox.names() {
		if err := w.sendFile(ctx, name); err != nil && ctx.Err() == nil {
			w.Logger.Warn("send a result; it is kept and sent again", "file", name, "error", err)
		}
	}
}

func (w *Worker) sendFile(ctx context.Context, name string) error {
	r, err := w.outbox.get(name)
	if err != nil {
		return err
	}
	acked, err := w.Queue.Acked(ctx, r.Trial, r.Attempt)
	if err != nil {
		return err
	}
	if acked {
		return w.outbox.drop(name)
	}
	return w.Queue.Send(ctx, r)
}
