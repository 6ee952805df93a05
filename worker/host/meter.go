package host

import (
	"fmt"
	"maps"
	"os"
	"time"
)

// Names under which Meter.Reasons explains a figure that is null.
const (
	ServerReason = "server"
	SystemReason = "system"
)

// A Reading is the CPU time used up to one moment. The difference of two readings is what
// was used between them; a single one means nothing.
type Reading struct {
	Self   time.Duration  // of this process, user and system
	Server *time.Duration // of the server process; null without one, or where the platform does not tell
	System *time.Duration // busy time of all CPUs of the host together, without the spinners; null where the platform does not tell
}

// A Meter reads CPU times cheaply enough to be asked at every slice: it keeps its file and
// its buffer, and a reading costs three system calls. One goroutine uses it.
type Meter struct {
	serverPID int
	spinners  []int         // processes that are no work, only keep the CPUs awake
	system    time.Duration // the last System read
	stat      *os.File      // /proc/stat; nil where there is none
	buf       [512]byte
	reasons   map[string]string
}

// NewMeter makes a meter for this process and for the server process with the given id, or
// for this process alone when the id is 0. It fails when the server is not running. The CPU
// time of the spinners, processes that only keep the CPUs awake, is left out of System; an
// id of 0 is none.
func NewMeter(serverPID int, spinners ...int) (*Meter, error) {
	m := &Meter{serverPID: serverPID, reasons: map[string]string{}}
	for _, pid := range spinners {
		if pid != 0 {
			m.spinners = append(m.spinners, pid)
		}
	}
	if _, err := selfCPU(); err != nil {
		return nil, fmt.Errorf("read the CPU time of this process: %w", err)
	}
	if err := m.tryServer(); err != nil {
		return nil, err
	}
	stat, err := openStat()
	if err != nil {
		m.reasons[SystemReason] = err.Error()
		return m, nil
	}
	m.stat = stat
	return m, nil
}

// tryServer finds out whether the server's CPU time can be read. A platform that cannot tell
// is a reason; a server that is not there is an error.
func (m *Meter) tryServer() error {
	if m.serverPID == 0 {
		m.reasons[ServerReason] = "there is no server process"
		return nil
	}
	_, err := ProcessCPU(m.serverPID)
	if err == nil {
		return nil
	}
	if !processClocks {
		m.serverPID = 0
		m.reasons[ServerReason] = err.Error()
		return nil
	}
	return err
}

// Read takes a reading now. What cannot be read is null, and Reasons tells why.
func (m *Meter) Read() Reading {
	var r Reading
	if m.serverPID != 0 {
		r.Server = m.keep(ServerReason, ProcessCPU)
	}
	if m.stat != nil {
		r.System = m.keep(SystemReason, m.systemCPU)
	}
	// NewMeter has seen this call succeed, and it has no way to fail later.
	r.Self, _ = selfCPU()
	return r
}

// keep calls read for the server's id and turns its error into a reason under the name.
func (m *Meter) keep(name string, read func(int) (time.Duration, error)) *time.Duration {
	d, err := read(m.serverPID)
	if err != nil {
		m.reasons[name] = err.Error()
		return nil
	}
	return &d
}

// systemCPU reads the busy time of all CPUs. Only the first line of /proc/stat is read; the
// kernel makes the file anew for every read from its beginning.
func (m *Meter) systemCPU(int) (time.Duration, error) {
	n, err := m.stat.ReadAt(m.buf[:], 0)
	if n == 0 {
		return 0, fmt.Errorf("read %s: %w", m.stat.Name(), err)
	}
	busy, ok := parseBusy(m.buf[:n])
	if !ok {
		return 0, fmt.Errorf("read %s: its first line is not that of all CPUs", m.stat.Name())
	}
	return m.withoutSpinners(busy)
}

// withoutSpinners takes the spinners' time off the busy time. The one is counted in ticks
// and the other to the nanosecond, so the difference may step back by a tick, which a
// reading does not.
func (m *Meter) withoutSpinners(busy time.Duration) (time.Duration, error) {
	for _, pid := range m.spinners {
		spun, err := ProcessCPU(pid)
		if err != nil {
			return 0, fmt.Errorf("leave out the spinner: %w", err)
		}
		busy -= spun
	}
	m.system = max(m.system, busy)
	return m.system, nil
}

// Reasons says in a sentence why Server or System was null, by ServerReason and SystemReason.
func (m *Meter) Reasons() map[string]string { return maps.Clone(m.reasons) }

// Close gives back the open file. The meter is not used afterwards.
func (m *Meter) Close() error {
	if m.stat == nil {
		return nil
	}
	return m.stat.Close()
}
