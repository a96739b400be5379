package veloflux

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// refused makes an error of an answer that is no success. The Manager's errors are plain text, and its status 400 is
// for wrong SQL and for wrong anything else, so the text has to tell. No text at all is a route that it does not have.
func (x *exchange) refused(resp *http.Response, body []byte) *Error {
	status, text := resp.StatusCode, x.repeated(body)
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
		e.Message = opening + " without a word"
	case isHTML(resp.Header, body):
		e.Message = fmt.Sprintf("%s with a page for people in place of a Manager's words. Is there a veloFlux Manager at %s?", opening, x.base)
	case noRoute && !(status == http.StatusNotFound && ofAThing(text)):
		e.Message += fmt.Sprintf(". These are not the words of a Manager. Is there one at %s?", x.base)
	default:
		x.byStatus(e, status, text)
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		e.Message += ". Whatever stands in front of the Manager wants other credentials: give a header, such as Authorization, that it accepts"
	case http.StatusGatewayTimeout:
		e.Code = CodeTimeout
	}
	if x.creates() && (status == http.StatusGatewayTimeout || status == http.StatusBadGateway) {
		e.maybeCreated()
	}
	return e
}

// byStatus tells what the Manager's own words mean.
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

// retryableStatus says whether the status alone tells that the same request may succeed later.
func retryableStatus(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

// ofAThing says whether the text of a 404 is the Manager's about a thing that is not there. A proxy that has no such
// route has other words, or a page.
func ofAThing(text string) bool {
	for _, kind := range [...]string{aStream, aPipeline, aFunction} {
		if strings.HasPrefix(text, kind+" ") {
			return true
		}
	}
	return false
}

// badRequest tells what is wrong with a request by the words of status 400.
func (x *exchange) badRequest(e *Error, text string) {
	switch {
	case ofPlanner(text):
		e.Code = CodePlanner
		if line, column, ok := position(text); ok {
			e.Details["line"], e.Details["column"] = line, column
		}
	case strings.HasPrefix(text, "pipeline must define "), strings.HasSuffix(text, " must not be empty"),
		strings.HasPrefix(text, "options."), strings.HasPrefix(text, "flow instance "):
		e.Code = CodeInvalidParams
	case strings.Contains(text, "HTTP request to an HTTPS server"):
		e.Message += ". Should the Manager's URL begin with https://?"
	case x.creates() && leavesRecord(text):
		e.Details["record_left"] = true
		e.Message += recordLeft
	}
}

// recordLeft ends the error of a create that was refused and not taken back.
const recordLeft = ". The Manager has kept a record with this id all the same: pipelines.delete removes it"

// ofPlanner says whether a text of status 400 is about the SQL.
func ofPlanner(text string) bool {
	return strings.HasPrefix(text, "parse pipeline ") || strings.HasPrefix(text, "failed to explain pipeline ") ||
		strings.HasPrefix(text, "invalid pipeline spec: pipeline build error:") ||
		strings.HasPrefix(text, "failed to create pipeline ") && strings.Contains(text, "pipeline build error:") ||
		strings.HasPrefix(text, "stream ") && strings.HasSuffix(text, " missing from storage")
}

// leavesRecord says whether a text of status 400 is about a part of a pipeline that the Manager looks at only after it
// has stored the pipeline, and does not take back.
func leavesRecord(text string) bool {
	return strings.HasPrefix(text, "unsupported sink type") ||
		strings.HasSuffix(text, " requires topic") || strings.Contains(text, " sink requires ") ||
		strings.HasPrefix(text, "encoder kind ") && strings.HasSuffix(text, " not registered") ||
		strings.HasPrefix(text, "pipeline source ") ||
		strings.HasPrefix(text, "memory topic ") && strings.HasSuffix(text, " not declared")
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

// malformed is the error of a success that is not what the route gives.
func (x *exchange) malformed(a *answer, want string) *Error {
	text := x.repeated(a.body)
	e := &Error{
		Code:    CodeManagerHTTP,
		Message: fmt.Sprintf("%s failed: HTTP %d, but the answer is no %s. Is there a veloFlux Manager behind the URL?", x.what(), a.status, want),
		Details: map[string]any{"status": a.status, "response": text},
	}
	if x.creates() {
		e.maybeCreated()
	}
	return x.clean(e)
}
