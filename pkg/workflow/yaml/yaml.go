// Package yaml reads the YAML that people write by hand: mappings, lists, and text in all its styles, each with its place
// in the file it stands in. It reads in linear time. What makes YAML surprising is refused in so many words: anchors,
// aliases, merge keys, tags, keys that are no text, several documents, the same key twice.
package yaml

import (
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Kind is what a node is.
type Kind int

// A plain scalar can be text, a number, true or false, or null; a quoted one, and one after | or >, is text.
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
	// At is the offset of the value's first byte.
	At int
	// Text is a scalar's text.
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

// Get finds the value of a key.
func (n Node) Get(key string) (Entry, bool) {
	for _, e := range n.Entries {
		if e.Key == key {
			return e, true
		}
	}
	return Entry{}, false
}

// Error is something wrong: its offset, what it is (the end of a sentence), and what to do about it, when that is known.
type Error struct {
	At         int
	Message    string
	Suggestion string
}

// The limits of a piece of YAML: how many mappings and lists may stand inside each other, and after how many errors it is
// not read on.
const (
	maxDepth  = 200
	maxErrors = 50
)

// Parse reads text[from:to], whose lines all begin with indent spaces that are no part of it. Offsets count from the
// beginning of the text. When there are errors, the node is what could be read.
func Parse(text string, from, to, indent int) (Node, []Error) {
	r := &reader{text: text, end: to, indent: indent}
	r.begin(from)
	n := r.document()
	return n, r.errors
}

// reader stands somewhere in a line. Once it has failed, it stands at the end.
type reader struct {
	text   string
	end    int
	indent int

	// line is where the line begins, without the indent; stop is where its break begins, next where the next line does.
	line, stop, next int
	pos              int

	depth  int
	failed bool
	errors []Error
}

// fail notes the error that ends the reading.
func (r *reader) fail(at int, suggestion, format string, args ...any) {
	if !r.failed {
		r.note(at, suggestion, format, args...)
	}
	r.failed = true
	r.line, r.stop, r.next, r.pos = r.end, r.end, r.end, r.end
}

// note notes an error after which the reading goes on, unless there are too many.
func (r *reader) note(at int, suggestion, format string, args ...any) {
	r.errors = append(r.errors, Error{at, fmt.Sprintf(format, args...), suggestion})
	if len(r.errors) == maxErrors {
		r.fail(at, "", "no more is read after so many errors")
	}
}

// begin moves to the line that begins at an offset.
func (r *reader) begin(at int) {
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

// atEnd says whether there is no line after this one.
func (r *reader) atEnd() bool { return r.next >= r.end }

func (r *reader) column() int { return r.pos - r.line }

// peek is the byte n places on in the line, or 0 beyond it.
func (r *reader) peek(n int) byte {
	if r.pos+n < r.stop {
		return r.text[r.pos+n]
	}
	return 0
}

func (r *reader) spaces() {
	for r.pos < r.stop && (r.text[r.pos] == ' ' || r.text[r.pos] == '\t') {
		r.pos++
	}
}

// blankAhead says whether nothing but a comment is left in the line, and goes to its end when it is so.
func (r *reader) blankAhead() bool {
	before := r.pos
	r.spaces()
	if r.pos >= r.stop || r.text[r.pos] == '#' && (r.pos > before || r.pos == r.line || isBlank(r.text[r.pos-1])) {
		r.pos = r.stop
		return true
	}
	r.pos = before
	return false
}

// content goes to the next thing that is there, in this line or a later one; false at the end.
func (r *reader) content() bool {
	for r.blankAhead() {
		if r.atEnd() {
			r.pos = r.stop
			return false
		}
		r.begin(r.next)
	}
	r.spaces()
	if i := strings.IndexByte(r.text[r.line:r.pos], '\t'); i >= 0 {
		r.fail(r.line+i, "Put spaces in its place", "a tab indents the line, where only spaces may")
		return false
	}
	if rest := r.text[r.pos:r.stop]; r.column() == 0 && (marker(rest, "---") || marker(rest, "...")) {
		r.fail(r.pos, "Take the line out", "the mark of a document, of which there is only one here")
	}
	return !r.failed
}

// marker says whether a line begins with the mark of a document.
func marker(line, mark string) bool {
	return strings.HasPrefix(line, mark) && (len(line) == len(mark) || isBlank(line[len(mark)]))
}

// enter goes one level down into a mapping or a list.
func (r *reader) enter(at int) bool {
	if r.depth++; r.depth > maxDepth {
		r.fail(at, "", "more than %d mappings and lists inside each other", maxDepth)
	}
	return !r.failed
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// shown is a bit of text as an error quotes it.
func shown(s string) string { return fault.Truncate(s, 40) }
