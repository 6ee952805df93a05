// Package host reads the machine that benchd measures on: its stable facts and their
// fingerprint, the readings that change by themselves, and the CPU time that processes and
// the whole host have used.
//
// What a platform cannot tell is null, never zero, and the reason stands beside it.
package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"runtime"
	"time"

	"benchd/worker/bench"
)

// Options say what to read.
type Options struct {
	// Root is the root of the file system of the Linux machine to read, with proc, sys, etc
	// and lib below it. Nil means the machine that this process runs on, whatever its system.
	Root fs.FS
	// Now gives the time of the reading; nil means time.Now.
	Now func() time.Time
	// Build names the binary, version and revision; "" means what the Go tool stamped into it.
	Build string
}

// Read reads the host. It never fails: what could not be read is null in the snapshot, and
// its Unknown tells why, by the name that the value has in JSON. The clock offset is left
// out of both, since only the worker knows Redis' clock.
func Read(ctx context.Context, o Options) bench.HostSnapshot {
	now := o.Now
	if now == nil {
		now = time.Now
	}
	s := bench.HostSnapshot{Unknown: map[string]string{}}
	s.Facts.Threads = runtime.NumCPU()
	readBinary(&s.Facts, o.Build)
	if o.Root != nil {
		readTree(tree{files: o.Root}, &s)
	} else {
		readPlatform(ctx, &s)
	}
	s.Volatile.At = now().UTC()
	s.Fingerprint = Fingerprint(s.Facts)
	return s
}

// CPUs is the number of the host's logical CPUs that are online, whichever of them this
// process may use.
func CPUs() int {
	if n := (tree{files: os.DirFS("/")}).online(nil); n > 0 {
		return n
	}
	return runtime.NumCPU()
}

// Fingerprint hashes facts to 16 hexadecimal digits: the first eight bytes of the SHA-256 of
// their JSON. Hosts with the same fingerprint measure alike.
func Fingerprint(f bench.Facts) string {
	// Facts are a struct of plain values in a fixed order, so their JSON is canonical. It
	// could only fail for a number that is not finite, which no reader here lets through.
	text, err := json.Marshal(f)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// note puts what read returns where into points, or its error under the value's name into
// the snapshot's reasons.
func note[T any](s *bench.HostSnapshot, name string, into **T, read func() (T, error)) {
	v, err := read()
	if err != nil {
		*into = nil
		s.Unknown[name] = err.Error()
		return
	}
	*into = &v
}
