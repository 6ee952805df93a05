package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"benchd/worker/bench"
)

// A NewRun is a run to be stored.
type NewRun struct {
	// Run carries ID, Spec, Created and Trials with ID, Host, Kernel, Params and Repeat. A trial
	// without a host waits for Assign. Everything else is worked out here.
	Run bench.Run
	// IdempotencyKey names the request, so that sending it again makes no second run; empty
	// for none.
	IdempotencyKey string
	// BodyHash is the hash of the request's body, to tell a repeated request from another
	// one with the same key.
	BodyHash [32]byte
}

// CreateRun stores a run with all its trials, queued, and gives it as it is stored. When
// the key is known, it gives the run of that key and existed; with another body than that
// run's it is a Conflict, idempotency_conflict.
func (s *Store) CreateRun(ctx context.Context, n NewRun) (run bench.Run, existed bool, err error) {
	if len(n.Run.Trials) == 0 || n.Run.ID == "" {
		return bench.Run{}, false, errors.New("create run: a run needs an id and a trial")
	}
	run = fresh(n.Run)
	enc, err := encodeRun(run)
	if err != nil {
		return bench.Run{}, false, fmt.Errorf("create run: %w", err)
	}
	var first string
	err = s.write(ctx, "create run", func(t *tx) error {
		if first, err = t.claimed(n); err != nil || first != "" {
			return err
		}
		return t.insertRun(&run, enc, n)
	})
	if err != nil {
		return bench.Run{}, false, err
	}
	if first != "" {
		run, err = s.Run(ctx, first)
		return run, true, err
	}
	return run, false, nil
}

// claimed is asked within the transaction that would store the run: of two requests with the
// same key at once, the later finds what the earlier one stored. It gives the id of the run that was made with the same key, or "".
func (t *tx) claimed(n NewRun) (string, error) {
	if n.IdempotencyKey == "" {
		return "", nil
	}
	var id string
	var hash []byte
	err := t.row("SELECT id, body_hash FROM runs WHERE idempotency_key = ?", n.IdempotencyKey).Scan(&id, &hash)
	if isNoRows(err) {
		return "", nil
	}
	if err == nil && !bytes.Equal(hash, n.BodyHash[:]) {
		return "", bench.Errorf(bench.Conflict, "idempotency_conflict",
			"the Idempotency-Key %q was used for run %s with another body; use a new key for a new request", clip(n.IdempotencyKey), id)
	}
	return id, err
}

// fresh gives the run as it is at its start.
func fresh(run bench.Run) bench.Run {
	run.State, run.Reason, run.Started, run.Finished = bench.Queued, "", nil, nil
	run.Created = run.Created.UTC().Truncate(time.Microsecond)
	run.Trials = slices.Clone(run.Trials)
	run.Hosts = []string{}
	for i, t := range run.Trials {
		run.Trials[i] = bench.Trial{ID: t.ID, Host: t.Host, Kernel: t.Kernel, Params: t.Params, Repeat: max(1, t.Repeat), State: bench.Queued}
		if t.Host != "" && !slices.Contains(run.Hosts, t.Host) {
			run.Hosts = append(run.Hosts, t.Host)
		}
	}
	run.Progress = bench.ComputeProgress(run.Spec, run.Trials)
	return run
}

// An encodedRun is the JSON of a new run's columns, made before the writer's turn comes.
type encodedRun struct {
	spec, hosts, selector string
	params                []string // of each trial
	waiting               bool
}

// encodeRun writes the JSON columns of a run. It is done outside the transaction, where
// several requests can do it at once, since all writes wait for one connection.
func encodeRun(run bench.Run) (encodedRun, error) {
	var e encodedRun
	for dest, v := range map[*string]any{&e.spec: run.Spec, &e.hosts: run.Hosts, &e.selector: run.Spec.Hosts} {
		text, err := json.Marshal(v)
		if err != nil {
			return e, fmt.Errorf("write spec: %w", err)
		}
		*dest = string(text)
	}
	e.params = make([]string, len(run.Trials))
	for i, t := range run.Trials {
		text, err := paramsText(t.Params)
		if err != nil {
			return e, fmt.Errorf("write parameters: %w", err)
		}
		e.params[i] = text
		e.waiting = e.waiting || t.Host == ""
	}
	return e, nil
}

