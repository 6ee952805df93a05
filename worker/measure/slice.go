package measure

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"benchd/worker/bench"
	"benchd/worker/host"
	"benchd/worker/stats/steady"
)

// A slice is one measured slice with its sample in operations per second.
type slice struct {
	bench.Slice
	sample   float64
	elapsed  time.Duration // mean over the lanes
	wall     time.Duration // of the slowest lane: what the meters saw
	failures int64
	times    *Times // nil where operations are timed in batches
}

// slice lets all lanes work for one slice and reads the meters before and after.
func (s *session) slice(ctx context.Context, length span) (slice, error) {
	gc := gcCycles()
	failed := s.failed()
	before := s.Meter.Read()
	s.work(ctx, length)
	after := s.Meter.Read()
	if err := ctx.Err(); err != nil {
		return slice{}, fmt.Errorf("measure a slice: %w", context.Cause(ctx))
	}
	sl := slice{failures: s.failed() - failed}
	for _, l := range s.lanes {
		if l.fatal != nil {
			return slice{}, l.fatal
		}
		sl.Operations += l.ops
		sl.sample += float64(l.ops) / l.elapsed.Seconds()
		sl.elapsed += l.elapsed
		sl.wall = max(sl.wall, l.elapsed)
	}
	sl.Lanes = len(s.lanes)
	sl.elapsed /= time.Duration(sl.Lanes)
	sl.Elapsed = int64(sl.elapsed)
	sl.Client = int64(after.Self - before.Self)
	sl.Server = difference(after.Server, before.Server)
	sl.System = difference(after.System, before.System)
	sl.GC = int(gcCycles() - gc)
	return sl, nil
}

// collect takes and encodes the lanes' latencies since the last time.
func (s *session) collect() (*Times, error) {
	if s.times == nil {
		return nil, nil
	}
	for _, l := range s.lanes {
		s.times.take(l.times)
	}
	out, err := s.times.encode()
	return &out, err
}

// work starts all lanes at once and waits for the last.
func (s *session) work(ctx context.Context, length span) {
	if len(s.lanes) == 1 {
		s.run(ctx, s.lanes[0], length)
		return
	}
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i, l := range s.lanes {
		wg.Go(func() {
			s.place(i)
			<-start
			s.run(ctx, l, length)
		})
	}
	close(start)
	wg.Wait()
}

// run lets one lane work for one slice.
func (s *session) run(ctx context.Context, l *lane, length span) {
	if l.pace != nil {
		l.runPaced(ctx, length.time)
		return
	}
	l.run(ctx, length, s.batch)
}

// place puts the calling goroutine, of lane i, on a CPU of its own where there are several
// to choose from. The goroutine ends without giving its thread back, and the thread with it.
// A CPU that went away since the fork began costs the lane its place and nothing else.
func (s *session) place(i int) {
	if len(s.CPUs) > 1 {
		runtime.LockOSThread()
		_ = host.PinThread(s.CPUs[i%len(s.CPUs)])
	}
}

func difference(after, before *time.Duration) *int64 {
	if after == nil || before == nil {
		return nil
	}
	d := int64(*after - *before)
	return &d
}

func gcCycles() uint64 {
	sample := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// record puts the fork's parts together.
func (s *session) record(warm, measured []slice) (Record, error) {
	var series steady.Series
	if s.Plan.Ramp == 0 { // samples that change with the lanes tell nothing else
		series = steady.Classify(samples(measured))
	}
	if s.Plan.Warmup.Auto() && series.Class != nil {
		warm, measured = measured[:series.From], measured[series.From:]
	}
	rec := Record{Work: s.count(), Settings: s.settings(), Fork: bench.Fork{
		Began:   s.began,
		Samples: samples(measured),
		Warmup:  bench.Warmup{Slices: len(warm), Operations: operations(warm), Samples: samples(warm)},
		Steady:  series.Class,
		CPU:     s.cpu(measured),
	}}
	for _, sl := range measured {
		rec.Fork.Slices = append(rec.Fork.Slices, sl.Slice)
	}
	rec.Fork.Failures = s.failures()
	if operations(measured) == 0 {
		if f := rec.Fork.Failures; f != nil {
			return Record{}, fmt.Errorf("%w: %d failed; the first: %s", ErrNothing, f.Count, f.Sample)
		}
		return Record{}, ErrNothing
	}
	var err1, err2, err3 error
	rec.Times, err1 = mergeSlices(measured)
	rec.Warmup, err2 = mergeSlices(warm)
	rec.Steps, err3 = s.steps(measured)
	return rec, errors.Join(err1, err2, err3)
}

// steps takes the slices of a ramp apart by their number of lanes.
func (s *session) steps(measured []slice) (out []Step, err error) {
	if s.Plan.Ramp == 0 {
		return nil, nil
	}
	for list := range slices.Chunk(measured, s.Plan.MeasuredSlices()) {
		step := Step{Lanes: list[0].Lanes, CPU: s.cpu(list)}
		for _, sl := range list {
			step.Elapsed += sl.wall
			step.Failures += sl.failures
		}
		if step.Times, err = mergeSlices(list); err != nil {
			return nil, err
		}
		out = append(out, step)
	}
	return out, nil
}

// failed counts the operations of all lanes that failed so far.
func (s *session) failed() (n int64) {
	for _, l := range s.lanes {
		n += l.failures.Count
	}
	return n
}

func samples(list []slice) []float64 {
	out := make([]float64, len(list))
	for i, sl := range list {
		out[i] = sl.sample
	}
	return out
}

func operations(list []slice) (n int64) {
	for _, sl := range list {
		n += sl.Operations
	}
	return n
}

// mergeSlices adds up the latencies of slices.
func mergeSlices(list []slice) (*Times, error) {
	var all []Times
	for _, sl := range list {
		if sl.times != nil {
			all = append(all, *sl.times)
		}
	}
	return MergeTimes(all)
}

// cpu works out how busy the processors were over all measured slices.
func (s *session) cpu(measured []slice) bench.CPU {
	var elapsed, client, server, system float64
	haveServer, haveSystem := true, true
	for _, sl := range measured {
		elapsed += sl.wall.Seconds()
		client += float64(sl.Client) / 1e9
		if haveServer = haveServer && sl.Server != nil; haveServer {
			server += float64(*sl.Server) / 1e9
		}
		if haveSystem = haveSystem && sl.System != nil; haveSystem {
			system += float64(*sl.System) / 1e9
		}
	}
	if elapsed == 0 {
		return bench.CPU{Reason: "no slice was measured"}
	}
	share := func(used float64, known bool) *float64 {
		if !known {
			return nil
		}
		v := used / elapsed
		return &v
	}
	cpu := bench.CPU{Client: share(client, true), Server: share(server, haveServer), System: share(system/float64(host.CPUs()), haveSystem)}
	if cpu.System != nil { // the kernel counts in ticks, and an edge of one may belong to what was before
		*cpu.System = min(*cpu.System, 1)
	}
	reasons := s.Meter.Reasons()
	var why []error
	for _, name := range []string{host.ServerReason, host.SystemReason} {
		if r, ok := reasons[name]; ok {
			why = append(why, errors.New(r))
		}
	}
	if err := errors.Join(why...); err != nil {
		cpu.Reason = err.Error()
	}
	return cpu
}
