package collect

import "time"

// Times are a Collector's intervals and how patient it is.
type Times struct {
	Tick      time.Duration // between two passes of a loop that nobody wakes; default 1s
	Gap       time.Duration // least time between two passes of a loop that is woken often; default 25ms
	Reconcile time.Duration // between two comparisons of the store with the queue; default 10s
	HostSave  time.Duration // between two writes of a host of which only the time has changed; default 5s

	// BeatTTL is how long a heartbeat lasts; default 20s. After Redis was away, nothing is
	// held against a host for that long.
	BeatTTL time.Duration
	// Restarted is how long a host's heartbeat has to come from another worker process
	// before the trial of the old process is lost; default 5s, one heartbeat.
	Restarted time.Duration
	// Silent is how long a living worker may not mention a trial that it started; default 15s.
	Silent time.Duration
	// Settle is how long an order has to be missing in the queue before it is queued again,
	// so that one that is on its way is not doubled; default 2s.
	Settle time.Duration
	// Emptied is how long after Redis was emptied finished results may still arrive before
	// the trials that ran are lost; default 10s.
	Emptied time.Duration

	// Window is how many orders a host has in its queue at most, so that the queue stays
	// small and a cancellation finds most trials not sent; default 64.
	Window int
}

func (t Times) withDefaults() Times {
	or := func(d *time.Duration, def time.Duration) {
		if *d == 0 {
			*d = def
		}
	}
	or(&t.Tick, time.Second)
	or(&t.Gap, 25*time.Millisecond)
	or(&t.Reconcile, 10*time.Second)
	or(&t.HostSave, 5*time.Second)
	or(&t.BeatTTL, 20*time.Second)
	or(&t.Restarted, 5*time.Second)
	or(&t.Silent, 15*time.Second)
	or(&t.Settle, 2*time.Second)
	or(&t.Emptied, 10*time.Second)
	if t.Window == 0 {
		t.Window = 64
	}
	return t
}
