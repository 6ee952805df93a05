package messaging

import (
	"fmt"

	"benchd/kernels"
)

var (
	_ kernels.Fitter = roundtripKernel{}
	_ kernels.Fitter = publishKernel{}
	_ kernels.Fitter = consumeKernel{}
)

// Fits tells what the broker or the content has not.
func (roundtripKernel) Fits(p kernels.Params) error {
	if p.Word("content") == raw && p.Word("model") != stream {
		return fmt.Errorf("nobody reads raw bytes; model can only be %s where content is %s", stream, raw)
	}
	return fits(p)
}

// Fits tells what the broker has not.
func (publishKernel) Fits(p kernels.Params) error { return fits(p) }

// Fits tells what the broker has not.
func (consumeKernel) Fits(p kernels.Params) error { return fits(p) }

// fits tells what the broker has not, the one outside or the one of ours.
func fits(p kernels.Params) error {
	e, err := entryOf(p)
	switch {
	case err != nil:
		return err
	case p.Word("server") != kernels.Embedded:
		return nil
	case e.qos && p.Int("qos") != 0:
		return fmt.Errorf("the broker %s inside a worker has quality of service 0 only; qos can be 1 or 2 only where server is the name of a broker", e.name)
	case e.forgetful && p.Bool("persistent"):
		return fmt.Errorf("the broker %s inside a worker keeps no messages; persistent can be true only where server is the name of a broker that does", e.name)
	}
	return nil
}
