package bench

import (
	"errors"
	"fmt"
	"strings"
)

// Kind sorts errors by what the caller can do about them. The API maps each kind to one
// HTTP status.
type Kind string

// The kinds of error.
const (
	Invalid      Kind = "invalid"     // the request cannot be right: 422
	Malformed    Kind = "malformed"   // the request cannot be read: 400
	NotFound     Kind = "not_found"   // there is no such thing: 404
	Conflict     Kind = "conflict"    // it does not fit the present state: 409
	TooLarge     Kind = "too_large"   // the body is over the limit: 413
	Unavailable  Kind = "unavailable" // a part of the service is away: 503
	InternalKind Kind = "internal"    // a fault of ours: 500, its text stays in the log
)

// An Error is a failure with a sentence for the person who gets it. Anything that is not an
// *Error is internal, and its text never leaves the service.
type Error struct {
	Kind    Kind
	Code    string       // stable: "unknown_kernel"
	Message string       // a sentence: what was wrong, where, what is allowed
	Fields  []FieldError // what was wrong with which field, when fields were
}

// A FieldError is one thing wrong with one field of a request.
type FieldError struct {
	Pointer   string   `json:"pointer" example:"/cases/0/kernel"`                    // JSON pointer (RFC 6901) into the request's body, "" for the whole
	Parameter string   `json:"parameter,omitempty"`                                  // the query parameter or header, when it is none of the body's
	Code      string   `json:"code" example:"unknown_kernel"`                        // stable, as the problem's
	Message   string   `json:"message" example:"there is no kernel \"scimark.ftt\""` // a sentence
	Allowed   []string `json:"allowed,omitempty"`                                    // the allowed values, where they can be listed
}

// Error gives the sentence.
func (e *Error) Error() string { return e.Message }

// Errorf makes an Error.
func Errorf(kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...)}
}

// AsError finds the *Error in err, or nil.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// InvalidFields makes one Error of kind Invalid of the field errors found, or nil when
// there are none.
func InvalidFields(fields []FieldError) error { return invalid(fields) }

// invalid makes one Error of the field errors found, or nil when there are none. The first
// one gives the code; the message tells them all.
func invalid(fields []FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	var msgs []string
	for i, f := range fields {
		if i == 5 {
			msgs = append(msgs, fmt.Sprintf("and %d more", len(fields)-i))
			break
		}
		at := f.Pointer
		if at == "" {
			at = "request"
		}
		msgs = append(msgs, at+": "+f.Message)
	}
	return &Error{Kind: Invalid, Code: fields[0].Code, Message: strings.Join(msgs, "; "), Fields: fields}
}