// insertRun writes the rows of a new run: the run, its trials, what it is found by, and the
// counts. Either all of it is there after a crash, or nothing.
func (t *tx) insertRun(run *bench.Run, e encodedRun, n NewRun) error {
	seq, err := t.nextSeq(run.Created)
	if err != nil {
		return err
	}
	var key, hash any
	if n.IdempotencyKey != "" {
		key, hash = n.IdempotencyKey, n.BodyHash[:]
	}
	_, err = t.exec(`INSERT INTO runs (seq, id, state, reason, spec, timeout, hosts, selector, waiting, created, cancel_reason, done, total, version, idempotency_key, body_hash, repeat, label_commit)
		VALUES (?, ?, ?, '', ?, ?, ?, ?, ?, ?, '', 0, ?, 1, ?, ?, ?, ?)`,
		seq, run.ID, run.State, e.spec, run.Spec.Timeout.Std().Microseconds(), e.hosts, e.selector, flag(e.waiting), micros(run.Created), len(run.Trials), key, hash, max(1, run.Spec.Repeat), run.Spec.Labels[labelCommit])
	if err != nil {
		return err
	}
	trials := make([]any, 0, 7*len(run.Trials))
	for i, tr := range run.Trials {
		trials = append(trials, seq, i, tr.ID, tr.Host, tr.Kernel, e.params[i], tr.Repeat)
	}
	if err := t.insert(insertTrials(), trials); err != nil {
		return err
	}
	if err := t.insert(insertTags(), tagsOf(seq, *run)); err != nil {
		return err
	}
	t.count(tallyRun, bench.Queued, 1)
	t.count(tallyTrial, bench.Queued, int64(len(run.Trials)))
	t.changed = append(t.changed, run.ID)
	return nil
}

// nextSeq gives the key of a run created at the given time: the time, or one more than the
// last key when that is later, so that keys only grow and are unique.
func (t *tx) nextSeq(created time.Time) (int64, error) {
	var last int64
	err := t.row("SELECT COALESCE(MAX(seq), 0) FROM runs").Scan(&last)
	return max(micros(created), last+1), err
}

// A bulk is an insert of many rows at once: the text before the rows, one row, the text
// after the rows, and how many arguments a row takes.
type bulk struct {
	head, row, tail string
	args            int
}

// insertTrials is the bulk insert of trials.
func insertTrials() bulk {
	return bulk{
		"INSERT INTO trials (run, ordinal, id, host, kernel, params, repeat, state, attempt, least, instance) VALUES ",
		"(?, ?, ?, ?, ?, ?, ?, 'queued', 0, 1, '')", "", 7,
	}
}

// insertTags is the bulk insert of what runs are found by.
func insertTags() bulk {
	return bulk{"INSERT INTO tags (kind, value, run) VALUES ", "(?, ?, ?)", " ON CONFLICT DO NOTHING", 3}
}

// text is the statement for a number of rows.
func (b bulk) text(rows int) string {
	return b.head + strings.TrimSuffix(strings.Repeat(b.row+",", rows), ",") + b.tail
}

// insert writes all rows with few statements. Their sizes are few as well, so that each is
// prepared once.
func (t *tx) insert(b bulk, args []any) error {
	for _, size := range []int{64, 16, 4, 1} {
		n := size * b.args
		for len(args) >= n {
			if _, err := t.exec(b.text(size), args[:n]...); err != nil {
				return err
			}
			args = args[n:]
		}
	}
	return nil
}

// Kinds of tags. A label's kind carries the label's name after a space.
const (
	tagHost   = "host"
	tagKernel = "kernel"
	tagSuite  = "suite"
	tagLabel  = "label "
)

// labelCommit is the label that a history shows beside each point.
const labelCommit = "commit"

// tagsOf lists what a run can be found by, as arguments of insertTags(). A kernel's family
// finds the run too, since a request may name a family for all of its kernels.
func tagsOf(seq int64, run bench.Run) []any {
	var tags []any
	seen := make(map[[2]string]bool)
	add := func(kind, value string) {
		if k := [2]string{kind, value}; value != "" && !seen[k] {
			seen[k] = true
			tags = append(tags, kind, value, seq)
		}
	}
	add(tagSuite, run.Spec.Suite)
	for _, t := range run.Trials {
		add(tagHost, t.Host)
		add(tagKernel, t.Kernel)
		family, _, _ := strings.Cut(t.Kernel, ".")
		add(tagKernel, family)
	}
	for name, value := range run.Spec.Labels {
		seen[[2]string{tagLabel + name, value}] = true
		tags = append(tags, tagLabel+name, value, seq)
	}
	return tags
}

// flag is a bool as the tables keep it.
func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
