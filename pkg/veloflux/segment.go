package veloflux

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// The things that routes are about.
const (
	aStream   = "stream"
	aFunction = "function"
	aPipeline = "pipeline"
)

// maxShownName is the most bytes of a name that an error shows.
const maxShownName = 120

// segment makes one segment of a path of a name. A name that could lead to another route is refused, also where a proxy
// in front of the Manager decodes the path, more than once, and takes \ for a slash. What is not refused and has a slash
// in it, as a/b, is not found behind such a proxy: the Manager has no route that it then asks for.
func segment(kind, name string) (string, error) {
	wrong := wrongName(name)
	if route := routeAtEnd(kind, name); wrong == "" && route != "" {
		wrong = "ends in " + route + ", which leads to another route where a proxy decodes the path"
	}
	if wrong != "" {
		shown := fault.Truncate(excerpt(name), maxShownName)
		return "", &Error{Code: CodeInvalidParams, Message: fmt.Sprintf("The %s %q %s. Nothing was asked of the Manager", nounOf(kind), shown, wrong)}
	}
	return url.PathEscape(name), nil
}

// nounOf is what names a thing of a kind.
func nounOf(kind string) string {
	if kind == aPipeline {
		return "pipeline id"
	}
	return kind + " name"
}

// wrongName says why a name cannot be a segment of a path, or nothing.
func wrongName(name string) string {
	switch {
	case strings.TrimFunc(name, unicode.IsSpace) == "":
		return "is empty"
	case !utf8.ValidString(name):
		return "is no valid UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "has a control character in it"
	case hasDotSegment(name):
		return "has a segment . or .., which leads to another route"
	case hasEmptySegment(name):
		return "has a slash at its beginning or end or two in a row, which leads to another route where a proxy decodes the path"
	}
	return ""
}

// isSlash says whether a character parts segments.
func isSlash(r rune) bool { return r == '/' || r == '\\' }

// withoutParameters is a segment without parameters, a query and a fragment.
func withoutParameters(part string) string {
	if end := strings.IndexAny(part, ";?#"); end >= 0 {
		return part[:end]
	}
	return part
}

// hasEmptySegment says whether a name, decoded as often as there is something to decode, has slashes or backslashes with
// nothing between them, or with nothing before or behind them.
func hasEmptySegment(name string) bool {
	parts := strings.Split(slashed(decodeAll(name)), "/")
	if len(parts) == 1 {
		return false
	}
	for _, part := range parts {
		if withoutParameters(part) == "" {
			return true
		}
	}
	return false
}

// hasDotSegment says whether a name, decoded as often as there is something to decode, has a segment . or .. between
// slashes and backslashes, also with parameters, a query or a fragment behind it.
func hasDotSegment(name string) bool {
	for part := range strings.FieldsFuncSeq(decodeAll(name), isSlash) {
		if part = withoutParameters(part); part == "." || part == ".." {
			return true
		}
	}
	return false
}

// slashed is a path with slashes where it has backslashes.
func slashed(path string) string { return strings.ReplaceAll(path, `\`, "/") }

// routeAtEnd is the end of a route of the Manager that a name ends in behind a slash, decoded as often as there is
// something to decode, with or without a query and parameters; or nothing. A name that is such an end alone makes no
// other route, but for streams: /streams/describe/shared/stats is about a stream named describe.
func routeAtEnd(kind, name string) string {
	var ends []string
	switch kind {
	case aPipeline:
		ends = []string{"/explain", "/stats", "/start", "/stop", "/buildContext"}
	case aStream:
		ends = []string{"/shared/stats"}
	}
	whole := "/" + slashed(decodeAll(name))
	if kind == aPipeline {
		whole = whole[1:]
	}
	path := whole
	if end := strings.IndexAny(whole, "?#"); end >= 0 {
		path = whole[:end]
	}
	for _, p := range [...]string{whole, path} {
		parts := strings.Split(p, "/")
		for i, part := range parts {
			parts[i] = strings.ToLower(withoutParameters(part))
		}
		p = strings.Join(parts, "/")
		for _, end := range ends {
			if strings.HasSuffix(p, strings.ToLower(end)) {
				return end
			}
		}
	}
	return ""
}

// decodeAll undoes percent-encoding until nothing is left to undo. What is no encoding stays as it is. A decoded byte can
// end another sequence (%2%35 is %25 is %), so each byte that comes out is looked at again.
func decodeAll(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		out = append(out, s[i])
		for n := len(out); n >= 3 && out[n-3] == '%'; n = len(out) {
			decoded, err := strconv.ParseUint(string(out[n-2:]), 16, 8)
			if err != nil {
				break
			}
			out = append(out[:n-3], byte(decoded))
		}
	}
	return string(out)
}
