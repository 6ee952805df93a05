package direct

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// spare is how many processors a process should have beside those that connections keep.
const spare = 2

// Room tells whether this process has processors enough for so many connections.
func Room(connections int) bool { return runtime.GOMAXPROCS(0) >= connections+spare }

// Take makes a connection that waits in the system call from one of package net, which is
// closed and of no more use. Options that were set on it, such as TCP_NODELAY, stay set. On an
// error the connection is the caller's as before.
//
// What is returned is like what it was made from: any goroutine may call its methods, Close
// ends what waits, and errors are *net.OpError with the same causes. It differs in that a
// deadline costs no system call and is noticed up to a Tick late.
func Take(c *net.TCPConn) (net.Conn, error) {
	fd, err := dup(c)
	if err == nil {
		if err = block(fd); err != nil {
			_ = syscall.Close(fd) // the socket is open by the other descriptor
		}
	}
	if err != nil {
		return nil, fmt.Errorf("take the connection to %s from the poller: %w", c.RemoteAddr(), err)
	}
	taken := &conn{fd: fd, local: c.LocalAddr(), remote: c.RemoteAddr(), made: time.Now(), keeps: Room(1)}
	taken.users.Store(1)
	_ = c.Close() // the descriptor and its place in the poller; the socket stays open
	return taken, nil
}

// dup makes another descriptor of the socket, one that the poller does not know. It is not
// inherited by children.
func dup(c *net.TCPConn) (fd int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	outer := raw.Control(func(old uintptr) {
		r, _, errno := syscall.Syscall(syscall.SYS_FCNTL, old, syscall.F_DUPFD_CLOEXEC, 0)
		if fd = int(r); errno != 0 {
			err = os.NewSyscallError("fcntl", errno)
		}
	})
	return fd, errors.Join(outer, err)
}

// block makes operations on the socket wait, for a Tick at most. That they wait comes last: it
// holds for every descriptor of the socket.
func block(fd int) error {
	tick := syscall.NsecToTimeval(int64(Tick))
	for _, option := range []int{syscall.SO_RCVTIMEO, syscall.SO_SNDTIMEO} {
		if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, option, &tick); err != nil {
			return os.NewSyscallError("setsockopt", err)
		}
	}
	return os.NewSyscallError("fcntl", syscall.SetNonblock(fd, false))
}

// A conn is a connection that waits in the system call.
type conn struct {
	fd            int
	local, remote net.Addr
	made          time.Time // what deadlines are counted from
	keeps         bool      // it keeps its processor while it waits
	reading       deadline
	writing       deadline
	whole         sync.Mutex // held by a write, so that none gets into the middle of another

	// users counts the operations at work, and one more until Close. The descriptor is closed
	// by whoever makes it zero, and not before: the system may give its number to another file
	// at once.
	users  atomic.Int32
	closed atomic.Bool
}

var _ net.Conn = (*conn)(nil)

// A deadline is a time after the connection was made; 0 means none.
type deadline struct{ after atomic.Int64 }

func (d *deadline) set(t, made time.Time) {
	var after time.Duration
	if !t.IsZero() {
		if after = t.Sub(made); after == 0 {
			after = -1
		}
	}
	d.after.Store(int64(after))
}

// passed tells whether it is later than the deadline. Without one no clock is read.
func (d *deadline) passed(made time.Time) bool {
	after := d.after.Load()
	return after != 0 && (after < 0 || int64(time.Since(made)) >= after)
}

// enter begins an operation on the descriptor, which then stays open until leave.
func (c *conn) enter() error {
	for n := c.users.Load(); n > 0; n = c.users.Load() {
		if !c.users.CompareAndSwap(n, n+1) {
			continue
		}
		if c.closed.Load() { // Close may have looked for users before there was this one
			c.leave()
			break
		}
		return nil
	}
	return net.ErrClosed
}

func (c *conn) leave() {
	if c.users.Add(-1) == 0 {
		_ = syscall.Close(c.fd) // all that was to be told, operations were
	}
}

