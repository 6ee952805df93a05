package soap

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"benchd/kernels"
)

// The classes under which failed calls are counted.
const (
	classFault     = "fault"     // the service answered with a fault
	classMalformed = "malformed" // the answer is not HTTP, not SOAP, or not of status 200
	classMismatch  = "mismatch"  // the answer is not what was sent
	classTimeout   = "timeout"
	classRefused   = "refused"     // nothing listens
	classUnknown   = "unresolved"  // the name of the host has no address
	classNoWay     = "unreachable" // no connection could be made for another reason
	classReset     = "reset"       // the connection was closed before the answer was complete
	classTLS       = "tls"         // the other side's certificate is not believed, or what it says is not TLS
)

// malformed makes the failure of an answer that is not one.
func malformed(format string, args ...any) *kernels.Failure {
	return &kernels.Failure{Class: classMalformed, Err: fmt.Errorf(format, args...)}
}

// failure makes the failure of a call from what went wrong in it.
func failure(operation string, err error) *kernels.Failure {
	var known *kernels.Failure
	if errors.As(err, &known) {
		return &kernels.Failure{Class: known.Class, Err: fmt.Errorf("%s: %w", operation, known.Err)}
	}
	return &kernels.Failure{Class: classOf(err), Err: fmt.Errorf("%s: %w", operation, err)}
}

// classOf names the kind of an error of the network. That a name has no address comes first:
// to ask for it may have taken too long, and it is still the name that is wrong.
func classOf(err error) string {
	var name *net.DNSError
	switch {
	case errors.As(err, &name):
		return classUnknown
	case isTimeout(err):
		return classTimeout
	case isTLS(err):
		return classTLS
	case errors.Is(err, syscall.ECONNREFUSED):
		return classRefused
	case isCut(err):
		return classReset
	case isDial(err):
		return classNoWay
	}
	return classMalformed
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// isDial tells whether an error is one of the making of a connection.
func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// isCut tells whether an error says that the connection ended. Whatever a connection that was
// made fails with means that, unless it is a time-out or one of TLS: systems have many numbers
// for it.
func isCut(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
		return true
	}
	var op *net.OpError
	return errors.As(err, &op) && op.Op != "dial" && !op.Timeout() && !isTLS(err)
}
