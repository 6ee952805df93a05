package messaging

import (
	"context"
	"time"
)

// replyPatience is how long a reply or a confirm may take before it counts as lost. It is far
// above what a loaded broker needs, and bounds every operation.
const replyPatience = 30 * time.Second

// A guard bounds the time of each operation of a lane. It makes one context for all the
// operations under the same context, so that an operation pays for setting a timer only.
type guard struct {
	patience time.Duration
	parent   context.Context
	bounded  context.Context
	cancel   context.CancelFunc
	timer    *time.Timer
	stale    []context.CancelFunc // of contexts that a wire may still be tied to
}

// hold begins an operation and returns the context for it.
func (g *guard) hold(ctx context.Context) context.Context {
	if g.parent == ctx && g.bounded.Err() == nil {
		g.timer.Reset(g.patience)
		return g.bounded
	}
	g.stale = append(g.stale, g.cancel)
	g.parent = ctx
	g.bounded, g.cancel = context.WithCancel(ctx)
	g.timer = time.AfterFunc(g.patience, g.cancel)
	return g.bounded
}

// release ends an operation. Only now, when the wire is tied to the new context, the one
// before is let go.
func (g *guard) release() {
	g.timer.Stop()
	for _, cancel := range g.stale {
		if cancel != nil {
			cancel()
		}
	}
	g.stale = g.stale[:0]
}

// end lets go of the context.
func (g *guard) end() {
	if g.cancel != nil {
		g.timer.Stop()
		g.cancel()
	}
	g.parent, g.bounded, g.cancel = nil, nil, nil
}
