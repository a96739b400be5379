package veloflux

// Code is the stable kind of an Error.
type Code string

// The codes. ManagerHTTP is every answer of the Manager that has no code of its own, and no answer at all.
const (
	InvalidParams Code = "invalid_params"
	NotFound      Code = "not_found"
	Planner       Code = "planner_error"
	Conflict      Code = "conflict"
	Timeout       Code = "timeout"
	Cancelled     Code = "cancelled"
	ManagerHTTP   Code = "manager_http_error"
	ToolFailed    Code = "tool_error"
)

// Error is how every failure looks to whoever called: what kind, in words fit to be shown, and facts for programs.
type Error struct {
	Code    Code   `json:"error_code"`
	Message string `json:"error_message"`
	// Details may hold http_status, response (the Manager's own words), line and column (in the SQL, from 1), retryable,
	// and for a wrong name or argument available.
	Details map[string]any `json:"details,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// ExitStatus is the status of a program that ends with this error: 2 when the request was wrong, 124 when time ran out,
// else 1.
func (e *Error) ExitStatus() int {
	switch e.Code {
	case InvalidParams:
		return 2
	case Timeout:
		return 124
	default:
		return 1
	}
}
