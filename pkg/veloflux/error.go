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

// The codes. CodeManagerHTTP stands for every response of the Manager that has no code of its own, and for a missing
// response. CodeToolFailed is everything else, including a cancelled call.
const (
	CodeInvalidParams Code = "invalid_params"
	CodeNotFound      Code = "not_found"
	CodePlanner       Code = "planner_error"
	CodeConflict      Code = "conflict"
	CodeTimeout       Code = "timeout"
	CodeManagerHTTP   Code = "manager_http_error"
	CodeToolFailed    Code = "tool_error"
)

// Error is the form of every failure that a caller sees: a code, a message that can be shown, and facts for programs.
type Error struct {
	Code    Code   `json:"error_code"`
	Message string `json:"error_message"`
	// Details may hold status (the HTTP status), response (the Manager's text, at most 2,000 characters), line and column
	// (in the SQL, from 1), retryable (true if the same request may succeed later, else left out), record_left (true if
	// a create failed and the Manager kept a record with the id), maybe_created (true if it is unknown whether a create
	// was carried out; never together with retryable, because the caller must check first), pipeline_id (of a pipeline that
	// was maybe created), and available (the valid names, for a wrong name or argument).
	Details map[string]any `json:"details,omitempty"`
	// Cause is context.Canceled or context.DeadlineExceeded if the context or the time for a request ended, else nil.
	Cause error `json:"-"`

	// wasRetryable means that the error had retryable before maybe_created replaced it.
	wasRetryable bool
	// closed means that the Manager closed the connection without an answer.
	closed bool
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// ExitStatus returns the exit status of a program that ends with this error: 2 if the request was wrong, 124 if time ran
// out, else 1.
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

// AsError returns the *Error in the chain of err. Any other error is converted: a fault of the suite keeps its message
// and suggestions, and the rest becomes a CodeToolFailed with the error's text.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return fromFault(f)
	}
	return &Error{Code: CodeToolFailed, Message: err.Error()}
}

// fromFault converts a fault of the suite to an Error.
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

// contextEnded returns the error for a caller whose context has ended.
func contextEnded(what string, cause error) *Error {
	e := &Error{Code: CodeToolFailed, Message: what + " was cancelled", Cause: cause}
	if errors.Is(cause, context.DeadlineExceeded) {
		e.Code, e.Message = CodeTimeout, what+" failed: timeout: the caller's time ran out"
	}
	return e
}

// maxPrintable is the most characters of a response that an error shows.
const maxPrintable = 2000

// printable returns text that an error can show: at most maxPrintable characters, without control characters except
// newlines and tabs.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.TrimSpace(text), "?"))
	n := 0
	for i := range text {
		if n++; n > maxPrintable {
			return text[:i] + "…"
		}
	}
	return text
}
