package velofluxserver

import (
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
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
func (c *call) decode(want shape) (value, *response) {
	refuse := func(status int, message string) (value, *response) {
		a := textResponse(status, message)
		return value{}, &a
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
func (s shape) check(v value, path []string) (fail *syntaxError) {
	wrong := func(at int, format string, args ...any) *syntaxError {
		return &syntaxError{path: joinedPath(path), message: fmt.Sprintf(format, args...), at: at}
	}
	items := v.items()
	switch {
	case s.kind == 0 || s.nullable && v.kind() == 'n':
		return nil
	case s.kind == '{' && v.IsArray() && len(items) < s.wants:
		return wrong(v.end(), "invalid length %d, expected %s with %d elements", len(items), s.expected(), s.wants)
	case s.kind == 'u' && v.kind() == '#':
		if _, err := strconv.ParseUint(v.Raw, 10, 64); err == nil {
			return nil
		}
		if strings.ContainsAny(v.Raw, ".eE") {
			return wrong(v.end(), "invalid type: floating point `%s`, expected usize", v.Raw)
		}
		return wrong(v.end(), "invalid value: integer `%s`, expected usize", v.Raw)
	case s.kind != v.kind():
		return wrong(v.end(), "invalid type: %s, expected %s", v.described(), s.expected())
	}
	for i, item := range items {
		if s.items == nil {
			break
		}
		if fail = s.items.check(item, append(path, fmt.Sprintf("[%d]", i))); fail != nil {
			return fail
		}
	}
	if s.kind != '{' {
		return nil
	}
	seen := map[string]bool{}
	v.ForEach(func(key, of gjson.Result) bool {
		member, known := s.members[key.Str]
		switch {
		case known && seen[key.Str]:
			fail = wrong(key.Index+len(key.Raw), "duplicate field `%s`", key.Str)
		case known:
			fail = member.check(value{of}, append(path, "."+key.Str))
		}
		seen[key.Str] = true
		return fail == nil
	})
	for _, name := range s.required {
		if fail == nil && !seen[name] {
			fail = wrong(v.end(), "missing field `%s`", name)
		}
	}
	return fail
}

// expected returns the Manager's words for the shape.
func (s shape) expected() string {
	if s.name != "" {
		return "struct " + s.name
	}
	return map[byte]string{'"': "a string", 'b': "a boolean", '[': "a sequence", 'u': "usize", '{': "a map"}[s.kind]
}

// described returns the Manager's words for the value.
func (v value) described() string {
	switch {
	case v.kind() == '#' && strings.ContainsAny(v.Raw, ".eE"):
		return "floating point `" + v.Raw + "`"
	case v.kind() == '"':
		return "string " + strconv.Quote(v.Str)
	}
	return strings.ReplaceAll(map[byte]string{'n': "null", 'b': "boolean `…`", '#': "integer `…`", '[': "sequence", '{': "map"}[v.kind()], "…", v.Raw)
}

// jsonResponse returns a response with v as JSON.
func jsonResponse(status int, v any) response {
	return response{status: status, contentType: "application/json", body: marshal(v)}
}
