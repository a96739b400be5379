package veloflux

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// refused returns the error for a response with a status other than 2xx. The Manager's errors are plain text. Its status
// 400 is for wrong SQL as well as for any other mistake, so the text decides. An empty text means that the Manager does
// not have the route.
func (x *exchange) refused(resp *http.Response, body []byte, broken bool) *Error {
	status, text := resp.StatusCode, x.quoted(body, broken)
	e := &Error{Code: CodeManagerHTTP, Details: map[string]any{"status": status, "response": text}}
	if retryableStatus(status) {
		e.Details["retryable"] = true
	}
	opening := fmt.Sprintf("%s failed: HTTP %d", x.what(), status)
	e.Message = opening + ": " + text
	noRoute := status == http.StatusNotFound || status == http.StatusMethodNotAllowed
	switch {
	case x.redirect != "":
		e.Message = fmt.Sprintf("%s redirects to %s, %s. If that is the Manager, give its URL", opening, placeOf(resp), x.redirect)
	case text == "" && noRoute:
		e.Message = fmt.Sprintf("%s: no such route at %s. The URL may be wrong, or the Manager too old", opening, x.base)
	case text == "":
		e.Message = opening + " without a message"
	case isHTML(resp.Header, body):
		e.Message = fmt.Sprintf("%s with an HTML page instead of a Manager's message. Is there a veloFlux Manager at %s?", opening, x.base)
	case noRoute && !(status == http.StatusNotFound && ofAThing(text)):
		e.Message += fmt.Sprintf(". This is not a message of a Manager. Is there a veloFlux Manager at %s?", x.base)
	default:
		x.byStatus(e, status, text)
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		e.Message += ". The Manager, or a proxy in front of it, wants other credentials: give a header that it accepts, such as Authorization"
	case http.StatusGatewayTimeout:
		e.Code = CodeTimeout
	}
	if x.creates() && (status == http.StatusGatewayTimeout || status == http.StatusBadGateway) {
		e.maybeCreated()
	}
	return e
}

// byStatus sets the code and details that follow from the status and the Manager's text.
func (x *exchange) byStatus(e *Error, status int, text string) {
	switch status {
	case http.StatusBadRequest:
		x.badRequest(e, text)
	case http.StatusNotFound:
		e.Code = CodeNotFound
	case http.StatusConflict:
		e.Code = CodeConflict
		if !strings.HasSuffix(text, " already exists") && (strings.Contains(text, "busy") || strings.Contains(text, "in progress")) {
			e.Details["retryable"] = true
		}
	case http.StatusUnprocessableEntity:
		e.Code = CodeInvalidParams
	}
}

// retryableStatus reports whether the status alone means that the same request may succeed later.
func retryableStatus(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

// ofAThing reports whether the text of a 404 is the Manager's message that a stream, pipeline or function does not exist.
// A proxy that does not know the route sends another text or a page.
func ofAThing(text string) bool {
	kind, _, found := strings.Cut(text, " ")
	return found && (kind == streamKind || kind == pipelineKind || kind == functionKind)
}

// badRequest sets the code and details that follow from the text of a status 400. The status is the same for all kinds of
// mistakes. What is not about the SQL is about another part of the request, or of the Manager's state; see recordLeft.
func (x *exchange) badRequest(e *Error, text string) {
	switch {
	case aboutSQL(text):
		e.Code = CodePlanner
		e.Message += sqlHint(text)
		if line, column, ok := position(text); ok {
			e.Details["line"], e.Details["column"] = line, column
		}
	case strings.Contains(text, "HTTP request to an HTTPS server"):
		e.Message += ". Should the Manager's URL begin with https://?"
	}
}

// noStream ends the Manager's text for a name in FROM that is not that of a stream.
const noStream = " missing from storage"

// aboutSQL reports whether a text of status 400 says that a statement cannot be parsed or planned.
func aboutSQL(text string) bool {
	return strings.HasPrefix(text, "parse pipeline ") || strings.HasPrefix(text, "failed to explain pipeline ") ||
		strings.HasPrefix(text, "failed to create pipeline ") && strings.Contains(text, "pipeline build error:") ||
		strings.HasPrefix(text, streamKind+" ") && strings.HasSuffix(text, noStream)
}

// sqlHint returns what to write instead, for a text that does not say it, or "".
func sqlHint(text string) string {
	switch {
	case strings.HasSuffix(text, "children output schemas mismatch"):
		return ". A pipeline reads one stream: write one name in FROM, without a join"
	case strings.HasSuffix(text, noStream) && strings.ContainsAny(text, "\"`"):
		return ". Write the stream's name in FROM without quotes"
	}
	return ""
}

// position parses " at Line: N, Column M", a place in the SQL.
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

// switched returns the error for a response that switches the connection to another protocol, unasked.
func (x *exchange) switched() *Error {
	e := &Error{
		Code:    CodeManagerHTTP,
		Message: fmt.Sprintf("%s failed: HTTP %d switches to another protocol, which was not asked for. Is there a veloFlux Manager at %s?", x.what(), http.StatusSwitchingProtocols, x.base),
		Details: map[string]any{"status": http.StatusSwitchingProtocols},
	}
	if x.creates() {
		e.maybeCreated()
	}
	return e
}
