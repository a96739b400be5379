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

// segment returns a name as one escaped segment of a path. It refuses a name that could lead out of that segment if a proxy
// in front of the Manager decodes the path and takes \ for a slash. A name with a slash, such as a/b or p1/explain, is one
// segment for the Manager; behind such a proxy it is another route.
func segment(kind, name string) (string, error) {
	wrong := wrongName(name)
	if wrong == "" {
		return url.PathEscape(name), nil
	}
	noun := kind + " name"
	if kind == pipelineKind {
		noun = "pipeline id"
	}
	return "", &Error{Code: CodeInvalidParams, Message: fmt.Sprintf("The %s %q %s", noun, fault.Truncate(printable(name), maxShownName), wrong) + notSent}
}

// wrongName returns the reason why a name cannot be a segment of a path, or "".
func wrongName(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "is empty"
	case !utf8.ValidString(name):
		return "is not valid UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "has a control character"
	case hasDotSegment(name):
		return "has a segment . or .., which leads to another route"
	case hasSegment(name, ""):
		return "begins or ends with a slash or has two in a row, which leads to another route if a proxy decodes the path"
	}
	return ""
}

// hasDotSegment reports whether a name, as it is or decoded, has a segment . or .. between slashes or backslashes. The
// segment may be followed by parameters, a query or a fragment.
func hasDotSegment(name string) bool { return hasSegment(name, ".") || hasSegment(name, "..") }

// hasSegment reports whether a name, as it is or decoded, has several segments of which one is the given one, or is it.
func hasSegment(name, segment string) bool {
	for _, form := range [...]string{name, decodedOnce(name)} {
		parts := strings.Split(strings.ReplaceAll(form, `\`, "/"), "/")
		for _, part := range parts {
			if end := strings.IndexAny(part, ";?#"); end >= 0 {
				part = part[:end]
			}
			if part == segment && (segment != "" || len(parts) > 1) {
				return true
			}
		}
	}
	return false
}

// isSlash reports whether a character separates segments.
func isSlash(r rune) bool { return r == '/' || r == '\\' }

// decodedOnce undoes percent-encoding once. Invalid sequences stay as they are.
func decodedOnce(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				c, i = byte(n), i+2
			}
		}
		out = append(out, c)
	}
	return string(out)
}
