package collect

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"benchd/worker/bench"
)

// A hostBook is where hosts are remembered.
type hostBook interface {
	SaveHost(ctx context.Context, h bench.Host) error
	Hosts(ctx context.Context) ([]bench.Host, error)
}

// The hostKeeper writes down the hosts that send heartbeats, so that they are known while
// they are away, and whether they are live.
type hostKeeper struct {
	hosts   hostBook
	signals signals
	logger  *slog.Logger
	times   Times

	saved map[string]bench.Host // as this process wrote them
	heard time.Time             // when Redis last answered
}

func (k *hostKeeper) start(ctx context.Context, wg *sync.WaitGroup) {
	loop{name: "watching the hosts", pass: k.pass, tick: k.times.Tick, logger: k.logger}.start(ctx, wg)
}

func (k *hostKeeper) pass(ctx context.Context) error {
	beats, err := k.signals.Beats(ctx)
	now := time.Now()
	if err == nil {
		k.heard = now
	} else if now.Sub(k.heard) < k.times.BeatTTL {
		return err // Redis may come back before anybody's heartbeat ends
	}
	live := byHost(beats)
	for _, b := range live {
		if e := k.save(ctx, b.AsHost()); e != nil {
			return e
		}
	}
	known, e := k.hosts.Hosts(ctx)
	if e != nil {
		return e
	}
	for _, h := range known {
		if _, ok := live[h.Name]; !ok && h.Live {
			h.Live, h.Running = false, nil
			k.logger.Warn("a host is gone", "host", h.Name, "last_seen", h.LastSeen)
			if e := k.save(ctx, h); e != nil {
				return e
			}
		}
	}
	return err
}

// save writes a host when something in it has changed, or when its time is old.
func (k *hostKeeper) save(ctx context.Context, h bench.Host) error {
	before, known := k.saved[h.Name]
	if known && same(before, h) && h.LastSeen.Sub(before.LastSeen) < k.times.HostSave {
		return nil
	}
	if h.Live && !before.Live {
		k.logger.Info("a host is live", "host", h.Name, "labels", h.Labels, "version", h.Version)
	}
	if err := k.hosts.SaveHost(ctx, h); err != nil {
		return err
	}
	k.saved[h.Name] = h
	return nil
}

// same compares what a reader would miss at once; readings that always change do not count.
func same(a, b bench.Host) bool {
	return a.Live == b.Live && maps.Equal(a.Labels, b.Labels) && a.Limits == b.Limits && maps.Equal(a.Services, b.Services) && a.Version == b.Version &&
		a.Snapshot.Fingerprint == b.Snapshot.Fingerprint && sameTrial(a.Running, b.Running)
}

func sameTrial(a, b *bench.RunningTrial) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
