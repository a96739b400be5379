package velofluxserver

import (
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// maxBody is the most bytes of a body that the Manager takes.
const maxBody = 2 << 20

// shape says what a JSON value has to be. A shape without a kind is anything.
type shape struct {
	kind byte // as of a value: " # b [ {, or u for a number of 0 and more
	// name is that of the Manager's struct, and wants how many members it has.
	name  string
	wants int
	// required are the members it must have, in the order in which a missing one is told.
	required []string
	members  map[string]shape
	items    *shape
	// nullable says that null stands for nothing.
	nullable bool
}

// read gives the body as JSON, or the answer to one that is not what the shape wants.
func (c *call) read(want shape) (*value, *answer) {
	refuse := func(status int, message string) (*value, *answer) {
		a := text(status, message)
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

// check gives what is wrong with a value; nil when nothing is.
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

// expected says what is wanted, in the Manager's words.
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

// described says what there is.
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

// written gives a value as the answer's JSON.
func written(status int, v any) answer {
	return answer{status: status, contentType: "application/json", body: marshal(v)}
}
