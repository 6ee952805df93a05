package direct_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"benchd/kernels/direct"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dial makes both ends of a connection over the loopback as package net has them.
func dial(t testing.TB) (near, far *net.TCPConn) {
	t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	near, err = net.DialTCP("tcp", nil, listener.Addr().(*net.TCPAddr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = near.Close() })
	if far, err = listener.AcceptTCP(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = far.Close() })
	return near, far
}

// take makes both ends, the near one such as this package has them.
func take(t testing.TB) (near net.Conn, far *net.TCPConn) {
	t.Helper()
	plain, far := dial(t)
	near, err := direct.Take(plain)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = near.Close() })
	return near, far
}

// patience is how long anything here may take: what has not happened by then never will.
const patience = 10 * time.Second

// await waits for the error of something begun.
func await(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		t.Fatal("it does not end")
		return nil
	}
}

// read begins a read of one byte, and gives it the time to get to where it waits.
func read(c net.Conn) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		ended <- err
	}()
	time.Sleep(direct.Tick / 4)
	return ended
}

// TestTake: the connection has the addresses of the one it was made from, which can be used no
// more where there is another in its place.
func TestTake(t *testing.T) {
	t.Parallel()
	plain, far := dial(t)
	near, err := direct.Take(plain)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = near.Close() }()
	if near.LocalAddr().String() != far.RemoteAddr().String() || near.RemoteAddr().String() != far.LocalAddr().String() {
		t.Errorf("from %s to %s, and the other end is from %s to %s", near.LocalAddr(), near.RemoteAddr(), far.LocalAddr(), far.RemoteAddr())
	}
	if _, err := plain.Write([]byte("x")); (runtime.GOOS == "linux") != errors.Is(err, net.ErrClosed) {
		t.Errorf("a write to what it was made from: %v", err)
	}
}

// TestTakeClosed: there is nothing to make a connection from.
func TestTakeClosed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the connection stays as it is, and is not looked at")
	}
	plain, _ := dial(t)
	_ = plain.Close()
	_, err := direct.Take(plain)
	if !errors.Is(err, net.ErrClosed) || !strings.Contains(err.Error(), plain.RemoteAddr().String()) {
		t.Errorf("error %v", err)
	}
}

// TestCarries sends more than the system keeps, both ways at once and by two writers, whose
// pieces do not get mixed.
func TestCarries(t *testing.T) {
	t.Parallel()
	near, far := take(t)
	const size = 8 << 20
	var work sync.WaitGroup
	work.Go(func() { // sends back what it gets
		_, _ = io.Copy(far, far)
		_ = far.CloseWrite()
	})
	var writers sync.WaitGroup
	for _, b := range []byte("ab") {
		writers.Go(func() {
			if n, err := near.Write(bytes.Repeat([]byte{b}, size)); n != size || err != nil {
				t.Errorf("wrote %d bytes, error %v", n, err)
			}
		})
	}
	work.Go(func() {
		writers.Wait()
		if err := near.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
			t.Error(err)
		}
	})
	got, err := io.ReadAll(near)
	if err != nil || len(got) != 2*size {
		t.Fatalf("read %d bytes, error %v", len(got), err)
	}
	first := bytes.Repeat(got[:1], size)
	if !bytes.Equal(got[:size], first) || bytes.IndexByte(got[size:], got[0]) >= 0 {
		t.Error("what two writers wrote is mixed")
	}
	work.Wait()
	if n, err := near.Read(nil); n != 0 || err != nil {
		t.Errorf("read of nothing: %d, %v", n, err)
	}
}

// isTimeout fails the test if the error is not what package net gives at a deadline.
func isTimeout(t *testing.T, err error) {
	t.Helper()
	var op *net.OpError
	if !errors.As(err, &op) || !op.Timeout() || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error %v, not a time-out", err)
	}
}

// TestDeadline: what waits ends soon after its deadline, also one that is set meanwhile, and
// the connection can be used again with a later one.
func TestDeadline(t *testing.T) {
	t.Parallel()
	long := time.Unix(1, 0)
	for _, row := range []struct {
		name          string
		before, while func(c net.Conn) error
	}{
		{name: "reached", before: func(c net.Conn) error { return c.SetReadDeadline(time.Now().Add(direct.Tick / 2)) }},
		{name: "passed", before: func(c net.Conn) error { return c.SetDeadline(long) }},
		{name: "now", before: func(c net.Conn) error { return c.SetDeadline(time.Now()) }},
		{name: "set while waiting", while: func(c net.Conn) error { return c.SetDeadline(long) }},
		{
			name:   "brought forward",
			before: func(c net.Conn) error { return c.SetDeadline(time.Now().Add(time.Hour)) },
			while:  func(c net.Conn) error { return c.SetReadDeadline(time.Now()) },
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			near, far := take(t)
			if row.before != nil {
				if err := row.before(near); err != nil {
					t.Fatal(err)
				}
			}
			ended := read(near)
			if row.while != nil {
				if err := row.while(near); err != nil {
					t.Fatal(err)
				}
			}
			isTimeout(t, await(t, ended))
			if err := near.SetDeadline(time.Time{}); err != nil {
				t.Fatal(err)
			}
			if _, err := far.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			if err := await(t, read(near)); err != nil {
				t.Errorf("without a deadline again: %v", err)
			}
		})
	}
}

