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

// The kinds of things that routes name.
const (
	streamKind   = "stream"
	functionKind = "function"
	pipelineKind = "pipeline"
)

// maxShownName is the most bytes of a name that an error shows.
const maxShownName = 120

// notSent ends the message for a request that was refused before it was sent.
const notSent = ". No request was sent to the Manager"

// segment returns a name as one escaped segment of a path. It refuses a name that could lead to another route, even if a
// proxy in front of the Manager decodes the path, more than once, and takes \ for a slash. A name with a slash that is
// not refused, such as a/b, is not found behind such a proxy, because the Manager does not have the resulting route.
func segment(kind, name string) (string, error) {
	wrong := wrongName(name)
	if route := routeAtEnd(kind, name); wrong == "" && route != "" {
		wrong = "ends in " + route + ", which leads to another route if a proxy decodes the path"
	}
	if wrong != "" {
		shown := fault.Truncate(printable(name), maxShownName)
		return "", &Error{Code: CodeInvalidParams, Message: fmt.Sprintf("The %s %q %s", nounOf(kind), shown, wrong) + notSent}
	}
	return url.PathEscape(name), nil
}

// nounOf returns the words for the name of a thing.
func nounOf(kind string) string {
	if kind == pipelineKind {
		return "pipeline id"
	}
	return kind + " name"
}

// wrongName returns the reason why a name cannot be a segment of a path, or "".
func wrongName(name string) string {
	switch {
	case strings.TrimFunc(name, unicode.IsSpace) == "":
		return "is empty"
	case !utf8.ValidString(name):
		return "is not valid UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "has a control character"
	case hasDotSegment(name):
		return "has a segment . or .., which leads to another route"
	case hasEmptySegment(name):
		return "begins or ends with a slash or has two in a row, which leads to another route if a proxy decodes the path"
	}
	return ""
}

// isSlash reports whether a character separates segments.
func isSlash(r rune) bool { return r == '/' || r == '\\' }

// withoutParameters returns a segment without its parameters, query and fragment.
func withoutParameters(part string) string {
	if end := strings.IndexAny(part, ";?#"); end >= 0 {
		return part[:end]
	}
	return part
}

// hasEmptySegment reports whether a name, fully decoded, has two slashes or backslashes in a row, or one at its beginning
// or end.
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

// hasDotSegment reports whether a name, fully decoded, has a segment . or .. between slashes or backslashes. The segment
// may be followed by parameters, a query or a fragment.
func hasDotSegment(name string) bool {
	for part := range strings.FieldsFuncSeq(decodeAll(name), isSlash) {
		if part = withoutParameters(part); part == "." || part == ".." {
			return true
		}
	}
	return false
}

// slashed returns a path with its backslashes replaced by slashes.
func slashed(path string) string { return strings.ReplaceAll(path, `\`, "/") }

// routeAtEnd returns the end of a Manager's route, such as /explain, that a name ends in when it is fully decoded, with
// or without a query and parameters, or "". A pipeline id that is only such an end does not lead to another route. A
// stream name does: /streams/describe/shared/stats is about a stream named describe.
func routeAtEnd(kind, name string) string {
	var ends []string
	switch kind {
	case pipelineKind:
		ends = []string{"/explain", "/stats", "/start", "/stop", "/buildContext"}
	case streamKind:
		ends = []string{"/shared/stats"}
	}
	whole := "/" + slashed(decodeAll(name))
	if kind == pipelineKind {
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

// decodeAll undoes percent-encoding until no encoded byte is left. Invalid sequences stay as they are. A decoded byte can
// complete another sequence (%2%35 is %25 is %), so the end of the output is examined again after each byte.
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
