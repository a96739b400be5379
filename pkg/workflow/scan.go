package workflow

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// The limits of a JSON text: how many objects and lists may stand inside each other, how long a number may be, and how
// many digits an exponent may have.
const (
	maxDepth    = 200
	maxNumber   = 1000
	maxExponent = 4
)

// scanner reads JSON text once, from end to end. It accepts what json.Valid does, but for what is hostile or surely a
// mistake: too deep, a number too long, half a character, the same key twice. These it notes and goes on; at the first
// error of the syntax it stops. What it has accepted can be walked without looking back.
type scanner struct {
	d    *decoder
	text string
	pos  int
	// within is the path of the value that is scanned; frames lead from there to where the scanner is.
	within string
	frames []frame
	// keys are those of all open objects, each object's from its frame's keys on.
	keys []scannedKey
	// before is where the last value ended.
	before int
	// converted says that the text is not the file's, so that what is wrong stands where its path does.
	converted bool
}

// frame is an object or a list that is open, and where in it the scanner is, if it is in one of its values.
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

// scan reads the value that begins in text[from:], and all the white space around it. It says whether the syntax is
// right; what is wrong is noted with the decoder.
func (d *decoder) scan(text string, from int, within string) bool {
	s := scanner{d: d, text: text, pos: from, before: from, within: within}
	return s.all()
}

// note notes what is wrong at an offset.
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

// path is where the scanner is.
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

// peek is the next byte, or 0 at the end.
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

// few is how many keys of an object are compared one by one before a table is made of them.
const few = 16

// key notes a key of the innermost object, and that the object has it already.
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

// more passes over the comma before another member or element, or over the bracket that closes them; else it is not ok.
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
	f := s.note(s.pos, s.path(), "More than %d objects and lists inside each other", maxDepth)
	f.Suggest("Keep the data flatter, or in a file of its own").Path = "" // it would be too long to read
	return false
}

// quote is a piece of the text as an error shows it.
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
