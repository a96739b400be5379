package yaml

import "strings"

// document parses the one value of the text.
func (r *reader) document() Node {
	if r.text[r.line:r.stop] == "---" {
		r.pos = r.stop
	}
	if !r.content() {
		return Node{At: r.pos}
	}
	n := r.node(-1)
	if r.content() {
		r.fail(r.pos, "Check its indentation", "%q does not belong to the value before it", excerpt(r.text[r.pos:r.stop]))
	}
	return n
}

// node parses the value at the current position. Its container is in the column parent.
func (r *reader) node(parent int) Node {
	switch {
	case r.atDash():
		return r.list()
	case r.peek(0) == '?' && (isBlank(r.peek(1)) || r.peek(1) == 0):
		r.fail(r.pos, "Write key: value", "keys written with ? are not supported")
		return Node{}
	}
	if _, ok := r.key(); ok {
		return r.mapping()
	}
	return r.inline(parent)
}

// atDash reports whether a list item starts at the current position.
func (r *reader) atDash() bool {
	return r.peek(0) == '-' && (r.peek(1) == 0 || isBlank(r.peek(1)))
}

// list parses the items that start in the current column.
func (r *reader) list() Node {
	n, column := Node{Kind: List, At: r.pos}, r.column()
	if !r.enter(n.At) {
		return n
	}
	for {
		at := r.pos
		r.pos++
		if item, ok := r.nested(column, at, false); ok {
			n.Items = append(n.Items, item)
		}
		if !r.content() || r.column() < column || r.column() == column && !r.atDash() {
			break
		}
		if r.column() > column {
			r.fail(r.pos, "Start it in the column of the items above", "this line is indented more than the list it belongs to")
			break
		}
	}
	r.depth--
	return n
}

// mapping parses the keys that start in the current column, with their values.
func (r *reader) mapping() Node {
	n, column := Node{Kind: Mapping, At: r.pos}, r.column()
	if !r.enter(n.At) {
		return n
	}
	keys := keySet{}
	for {
		key, ok := r.key()
		if !ok {
			r.failKey(n, column)
			break
		}
		r.pos = key.after
		value, ok := r.nested(column, key.at, true)
		if ok && r.addKey(keys, key.text, key.at) {
			n.Entries = append(n.Entries, Entry{key.text, key.at, value})
		}
		if !r.content() || r.column() < column {
			break
		}
		if r.column() > column {
			r.fail(r.pos, "Start it in the column of the keys above", "this line is indented more than the mapping it belongs to")
			break
		}
	}
	r.depth--
	return n
}

// failKey reports a line of a mapping that does not start with a key.
func (r *reader) failKey(mapping Node, column int) {
	rest := excerpt(r.text[r.pos:r.stop])
	if r.atDash() {
		r.fail(r.pos, "Indent the list more than the key it belongs to", "a list item where a key was expected")
		return
	}
	if last := mapping.Entries; len(last) > 0 {
		if v := last[len(last)-1].Value; (v.Kind == Literal || v.Kind == Folded) && v.Text == "" {
			r.fail(r.pos, "Indent the text after | and > more than its key", "%q; the text after | or > must start in column %d or further right", rest, column+2)
			return
		}
	}
	r.fail(r.pos, "Write key: value, with a space after the colon", "%q where a key with its value was expected", rest)
}

// nested parses the value after a key or a dash at the given column and offset: the rest of the line, or the lines below
// that are indented more. It returns false after a syntax error.
func (r *reader) nested(column, at int, afterKey bool) (Node, bool) {
	if !r.skipRest() {
		r.skipBlanks()
		if !afterKey {
			return r.node(column), !r.failed
		}
		if r.atDash() {
			r.fail(r.pos, "Start the list on the next line, or write [a, b]", "a list cannot start in the line of its key")
		}
		return r.inline(column), !r.failed
	}
	if !r.content() || r.column() < column || r.column() == column && !(afterKey && r.atDash()) {
		return Node{At: at}, !r.failed
	}
	if r.column() == column {
		return r.list(), !r.failed
	}
	return r.node(column), !r.failed
}

