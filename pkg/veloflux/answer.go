package veloflux

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// answer is a success of the Manager.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// form is what a route answers. Status and JSON alone do not tell the Manager from any other server.
type form struct {
	name string // behind "the answer is no "
	fits func(document gjson.Result) bool
}

// listOf is a list of objects, each with a text in a field that tells it from the others.
func listOf(things, field string) form {
	return form{"JSON list of " + things + ", each with a text " + field, func(document gjson.Result) bool {
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

// streamForm is the answer of /streams/describe.
func streamForm() form {
	return form{"JSON object with a text stream and an object spec", func(document gjson.Result) bool {
		return document.IsObject() && isText(document.Get("stream")) && document.Get("spec").IsObject()
	}}
}

// functionForm is the answer of /functions/describe.
func functionForm() form {
	return form{"JSON object with a text name", func(document gjson.Result) bool {
		return document.IsObject() && isText(document.Get("name"))
	}}
}

// pipelineForm is a pipeline that has this id, and its status.
func pipelineForm(id string) form {
	return form{"JSON object with the pipeline's id and a status", func(document gjson.Result) bool {
		given := document.Get("id")
		return document.IsObject() && isText(given) && given.Str == id && isText(document.Get("status"))
	}}
}

// syntaxForm is the answer of /capabilities/syntax.
func syntaxForm() form {
	return form{"JSON object with a list constructs", func(document gjson.Result) bool {
		return document.IsObject() && document.Get("constructs").IsArray()
	}}
}

func isText(value gjson.Result) bool { return value.Type == gjson.String }

// isPlan says whether a text is the plan of a pipeline.
func isPlan(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "Logical Plan Explain")
}

// isDeletion says whether a text is the Manager's about a pipeline that it has deleted.
func isDeletion(text string) bool {
	return strings.HasPrefix(text, "pipeline ") && strings.HasSuffix(text, " deleted")
}

// holds says whether an answer has a form. A success other than 200 and 201 has none: nothing is done yet, or nothing said.
func (a *answer) holds(want form) bool {
	return a.status <= http.StatusCreated && json.Valid(a.body) && utf8.Valid(a.body) && want.fits(gjson.ParseBytes(a.body))
}

// isHTML says whether an answer is a page for people: of a proxy, a login or another server.
func isHTML(header http.Header, body []byte) bool {
	if strings.HasPrefix(strings.ToLower(header.Get("Content-Type")), "text/html") {
		return true
	}
	start := strings.ToLower(strings.TrimSpace(string(body[:min(len(body), 512)])))
	return strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html")
}

// malformed is the error of a success that is not what the route gives.
func (x *exchange) malformed(a *answer, want string) *Error {
	text := x.repeated(a.body, false)
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

// undigested is the error of an answer of a right form of which no digest can be made.
func (m *Manager) undigested(body []byte, why error) *Error {
	x := &exchange{secrets: m.secrets}
	return x.clean(&Error{
		Code:    CodeManagerHTTP,
		Message: fmt.Sprintf("HTTP 200, but the answer is wrong: %v. Is there a veloFlux Manager behind the URL?", why),
		Details: map[string]any{"status": http.StatusOK, "response": x.repeated(body, false)},
	})
}
