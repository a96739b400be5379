package veloflux

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Code is the stable kind of an Error.
type Code string

// The codes. CodeManagerHTTP is every answer of the Manager that has no code of its own, and no answer at all. CodeToolFailed is
// everything else, a call that was cancelled among it.
const (
	CodeInvalidParams Code = "invalid_params"
	CodeNotFound      Code = "not_found"
	CodePlanner       Code = "planner_error"
	CodeConflict      Code = "conflict"
	CodeTimeout       Code = "timeout"
	CodeManagerHTTP   Code = "manager_http_error"
	CodeToolFailed    Code = "tool_error"
)

// Error is how every failure looks to whoever called: what kind, in words fit to be shown, and facts for programs.
type Error struct {
	Code    Code   `json:"error_code"`
	Message string `json:"error_message"`
	// Details may hold status (of HTTP), response (the Manager's own words, at most 2,000 characters), line and column
	// (in the SQL, from 1), retryable (true when the same request may succeed later, else left out), record_left (true when
	// a create failed and the Manager has kept a record with the id), maybe_created (true when nobody knows whether a
	// create was carried out; never with retryable, for to look comes first), and for a wrong name or argument available.
	Details map[string]any `json:"details,omitempty"`
	// Cause is context.Canceled or context.DeadlineExceeded where the context or the time for a request ended, else nil.
	Cause error `json:"-"`

	// again says that the request would be retryable if it were not for maybe_created.
	again bool
}

func (e *Error) Error() string { return e.Message }

// Unwrap lets errors.Is find the cause.
func (e *Error) Unwrap() error { return e.Cause }

// ExitStatus is the status of a program that ends with this error: 2 when the request was wrong, 124 when time ran out,
// else 1.
func (e *Error) ExitStatus() int {
	switch e.Code {
	case CodeInvalidParams:
		return 2
	case CodeTimeout:
		return 124
	default:
		return 1
	}
}

// AsError finds the *Error in a chain. Anything else becomes one: a fault of the suite with what it says, the rest as a
// failure of the tool.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return fromFault(f)
	}
	return &Error{Code: CodeToolFailed, Message: err.Error()}
}

// fromFault puts a fault of the suite into this package's shape.
func fromFault(f *fault.Fault) *Error {
	e := &Error{Code: CodeToolFailed}
	if f.Type == fault.Usage {
		e.Code = CodeInvalidParams
	}
	all := f.Errors
	if len(all) == 0 {
		all = []*fault.Fault{f}
	}
	var said []string
	details := map[string]any{}
	for _, one := range all {
		said = append(append(said, one.Message), one.Suggestions...)
		if len(one.Available) > 0 {
			details["available"] = one.Available
		}
		if one.Path != "" {
			details["path"] = one.Path
		}
		if missing, _ := details["missing"].([]string); len(one.Missing) > 0 {
			details["missing"] = append(missing, one.Missing...)
		}
	}
	e.Message = strings.ReplaceAll(strings.Join(said, ". "), "?. ", "? ")
	if len(details) > 0 {
		e.Details = details
	}
	return e
}

// ended is the error of a caller whose context has ended.
func ended(what string, cause error) *Error {
	e := &Error{Code: CodeToolFailed, Message: what + " was cancelled", Cause: cause}
	if errors.Is(cause, context.DeadlineExceeded) {
		e.Code, e.Message = CodeTimeout, what+" failed: timeout: the caller's time ran out"
	}
	return e
}

// maxExcerpt is the most characters of an answer that an error shows.
const maxExcerpt = 2000

// excerpt is text fit for an error: at most 2,000 characters, none of them controls.
func excerpt(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.TrimSpace(text), "?"))
	n := 0
	for i := range text {
		if n++; n > maxExcerpt {
			return text[:i] + "…"
		}
	}
	return text
}
