package veloflux

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The things that routes are about.
const (
	aStream   = "stream"
	aFunction = "function"
	aPipeline = "pipeline"
)

// segment makes one segment of a path of a name. A name that could lead to another route is refused, also where a proxy
// in front of the Manager decodes the path, more than once, and takes \ for a slash.
func segment(kind, name string) (string, error) {
	if wrong := wrongName(name); wrong != "" {
		shown := excerpt(name)
		if len([]rune(shown)) > 60 {
			shown = string([]rune(shown)[:60]) + "…"
		}
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
	}
	return ""
}

// hasDotSegment says whether a name, decoded as often as there is something to decode, has a segment . or .. between
// slashes and backslashes, also with parameters, a query or a fragment behind it.
func hasDotSegment(name string) bool {
	for part := range strings.FieldsFuncSeq(decodeAll(name), func(r rune) bool { return r == '/' || r == '\\' }) {
		if end := strings.IndexAny(part, ";?#"); end >= 0 {
			part = part[:end]
		}
		if part == "." || part == ".." {
			return true
		}
	}
	return false
}

// decodeAll undoes percent-encoding until nothing is left to undo. What is no encoding stays as it is. A decoded byte can
// end another sequence (%2%35 is %25 is %), so each byte that comes out is looked at again.
func decodeAll(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		out = append(out, s[i])
		for n := len(out); n >= 3 && out[n-3] == '%'; n = len(out) {
			high, low := unhex(out[n-2]), unhex(out[n-1])
			if high < 0 || low < 0 {
				break
			}
			out = append(out[:n-3], byte(high<<4|low))
		}
	}
	return string(out)
}

// unhex is the value of a hexadecimal digit, or -1.
func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
