// Package erldist speaks the Erlang distribution protocol: it is a node that other Erlang
// nodes, and programs built on jinterface, take for one of theirs.
//
// The parts, from the bottom: terms in the external term format (Append, Decode, Reader);
// the port mapper EPMD, client and server (Register, Lookup, ServeEPMD); the handshake of
// version 6 with its cookie; a connection that carries frames (Peer); and the Node with its
// mailboxes. A node here is a hidden one: it takes part in no global names, and other nodes
// connect to it only when somebody asks them to.
//
// Everything that a node does not need is declined by its flags: no atom cache, no
// fragments, no spawning from outside. A message is therefore one frame, written at once.
//
// Sources: the Erlang/OTP documentation, "External Term Format" and "Distribution
// Protocol" of ERTS 13 (OTP 25).
package erldist

import "errors"

// Errors that a caller may want to tell apart.
var (
	// ErrTerm is wrapped by every error about bytes that are no term, or none that is read here.
	ErrTerm = errors.New("not a term")
	// ErrNameTaken says that another node has registered the name.
	ErrNameTaken = errors.New("the node's name is taken")
	// ErrUnknownNode says that the port mapper knows no node of the name.
	ErrUnknownNode = errors.New("the port mapper knows no such node")
	// ErrCookie says that the nodes have different cookies.
	ErrCookie = errors.New("the nodes have different cookies")
	// ErrRefused says that the other node does not want the connection.
	ErrRefused = errors.New("the other node refused the connection")
	// ErrDown says that the connection to the other node is gone.
	ErrDown = errors.New("the connection to the node is down")
	// ErrClosed says that the node or mailbox was closed here.
	ErrClosed = errors.New("closed")
)
