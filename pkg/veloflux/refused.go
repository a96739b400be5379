package veloflux

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// refused makes an error of an answer that is no success. The Manager's errors are plain text, and its status 400 is
// for wrong SQL and for wrong anything else, so the text has to tell. No text at all is a route that it does not have.
func (x *exchange) refused(resp *http.Response, body []byte, broken bool) *Error {
	status, text := resp.StatusCode, x.repeated(body, broken)
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
	return status == http.StatusTooManyRequests || status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
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
	switch meaningOf(text) {
	case wrongSQL:
		e.Code = CodePlanner
		if line, column, ok := position(text); ok {
			e.Details["line"], e.Details["column"] = line, column
		}
	case wrongField:
		e.Code = CodeInvalidParams
	case wrongScheme:
		e.Message += ". Should the Manager's URL begin with https://?"
	case wrongPart:
		if x.creates() {
			e.Details["record_left"] = true
			e.Message += recordLeft
		}
	}
}

// recordLeft ends the error of a create that was refused and not taken back.
const recordLeft = ". The Manager has kept a record with this id all the same: pipelines.delete removes it"

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

// switched is the error of an answer that makes another protocol of the connection, which nobody asked for.
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
