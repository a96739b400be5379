package yaml

import "strings"

// document is the one value there is.
func (r *reader) document() Node {
	if r.text[r.line:r.stop] == "---" { // it begins a document, also the only one
		r.pos = r.stop
	}
	if !r.content() {
		return Node{At: r.pos}
	}
	n := r.node(-1)
	if r.content() {
		r.fail(r.pos, "Check its indentation", "%q, which belongs to nothing before it", shown(r.text[r.pos:r.stop]))
	}
	return n
}

// node reads the value that begins here, inside something that stands in the column parent.
func (r *reader) node(parent int) Node {
	switch {
	case r.dash():
		return r.list()
	case r.peek(0) == '?' && (isBlank(r.peek(1)) || r.peek(1) == 0):
		r.fail(r.pos, "Write key: value", "a key after ?, where a key is plain text")
		return Node{}
	}
	if _, ok := r.key(); ok {
		return r.mapping()
	}
	return r.inline(parent)
}

// dash says whether an item of a list begins here.
func (r *reader) dash() bool {
	return r.peek(0) == '-' && (r.peek(1) == 0 || isBlank(r.peek(1)))
}

// list reads the items that begin in this column.
func (r *reader) list() Node {
	n, column := Node{Kind: List, At: r.pos}, r.column()
	if !r.enter(n.At) {
		return n
	}
	for {
		at := r.pos
		r.pos++
		if item, ok := r.below(column, at, false); ok {
			n.Items = append(n.Items, item)
		}
		if !r.content() || r.column() < column || r.column() == column && !r.dash() {
			break
		}
		if r.column() > column {
			r.fail(r.pos, "Begin it in the column of the items before", "a line that is indented more than the list it belongs to")
			break
		}
	}
	r.depth--
	return n
}

// mapping reads the keys that begin in this column, with their values.
func (r *reader) mapping() Node {
	n, column := Node{Kind: Mapping, At: r.pos}, r.column()
	if !r.enter(n.At) {
		return n
	}
	keys := distinct{}
	for {
		key, ok := r.key()
		if !ok {
			r.noKey(n, column)
			break
		}
		r.pos = key.after
		value, ok := r.below(column, key.at, true)
		if ok && r.fresh(&keys, key.text, key.at) {
			n.Entries = append(n.Entries, Entry{key.text, key.at, value})
		}
		if !r.content() || r.column() < column {
			break
		}
		if r.column() > column {
			r.fail(r.pos, "Begin it in the column of the keys before", "a line that is indented more than the mapping it belongs to")
			break
		}
	}
	r.depth--
	return n
}

// noKey is the error of a line that stands where a key does and is none.
func (r *reader) noKey(so Node, column int) {
	rest := shown(r.text[r.pos:r.stop])
	if r.dash() {
		r.fail(r.pos, "Indent the list more than the key it belongs to", "an item of a list, where a key stands")
		return
	}
	if last := so.Entries; len(last) > 0 {
		if v := last[len(last)-1].Value; (v.Kind == Literal || v.Kind == Folded) && v.Text == "" {
			r.fail(r.pos, "Indent the text after | and > more than its key", "%q, where text after | stands in column %d or further right", rest, column+2)
			return
		}
	}
	r.fail(r.pos, "Write key: value, with a space after the colon", "%q, where a key with its value was expected", rest)
}

// below reads what belongs to the key or the dash before: in this line, or indented in the lines after it. There is
// none when the reading failed.
func (r *reader) below(column, at int, key bool) (Node, bool) {
	if !r.blankAhead() {
		r.spaces()
		if !key {
			return r.node(column), !r.failed
		}
		if r.dash() {
			r.fail(r.pos, "Begin the list on the next line, or write [a, b]", "a list in the line of its key")
		}
		return r.inline(column), !r.failed
	}
	if !r.content() || r.column() < column || r.column() == column && !(key && r.dash()) {
		return Node{At: at}, !r.failed
	}
	if r.column() == column {
		return r.list(), !r.failed
	}
	return r.node(column), !r.failed
}

// found is a key that was found: its text, where it begins, and where what comes after its colon does.
type found struct {
	text      string
	at, after int
}

// key looks whether a key begins here. It moves nothing.
func (r *reader) key() (found, bool) {
	k := found{at: r.pos}
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

// quotedKey looks whether a key in quotes begins here, which ends in this line.
func (r *reader) quotedKey() (found, bool) {
	k, quote := found{at: r.pos}, r.peek(0)
	i := r.pos + 1
	for ; i < r.stop && r.text[i] != quote; i++ {
		if r.text[i] == '\\' && quote == '"' {
			i++
		}
	}
	look := *r
	look.pos = min(i+1, r.stop)
	if look.spaces(); i >= r.stop || look.peek(0) != ':' || look.peek(1) != 0 && !isBlank(look.peek(1)) {
		return k, false
	}
	k.after = look.pos + 1
	look.pos = r.pos
	k.text = look.quoted().Text
	return k, !look.failed
}

// distinct is the keys of a mapping so far, each with its offset.
type distinct map[string]int

// fresh says whether a key of a mapping may stand: it is the first of its name, and no merge key.
func (r *reader) fresh(keys *distinct, key string, at int) bool {
	if key == "<<" {
		r.note(at, "Write the keys out", "a merge key <<, which is not read here")
		return false
	}
	if first, ok := (*keys)[key]; ok {
		r.note(at, "Keep one of them", "the key %q a second time: line %d has it too", key, 1+strings.Count(r.text[:first], "\n"))
		return false
	}
	(*keys)[key] = at
	return true
}

// inline reads a value that is no block mapping or list, and what is left in its last line.
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
		r.indicator(c)
		return n
	default:
		return r.plain(parent)
	}
	if !r.failed && !r.blankAhead() {
		if r.spaces(); r.peek(0) == ':' && n.Kind != Quoted {
			r.fail(n.At, "Write plain text as the key", "a key that is a list or a mapping")
		}
		r.fail(r.pos, "Put all of the text into one pair of quotes", "%q after the end of the value", shown(r.text[r.pos:r.stop]))
	}
	return n
}

// indicator is the error of a value that begins with a character that YAML gives a meaning of its own.
func (r *reader) indicator(c byte) {
	quote := `Put the text into double quotes`
	switch c {
	case '&', '*':
		r.fail(r.pos, "Write the value out; text that begins so stands in double quotes", "an anchor or alias (%c), which is not read here", c)
	case '!':
		r.fail(r.pos, "Leave the tag out; text that begins so stands in double quotes", "a tag (!), which is not read here")
	default:
		r.fail(r.pos, quote, "a value that begins with %c, as text without quotes cannot", c)
	}
}
