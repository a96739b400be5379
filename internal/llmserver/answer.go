package llmserver

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"time"
)

// Answer is the answer to a request. The zero value is an empty text.
type Answer struct {
	// Text is the text of the answer, before the calls.
	Text string
	// Calls are the tool calls of the answer.
	Calls []Call
	// Refusal is the text of a refusal instead of an answer (Chat).
	Refusal string
	// Stop is why the answer ends, as the API names it. The default depends on the answer.
	Stop string
	// Input, Output, CacheRead and CacheWrite are the numbers of tokens. Input does not include tokens that were read from or
	// written to the cache. By default they are the numbers of words.
	Input, Output, CacheRead, CacheWrite int
	// Cost is the usage.cost of OpenRouter.
	Cost float64
	// Status is the HTTP status. From 400 on the response is an error with the message Error.
	Status                      int
	Error, ErrorType, ErrorCode string
	// Header are headers of the response.
	Header map[string]string
	// Delay is the time before the response.
	Delay time.Duration
}

// Call is a call of a tool.
type Call struct {
	Name  string
	Input json.RawMessage
}

// complete sets the defaults of an answer.
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
		if a.Header["Retry-After"] == "" && a.Header["Retry-After-Ms"] == "" { // so that tests do not wait as long as the clients would
			header := map[string]string{"Retry-After-Ms": "10"}
			maps.Copy(header, a.Header)
			a.Header = header
		}
	}
}

// errorTypes are the names of statuses in Anthropic's API.
var errorTypes = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
	413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
}

// reason returns why an answer ends: Stop, or else tool if there are calls, or else whole.
func (a *Answer) reason(whole, tool string) string {
	switch {
	case a.Stop != "":
		return a.Stop
	case len(a.Calls) > 0:
		return tool
	}
	return whole
}
