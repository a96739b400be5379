package llmserver

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Answer is what a request is answered with. The zero value is an empty text.
type Answer struct {
	// Text is said, before the calls.
	Text string
	// Calls are the tools that are called.
	Calls []Call
	// Refusal is said in the place of an answer (Chat).
	Refusal string
	// Stop is why the answer ends, in the words of the request's API; by default the one that fits.
	Stop string
	// Input, Output, CacheRead and CacheWrite are the tokens used: those of the prompt that were neither read from nor written
	// to the cache, and so on. By default words are counted.
	Input, Output, CacheRead, CacheWrite int
	// Cost is what OpenRouter tells as usage.cost.
	Cost float64
	// Status is that of the response; from 400 on it is an error, and Error is its message.
	Status                      int
	Error, ErrorType, ErrorCode string
	// Header are headers of the response.
	Header map[string]string
	// Delay is how long the answer takes.
	Delay time.Duration
}

// Call is one call of a tool.
type Call struct {
	Name  string
	Input json.RawMessage
}

// complete fills in what was left to the server.
func (a *Answer) complete(r *Request) {
	if a.Input == 0 {
		a.Input = r.tokens()
	}
	if a.Output == 0 {
		a.Output = max(1, len(strings.Fields(a.Text))+len(a.Calls))
	}
	if a.Status < http.StatusBadRequest {
		return
	}
	if a.ErrorType == "" {
		a.ErrorType = errorTypes[a.Status]
	}
	if a.ErrorType == "" {
		a.ErrorType = "api_error"
	}
	if a.Error == "" {
		a.Error = http.StatusText(a.Status)
	}
	if a.Status == http.StatusTooManyRequests || a.Status >= http.StatusInternalServerError {
		if a.Header["Retry-After"] == "" && a.Header["Retry-After-Ms"] == "" { // a test shall not wait as long as a client would
			a.Header = map[string]string{"Retry-After-Ms": "10"}
		}
	}
}

// errorTypes are Anthropic's words for statuses.
var errorTypes = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
	413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
}

// reason is why an answer ends: what it says itself, else the API's word for one that called tools, or for a whole one.
func (a *Answer) reason(whole, tool string) string {
	switch {
	case a.Stop != "":
		return a.Stop
	case len(a.Calls) > 0:
		return tool
	}
	return whole
}
