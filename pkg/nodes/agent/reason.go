package agent

import (
	"net/http"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Phrases in the messages of the agents, in lower case: for a missing key or login, for a rate limit, for a busy model, and for
// an unknown session.
var (
	loggedOut = []string{
		"not logged in", "please run /login", "invalid api key", "401 unauthorized", "403 forbidden", "incorrect api key", "invalid x-api-key",
		"authentication_error", "oauth token has expired", "oauth token revoked", "missing environment variable", "codex login",
	}
	rateLimited = []string{
		"too many requests", "rate limit", "rate_limit", "usage limit", "hit your limit", "limit reached", "(429)",
	}
	busy = []string{
		"overloaded", "at capacity", "high demand", "500 internal server error", "502 bad gateway", "503 service unavailable", "504 gateway timeout",
	}
	noSession = []string{"no conversation found with session id", "requires a valid session id", "no rollout found"}
)

// statusOverloaded is Anthropic's status of an overloaded API.
const statusOverloaded = 529

// failed returns the fault for an error message of an agent, with the HTTP status of its model's API, or 0.
func (j *job) failed(message string, status int) *fault.Fault {
	lower := strings.ToLower(message)
	has := func(phrases []string) bool {
		return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(lower, p) })
	}
	if message == "" {
		message = "it does not report why"
	}
	f := fault.New(fault.Execution, "%s failed: %s", j.in.Backend, fault.Truncate(strings.TrimSpace(message), maxShown))
	if status > 0 {
		f.Detail("http_status", status)
	}
	switch {
	case status == http.StatusTooManyRequests || status == 0 && has(rateLimited):
		f.Type, f.Retryable = fault.RateLimited, true
		return f.Suggest("Run the node again later, or give it a retry")
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == 0 && has(loggedOut):
		f.Type = fault.Unavailable
		return f.Suggest("%s", j.backend.login())
	case status == statusOverloaded || status >= http.StatusInternalServerError || status == 0 && has(busy):
		f.Type, f.Retryable = fault.Unavailable, true
		return f.Suggest("Run the node again later, or give it a retry")
	case has(noSession):
		f.Type = fault.NotFound
		return f.Suggest("Set resume to the session_id of an earlier agent node with the same backend and cwd").
			Suggest("Or leave resume out to start a new session")
	}
	return f.Suggest("Correct the node's parameters, or run %s by hand in the same directory to see what is wrong", j.in.Backend)
}
