package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A Sleeper sleeps to the microsecond. The timers of Go's runtime may be a millisecond late
// when nothing else is to be done, which is several times what a call over loopback takes.
// One goroutine uses it; Close gives back what it holds.
type Sleeper struct {
	fd   int
	file *os.File // of a timer that the runtime's poller waits for
	buf  [8]byte
}

// NewSleeper makes a sleeper.
func NewSleeper() (*Sleeper, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a timer: %w", err)
	}
	return &Sleeper{fd: fd, file: os.NewFile(uintptr(fd), "timer")}, nil
}

// Sleep returns after the time given, or earlier when ctx ends.
func (s *Sleeper) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	stop := context.AfterFunc(ctx, func() { _ = s.file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	when := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if err := unix.TimerfdSettime(s.fd, 0, &when, nil); err != nil {
		return fmt.Errorf("set a timer: %w", err)
	}
	_, err := s.file.Read(s.buf[:])
	if ctx.Err() != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("wait for a timer: %w", err)
	}
	return nil
}

// Close gives back the timer.
func (s *Sleeper) Close() error { return s.file.Close() }
