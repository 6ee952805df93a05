package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hibiken/asynq"
	"github.com/klauspost/compress/zstd"

	"benchd/worker/bench"
)

const reportType = "report"

// Sizes of reports. asynq loads a task whole, and so does every look at it.
const (
	maxReport   = 16 << 20  // compressed
	maxUnpacked = 512 << 20 // no report of maxReport bytes that is honest unpacks to more
)

// reportTimeout is what storing one report may take.
const reportTimeout = time.Minute

// Send puts a report into the queue of results. A report that is already there, with the
// same trial, attempt and kind, is left alone. One that is over 16 MiB when compressed is
// refused with a *bench.Error of kind TooLarge.
func (q *Queue) Send(ctx context.Context, r bench.Report) error {
	payload, err := pack(r)
	if err != nil {
		return err
	}
	err = q.send(ctx, r, payload)
	if !errors.Is(err, asynq.ErrTaskIDConflict) {
		return err
	}
	// It is there already. Only an archived one would never be collected: make room for it.
	state, err := q.taskState(resultsQueue, reportID(r))
	if err != nil || state != asynq.TaskStateArchived {
		return err
	}
	if err := q.inspector.DeleteTask(resultsQueue, reportID(r)); err != nil && !errors.Is(err, asynq.ErrTaskNotFound) {
		return fmt.Errorf("delete archived report %s: %w", reportID(r), err)
	}
	return q.send(ctx, r, payload)
}

func (q *Queue) send(ctx context.Context, r bench.Report, payload []byte) error {
	_, err := q.client().EnqueueContext(ctx, asynq.NewTask(reportType, payload),
		asynq.Queue(resultsQueue), asynq.TaskID(reportID(r)),
		asynq.MaxRetry(math.MaxInt32), asynq.Timeout(reportTimeout))
	if err != nil {
		return fmt.Errorf("send report %s: %w", reportID(r), err)
	}
	return nil
}

// Acked tells whether the finished report of this attempt was stored, so that the worker may
// forget it.
func (q *Queue) Acked(ctx context.Context, trial string, attempt int) (bool, error) {
	n, err := q.rdb.Exists(ctx, ackKey(trial, attempt)).Result()
	if err != nil {
		return false, fmt.Errorf("look for the acknowledgement of trial %s: %w", trial, err)
	}
	return n == 1, nil
}

func (q *Queue) ack(ctx context.Context, r bench.Report) error {
	if err := q.rdb.Set(ctx, ackKey(r.Trial, r.Attempt), "1", ackTTL).Err(); err != nil {
		return fmt.Errorf("acknowledge report %s: %w", reportID(r), err)
	}
	return nil
}

func pack(r bench.Report) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode report %s: %w", reportID(r), err)
	}
	// One goroutine, made for this report: reports are rare, and an idle worker shall be small.
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("compress report %s: %w", reportID(r), err)
	}
	packed := enc.EncodeAll(text, nil)
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("compress report %s: %w", reportID(r), err)
	}
	if len(packed) > maxReport {
		return nil, bench.Errorf(bench.TooLarge, "result_too_large", "the result of trial %s is %d bytes when compressed; at most %d can be sent, so ask for fewer slices or forks", r.Trial, len(packed), maxReport)
	}
	return packed, nil
}

func unpack(payload []byte) (bench.Report, error) {
	var r bench.Report
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxUnpacked))
	if err != nil {
		return r, fmt.Errorf("decompress a report: %w", err)
	}
	defer dec.Close()
	text, err := dec.DecodeAll(payload, nil)
	if err != nil {
		return r, fmt.Errorf("decompress a report: %w", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("decode a report: %w", err)
	}
	if r.Trial == "" || (r.Kind != bench.Started && r.Kind != bench.Finished) {
		return r, fmt.Errorf("decode a report: kind %q of trial %q", r.Kind, r.Trial)
	}
	return r, nil
}
