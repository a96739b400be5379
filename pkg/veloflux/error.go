package veloflux

import (
	"strings"
	"unicode"
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
