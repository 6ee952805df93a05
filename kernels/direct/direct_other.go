//go:build !linux

package direct

import "net"

// Take returns the connection as it is.
func Take(c *net.TCPConn) (net.Conn, error) { return c, nil }
