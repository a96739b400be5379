package workflow

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// The limits of a JSON text: the depth of nested objects and lists, the length of a number, and the digits of an exponent.
const (
	maxDepth    = 200
	maxNumber   = 1000
	maxExponent = 4
)

// scanner reads JSON text once. It accepts what json.Valid accepts, except for what is hostile or surely a mistake: too many
// levels, long numbers, half of a surrogate pair, duplicate keys. It reports these and continues, and stops at the first
// syntax error. Accepted text can be walked without checks.
type scanner struct {
	d    *decoder
	text string
	pos  int
	// within is the path of the scanned value, and frames lead from there to the current position.
	within string
	frames []frame
	// keys holds the keys of all open objects. Those of an object start at its frame's keys.
	keys []scannedKey
	// before is the end of the last value.
	before int
	// converted reports whether the text was converted from Markdown, so that the place of a fault is that of its path.
	converted bool
}

// frame is an open object or list, and the key or index of the current position if inside is set.
type frame struct {
	open   int
	keys   int
	index  int
	key    string
	inside bool
}

type scannedKey struct {
	name string
	at   int
}

// scan reads the value at text[from:] with the white space around it, and reports faults to the decoder. It returns whether the
// syntax is valid.
func (d *decoder) scan(text string, from int, within string) bool {
	s := scanner{d: d, text: text, pos: from, before: from, within: within}
	return s.all()
}

// note reports a fault at an offset.
func (s *scanner) note(at int, path, format string, args ...any) *fault.Fault {
	if s.converted {
		at, _, _ = s.d.places.of(stepsOf(path))
	}
	return s.d.addAt(at, path, format, args...)
}

func (s *scanner) all() bool {
	s.space()
	if !s.value() {
		return false
	}
	if s.space(); s.pos < len(s.text) {
		return s.fail(s.pos, "the end of the text")
	}
	return true
}

// path returns the path of the current position.
func (s *scanner) path() string {
	path := s.within
	for _, f := range s.frames {
		if !f.inside {
			break
		}
		if s.text[f.open] == '[' {
			path += "[" + strconv.Itoa(f.index) + "]"
		} else {
			path = rawjson.JoinPath(path, f.key)
		}
	}
	return path
}

func (s *scanner) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, or 0 at the end of the text.
func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func (s *scanner) value() bool {
	ok := true
	switch c := s.peek(); {
	case c == '{' || c == '[':
		if len(s.frames) == maxDepth {
			return s.tooDeep()
		}
		s.frames = append(s.frames, frame{open: s.pos, keys: len(s.keys)})
		if s.pos++; c == '{' {
			ok = s.object()
		} else {
			ok = s.list()
		}
		if ok {
			f := s.frames[len(s.frames)-1]
			s.frames, s.keys = s.frames[:len(s.frames)-1], s.keys[:f.keys]
		}
	case c == '"':
		_, ok = s.quoted()
	case c == '-' || c >= '0' && c <= '9':
		ok = s.number()
	default:
		ok = s.word()
	}
	s.before = s.pos
	return ok
}

func (s *scanner) object() bool {
	f := len(s.frames) - 1
	if s.space(); s.peek() == '}' {
		s.pos++
		return true
	}
	distinct := map[string]int(nil)
	for {
		at := s.pos
		if s.peek() != '"' {
			return s.fail(at, "a key in double quotes")
		}
		key, ok := s.quoted()
		if !ok {
			return false
		}
		s.frames[f].key, s.frames[f].inside = key, true
		distinct = s.key(key, at, distinct)
		if s.space(); s.peek() != ':' {
			return s.noColon()
		}
		s.pos++
		s.space()
		if !s.value() {
			return false
		}
		s.frames[f].inside = false
		if more, ok := s.more('}'); !more {
			return ok
		}
	}
}

// few is the number of keys of an object above which a map is used to find duplicates.
const few = 16

// key adds a key to the innermost object, and reports a duplicate. It returns the map of the object's keys, if it has one.
func (s *scanner) key(name string, at int, distinct map[string]int) map[string]int {
	mine := s.keys[s.frames[len(s.frames)-1].keys:]
	first := -1
	if distinct != nil {
		if i, ok := distinct[name]; ok {
			first = i
		}
	} else {
		for _, k := range mine {
			if k.name == name {
				first = k.at
				break
			}
		}
	}
	if first >= 0 && s.d.full() {
		s.d.noted++
		return distinct
	}
	if first >= 0 {
		line, _ := s.d.text.place(first)
		s.note(at, s.path(), "Duplicate key %q: line %d has it too", name, line).Suggest("Keep one of them")
		return distinct
	}
	s.keys = append(s.keys, scannedKey{name, at})
	if distinct != nil {
		distinct[name] = at
	} else if len(mine) == few {
		distinct = make(map[string]int, 2*few)
		for _, k := range s.keys[len(s.keys)-few-1:] {
			distinct[k.name] = k.at
		}
	}
	return distinct
}

// more skips the comma before another element, or the closing bracket; ok is false if neither follows.
func (s *scanner) more(closing byte) (more, ok bool) {
	s.space()
	switch s.peek() {
	case ',':
		s.pos++
		s.space()
		return true, true
	case closing:
		s.pos++
		return false, true
	}
	return false, s.fail(s.pos, `"," or "`+string(closing)+`"`)
}

func (s *scanner) list() bool {
	f := len(s.frames) - 1
	if s.space(); s.peek() == ']' {
		s.pos++
		return true
	}
	for ; ; s.frames[f].index++ {
		s.frames[f].inside = true
		if !s.value() {
			return false
		}
		s.frames[f].inside = false
		if more, ok := s.more(']'); !more {
			return ok
		}
	}
}

func (s *scanner) tooDeep() bool {
	f := s.note(s.pos, s.path(), "More than %d nested objects and lists", maxDepth)
	f.Suggest("Keep the data flatter, or in a file of its own").Path = "" // it is too long to read
	return false
}

// quote quotes the text at an offset for an error.
func (s *scanner) quote(at int) string {
	if at >= len(s.text) {
		return "the end of the text"
	}
	if s.text[at] == '"' {
		line, _, _ := strings.Cut(s.text[at+1:min(at+40, len(s.text))], "\n")
		if i := strings.IndexByte(line, '"'); i >= 0 {
			return s.text[at : at+i+2]
		}
	}
	end := at
	for end < len(s.text) && end-at < 40 && isWord(s.text[end]) {
		end++
	}
	if end == at {
		end++
	}
	return fmt.Sprintf("%q", strings.ToValidUTF8(s.text[at:end], ""))
}
