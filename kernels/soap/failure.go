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
	classRefused   = "refused" // nothing listens
	classReset     = "reset"   // the connection was closed before the answer was complete
	classTLS       = "tls"     // the other side's certificate is not believed, or what it says is not TLS
)

// malformed makes the failure of an answer that is not one.
func malformed(format string, args ...any) *kernels.Failure {
	return &kernels.Failure{Class: classMalformed, Err: fmt.Errorf(format, args...)}
}

// failure makes the failure of a call from what went wrong in it.
func failure(operation string, err error) *kernels.Failure {
	class := classMalformed
	var known *kernels.Failure
	switch {
	case errors.As(err, &known):
		return &kernels.Failure{Class: known.Class, Err: fmt.Errorf("%s: %w", operation, known.Err)}
	case isTimeout(err):
		class = classTimeout
	case isTLS(err):
		class = classTLS
	case errors.Is(err, syscall.ECONNREFUSED):
		class = classRefused
	case isCut(err):
		class = classReset
	}
	return &kernels.Failure{Class: class, Err: fmt.Errorf("%s: %w", operation, err)}
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// isCut tells whether an error says that the connection ended.
func isCut(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &op) && !op.Timeout() && !isTLS(err)
}
