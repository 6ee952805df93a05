package soap

import (
	"errors"
	"fmt"

	"benchd/kernels"
	"benchd/kernels/envelope"
)

// faultIn gives the failure of an answer that a codec of a version read with err, if it holds a
// fault, or else nil. A service that does not know the version may answer in the other one (SOAP
// 1.2 Part 1, appendix A): its fault says more than that the versions differ.
func faultIn(err error, codec *envelope.Codec, v envelope.Version, answer []byte) error {
	var fault *envelope.Fault
	var wrong *envelope.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &fault):
		return &kernels.Failure{Class: classFault, Err: fault}
	case !errors.As(err, &wrong) || wrong.Code != envelope.CodeVersionMismatch:
		return nil
	}
	other := envelope.V11
	if v == envelope.V11 {
		other = envelope.V12
	}
	codec.Use(other)
	defer codec.Use(v)
	var m envelope.Message
	if err := codec.Decode(answer, &m); !errors.As(err, &fault) {
		return nil
	}
	return &kernels.Failure{Class: classFault, Err: fmt.Errorf("in SOAP %s: %w", other, fault)}
}
