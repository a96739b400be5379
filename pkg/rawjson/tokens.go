package rawjson

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// level is an object or a list around a place in a JSON text.
type level struct {
	object bool
	// key is the key of the object's last member, with its quotes, and index the number of the list's items before the last one.
	key   []byte
	index int
	// few and many hold the keys of the object; many does if there are more than maxFew.
	few  [][]byte
	many map[string]bool
}

// maxFew is the number of keys among which a search is faster than a map.
const maxFew = 16

// tokens visits the tokens of a JSON text in order, except for the punctuation between them, until a visit returns false. A visit gets the
// levels around the token.
func tokens(text []byte, visit func(levels []level, token []byte, key bool) bool) {
	var levels []level
	value := func() { // a value begins
		if last := len(levels) - 1; last >= 0 && !levels[last].object {
			levels[last].index++
		}
	}
	expectsKey := false
	for at := 0; at < len(text); {
		begin, c := at, text[at]
		at++
		key := false
		switch c {
		case ' ', '\t', '\n', '\r', ':':
			continue
		case ',':
			expectsKey = len(levels) > 0 && levels[len(levels)-1].object
			continue
		case '{', '[':
			value()
			if !visit(levels, text[begin:at], false) {
				return
			}
			levels = append(levels, level{object: c == '{', index: -1})
			expectsKey = c == '{'
			continue
		case '}', ']':
			levels, expectsKey = levels[:max(len(levels)-1, 0)], false
			continue
		case '"':
			for at < len(text) && text[at] != '"' {
				if text[at] == '\\' {
					at++
				}
				at++
			}
			at = min(at+1, len(text))
			key, expectsKey = expectsKey, false
		default:
			for at < len(text) && !delimits(text[at]) {
				at++
			}
		}
		if key {
			levels[len(levels)-1].key = text[begin:at]
		} else {
			value()
		}
		if !visit(levels, text[begin:at], key) {
			return
		}
	}
}

// delimits reports whether a character ends a number or a word.
func delimits(c byte) bool {
	switch c {
	case ' ', '\t', '\n', '\r', ',', ':', ']', '}', '[', '{', '"':
		return true
	}
	return false
}

// pathOf returns the path to the place within the levels.
func pathOf(levels []level) (path string) {
	for _, l := range levels {
		if l.object {
			path = JoinPath(path, keyName(l.key))
		} else {
			path = fmt.Sprintf("%s[%d]", path, l.index)
		}
	}
	return path
}

// keyName returns the key that a JSON string spells.
func keyName(key []byte) (name string) {
	_ = json.Unmarshal(key, &name)
	return name
}

// DuplicateKey returns the first key that stands twice in one object of a JSON text, with the path of the object. Readers differ in which
// of the two members they take.
func DuplicateKey(text []byte) (path, key string, found bool) {
	tokens(text, func(levels []level, token []byte, isKey bool) bool {
		if !isKey || len(token) < 2 {
			return true
		}
		l := &levels[len(levels)-1]
		if found = l.has(token); found {
			path, key = pathOf(levels[:len(levels)-1]), keyName(token)
		}
		return !found
	})
	return path, key, found
}

// has reports whether the object has a key already, and adds it.
func (l *level) has(quoted []byte) bool {
	name := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = []byte(keyName(quoted))
	}
	if l.many != nil {
		known := l.many[string(name)]
		l.many[string(name)] = true
		return known
	}
	for _, other := range l.few {
		if string(other) == string(name) {
			return true
		}
	}
	if l.few = append(l.few, name); len(l.few) > maxFew {
		l.many = make(map[string]bool, 2*maxFew)
		for _, other := range l.few {
			l.many[string(other)] = true
		}
	}
	return false
}

// FindNumber returns the first number of a JSON text, as it is written, for which a function returns true, with its path.
func FindNumber(text []byte, is func(number string) bool) (path, number string, found bool) {
	tokens(text, func(levels []level, token []byte, _ bool) bool {
		if c := token[0]; (c == '-' || c >= '0' && c <= '9') && is(string(token)) {
			path, number, found = pathOf(levels), string(token), true
		}
		return !found
	})
	return path, number, found
}
