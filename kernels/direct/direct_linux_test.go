package direct_test

import (
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"benchd/kernels/direct"
)

// sockets counts the sockets of this process.
func sockets(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// TestDescriptors closes connections while others use them and files are opened in between. No
// operation gets at the descriptor of another, and none is left over. Other tests are not to
// run meanwhile.
func TestDescriptors(t *testing.T) {
	before := sockets(t)
	var stop atomic.Bool
	var others, work sync.WaitGroup
	others.Go(func() { // takes the numbers of descriptors that are given back
		for !stop.Load() {
			pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
			if err != nil {
				t.Error(err)
				return
			}
			if n, err := syscall.Read(pair[0], make([]byte, 1)); !errors.Is(err, syscall.EAGAIN) {
				t.Errorf("%d bytes of a connection came to another file, error %v", n, err)
			}
			_ = errors.Join(syscall.Close(pair[0]), syscall.Close(pair[1]))
		}
	})
	for range 200 {
		near, far := dial(t)
		c, err := direct.Take(near)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			work.Go(func() {
				for b := make([]byte, 1); ; {
					if _, err := c.Read(b); err != nil {
						return
					}
				}
			})
			work.Go(func() {
				for {
					if _, err := c.Write([]byte("x")); err != nil {
						if !errors.Is(err, net.ErrClosed) {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		if _, err := far.Write(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		work.Wait()
		_ = far.Close()
	}
	stop.Store(true)
	others.Wait()
	if after := sockets(t); after > before {
		t.Errorf("%d sockets are open, and %d were before", after, before)
	}
}
