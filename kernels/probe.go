package kernels

import (
	"context"
	"slices"
	"strings"
	"time"
)

// A Prober is a Kernel that can tell what answers at an address of one of the schemes that
// its parameter of kind Service has.
type Prober interface {
	// Probe asks the service at an address, written as in the parameter Addr, what it is and
	// what it can do, and times some round trips to it. It ends with ctx and leaves nothing
	// behind at the service. An error says why no trial could be measured there.
	Probe(ctx context.Context, addr string) (Report, error)
}

// A Report is what a service tells of itself, and how long it takes over it.
type Report struct {
	// Product and Version are what the service calls itself; empty where it does not tell.
	Product, Version string
	// Supports lists what it can do and how it is set, in a few words each.
	Supports []string
	// RoundTrip is the time of the smallest request that the protocol has, with its answer.
	RoundTrip Pace
	// Message is the time of a message through a broker, confirmed, and back to its sender;
	// zero for what is no broker.
	Message Pace
	// NoDelay is the switch by which the service's operator makes it send whatever it has at
	// once; empty where none is known.
	NoDelay string
}

// A Pace is the time that something took.
type Pace struct {
	Median time.Duration
	Count  int // of how many
}

const (
	// repeats is how often something is timed, and repeatTime how long at most: a median of
	// less than all of them is as good where each takes long.
	repeats    = 21
	repeatTime = time.Second
)

// Repeat does something one time that does not count, which may have to make what the others
// find made, and then times some more.
func Repeat(ctx context.Context, trip func(ctx context.Context) error) (Pace, error) {
	if err := trip(ctx); err != nil {
		return Pace{}, err
	}
	var times []time.Duration
	for begun := time.Now(); len(times) < repeats && time.Since(begun) < repeatTime; {
		start := time.Now()
		if err := trip(ctx); err != nil {
			return Pace{}, err
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return Pace{Median: times[len(times)/2], Count: len(times)}, nil
}

// A Switch is the setting by which the operator of a server outside makes it write whatever
// it has at once, by TCP_NODELAY.
type Switch struct {
	// Of and Begins tell the servers that have it: those of which a trial's Describer, or else
	// its parameters, give Of a value that begins so, in whatever case.
	Of, Begins string
	// Turn is what to set, and where.
	Turn string
}

// SwitchFor returns what to set at the server that the facts of a trial's Describer and its
// parameters tell of, or nothing where no switch is known.
func (i Info) SwitchFor(facts map[string]string, p Params) string {
	for _, s := range i.Switches {
		value, told := facts[s.Of]
		if !told {
			value = p[s.Of]
		}
		if len(value) >= len(s.Begins) && strings.EqualFold(value[:len(s.Begins)], s.Begins) {
			return s.Turn
		}
	}
	return ""
}
