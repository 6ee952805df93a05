package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"benchd/worker/bench"
)

// An outbox keeps finished reports on disk, a file each, until they are acknowledged.
type outbox struct {
	dir string
}

func openOutbox(data string) (*outbox, error) {
	dir := filepath.Join(data, "outbox")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for results that wait: %w", err)
	}
	return &outbox{dir: dir}, nil
}

const outboxEnd = ".json"

// put writes a report so that it survives the end of this process and of the machine.
func (b *outbox) put(r bench.Report) error {
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
		err = os.Rename(f.Name(), filepath.Join(b.dir, fmt.Sprintf("%s.%d%s", r.Trial, r.Attempt, outboxEnd)))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write report %s: %w", r.Trial, err), os.Remove(f.Name()))
	}
	return nil
}

// names lists the files of the reports that wait.
func (b *outbox) names() []string {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return nil
	}
	var names []string
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
	var r bench.Report
	text, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		return r, fmt.Errorf("read a report that waits: %w", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("read the report %s: %w", name, err)
	}
	return r, nil
}

func (b *outbox) drop(name string) error { return os.Remove(filepath.Join(b.dir, name)) }

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
