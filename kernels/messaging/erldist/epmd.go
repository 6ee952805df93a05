package erldist

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// DefaultEPMD is the port at which a host's port mapper usually listens.
const DefaultEPMD = 4369

// Requests and answers of the port mapper, by their first byte. A request has its length in
// two bytes before it, an answer has none, and all numbers are big endian:
//
//	120 port(2) kind(1) 0 highest(2) lowest(2) length(2) name length(2) extra   register
//	    121 result(1) creation(2)    or    118 result(1) creation(4)
//	122 name                                                                    look up
//	    119 result(1) port(2) kind(1) 0 highest(2) lowest(2) length(2) name length(2) extra
//	110                                                                         list
//	    port(4) and then lines of text, until the connection ends
//
// A result of 0 is success; without it a look-up's answer ends there.
const (
	epmdAlive      = 120 // ALIVE2_REQ
	epmdAliveResp  = 121 // ALIVE2_RESP, with a creation of 16 bits
	epmdAliveXResp = 118 // ALIVE2_X_RESP, with one of 32 bits
	epmdPort       = 122 // PORT_PLEASE2_REQ
	epmdPortResp   = 119 // PORT2_RESP
	epmdNames      = 110 // NAMES_REQ
)

// Kinds of nodes, as they are registered.
const (
	kindNormal = 77
	kindHidden = 72
)

// handshakeVersion is the version of the handshake that is spoken here: that of OTP 23 and
// later.
const handshakeVersion = 6

// epmdPatience is how long the port mapper may take over one answer.
const epmdPatience = 5 * time.Second

// maxEPMDName is how long the part of a node's name before the @ may be.
const maxEPMDName = 255

// An Entry is a node as a port mapper knows it.
type Entry struct {
	Name            string // the part before the @
	Port            int
	Hidden          bool
	Lowest, Highest uint16 // versions of the handshake
}

// A Registration keeps a node's name at a port mapper: it lasts until Close, or until the
// port mapper ends.
type Registration struct {
	conn     net.Conn
	creation uint32
}

// Creation tells this life of the node's name from those before.
func (r *Registration) Creation() uint32 { return r.creation }

// Close takes the name back.
func (r *Registration) Close() error {
	if err := r.conn.Close(); err != nil {
		return fmt.Errorf("take the node's name back: %w", err)
	}
	return nil
}

// Register makes a node known to the port mapper at addr, host:port. A name that is taken
// is ErrNameTaken.
func Register(ctx context.Context, addr string, e Entry) (*Registration, error) {
	if e.Name == "" || len(e.Name) > maxEPMDName {
		return nil, fmt.Errorf("register the node %.300q: a name has 1 to %d bytes", e.Name, maxEPMDName)
	}
	kind := byte(kindNormal)
	if e.Hidden {
		kind = kindHidden
	}
	b := []byte{epmdAlive, byte(e.Port >> 8), byte(e.Port), kind, 0}
	b = binary.BigEndian.AppendUint16(b, e.Highest)
	b = binary.BigEndian.AppendUint16(b, e.Lowest)
	b = binary.BigEndian.AppendUint16(b, uint16(len(e.Name)))
	b = append(append(b, e.Name...), 0, 0)
	reg := &Registration{}
	var err error
	reg.conn, err = askEPMD(ctx, addr, b, func(r io.Reader) (err error) {
		reg.creation, err = readAlive(r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("register the node %s: %w", e.Name, err)
	}
	return reg, nil
}

// readAlive reads either form of the answer to a registration.
func readAlive(r io.Reader) (creation uint32, err error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, err
	}
	// The long form is for nodes that know the handshake of version 6, but mappers from before
	// OTP 23 have the short one only.
	size := 2
	switch {
	case head[0] == epmdAliveXResp:
		size = 4
	case head[0] != epmdAliveResp:
		return 0, fmt.Errorf("its answer begins with %d, so it is no port mapper", head[0])
	}
	if head[1] != 0 {
		return 0, ErrNameTaken
	}
	number := make([]byte, 4)
	if _, err := io.ReadFull(r, number[4-size:]); err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(number), nil
}

// Lookup asks the port mapper at addr, host:port, for a node by the part of its name before
// the @. A node that it does not know is ErrUnknownNode.
func Lookup(ctx context.Context, addr, name string) (Entry, error) {
	if name == "" || len(name) > maxEPMDName {
		return Entry{}, fmt.Errorf("look the node %.300q up: a name has 1 to %d bytes", name, maxEPMDName)
	}
	var e Entry
	c, err := askEPMD(ctx, addr, append([]byte{epmdPort}, name...), func(r io.Reader) (err error) {
		e, err = readPort(r)
		return err
	})
	if err != nil {
		return Entry{}, fmt.Errorf("look the node %s up: %w", name, err)
	}
	_ = c.Close() // it has said all that it has to say
	return e, nil
}

// readPort reads the answer to a look-up.
func readPort(r io.Reader) (Entry, error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Entry{}, err
	}
	if head[0] != epmdPortResp {
		return Entry{}, fmt.Errorf("its answer begins with %d, so it is no port mapper", head[0])
	}
	if head[1] != 0 {
		return Entry{}, ErrUnknownNode
	}
	var b [10]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return Entry{}, err
	}
	name := make([]byte, binary.BigEndian.Uint16(b[8:]))
	if _, err := io.ReadFull(r, name); err != nil {
		return Entry{}, err
	}
	return Entry{
		Name: string(name), Port: int(binary.BigEndian.Uint16(b[:])), Hidden: b[2] == kindHidden,
		Highest: binary.BigEndian.Uint16(b[4:]), Lowest: binary.BigEndian.Uint16(b[6:]),
	}, nil
}

