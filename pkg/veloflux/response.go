package veloflux

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// response is a successful response of the Manager, fully read.
type response struct {
	status int
	header http.Header
	body   []byte
}

// shape is the shape of a route's response. It tells a Manager from other servers, which may also answer 200 and JSON.
type shape struct {
	name string // completes "the answer is not a "
	fits func(document gjson.Result) bool
}

// listOf returns the shape of a list of objects that each have a string in the given field.
func listOf(things, field string) shape {
	return shape{"JSON list of " + things + ", each with a string " + field, func(document gjson.Result) bool {
		if !document.IsArray() {
			return false
		}
		all := true
		document.ForEach(func(_, element gjson.Result) bool {
			all = element.IsObject() && isText(element.Get(field))
			return all
		})
		return all
	}}
}

// objectWhere returns the shape of an object for which fits reports true.
func objectWhere(name string, fits func(document gjson.Result) bool) shape {
	return shape{"JSON object with " + name, func(document gjson.Result) bool { return document.IsObject() && fits(document) }}
}

// streamShape is the shape of /streams/describe, functionShape that of /functions/describe, and syntaxShape that of
// /capabilities/syntax.
func streamShape() shape {
	return objectWhere("a string stream and an object spec", func(d gjson.Result) bool { return isText(d.Get("stream")) && d.Get("spec").IsObject() })
}

func functionShape() shape {
	return objectWhere("a string name", func(d gjson.Result) bool { return isText(d.Get("name")) })
}

func syntaxShape() shape {
	return objectWhere("a list constructs", func(d gjson.Result) bool { return d.Get("constructs").IsArray() })
}

// pipelineShape is the shape of a pipeline with the given id and a status.
func pipelineShape(id string) shape {
	return objectWhere("the pipeline's id and a status", func(d gjson.Result) bool {
		given := d.Get("id")
		return isText(given) && given.Str == id && isText(d.Get("status"))
	})
}

func isText(value gjson.Result) bool { return value.Type == gjson.String }

// isPlan reports whether a text is the plan of a pipeline.
func isPlan(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "Logical Plan Explain")
}

// isDeletion reports whether a text is the Manager's confirmation that it deleted a pipeline.
func isDeletion(text string) bool {
	return strings.HasPrefix(text, "pipeline ") && strings.HasSuffix(text, " deleted")
}

// hasShape reports whether the response has the given shape. A success other than 200 and 201 has no shape: the work is
// not done yet, or there is no body.
func (a *response) hasShape(want shape) bool {
	return a.status <= http.StatusCreated && json.Valid(a.body) && utf8.Valid(a.body) && want.fits(gjson.ParseBytes(a.body))
}

// isHTML reports whether a response is an HTML page, as sent by a proxy, a login or another server.
func isHTML(header http.Header, body []byte) bool {
	if strings.HasPrefix(strings.ToLower(header.Get("Content-Type")), "text/html") {
		return true
	}
	start := strings.ToLower(strings.TrimSpace(string(body[:min(len(body), 512)])))
	return strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html")
}

// malformed returns the error for a successful response that does not have the route's shape.
func (x *exchange) malformed(a *response, want string) *Error {
	text := x.quoted(a.body, false)
	e := &Error{
		Code:    CodeManagerHTTP,
		Message: fmt.Sprintf("%s failed: HTTP %d, but the answer is not a %s. Is there a veloFlux Manager at the URL?", x.what(), a.status, want),
		Details: map[string]any{"status": a.status, "response": text},
	}
	if x.creates() {
		e.maybeCreated()
	}
	return x.clean(e)
}

// digestError returns the error for a response that has the route's shape but cannot be digested.
func (m *Manager) digestError(body []byte, why error) *Error {
	x := &exchange{secrets: m.secrets}
	return x.clean(&Error{
		Code:    CodeManagerHTTP,
		Message: fmt.Sprintf("HTTP 200, but the answer is wrong: %v. Is there a veloFlux Manager at the URL?", why),
		Details: map[string]any{"status": http.StatusOK, "response": x.quoted(body, false)},
	})
}
