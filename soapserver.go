package main

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"

	"benchd/kernels/envelope"
	"benchd/kernels/soap"
	"benchd/worker/bench"
)

// soapServerCommand runs the services that the SOAP kernels call, for clients of other stacks
// and for workers that name them as theirs.
type soapServerCommand struct {
	Addr     string `help:"Address to listen on; port 0 takes a free one." default:"127.0.0.1:0"`
	Model    string `help:"How the echo service reads and writes messages: stream, or dom for a tree." enum:"stream,dom" default:"stream"`
	TLS      bool   `name:"tls" help:"Speak TLS, with a certificate authority made for this process; its certificates are good for 30 days. Needs --ca."`
	CA       string `name:"ca" help:"File to write the authority to, in PEM, for clients to believe it." placeholder:"FILE"`
	Insecure bool   `help:"Allow an address beyond this machine, where whoever reaches it may call."`
}

// Validate checks what goes together, when the command line is read.
func (c soapServerCommand) Validate() error {
	switch {
	case c.TLS && c.CA == "":
		return errors.New("--tls needs --ca, a file for the authority that clients have to believe")
	case !c.TLS && c.CA != "":
		return errors.New("--ca is for --tls: without it there is no authority to write")
	}
	return nil
}

// Run serves until the process is told to end. It prints a line for each service, the name of
// the kernel that calls it and its URL, once both can be called.
func (c soapServerCommand) Run(ctx context.Context, t terminal) error {
	listen, err := c.listen()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served, untold := false, error(nil)
	err = soap.Services{Listen: listen, Model: envelope.Model(c.Model), TLS: c.TLS}.Serve(ctx, func(at soap.Addresses) {
		served = true
		if untold = c.tell(t, at); untold != nil {
			stop() // whom nobody can call need not go on
		}
	})
	switch {
	case untold != nil:
		return untold
	case err != nil && !served:
		return bench.Errorf(bench.Unavailable, "cannot_listen", "cannot serve on %s: %v; choose another --addr (port 0 takes a free one)", c.Addr, err)
	}
	return err
}

// listen returns the address to listen on, which is of this machine alone unless that is
// allowed to be otherwise: the services ask nobody who they are.
func (c soapServerCommand) listen() (string, error) {
	addr, err := net.ResolveTCPAddr("tcp", c.Addr)
	if err != nil {
		return "", bench.Errorf(bench.Invalid, "bad_address", "--addr must be like 127.0.0.1:8081, not %q: %v", c.Addr, err)
	}
	if !addr.IP.IsLoopback() && !c.Insecure {
		return "", bench.Errorf(bench.Invalid, "not_loopback", "--addr %s is beyond this machine, where whoever reaches it may call; choose one of 127.0.0.1, or allow it by --insecure", c.Addr)
	}
	return addr.String(), nil
}

// tell writes the authority, if there is one, and prints the URLs.
func (c soapServerCommand) tell(t terminal, at soap.Addresses) error {
	if at.Authority != nil {
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: at.Authority})
		if err := os.WriteFile(c.CA, text, 0o644); err != nil {
			return exitError{exitUsage, fmt.Errorf("write the authority for --ca: %w", err)}
		}
	}
	_, err := fmt.Fprintf(t.out, "%s %s\n%s %s\n", soap.Echo{}.Info().Name, at.Echo, soap.Attachment{}.Info().Name, at.Attachment)
	return err
}
