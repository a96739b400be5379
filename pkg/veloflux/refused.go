package veloflux

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// refused makes an error of an answer that is no success. The Manager's errors are plain text, and its status 400 is
// for wrong SQL and for wrong anything else, so the text has to tell. No text at all is a route that it does not have.
func refused(what, base string, status int, body string) *Error {
	text := excerpt(body)
	e := &Error{Code: ManagerHTTP, Message: fmt.Sprintf("%s failed: HTTP %d: %s", what, status, text), Details: map[string]any{"http_status": status, "response": text}}
	switch {
	case text == "" && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed):
		e.Message = fmt.Sprintf("%s failed: HTTP %d: no such route at %s. The URL may be wrong, or the Manager too old", what, status, base)
	case text == "":
		e.Message = fmt.Sprintf("%s failed: HTTP %d without a word", what, status)
	}
	switch status {
	case http.StatusBadRequest:
		e.Code = badRequest(text)
	case http.StatusNotFound:
		if text != "" {
			e.Code = NotFound
		}
	case http.StatusConflict:
		e.Code = Conflict
		if strings.Contains(text, "busy") || strings.Contains(text, "in progress") {
			e.Details["retryable"] = true
		}
	case http.StatusUnprocessableEntity:
		e.Code = InvalidParams
	case http.StatusGatewayTimeout:
		e.Code = Timeout
		e.Details["retryable"] = true
	}
	if e.Code == Planner {
		if line, column, ok := position(text); ok {
			e.Details["line"], e.Details["column"] = line, column
		}
	}
	return e
}

// badRequest tells what is wrong with a request by the words of status 400.
func badRequest(text string) Code {
	switch {
	case strings.HasPrefix(text, "parse pipeline "), strings.HasPrefix(text, "failed to explain pipeline "),
		strings.Contains(text, "pipeline build error:"),
		strings.HasPrefix(text, "stream ") && strings.HasSuffix(text, " missing from storage"):
		return Planner
	case strings.HasPrefix(text, "pipeline must define "), strings.HasSuffix(text, " must not be empty"),
		strings.HasPrefix(text, "options."), strings.HasPrefix(text, "flow instance "):
		return InvalidParams
	}
	return ManagerHTTP
}

// position reads " at Line: N, Column M", the place in the SQL.
func position(text string) (line, column int, ok bool) {
	const mark = " at Line: "
	at := strings.LastIndex(text, mark)
	if at < 0 {
		return 0, 0, false
	}
	first, second, found := strings.Cut(text[at+len(mark):], ", Column ")
	digits := len(second) - len(strings.TrimLeft(second, "0123456789"))
	line, lineErr := strconv.Atoi(first)
	column, columnErr := strconv.Atoi(second[:digits])
	return line, column, found && lineErr == nil && columnErr == nil
}
