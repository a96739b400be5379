// Package fault defines the error that all programs of the suite share: what was wrong, where, and what to do next.
//
// A fault is written for a reader who has only its text. Programs print it as JSON at the end of standard output and
// as one line on standard error. The exit status follows from its type (docs/contracts.md, "Failures").
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// Type is the kind of a fault. The list is closed: scripts and agents rely on the names, so none is ever renamed.
type Type string

// The types. Those of the first group lead to exit status 2 (the request was wrong, nothing was done), the others to 1.
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

	// BudgetExceeded is a run that was stopped because its budget is used up.
	BudgetExceeded Type = "budget_exceeded"
)

// Known reports whether t is one of the types above.
func (t Type) Known() bool {
	switch t {
	case Usage, Validation, Security, NotFound, AlreadyExists, Execution, Template, Protocol, Unavailable, Conflict, RateLimited,
		TooLarge, Timeout, Internal, BudgetExceeded:
		return true
	}
	return false
}

// Fault is an error. Type and Message are always set, the other fields where they help the reader.
type Fault struct {
	Type    Type   `json:"type"`
	Message string `json:"message"`
	// Node is the id of the workflow's node in which the fault is.
	Node string `json:"node,omitempty"`
	// Path is the place inside the document, such as nodes[1].params.url.
	Path string `json:"path,omitempty"`
	// File is the file as the user named it, Line and Column the place in it. Both count from 1.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Missing names what is required and not there.
	Missing []string `json:"missing,omitempty"`
	// Suggestions are sentences that say what to do next, best first. Until Address, they name neither commands of the suite nor tools.
	Suggestions []string `json:"suggestions,omitempty"`
	// Next are steps that can be taken next, best first. Address adds their words to Suggestions.
	Next []Step `json:"next,omitempty"`
	// Available lists the names that exist instead, with their types if they have any.
	Available []string `json:"available,omitempty"`
	// AvailableTotal is how many names exist, if Available does not have all of them.
	AvailableTotal int `json:"available_total,omitempty"`
	// Retryable is true if the same request may succeed later.
	Retryable bool `json:"retryable,omitempty"`
	// Errors holds the faults that this one sums up, or the first of them.
	Errors []*Fault `json:"errors,omitempty"`
	// ErrorsTotal is how many faults this one sums up, if Errors does not have all of them.
	ErrorsTotal int `json:"errors_total,omitempty"`
	// Details holds facts for programs, such as an exit status, an HTTP status or the end of standard error.
	Details map[string]any `json:"details,omitempty"`

	// KnownAs is the name that Known has given.
	KnownAs string `json:"-"`
}

// New returns a fault whose message is formatted as by fmt.Sprintf.
func New(t Type, format string, args ...any) *Fault {
	return &Fault{Type: t, Message: fmt.Sprintf(format, args...)}
}

// Error returns the message, followed by those of Errors, one a line.
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

// Lines returns the message and the messages of the first Errors, with their places. A message that only sums up the others is left out.
func (f *Fault) Lines() (lines []string) {
	if !f.OnlySums() {
		lines = append(lines, f.Message)
	}
	for _, e := range f.Errors[:min(len(f.Errors), maxLines)] {
		lines = append(lines, e.Where()+e.Message)
	}
	if more := len(f.Errors) - maxLines; more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return lines
}

// maxLines is the most Errors that Lines returns.
const maxLines = 10

// Where returns the place as a prefix of a message: "file:line:column: ", else the path inside the document, else "".
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

// Detail sets one of Details and returns the fault.
func (f *Fault) Detail(key string, value any) *Fault {
	if f.Details == nil {
		f.Details = map[string]any{}
	}
	f.Details[key] = value
	return f
}

// ExitStatus returns the exit status of a program that ends with this fault. It follows from the type.
func (f *Fault) ExitStatus() int {
	switch f.Type {
	case Usage, Validation, Security, NotFound, AlreadyExists:
		return 2
	default:
		return 1
	}
}

// From returns the fault in an error's chain. Any other error becomes an internal_error with the same text, and nil stays nil.
func From(err error) *Fault {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return &Fault{Type: Internal, Message: err.Error()}
}

// Join returns one fault for several: nil for an empty list, and the fault itself for one. For more, it counts them in the
// message "what: N errors", and its type is t. If all faults have the same other type, it takes that type and the message of
// the first. Its Missing are those of all.
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
		joined.Message = first.Message + ofSeveral(len(faults))
	}
	return joined
}

func ofSeveral(n int) string { return fmt.Sprintf(" (the first of %d errors)", n) }

// OnlySums reports whether the fault says nothing that its Errors do not say, so that a reader who is shown them all needs no more.
func (f *Fault) OnlySums() bool {
	return len(f.Errors) > 0 && f.Message == f.Errors[0].Message+ofSeveral(len(f.Errors))
}

// Parts returns the faults that the fault of an error sums up, or that fault itself.
func Parts(err error) []*Fault {
	f := From(err)
	if len(f.Errors) == 0 {
		return []*Fault{f}
	}
	return f.Errors
}