// keyToken is a key of a block mapping: its text, its offset, and the offset after its colon.
type keyToken struct {
	text      string
	at, after int
}

// key returns the key at the current position, without moving; ok is false if no key starts there.
func (r *reader) key() (k keyToken, ok bool) {
	k.at = r.pos
	switch c := r.peek(0); c {
	case 0, '[', '{', ']', '}', ',', '|', '>', '&', '*', '!', '%', '@', '`', '#':
		return k, false
	case '"', '\'':
		return r.quotedKey()
	}
	for i := r.pos; i < r.stop; i++ {
		switch {
		case r.text[i] == '#' && i > r.pos && isBlank(r.text[i-1]):
			return k, false
		case r.text[i] == ':' && (i+1 == r.stop || isBlank(r.text[i+1])):
			k.text, k.after = strings.TrimRight(r.text[r.pos:i], " \t"), i+1
			return k, k.text != ""
		}
	}
	return k, false
}

// quotedKey is key for a key in quotes, which must end in its line.
func (r *reader) quotedKey() (k keyToken, ok bool) {
	k.at = r.pos
	quote := r.peek(0)
	i := r.pos + 1
	for ; i < r.stop && r.text[i] != quote; i++ {
		if r.text[i] == '\\' && quote == '"' {
			i++
		}
	}
	ahead := *r
	ahead.pos = min(i+1, r.stop)
	if ahead.skipBlanks(); i >= r.stop || ahead.peek(0) != ':' || ahead.peek(1) != 0 && !isBlank(ahead.peek(1)) {
		return k, false
	}
	k.after = ahead.pos + 1
	ahead.pos = r.pos
	k.text = ahead.quoted().Text
	return k, !ahead.failed
}

// keySet holds the keys of a mapping with their offsets.
type keySet map[string]int

// addKey adds a key. It reports a merge key or a duplicate as an error and returns false.
func (r *reader) addKey(keys keySet, key string, at int) bool {
	if key == "<<" {
		r.report(at, "Write the keys out", "merge keys (<<) are not supported")
		return false
	}
	if first, ok := keys[key]; ok {
		r.report(at, "Keep one of them", "the key %q is a duplicate: line %d has it too", key, 1+strings.Count(r.text[:first], "\n"))
		return false
	}
	keys[key] = at
	return true
}

// inline parses a value that is not a block mapping or list, up to the end of its last line.
func (r *reader) inline(parent int) Node {
	var n Node
	switch c := r.peek(0); c {
	case '|', '>':
		return r.blockText(parent)
	case '"', '\'':
		n = r.quoted()
	case '[', '{':
		n = r.flow()
	case '&', '*', '!', '%', '@', '`', ',', ']', '}':
		r.failIndicator(c)
		return n
	default:
		return r.plain(parent)
	}
	if !r.failed && !r.skipRest() {
		if r.skipBlanks(); r.peek(0) == ':' && n.Kind != Quoted {
			r.fail(n.At, "Write plain text as the key", "a key must be text, not a list or a mapping")
		}
		r.fail(r.pos, "Put all of the text into one pair of quotes", "%q after the end of the value", excerpt(r.text[r.pos:r.stop]))
	}
	return n
}

// failIndicator reports a value that starts with a character that is special in YAML.
func (r *reader) failIndicator(c byte) {
	switch c {
	case '&', '*':
		r.fail(r.pos, "Write the value out; put text that starts this way into double quotes", "anchors and aliases (%c) are not supported", c)
	case '!':
		r.fail(r.pos, "Remove the tag; put text that starts this way into double quotes", "tags (!) are not supported")
	default:
		r.fail(r.pos, "Put the text into double quotes", "text without quotes cannot start with %c", c)
	}
}
