package host

import (
	"bytes"
	"time"
)

// tick is the unit of /proc/stat. USER_HZ is 100 on every architecture that benchd builds
// for, whatever the kernel's own HZ; see proc_stat(5).
const tick = 10 * time.Millisecond

// parseBusy adds up the first line of /proc/stat, see proc_stat(5):
//
//	cpu user nice system idle iowait irq softirq steal guest guest_nice
//
// Busy is user, nice, system, irq and softirq. Steal is left out, since another machine had
// the CPU then; guest times are within user and nice already.
func parseBusy(text []byte) (time.Duration, bool) {
	line, _, whole := bytes.Cut(text, []byte("\n"))
	line, isAll := bytes.CutPrefix(line, []byte("cpu "))
	if !whole || !isAll {
		return 0, false
	}
	var ticks int64
	for column := range 7 {
		var n int64
		var ok bool
		n, line, ok = cutInt(line)
		if !ok {
			return 0, false
		}
		if column != 3 && column != 4 { // idle, iowait
			ticks += n
		}
	}
	return time.Duration(ticks) * tick, true
}

// cutInt cuts a decimal number and the spaces before it from the front of text. It does not
// allocate, which strings.Fields and strconv would.
func cutInt(text []byte) (n int64, rest []byte, ok bool) {
	text = bytes.TrimLeft(text, " ")
	i := 0
	for i < len(text) && i < 18 && '0' <= text[i] && text[i] <= '9' {
		n = n*10 + int64(text[i]-'0')
		i++
	}
	return n, text[i:], i > 0
}