// Names asks the port mapper at addr, host:port, for the names and ports of all its nodes.
func Names(ctx context.Context, addr string) ([]Entry, error) {
	var list []Entry
	c, err := askEPMD(ctx, addr, []byte{epmdNames}, func(r io.Reader) (err error) {
		list, err = readNames(r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("ask for the nodes' names: %w", err)
	}
	_ = c.Close() // it has said all that it has to say
	return list, nil
}

// maxNames bounds what a list of names may hold, in bytes.
const maxNames = 1 << 20

// readNames reads lines like "name a at port 1234" behind the mapper's own port.
func readNames(r io.Reader) ([]Entry, error) {
	var own [4]byte
	if _, err := io.ReadFull(r, own[:]); err != nil {
		return nil, err
	}
	var list []Entry
	lines := bufio.NewScanner(io.LimitReader(r, maxNames))
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), "name ")
		at := strings.LastIndex(rest, " at port ")
		if !ok || at < 0 {
			return nil, fmt.Errorf("%.300q is no line of its list", lines.Text())
		}
		port, err := strconv.ParseUint(rest[at+len(" at port "):], 10, 16)
		if err != nil {
			return nil, fmt.Errorf("%.300q tells no port", lines.Text())
		}
		list = append(list, Entry{Name: rest[:at], Port: int(port)})
	}
	return list, lines.Err()
}

// askEPMD connects to a port mapper, sends one request and has its answer read. It returns
// the connection, since a registration lasts as long as that.
func askEPMD(ctx context.Context, addr string, request []byte, read func(io.Reader) error) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: epmdPatience}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("connect to the port mapper at %s: %w", addr, err)
	}
	err = under(ctx, c, epmdPatience, func() error {
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(request))), request...)); err != nil {
			return err
		}
		return read(c)
	})
	if err != nil {
		_ = c.Close() // the error that counts is the one before
		return nil, fmt.Errorf("ask the port mapper at %s: %w", addr, err)
	}
	return c, nil
}

// under does what reads and writes at a connection, and breaks it off when the context ends
// or the patience does. The error is then that of the context.
func under(ctx context.Context, c net.Conn, patience time.Duration, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pulled := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(pulled)
		_ = c.SetDeadline(time.Unix(1, 0)) // fails on a closed socket only, which is as good
	})
	err := do()
	if !stop() {
		<-pulled
		if err == nil {
			err = c.SetDeadline(time.Time{})
		} else {
			err = ctx.Err()
		}
	}
	return err
}
