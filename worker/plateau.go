package worker

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The plateau of a message written in pieces with Nagle's algorithm on: the second piece
// waits for the delayed acknowledgement of the first, 40 ms on Linux.
const (
	plateauLow  = int64(38 * time.Millisecond)
	plateauHigh = int64(46 * time.Millisecond)

	// Work has no such lower edge: where a tenth of the operations took less than this, what
	// the others took is not a wait that each of them has.
	plateauFloor = int64(30 * time.Millisecond)

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

// flat tells whether most latencies lie on the plateau: the middle half of them does, and
// hardly any lies much below. A median alone says little, for that of large messages which
// take 16 to 200 ms may lie there too.
func flat(h *hdrhistogram.Histogram) bool {
	return h.ValueAtQuantile(10) >= plateauFloor && h.ValueAtQuantile(25) >= plateauLow && h.ValueAtQuantile(75) <= plateauHigh
}

// judgePlateau doubts a latency on the plateau. Drivers here set TCP_NODELAY and write every
// message at once, so that it is the other side's.
func (a *assembly) judgePlateau() {
	l := a.result.Latency
	if l == nil || !onPlateau(l.Percentiles["50"]) || a.records[0].Work.Bytes > plateauBytes {
		return
	}
	h, err := hdrhistogram.Decode([]byte(l.HDR))
	if err != nil || !flat(h) { // it was read before, for the percentiles
		return
	}
	turn := a.info.SwitchFor(a.result.Settings, a.order.Case.Params)
	a.doubt("plateau_40ms", "%s", plateau("most operations took about", l.Percentiles["50"], "the other side", turn))
}
