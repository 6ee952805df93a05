package messaging

import (
	"errors"
	"net"
	"runtime"

	"benchd/kernels"
	"benchd/kernels/direct"
)

// isLone tells whether a lane is the only one. Then each side has nothing to do but to wait for
// the other, and can do so in the system call itself, as a program in C does.
func isLone(p kernels.Params) bool { return p.Int("clients") <= 1 }

// A loneConn is a connection that waits in the system call, and yields now and then. One
// goroutine reads from it.
//
// The runtime takes the processor away from a goroutine that has not yielded for 10 ms, in a
// system call too, and then looks thousands of times a second whether there is more to take: on
// one CPU that costs a quarter of the floor.
type loneConn struct {
	net.Conn
	reads int // since the last yield
}

// loneTurn is how many reads there are between two yields.
const loneTurn = 64

// lone makes a connection wait in the system call, unless it is none of TCP: what speaks TLS
// stays as it is. On an error it is closed.
func lone(c net.Conn) (net.Conn, error) {
	t, ok := c.(*net.TCPConn)
	if !ok {
		return c, nil
	}
	taken, err := direct.Take(t)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &loneConn{Conn: taken}, nil
}

// Read reads what there is, and waits for it if there is nothing.
func (c *loneConn) Read(p []byte) (int, error) {
	if c.reads++; c.reads == loneTurn {
		c.reads = 0
		runtime.Gosched()
	}
	return c.Conn.Read(p)
}
