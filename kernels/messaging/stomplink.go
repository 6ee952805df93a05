package messaging

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-stomp/stomp/v3/frame"
)

// stompBuffer holds the head of a frame, and most bodies.
const stompBuffer = 64 << 10

// stompReceipts is more receipts than can be awaited at a time.
const stompReceipts = 4 * publishTally

// stompCopied is the longest message that is copied behind its head to be written at once;
// for longer ones the system gathers both by itself.
const stompCopied = 64 << 10

// farewell is how long a broker has to answer that it has seen everything.
const farewell = time.Second

// stompLink is a connection to a STOMP broker. One goroutine reads, whoever wants writes.
type stompLink struct {
	*inbox
	socket   net.Conn
	server   string
	receipts chan struct{} // one for each RECEIPT
	ended    chan struct{} // closed once the reading goroutine is gone

	writing sync.Mutex
	head    []byte
}

// stompConnect connects and introduces itself, with no heartbeats: what ends a wait is its
// context.
func stompConnect(ctx context.Context, at place) (*stompLink, error) {
	socket, err := at.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to the STOMP broker at %s: %w", at.url.Host, err)
	}
	l := &stompLink{inbox: newInbox(), socket: socket, receipts: make(chan struct{}, stompReceipts), ended: make(chan struct{})}
	release := context.AfterFunc(ctx, func() { _ = socket.Close() })
	defer release()
	_ = socket.SetReadDeadline(time.Now().Add(connectPatience)) // fails on a closed socket only
	in := frame.NewReaderSize(socket, stompBuffer)
	headers := []string{frame.AcceptVersion, "1.2", frame.Host, stompHost(at.url), frame.HeartBeat, "0,0"}
	if user, password := at.credentials("", ""); user != "" {
		headers = append(headers, frame.Login, user, frame.Passcode, password)
	}
	var f *frame.Frame
	if err = l.write(frame.CONNECT, headers, nil); err == nil {
		f, err = in.Read()
	}
	if err == nil && (f == nil || f.Command != frame.CONNECTED) {
		err = fmt.Errorf("it answers: %s", stompWords(f))
	}
	if err != nil {
		_ = socket.Close() // the error that counts is the one before
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("open a session at the STOMP broker at %s: %w", at.url.Host, err)
	}
	_ = socket.SetReadDeadline(time.Time{}) // as above
	l.server = strings.Clone(f.Header.Get(frame.Server))
	go l.read(in)
	return l, nil
}

// stompWords is what a frame says that was not expected.
func stompWords(f *frame.Frame) string {
	if f == nil {
		return "nothing"
	}
	return strings.TrimSpace(strings.Join([]string{f.Command, f.Header.Get(frame.Message), firstLine(f.Body)}, " "))
}

// firstLine is the first line of what a broker writes to a person.
func firstLine(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return strings.ToValidUTF8(line, "?")
}

// read takes frames in until the connection is gone.
func (l *stompLink) read(in *frame.Reader) {
	defer close(l.ended)
	for {
		f, err := in.Read()
		if err != nil {
			l.lose(err)
			return
		}
		if f == nil {
			continue // a heartbeat
		}
		switch f.Command {
		case frame.MESSAGE:
			l.deliver(stompParcel(f))
		case frame.RECEIPT:
			select {
			case l.receipts <- struct{}{}:
			default: // nobody asked for so many
			}
		case frame.ERROR:
			l.lose(refusedBy(fmt.Errorf("the broker says: %s", stompWords(f))))
			return
		}
	}
}

// stompParcel takes a message out of its frame.
func stompParcel(f *frame.Frame) parcel {
	number, err := strconv.ParseUint(f.Header.Get(stompCorrelation), 36, 64)
	if err != nil {
		number = 0 // no number of a request's
	}
	p := parcel{number: number, body: f.Body, reply: strings.Clone(f.Header.Get(stompReplyTo))}
	p.oneWay = p.reply == ""
	if id := f.Header.Get(frame.Ack); id != "" {
		p.receipt = strings.Clone(id)
	}
	return p
}

// The headers of request and reply, which are no part of the protocol but known to all.
const (
	stompReplyTo     = "reply-to"
	stompCorrelation = "correlation-id"
)

// write sends a frame in one piece.
func (l *stompLink) write(command string, headers []string, body []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	b := append(append(l.head[:0], command...), '\n')
	for i, h := range headers {
		if command == frame.CONNECT {
			b = append(b, h...) // the one frame whose headers are not escaped
		} else {
			b = stompEscape(b, h)
		}
		b = append(b, ":\n"[i%2])
	}
	if body != nil {
		b = append(b, "content-length:"...)
		b = append(strconv.AppendInt(b, int64(len(body)), 10), '\n')
	}
	b = append(b, '\n')
	if len(body) <= stompCopied {
		b = append(append(b, body...), 0)
		l.head = b
		_, err := l.socket.Write(b)
		return err
	}
	l.head = b
	pieces := net.Buffers{b, body, {0}}
	_, err := pieces.WriteTo(l.socket)
	return err
}

// stompEscape appends a header's name or value.
func stompEscape(b []byte, s string) []byte {
	for i := range len(s) {
		switch s[i] {
		case '\\':
			b = append(b, `\\`...)
		case '\r':
			b = append(b, `\r`...)
		case '\n':
			b = append(b, `\n`...)
		case ':':
			b = append(b, `\c`...)
		default:
			b = append(b, s[i])
		}
	}
	return b
}

// receipt waits for a RECEIPT.
func (l *stompLink) receipt(ctx context.Context) error {
	select {
	case <-l.receipts:
		return nil
	case <-l.lost:
		return lostBy(l.why)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end closes the connection.
func (l *stompLink) end() error {
	err := l.socket.Close()
	for {
		select {
		case <-l.parcels: // so that the reader does not wait for one who reads
		case <-l.ended:
			if err != nil {
				return fmt.Errorf("close the connection to the STOMP broker: %w", err)
			}
			return nil
		}
	}
}
