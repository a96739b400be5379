package velofluxserver

import (
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// maxBody is the most bytes of a body that the Manager accepts.
const maxBody = 2 << 20

// shape is what the Manager requires of a JSON value. The zero value allows any value.
type shape struct {
	kind byte // one of a value's kinds " # b [ {, or u for an unsigned integer
	// name is the name of the Manager's struct, and wants the number of its fields.
	name  string
	wants int
	// required are the members that must be there. The first missing one is reported.
	required []string
	members  map[string]shape
	items    *shape
	// nullable means that null counts as missing.
	nullable bool
}

// decode parses the body as JSON of the given shape. If that fails, it returns the Manager's response.
func (c *call) decode(want shape) (*value, *response) {
	refuse := func(status int, message string) (*value, *response) {
		a := textResponse(status, message)
		return nil, &a
	}
	media, _, _ := mime.ParseMediaType(c.header.Get("Content-Type"))
	if media != "application/json" && (!strings.HasPrefix(media, "application/") || !strings.HasSuffix(media, "+json")) {
		return refuse(http.StatusUnsupportedMediaType, "Expected request with `Content-Type: application/json`")
	}
	if len(c.body) > maxBody {
		return refuse(http.StatusRequestEntityTooLarge, "Failed to buffer the request body: length limit exceeded")
	}
	in := string(c.body)
	v, wrong := readJSON(in)
	if wrong != nil {
		return refuse(http.StatusBadRequest, fmt.Sprintf("Failed to parse the request body as JSON: %s: %s at %s", wrong.path, wrong.message, place(in, wrong.at)))
	}
	if wrong := want.check(v, nil); wrong != nil {
		return refuse(http.StatusUnprocessableEntity, fmt.Sprintf("Failed to deserialize the JSON body into the target type: %s: %s at %s", wrong.path, wrong.message, place(in, wrong.at)))
	}
	return v, nil
}

// check returns what is wrong with a value, or nil.
func (s shape) check(v *value, path []string) *syntaxError {
	wrong := func(at int, format string, args ...any) *syntaxError {
		return &syntaxError{path: joinedPath(path), message: fmt.Sprintf(format, args...), at: at}
	}
	switch {
	case s.kind == 0 || s.nullable && v.kind == 'n':
		return nil
	case s.kind == '{' && v.kind == '[' && len(v.items) < s.wants:
		return wrong(v.end, "invalid length %d, expected %s with %d elements", len(v.items), s.expected(), s.wants)
	case s.kind == 'u' && v.kind == '#':
		if _, err := strconv.ParseUint(v.raw, 10, 64); err == nil {
			return nil
		}
		if strings.ContainsAny(v.raw, ".eE") {
			return wrong(v.end, "invalid type: floating point `%s`, expected usize", v.raw)
		}
		return wrong(v.end, "invalid value: integer `%s`, expected usize", v.raw)
	case s.kind != v.kind:
		return wrong(v.end, "invalid type: %s, expected %s", v.described(), s.expected())
	}
	for i, item := range v.items {
		if s.items == nil {
			break
		}
		if wrong := s.items.check(item, append(path, fmt.Sprintf("[%d]", i))); wrong != nil {
			return wrong
		}
	}
	seen := map[string]bool{}
	for _, f := range v.fields {
		member, known := s.members[f.name]
		if !known {
			continue
		}
		if seen[f.name] {
			return wrong(f.end, "duplicate field `%s`", f.name)
		}
		seen[f.name] = true
		if wrong := member.check(f.value, append(path, "."+f.name)); wrong != nil {
			return wrong
		}
	}
	for _, name := range s.required {
		if !seen[name] {
			return wrong(v.end, "missing field `%s`", name)
		}
	}
	return nil
}

// expected returns the Manager's words for the shape.
func (s shape) expected() string {
	switch s.kind {
	case '"':
		return "a string"
	case 'b':
		return "a boolean"
	case '[':
		return "a sequence"
	case 'u':
		return "usize"
	case '{':
		if s.name == "" {
			return "a map"
		}
		return "struct " + s.name
	}
	return "a value"
}

// described returns the Manager's words for the value.
func (v *value) described() string {
	switch v.kind {
	case 'n':
		return "null"
	case 'b':
		return "boolean `" + v.raw + "`"
	case '#':
		if strings.ContainsAny(v.raw, ".eE") {
			return "floating point `" + v.raw + "`"
		}
		return "integer `" + v.raw + "`"
	case '"':
		return "string " + strconv.Quote(v.text)
	case '[':
		return "sequence"
	}
	return "map"
}

// jsonResponse returns a response with v as JSON.
func jsonResponse(status int, v any) response {
	return response{status: status, contentType: "application/json", body: marshal(v)}
}
