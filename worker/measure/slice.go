package measure

import (
	"context"
	"errors"
	"fmt"
	"runtime/metrics"
	"sync"
	"time"

	"benchd/worker/bench"
	"benchd/worker/host"
)

// A slice is one measured slice with its sample in operations per second.
type slice struct {
	bench.Slice
	sample  float64
	elapsed time.Duration // mean over the lanes
}

// slice lets all lanes work for one slice and reads the meters before and after.
func (s *session) slice(ctx context.Context) (slice, error) {
	gc := gcCycles()
	before := s.Meter.Read()
	s.work(ctx)
	after := s.Meter.Read()
	if err := ctx.Err(); err != nil {
		return slice{}, fmt.Errorf("measure a slice: %w", context.Cause(ctx))
	}
	var sl slice
	for _, l := range s.lanes {
		if l.fatal != nil {
			return slice{}, l.fatal
		}
		sl.Operations += l.ops
		sl.sample += float64(l.ops) / l.elapsed.Seconds()
		sl.elapsed += l.elapsed / time.Duration(len(s.lanes))
	}
	sl.Elapsed = int64(sl.elapsed)
	sl.Client = int64(after.Self - before.Self)
	sl.Server = difference(after.Server, before.Server)
	sl.System = difference(after.System, before.System)
	sl.GC = int(gcCycles() - gc)
	return sl, nil
}

// work starts all lanes at once and waits for the last.
func (s *session) work(ctx context.Context) {
	if len(s.lanes) == 1 {
		s.lanes[0].run(ctx, s.Plan.Slice.Std(), s.batch)
		return
	}
	var wg sync.WaitGroup
	start := make(chan struct{})
	for _, l := range s.lanes {
		wg.Go(func() {
			<-start
			l.run(ctx, s.Plan.Slice.Std(), s.batch)
		})
	}
	close(start)
	wg.Wait()
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
	rec := Record{Fork: bench.Fork{
		Began:  s.began,
		Warmup: bench.Warmup{Slices: len(warm), Samples: []float64{}},
		CPU:    s.cpu(measured),
	}}
	for _, sl := range warm {
		rec.Fork.Warmup.Operations += sl.Operations
		rec.Fork.Warmup.Samples = append(rec.Fork.Warmup.Samples, sl.sample)
	}
	var operations int64
	for _, sl := range measured {
		operations += sl.Operations
		rec.Fork.Samples = append(rec.Fork.Samples, sl.sample)
		rec.Fork.Slices = append(rec.Fork.Slices, sl.Slice)
	}
	rec.Fork.Failures = s.failures()
	if operations == 0 {
		if f := rec.Fork.Failures; f != nil {
			return Record{}, fmt.Errorf("%w: %d failed; the first: %s", ErrNothing, f.Count, f.Sample)
		}
		return Record{}, ErrNothing
	}
	rec.Work = s.count()
	var err error
	rec.Latency, rec.Over, err = s.latency()
	return rec, err
}

// cpu works out how busy the processors were over all measured slices.
func (s *session) cpu(measured []slice) bench.CPU {
	var elapsed, client, server, system float64
	haveServer, haveSystem := true, true
	for _, sl := range measured {
		elapsed += sl.elapsed.Seconds()
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
