package host

import (
	"errors"
	"io"
	"io/fs"
	"slices"
)

// clocks are the present clocks of the CPUs, looked at now and then. The files are kept
// open: what is read from their beginning is made anew each time.
type clocks struct {
	tree    tree
	files   []io.ReaderAt
	closers []io.Closer
	info    bool // the only file is /proc/cpuinfo, which has all CPUs' clocks
	buf     []byte

	low, high float64   // of all CPUs and looks
	fastest   []float64 // of each sample the highest clock of any CPU
}

// maxClocks bounds the number of CPUs whose clocks are looked at: enough to see a host
// change its clocks, and on the largest hosts still cheap.
const maxClocks = 64

// openClocks opens the files that tell the clocks: one for each CPU where the kernel sets
// them, else the one in which the processor tells them.
func openClocks(t tree) *clocks {
	c := &clocks{tree: t, buf: make([]byte, 256)}
	names := t.glob("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq")
	for _, name := range names[:min(len(names), maxClocks)] {
		c.open(name)
	}
	if len(c.files) == 0 {
		c.info = true
		c.buf = make([]byte, 256<<10)
		c.open("proc/cpuinfo")
	}
	return c
}

// open adds a file; one that cannot be opened tells nothing.
func (c *clocks) open(name string) {
	f, err := c.tree.files.Open(name)
	if err != nil {
		return
	}
	at, ok := f.(io.ReaderAt)
	if !ok {
		at = reopened{c.tree.files, name}
	}
	c.files, c.closers = append(c.files, at), append(c.closers, f)
}

// reopened reads from the beginning of a file of a file system whose files cannot do that
// by themselves.
type reopened struct {
	files fs.FS
	name  string
}

// ReadAt reads the file anew; the offset is 0.
func (r reopened) ReadAt(b []byte, _ int64) (int, error) {
	text, err := fs.ReadFile(r.files, r.name)
	if err != nil {
		return 0, err
	}
	return copy(b, text), nil
}

// look reads all clocks once and returns the highest, 0 when none is told.
func (c *clocks) look() float64 {
	fastest := 0.0
	for _, f := range c.files {
		n, _ := f.ReadAt(c.buf, 0) // an error comes with the end of the file too
		low, high := c.parse(c.buf[:n])
		c.low, c.high = wider(c.low, c.high, low)
		c.low, c.high = wider(c.low, c.high, high)
		fastest = max(fastest, high)
	}
	return fastest
}

// parse reads the lowest and the highest clock in MHz of a file.
func (c *clocks) parse(text []byte) (low, high float64) {
	if c.info {
		return parseClocks(text)
	}
	khz, _, ok := cutInt(text)
	if !ok || khz > 1000*maxMHz {
		return 0, 0
	}
	return float64(khz) / 1000, float64(khz) / 1000
}

// sample looks and keeps the clock of the fastest CPU, which is one that works: the others
// may have slowed down for want of work.
func (c *clocks) sample() {
	if mhz := c.look(); mhz > 0 {
		c.fastest = append(c.fastest, mhz)
	}
}

// drop tells how far the fastest CPU's clock fell below its highest. The lowest sample is
// left out: it may have met a moment at which nothing ran.
func (c *clocks) drop() (float64, error) {
	if len(c.fastest) < 3 {
		return 0, errors.New("the clocks were looked at fewer than three times")
	}
	sorted := slices.Sorted(slices.Values(c.fastest))
	return 1 - sorted[1]/sorted[len(sorted)-1], nil
}

// close gives back the files.
func (c *clocks) close() {
	for _, f := range c.closers {
		_ = f.Close() // nothing was written to it
	}
}
