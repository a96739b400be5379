// Package fault is the one error shape that crosses a process: what was wrong, where, and what to do next.
//
// A fault is written for a reader who has only its text. Programs print it as JSON at the end of standard output and
// as one line on standard error; the exit status follows from its type (see docs/contracts.md, "Failures").
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// Type is the closed list of kinds of fault. New ones are added at the end, none is ever renamed.
type Type string

// The kinds, by the exit status they lead to: the first group 2 (nothing was done, the request was wrong), the second 1.
const (
	Usage         Type = "usage_error"
	Validation    Type = "validation_error"
	Security      Type = "security_error"
	NotFound      Type = "not_found"
	AlreadyExists Type = "already_exists"

	Execution   Type = "execution_error"
	Template    Type = "template_error"
	Protocol    Type = "protocol_error"
	Unavailable Type = "unavailable"
	Conflict    Type = "conflict"
	RateLimited Type = "rate_limited"
	TooLarge    Type = "too_large"
	Timeout     Type = "timeout"
	Internal    Type = "internal_error"
)

// Known says whether it is one of the kinds.
func (t Type) Known() bool {
	switch t {
	case Usage, Validation, Security, NotFound, AlreadyExists, Execution, Template, Protocol, Unavailable, Conflict, RateLimited,
		TooLarge, Timeout, Internal:
		return true
	}
	return false
}

// Fault is the error object. Type and Message are always set, the rest only where it helps the reader.
type Fault struct {
	Type    Type   `json:"type"`
	Message string `json:"message"`
	// Node is the id of the workflow's node that the fault belongs to.
	Node string `json:"node,omitempty"`
	// Path is the place inside the document, such as nodes[1].params.url.
	Path string `json:"path,omitempty"`
	// File, Line and Column are the place in the file as the user named it; Line and Column count from 1.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Missing names what was asked for and is not there.
	Missing []string `json:"missing,omitempty"`
	// Suggestions are sentences that say what to do next, the best first.
	Suggestions []string `json:"suggestions,omitempty"`
	// Available lists what exists instead, with types where there are any.
	Available []string `json:"available,omitempty"`
	// Retryable is true only when the very same request may succeed later.
	Retryable bool `json:"retryable,omitempty"`
	// Errors holds the single faults when this one counts several.
	Errors []*Fault `json:"errors,omitempty"`
	// Details carries facts for programs: an exit status, an HTTP status, the end of standard error.
	Details map[string]any `json:"details,omitempty"`
}

// New makes a fault from a format.
func New(t Type, format string, args ...any) *Fault {
	return &Fault{Type: t, Message: fmt.Sprintf(format, args...)}
}

// Error is the message alone, with the messages of counted faults behind it.
func (f *Fault) Error() string {
	if len(f.Errors) == 0 {
		return f.Message
	}
	lines := []string{f.Message}
	for _, e := range f.Errors {
		lines = append(lines, "  "+e.Where()+e.Error())
	}
	return strings.Join(lines, "\n")
}

// Where is the place as people write it, "file:line:column: ", or the path inside the document, or nothing.
func (f *Fault) Where() string {
	switch {
	case f.Line > 0 && f.Column > 0:
		return fmt.Sprintf("%s:%d:%d: ", f.File, f.Line, f.Column)
	case f.Line > 0:
		return fmt.Sprintf("%s:%d: ", f.File, f.Line)
	case f.Path != "":
		return f.Path + ": "
	}
	return ""
}

// Suggest appends what to do next and returns the fault.
func (f *Fault) Suggest(format string, args ...any) *Fault {
	f.Suggestions = append(f.Suggestions, fmt.Sprintf(format, args...))
	return f
}

// Detail sets one fact for programs and returns the fault.
func (f *Fault) Detail(key string, value any) *Fault {
	if f.Details == nil {
		f.Details = map[string]any{}
	}
	f.Details[key] = value
	return f
}

// ExitStatus is the status of a program that ends with this fault, by its type.
func (f *Fault) ExitStatus() int {
	switch f.Type {
	case Usage, Validation, Security, NotFound, AlreadyExists:
		return 2
	default:
		return 1
	}
}

// From finds the fault in an error's chain; any other error becomes an internal_error with its text. From(nil) is nil.
func From(err error) *Fault {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return &Fault{Type: Internal, Message: err.Error()}
}

// Join makes one fault of several: nil of none, the fault itself of one. Of more it counts them: it is of type t, or of
// the type that all of them have, and then opens with the first. What any of them misses, it misses.
func Join(t Type, what string, faults []*Fault) *Fault {
	switch len(faults) {
	case 0:
		return nil
	case 1:
		return faults[0]
	}
	first := faults[0]
	joined := &Fault{Type: t, Message: fmt.Sprintf("%s: %d errors", what, len(faults)), Errors: faults}
	same := first.Type != t
	for _, f := range faults {
		joined.Missing = append(joined.Missing, f.Missing...)
		same = same && f.Type == first.Type
	}
	if same {
		joined.Type, joined.Node = first.Type, first.Node
		joined.Message = fmt.Sprintf("%s (the first of %d errors)", first.Message, len(faults))
	}
	return joined
}
