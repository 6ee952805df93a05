package kerneltest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"benchd/kernels"
)

// counterpart checks that a kernel that promises a server has one: the default of a service
// is the kernel's own.
func (s *suite) counterpart() error {
	_, serves := s.kernel.(kernels.Server)
	if s.info.Attends && !serves {
		return errors.New("its server attends to services, and it has no Serve")
	}
	for _, p := range s.info.Params {
		if p.Kind == kernels.Service && !serves {
			return fmt.Errorf("the parameter %q may be %q, and the kernel has no Serve", p.Name, kernels.Embedded)
		}
	}
	return nil
}

// served runs use with the kernel's counterpart up, if it has one, and ends it afterwards.
// The counterpart runs in this process, which the harness never does; a conformance test
// may, since it measures nothing.
func (s *suite) served(p kernels.Params, use func(kernels.Params) error) error {
	p, stop, err := s.start(p)
	if err != nil {
		return err
	}
	return errors.Join(use(p), stop())
}

// start starts the counterpart and returns the parameters with its address, and a function
// that ends it and tells what was wrong with its end.
func (s *suite) start(p kernels.Params) (kernels.Params, func() error, error) {
	server, ok := s.kernel.(kernels.Server)
	if !ok {
		return p, func() error { return nil }, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	addrs := make(chan string, 2) // room for one call of ready too many
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, p, func(addr string) { addrs <- addr }) }()
	select {
	case addr := <-addrs:
		return p.With(kernels.Addr, addr), func() error { return end(cancel, ended, addrs) }, nil
	case err := <-ended:
		cancel()
		return nil, nil, fmt.Errorf("the counterpart ended before it was ready: %w", orderly(err))
	case <-time.After(patience):
		cancel()
		return nil, nil, fmt.Errorf("the counterpart was not ready after %v", patience)
	}
}

// end cancels a counterpart and checks that it ends in order.
func end(cancel context.CancelFunc, ended <-chan error, addrs <-chan string) error {
	select {
	case err := <-ended:
		cancel()
		return fmt.Errorf("the counterpart ended before it was told to: %w", orderly(err))
	default:
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("the counterpart did not end in order: %w", err)
		}
	case <-time.After(patience):
		return fmt.Errorf("the counterpart had not ended %v after its context", patience)
	}
	if len(addrs) > 0 {
		return errors.New("the counterpart called ready more than once")
	}
	return nil
}

// orderly gives an end that came too early an error even where Serve returned none.
func orderly(err error) error {
	if err == nil {
		return errors.New("its Serve returned nil")
	}
	return err
}

// unreachable checks that Open at the address of a counterpart that is gone fails and
// leaves nothing behind.
func (s *suite) unreachable() error {
	p, stop, err := s.start(s.info.Defaults())
	if err != nil {
		return err
	}
	if err := stop(); err != nil {
		return err
	}
	before := s.settle()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var trial kernels.Trial
	var refused error
	if err := finishes("a call of Open where nothing listens", func() { trial, refused = s.kernel.Open(ctx, p) }); err != nil {
		return err
	}
	if refused == nil {
		return errors.Join(errors.New("a call of Open returned no error though nothing listens at "+p[kernels.Addr]), trial.Close())
	}
	return s.restored(before, "after Open had failed")
}
