package worker

import (
	"fmt"
	"time"
)

// The plateau of a message written in pieces with Nagle's algorithm on: the second piece
// waits for the delayed acknowledgement of the first, 40 ms on Linux.
const (
	plateauLow  = int64(38 * time.Millisecond)
	plateauHigh = int64(46 * time.Millisecond)

	// An operation that carries more bytes than this may take as long by its own work.
	plateauBytes = 8 << 20
)

// onPlateau tells whether a median in nanoseconds lies on it.
func onPlateau(median int64) bool { return median >= plateauLow && median <= plateauHigh }

// plateau says what a median on the plateau means, whose doing it is, and by which switch
// that ends, if it is known.
func plateau(what string, median int64, whose, turn string) string {
	text := fmt.Sprintf("%s %.1f ms, the plateau of delayed acknowledgement: %s writes its messages in pieces without TCP_NODELAY", what, float64(median)/1e6, whose)
	if turn != "" {
		text += "; the switch against that is " + turn
	}
	return text
}

// judgePlateau doubts a latency on the plateau. Drivers here set TCP_NODELAY and write every
// message at once, so that it is the other side's.
func (a *assembly) judgePlateau() {
	l := a.result.Latency
	if l == nil || !onPlateau(l.Percentiles["50"]) || a.records[0].Work.Bytes > plateauBytes {
		return
	}
	turn := a.info.SwitchFor(a.result.Settings, a.order.Case.Params)
	a.doubt("plateau_40ms", "%s", plateau("half of the operations took at least", l.Percentiles["50"], "the other side", turn))
}