// Read reads what there is, and waits for it if there is nothing.
func (c *conn) Read(p []byte) (int, error) {
	if err := c.enter(); err != nil {
		return 0, c.failed("read", err)
	}
	defer c.leave()
	if len(p) == 0 {
		return 0, nil
	}
	n, err := c.attempt("read", &c.reading, syscall.SYS_READ, p)
	switch {
	case err != nil:
		return 0, c.failed("read", err)
	case n == 0 && c.closed.Load(): // Close shut the socket down to wake this
		return 0, c.failed("read", net.ErrClosed)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Write writes all of p.
func (c *conn) Write(p []byte) (int, error) {
	if err := c.enter(); err != nil {
		return 0, c.failed("write", err)
	}
	defer c.leave()
	c.whole.Lock()
	defer c.whole.Unlock()
	done := 0
	for done < len(p) {
		n, err := c.attempt("write", &c.writing, syscall.SYS_WRITE, p[done:])
		if err != nil {
			return done, c.failed("write", err)
		}
		done += n
	}
	return done, nil
}

// attempt makes a system call until it did something or the deadline has passed. It is
// interrupted by the runtime's own signals, and comes back empty-handed after each Tick.
func (c *conn) attempt(name string, limit *deadline, number uintptr, p []byte) (int, error) {
	for turn := 0; ; turn++ {
		if limit.passed(c.made) {
			return 0, os.ErrDeadlineExceeded
		}
		n, err := c.call(number, turn)(number, c.fd, p)
		switch {
		case err == 0:
			return n, nil
		case c.closed.Load():
			return 0, net.ErrClosed
		case err != syscall.EINTR && err != syscall.EAGAIN:
			return 0, os.NewSyscallError(name, err)
		}
	}
}

// A call is a way to make a system call.
type call func(number uintptr, fd int, p []byte) (int, syscall.Errno)

// call returns how an operation makes its system call for the first, second, … time. A read
// looks first. Only the first call that waits keeps the processor.
func (c *conn) call(number uintptr, turn int) call {
	if number == syscall.SYS_READ {
		turn--
	}
	switch {
	case !c.keeps || turn > 0:
		return lending
	case turn < 0:
		return looking
	default:
		return keeping
	}
}

// looking reads what there is, and lets another thread run if there is nothing: as often as not
// that is who writes it. A thread that did not sleep has not to be woken, which costs the
// writer more than the read.
func looking(_ uintptr, fd int, p []byte) (int, syscall.Errno) {
	n, _, err := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), syscall.MSG_DONTWAIT, 0, 0)
	if err == syscall.EAGAIN {
		_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
	}
	return int(n), err
}

// keeping makes a system call and keeps the processor. It must be one that signals end.
func keeping(number uintptr, fd int, p []byte) (int, syscall.Errno) {
	n, _, err := syscall.RawSyscall(number, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return int(n), err
}

// lending makes a system call and lends the processor out meanwhile.
func lending(number uintptr, fd int, p []byte) (int, syscall.Errno) {
	n, _, err := syscall.Syscall(number, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return int(n), err
}

// failed makes the error of an operation, as package net does.
func (c *conn) failed(operation string, err error) error {
	return &net.OpError{Op: operation, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// Close closes the connection. What is waiting ends at once.
func (c *conn) Close() error {
	if c.closed.Swap(true) {
		return c.failed("close", net.ErrClosed)
	}
	if c.users.Load() > 1 {
		// To close the descriptor would wake nobody. A socket that the other side has closed
		// already has nobody waiting either.
		_ = syscall.Shutdown(c.fd, syscall.SHUT_RDWR)
	}
	c.leave()
	return nil
}

// CloseWrite tells the other side that nothing more will be written.
func (c *conn) CloseWrite() error {
	if err := c.enter(); err != nil {
		return c.failed("close", err)
	}
	defer c.leave()
	if err := syscall.Shutdown(c.fd, syscall.SHUT_WR); err != nil {
		return c.failed("close", os.NewSyscallError("shutdown", err))
	}
	return nil
}

// LocalAddr returns the address of this side.
func (c *conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the address of the other side.
func (c *conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets the time after which operations fail.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline sets the time after which reads fail.
func (c *conn) SetReadDeadline(t time.Time) error { return c.limit(&c.reading, t) }

// SetWriteDeadline sets the time after which writes fail.
func (c *conn) SetWriteDeadline(t time.Time) error { return c.limit(&c.writing, t) }

func (c *conn) limit(d *deadline, t time.Time) error {
	if c.closed.Load() {
		return c.failed("set", net.ErrClosed)
	}
	d.set(t, c.made)
	return nil
}
