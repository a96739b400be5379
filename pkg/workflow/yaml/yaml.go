// Package yaml parses the YAML that people write by hand: mappings, lists, and text in all its styles. Every key and value
// keeps its offset in the file. Parsing takes linear time. The features that make YAML surprising are refused, each with an
// error of its own: anchors, aliases, merge keys, tags, keys that are not text, several documents, duplicate keys.
//
// # Why it is not a library
//
// The reason is errors and text, not speed: a mapping of 100,000 keys (1 MB) takes this package 0.06 s and 49 MB, and
// go.yaml.in/yaml/v3 v3.0.6 decoding into yaml.Node 0.09 s and 47 MB. An adapter from that library to this package's nodes
// took 425 lines, of them 134 for the types of scalars, and failed this package's tests. It could not have:
//
//   - The place of a syntax error. The library reports no column, no line for line 1, and sometimes the line of the
//     construct around the error: 20 of the 32 errors in the tests were in another place.
//   - Text as it was written. U+0085, U+2028 and U+2029 end a line of a block or of plain text, and U+007F is refused.
//   - JSON as YAML. A surrogate pair (\ud83d\ude00) and a key of more than 1,024 bytes are refused.
//   - A template without quotes inside brackets, as in [${a.b}].
//
// The library also costs each program 0.1 ms before main and up to 0.9 MB. Version v4.0.0 reports columns (7 of the 32
// places differ), but takes up to 600 MB for 1 MB of nested flow lists.
package yaml

import (
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Kind is the kind of a node.
type Kind int

// A Plain scalar is text, a number, true, false or null, see [Node.AppendJSON]. A Quoted, Literal (|) or Folded (>) scalar
// is always text.
const (
	Null Kind = iota
	Plain
	Quoted
	Literal
	Folded
	Mapping
	List
)

// Node is a value.
type Node struct {
	Kind Kind
	// At is the offset of the value's first byte. A value that is left out is at its key or dash.
	At int
	// Text is the text of a scalar.
	Text    string
	Entries []Entry
	Items   []Node
}

// Entry is a key of a mapping with its value.
type Entry struct {
	Key   string
	At    int
	Value Node
}

// Get returns the entry with the given key; ok is false if there is no such entry.
func (n Node) Get(key string) (e Entry, ok bool) {
	for _, e := range n.Entries {
		if e.Key == key {
			return e, true
		}
	}
	return Entry{}, false
}

// Error is an error in the text. Message continues a sentence, so it starts in lower case. Suggestion may be empty.
type Error struct {
	At         int
	Message    string
	Suggestion string
}

// maxDepth bounds how deep mappings and lists nest, and maxErrors how many errors are reported before the parser stops.
const (
	maxDepth  = 200
	maxErrors = 50
)

// Parse parses text[from:to] without the first indent spaces of each line. Offsets count from the start of text. If there
// are errors, the node holds what could be parsed.
func Parse(text string, from, to, indent int) (Node, []Error) {
	r := &reader{text: text, end: to, indent: indent}
	r.startLine(from)
	n := r.document()
	return n, r.errors
}

// reader is a position in a line. After a syntax error it is at the end of the text.
type reader struct {
	text   string
	end    int
	indent int

	// line is the offset of the line after its indent, stop that of its line break, and next that of the next line.
	line, stop, next int
	pos              int

	depth  int
	failed bool
	errors []Error
}

// fail reports a syntax error, which ends the parsing. Only the first one is reported.
func (r *reader) fail(at int, suggestion, format string, args ...any) {
	if !r.failed {
		r.report(at, suggestion, format, args...)
	}
	r.failed = true
	r.line, r.stop, r.next, r.pos = r.end, r.end, r.end, r.end
}

// report adds an error after which parsing continues, unless it is the last of maxErrors.
func (r *reader) report(at int, suggestion, format string, args ...any) {
	r.errors = append(r.errors, Error{at, fmt.Sprintf(format, args...), suggestion})
	if len(r.errors) == maxErrors {
		r.fail(at, "", "parsing stopped after %d errors", maxErrors)
	}
}

// startLine moves to the line that starts at the given offset.
func (r *reader) startLine(at int) {
	if i := strings.IndexByte(r.text[at:r.end], '\n'); i >= 0 {
		r.stop, r.next = at+i, at+i+1
	} else {
		r.stop, r.next = r.end, r.end
	}
	if r.stop > at && r.text[r.stop-1] == '\r' {
		r.stop--
	}
	for n := 0; n < r.indent && at < r.stop && r.text[at] == ' '; n++ {
		at++
	}
	r.line, r.pos = at, at
}

// lastLine reports whether no line follows this one.
func (r *reader) lastLine() bool { return r.next >= r.end }

func (r *reader) column() int { return r.pos - r.line }

// peek returns the byte n places ahead in the line, or 0 past its end.
func (r *reader) peek(n int) byte {
	if r.pos+n < r.stop {
		return r.text[r.pos+n]
	}
	return 0
}

func (r *reader) skipBlanks() {
	for r.pos < r.stop && isBlank(r.text[r.pos]) {
		r.pos++
	}
}

// skipRest reports whether only blanks and a comment are left in the line. If so, it moves to the line's end.
func (r *reader) skipRest() bool {
	before := r.pos
	r.skipBlanks()
	if r.pos >= r.stop || r.text[r.pos] == '#' && (r.pos > before || r.pos == r.line || isBlank(r.text[r.pos-1])) {
		r.pos = r.stop
		return true
	}
	r.pos = before
	return false
}

// content moves to the next byte that is not blank, a comment or a line break, in this line or a later one. It returns
// false at the end of the text.
func (r *reader) content() bool {
	for r.skipRest() {
		if r.lastLine() {
			r.pos = r.stop
			return false
		}
		r.startLine(r.next)
	}
	r.skipBlanks()
	if i := strings.IndexByte(r.text[r.line:r.pos], '\t'); i >= 0 {
		r.fail(r.line+i, "Use spaces", "a tab in the indentation, where only spaces are allowed")
		return false
	}
	if rest := r.text[r.pos:r.stop]; r.column() == 0 && (isMarker(rest, "---") || isMarker(rest, "...")) {
		r.fail(r.pos, "Remove the line", "the document marker %s; only one document is allowed", rest[:3])
	}
	return !r.failed
}

// isMarker reports whether a line starts with the given document marker.
func isMarker(line, marker string) bool {
	return strings.HasPrefix(line, marker) && (len(line) == len(marker) || isBlank(line[len(marker)]))
}

// enter descends into a mapping or a list. It returns false if they nest too deep.
func (r *reader) enter(at int) bool {
	if r.depth++; r.depth > maxDepth {
		r.fail(at, "Keep the data flatter, or in a file of its own", "more than %d nested mappings and lists", maxDepth)
	}
	return !r.failed
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// excerpt shortens text for an error.
func excerpt(s string) string { return fault.Truncate(s, 40) }