// TestLateDeadline: a deadline is no reason to end before it.
func TestLateDeadline(t *testing.T) {
	t.Parallel()
	near, far := take(t)
	if err := near.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	ended := read(near)
	time.Sleep(2 * direct.Tick)
	if _, err := far.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := await(t, ended); err != nil {
		t.Error(err)
	}
}

// TestTrickle: a deadline counts also for who always gets something in time.
func TestTrickle(t *testing.T) {
	t.Parallel()
	near, far := take(t)
	if _, err := far.Write(make([]byte, 2)); err != nil {
		t.Fatal(err)
	}
	if err := await(t, read(near)); err != nil {
		t.Fatal(err)
	}
	if err := near.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	isTimeout(t, await(t, read(near)))
}

// TestWriteDeadline: a write ends at its deadline when nobody reads, and tells how much went.
func TestWriteDeadline(t *testing.T) {
	t.Parallel()
	near, far := take(t)
	if err := near.SetWriteDeadline(time.Now().Add(direct.Tick)); err != nil {
		t.Fatal(err)
	}
	const size = 64 << 20
	n, err := near.Write(make([]byte, size))
	isTimeout(t, err)
	if n == 0 || n == size {
		t.Errorf("wrote %d bytes", n)
	}
	_ = near.Close()
	if got, err := io.Copy(io.Discard, far); got != int64(n) || err != nil {
		t.Errorf("%d bytes came of the %d that were written, error %v", got, n, err)
	}
}

// TestClose: Close ends what waits, and afterwards nothing begins.
func TestClose(t *testing.T) {
	t.Parallel()
	near, far := take(t)
	reading := read(near)
	writing := make(chan error, 1)
	go func() {
		_, err := near.Write(make([]byte, 64<<20))
		writing <- err
	}()
	time.Sleep(direct.Tick / 4)
	if err := near.Close(); err != nil {
		t.Fatal(err)
	}
	later := func(f func() error) <-chan error {
		ended := make(chan error, 1)
		ended <- f()
		return ended
	}
	for name, ended := range map[string]<-chan error{
		"the read that waited":  reading,
		"the write that waited": writing,
		"a read":                read(near),
		"a write":               later(func() error { _, err := near.Write([]byte("x")); return err }),
		"a deadline":            later(func() error { return near.SetDeadline(time.Time{}) }),
		"an end of writing":     later(func() error { return near.(interface{ CloseWrite() error }).CloseWrite() }),
		"another close":         later(near.Close),
	} {
		if err := await(t, ended); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_ = far.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, far); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the other end sees no end: %v", err)
	}
}

// TestOtherSide: what the other side does is told as by package net.
func TestOtherSide(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		does func(far *net.TCPConn) error
		want error
	}{
		{"closes", func(far *net.TCPConn) error { return far.Close() }, io.EOF},
		{"closes its half", func(far *net.TCPConn) error { return far.CloseWrite() }, io.EOF},
		{"resets", func(far *net.TCPConn) error { return errors.Join(far.SetLinger(0), far.Close()) }, syscall.ECONNRESET},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			near, far := take(t)
			plain, other := dial(t)
			ended := read(near)
			for _, end := range []*net.TCPConn{far, other} {
				if err := row.does(end); err != nil {
					t.Fatal(err)
				}
			}
			err := await(t, ended)
			if !errors.Is(err, row.want) {
				t.Errorf("error %v, want %v", err, row.want)
			}
			byNet := await(t, read(plain))
			var op, opNet *net.OpError
			if errors.As(err, &op) != errors.As(byNet, &opNet) || op != nil && (op.Op != opNet.Op || op.Net != opNet.Net || op.Timeout()) {
				t.Errorf("error %#v, and by package net %#v", err, byNet)
			}
		})
	}
}

// TestGone writes to who is gone: first or second, a write fails, and is no time-out.
func TestGone(t *testing.T) {
	t.Parallel()
	near, far := take(t)
	if err := errors.Join(far.SetLinger(0), far.Close()); err != nil {
		t.Fatal(err)
	}
	var err error
	for begun := time.Now(); err == nil && time.Since(begun) < patience; {
		_, err = near.Write([]byte("x"))
	}
	if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("error %v", err)
	}
}
