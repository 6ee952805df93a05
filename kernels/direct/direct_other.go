//go:build !linux

package direct

import "net"

// Room tells that connections are better left as they are.
func Room(int) bool { return false }

// Take returns the connection as it is.
func Take(c *net.TCPConn) (net.Conn, error) { return c, nil }
