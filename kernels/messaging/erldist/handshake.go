package erldist

import (
	"context"
	"crypto/md5"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// What a node can do, as it tells the other in the handshake. The names are those of the
// Distribution Protocol, without their DFLAG.
const (
	flagExtendedReferences = 0x4
	flagDistMonitor        = 0x8
	flagFunTags            = 0x10
	flagDistMonitorName    = 0x20
	flagNewFunTags         = 0x80
	flagExtendedPidsPorts  = 0x100
	flagExportPtrTag       = 0x200
	flagBitBinaries        = 0x400
	flagNewFloats          = 0x800
	flagSmallAtomTags      = 0x4000
	flagUTF8Atoms          = 0x10000
	flagMapTag             = 0x20000
	flagBigCreation        = 0x40000
	flagHandshake23        = 0x1000000
	flagUnlinkID           = 0x2000000
	flagMandatory25        = 0x4000000
	flagV4NC               = 0x400000000

	// ourFlags are what OTP 25 and 26 demand. A node that claims to know functions and bit
	// strings need only carry them; it is the reader of a message whom they concern. Without
	// the flags of the atom cache, of fragments, of payloads in exits and of aliases the
	// other side does not use them.
	ourFlags = flagExtendedReferences | flagDistMonitor | flagFunTags | flagDistMonitorName | flagNewFunTags |
		flagExtendedPidsPorts | flagExportPtrTag | flagBitBinaries | flagNewFloats | flagSmallAtomTags |
		flagUTF8Atoms | flagMapTag | flagBigCreation | flagHandshake23 | flagUnlinkID | flagMandatory25 | flagV4NC
	// neededFlags are those without which the other side could not read what we write.
	// A node of OTP 25 or later may tell most of them by flagMandatory25 alone.
	neededFlags = flagExtendedReferences | flagExtendedPidsPorts | flagUTF8Atoms | flagBigCreation | flagHandshake23
)

// maxHello is the longest message of a handshake that is read, in bytes.
const maxHello = 2048

// The handshake of version 6, in which A has connected to B. Each message has its length in
// two bytes before it, big endian:
//
//	A to B  'N' flags(8) creation(4) length(2) name              who is there
//	B to A  's' "ok", "ok_simultaneous", "nok", "not_allowed" or "alive"
//	A to B  's' "true" or "false"                                after "alive" only
//	B to A  'N' flags(8) challenge(4) creation(4) length(2) name
//	A to B  'r' challenge(4) digest(16)                          of B's challenge
//	B to A  'a' digest(16)                                       of A's challenge
//
// A digest proves that its maker knows the cookie. Nothing of the connection is encrypted,
// here as in OTP without TLS: the cookie keeps nodes apart, not attackers out.

// An identity is what a node says of itself in a handshake.
type identity struct {
	name     string
	creation uint32
	cookie   string
	patience time.Duration
}

// A greeting is what the other node says.
type greeting struct {
	name     string
	creation uint32
	flags    uint64
}

// A verdict is what a node does with another that wants to connect.
type verdict string

// The verdicts, in the words of the protocol.
const (
	welcome      verdict = "ok"
	simultaneous verdict = "ok_simultaneous" // and our own attempt ends
	ownAttempt   verdict = "nok"             // since our own attempt goes on
	notAllowed   verdict = "not_allowed"
	stillAlive   verdict = "alive" // unless the other says that it knows better
)

// connect is the handshake of the side that has connected. The name is that of the node
// which should be there.
func (id identity) connect(ctx context.Context, c net.Conn, name string) (greeting, error) {
	var other greeting
	err := under(ctx, c, id.patience, func() (err error) {
		if err = writeHello(c, id.hello(nil)); err != nil {
			return err
		}
		if err = readStatus(c); err != nil {
			return err
		}
		var challenge uint32
		if other, challenge, err = readChallenge(c); err != nil {
			return err
		}
		if other.name != name {
			return fmt.Errorf("the node calls itself %.300q", other.name)
		}
		return id.prove(c, challenge)
	})
	if err != nil {
		return greeting{}, fmt.Errorf("shake hands with %s: %w", name, err)
	}
	return other, nil
}

// prove answers a challenge with the cookie, and checks the other's answer to one of ours.
func (id identity) prove(c net.Conn, challenge uint32) error {
	ours := newChallenge()
	digest := id.digest(challenge)
	if err := writeHello(c, append(binary.BigEndian.AppendUint32([]byte{'r'}, ours), digest[:]...)); err != nil {
		return err
	}
	ack, err := readHello(c, 'a')
	// A node that does not take a proof says nothing, and hangs up.
	var broken *net.OpError
	switch {
	case errors.Is(err, io.EOF) || errors.As(err, &broken):
		return fmt.Errorf("%w, since it hung up on our proof", ErrCookie)
	case err != nil:
		return err
	case !id.proves(ack, ours):
		return ErrCookie
	}
	return nil
}

// accept is the handshake of the side that was connected to. decide says what to do with a
// node of a name.
func (id identity) accept(ctx context.Context, c net.Conn, decide func(name string) verdict) (greeting, error) {
	var other greeting
	err := under(ctx, c, id.patience, func() (err error) {
		if other, err = readName(c); err != nil {
			return err
		}
		if err = admit(c, decide(other.name)); err != nil {
			return err
		}
		challenge := newChallenge()
		if err = writeHello(c, id.hello(&challenge)); err != nil {
			return err
		}
		reply, err := readHello(c, 'r')
		if err != nil {
			return err
		}
		if len(reply) != 4+md5.Size || !id.proves(reply[4:], challenge) {
			return ErrCookie
		}
		digest := id.digest(binary.BigEndian.Uint32(reply))
		return writeHello(c, append([]byte{'a'}, digest[:]...))
	})
	if err != nil {
		return greeting{}, fmt.Errorf("shake hands with %.300s: %w", orUnnamed(other.name), err)
	}
	return other, nil
}

func orUnnamed(name string) string {
	if name == "" {
		return "a node that has given no name"
	}
	return name
}

// admit tells the other side the verdict, and hears its word on being alive already.
func admit(c net.Conn, v verdict) error {
	if err := writeHello(c, append([]byte{'s'}, v...)); err != nil {
		return err
	}
	switch v {
	case welcome, simultaneous:
		return nil
	case stillAlive:
		word, err := readHello(c, 's')
		if err != nil || string(word) != "true" {
			return errors.Join(fmt.Errorf("%w: it is connected already", ErrRefused), err)
		}
		return nil
	default:
		return fmt.Errorf("%w: %s", ErrRefused, v)
	}
}

// readStatus hears the verdict. Whoever asks to connect has no connection, so that a node
// which thinks otherwise is told that it is wrong.
func readStatus(c net.Conn) error {
	status, err := readHello(c, 's')
	if err != nil {
		return err
	}
	switch verdict(status) {
	case welcome, simultaneous:
		return nil
	case stillAlive:
		return writeHello(c, []byte("strue"))
	case ownAttempt:
		return errOwnAttempt
	default:
		return fmt.Errorf("%w: %.100q", ErrRefused, status)
	}
}

// errOwnAttempt says that the other node is connecting to us at the same moment.
var errOwnAttempt = fmt.Errorf("%w: it is about to connect itself", ErrRefused)

// hello is a node's name, with the challenge if it is the one that was connected to.
func (id identity) hello(challenge *uint32) []byte {
	b := binary.BigEndian.AppendUint64([]byte{'N'}, ourFlags)
	if challenge != nil {
		b = binary.BigEndian.AppendUint32(b, *challenge)
	}
	b = binary.BigEndian.AppendUint32(b, id.creation)
	b = binary.BigEndian.AppendUint16(b, uint16(len(id.name)))
	return append(b, id.name...)
}

// readName reads the first message of the side that has connected.
func readName(c net.Conn) (greeting, error) {
	b, err := readHello(c, 'N')
	if err != nil {
		return greeting{}, err
	}
	if len(b) < 14 {
		return greeting{}, errHello
	}
	g := greeting{flags: binary.BigEndian.Uint64(b), creation: binary.BigEndian.Uint32(b[8:])}
	return g.named(b[12:])
}

// readChallenge reads the first message of the other side.
func readChallenge(c net.Conn) (g greeting, challenge uint32, err error) {
	b, err := readHello(c, 'N')
	if err != nil {
		return greeting{}, 0, err
	}
	if len(b) < 18 {
		return greeting{}, 0, errHello
	}
	g = greeting{flags: binary.BigEndian.Uint64(b), creation: binary.BigEndian.Uint32(b[12:])}
	g, err = g.named(b[16:])
	return g, binary.BigEndian.Uint32(b[8:]), err
}

// named adds the name to a greeting, and looks at its flags.
func (g greeting) named(b []byte) (greeting, error) {
	n := int(binary.BigEndian.Uint16(b))
	if len(b) < 2+n {
		return greeting{}, errHello
	}
	g.name = string(b[2 : 2+n])
	if err := checkName(g.name); err != nil {
		return greeting{}, err
	}
	if missing := neededFlags &^ g.flags; missing != 0 && g.flags&flagMandatory25 == 0 {
		return g, fmt.Errorf("%w here: it lacks the capabilities %#x of OTP 25", ErrRefused, missing)
	}
	return g, nil
}

// checkName tells whether a text is the name of a node: two parts with an @ between.
func checkName(name string) error {
	first, host, ok := strings.Cut(name, "@")
	if !ok || first == "" || host == "" || strings.Contains(host, "@") || len(name) > maxAtom || !validAtom([]byte(name)) {
		return fmt.Errorf("%.300q is no name of a node; one is like name@host, of up to %d bytes", name, maxAtom)
	}
	return nil
}

// errHello is the error of a message of the handshake that is too short for what it says.
var errHello = errors.New("a message of the handshake is cut off")

// readHello reads one message of the handshake, which must have the tag, and returns what
// is behind it.
func readHello(c net.Conn, tag byte) ([]byte, error) {
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint16(size[:]))
	if n < 1 || n > maxHello {
		return nil, fmt.Errorf("what came is no handshake: it tells of a message of %d bytes", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(c, b); err != nil {
		return nil, err
	}
	switch {
	case b[0] == 'n' && tag == 'N':
		return nil, fmt.Errorf("%w here: it speaks the handshake of version 5, from before OTP 23; this is version %d", ErrRefused, handshakeVersion)
	case b[0] != tag:
		return nil, fmt.Errorf("what came is no handshake: %q was due, there is %q", tag, b[0])
	}
	return b[1:], nil
}

// writeHello writes one message of the handshake in one go.
func writeHello(c net.Conn, b []byte) error {
	_, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...))
	return err
}

// newChallenge makes a number that nobody can guess.
func newChallenge() uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint32(b[:])
}

// digest is the answer to a challenge: MD5 of the cookie and the challenge's digits, which
// is what the protocol has.
func (id identity) digest(challenge uint32) [md5.Size]byte {
	return md5.Sum([]byte(id.cookie + strconv.FormatUint(uint64(challenge), 10)))
}

// proves tells whether a digest is the answer to a challenge of ours.
func (id identity) proves(digest []byte, challenge uint32) bool {
	want := id.digest(challenge)
	return subtle.ConstantTimeCompare(digest, want[:]) == 1
}
