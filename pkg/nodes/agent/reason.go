package agent

import (
	"net/http"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// What the agents say, in lower case, when they have no key or login, have asked too often, or find their model busy, and
// when they do not know a session.
var (
	loggedOut = []string{
		"not logged in", "please run /login", "invalid api key", "401 unauthorized", "403 forbidden", "incorrect api key", "invalid x-api-key",
		"authentication_error", "oauth token has expired", "oauth token revoked", "missing environment variable", "codex login",
	}
	tooOften = []string{
		"too many requests", "rate limit", "rate_limit", "usage limit", "hit your limit", "limit reached", "(429)",
	}
	busy = []string{
		"overloaded", "at capacity", "high demand", "500 internal server error", "502 bad gateway", "503 service unavailable", "504 gateway timeout",
	}
	noSession = []string{"no conversation found with session id", "requires a valid session id", "no rollout found"}
)

// statusOverloaded is Anthropic's status of an overloaded API.
const statusOverloaded = 529

// failed is the fault of what an agent says went wrong, with the HTTP status of its model's API where that is told.
func (j *job) failed(said string, status int) *fault.Fault {
	lower := strings.ToLower(said)
	says := func(phrases []string) bool {
		for _, p := range phrases {
			if strings.Contains(lower, p) {
				return true
			}
		}
		return false
	}
	if said == "" {
		said = "it does not say why"
	}
	f := fault.New(fault.Execution, "%s failed: %s", j.in.Backend, fault.Truncate(strings.TrimSpace(said), maxSaid))
	if status > 0 {
		f.Detail("http_status", status)
	}
	switch {
	case status == http.StatusTooManyRequests || status == 0 && says(tooOften):
		f.Type, f.Retryable = fault.RateLimited, true
		return f.Suggest("Wait and run it again; a node's retry does that")
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == 0 && says(loggedOut):
		f.Type = fault.Unavailable
		return f.Suggest("%s", j.backend.login())
	case status == statusOverloaded || status >= http.StatusInternalServerError || status == 0 && says(busy):
		f.Type, f.Retryable = fault.Unavailable, true
		return f.Suggest("Run it again later; a node's retry does that")
	case says(noSession):
		f.Type = fault.NotFound
		return f.Suggest("Give in resume the session_id of an earlier agent node, of the same backend, with the same cwd").
			Suggest("Or leave resume out to begin anew")
	}
	return f.Suggest("Correct the node's parameters by what it says, or run %s by hand in the same folder", j.in.Backend)
}
