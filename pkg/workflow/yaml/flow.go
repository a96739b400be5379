package yaml

import "strings"

// flow parses [a, b] or {a: b}, which may span several lines.
func (r *reader) flow() Node {
	open, n := r.pos, Node{Kind: List, At: r.pos}
	closer := byte(']')
	if r.peek(0) == '{' {
		n.Kind, closer = Mapping, '}'
	}
	if !r.enter(open) {
		return n
	}
	keys := keySet{}
	r.pos++
	for r.flowSpace(open) && r.peek(0) != closer {
		if n.Kind == List {
			n.Items = append(n.Items, r.flowValue(open))
		} else if e, ok := r.flowEntry(open); ok && r.addKey(keys, e.Key, e.At) {
			n.Entries = append(n.Entries, e)
		}
		if !r.flowSpace(open) || r.peek(0) == closer {
			break
		}
		if r.peek(0) != ',' {
			r.failFlow(n.Kind, closer)
			break
		}
		r.pos++
	}
	r.pos = min(r.pos+1, r.end)
	r.depth--
	return n
}

// failFlow reports what follows a value inside brackets and is neither a comma nor the closing bracket.
func (r *reader) failFlow(in Kind, closer byte) {
	switch c := r.peek(0); {
	case c == ':' && in == List:
		r.fail(r.pos, "Write [{key: value}]", "a key with a value in a list must be in braces")
	case c == ']' || c == '}':
		r.fail(r.pos, "Close the innermost bracket first", "%c where %c was expected", c, closer)
	default:
		r.fail(r.pos, "Put text that contains brackets, braces, commas or \": \" into double quotes", "%q where a comma or %c was expected", excerpt(r.text[r.pos:r.stop]), closer)
	}
}

// flowSpace skips blanks, comments and line breaks inside the brackets that were opened at the given offset. It returns
// false after a syntax error.
func (r *reader) flowSpace(open int) bool {
	for r.skipRest() {
		if r.lastLine() {
			r.fail(open, "Close it", "%c is never closed", r.text[open])
			return false
		}
		r.startLine(r.next)
	}
	r.skipBlanks()
	return !r.failed
}

func (r *reader) flowValue(open int) Node {
	switch c := r.peek(0); c {
	case '[', '{':
		return r.flow()
	case '"', '\'':
		return r.quoted()
	case '&', '*', '!', '%', '@', '`', '|', '>':
		r.failIndicator(c)
		return Node{}
	case ',':
		r.fail(r.pos, "Remove one of the commas", "a comma without a value before it")
		return Node{}
	}
	return r.flowPlain(open)
}

func (r *reader) flowEntry(open int) (Entry, bool) {
	e := Entry{At: r.pos}
	if r.peek(0) == '?' && (isBlank(r.peek(1)) || r.peek(1) == 0) {
		r.fail(r.pos, "Write key: value", "keys written with ? are not supported")
		return e, false
	}
	k := r.flowValue(open)
	if r.failed || !r.flowSpace(open) {
		return e, false
	}
	if k.Kind != Plain && k.Kind != Quoted {
		r.fail(e.At, "Write plain text as the key", "a key must be text, not a list or a mapping")
		return e, false
	}
	e.Key, e.Value = k.Text, Node{At: e.At}
	if r.peek(0) != ':' {
		return e, true
	}
	r.pos++
	if !r.flowSpace(open) {
		return e, false
	}
	if c := r.peek(0); c != ',' && c != '}' {
		e.Value = r.flowValue(open)
	}
	return e, !r.failed
}

// flowPlain parses text without quotes inside brackets. A template in it may contain brackets.
func (r *reader) flowPlain(open int) Node {
	n := Node{Kind: Plain, At: r.pos}
	var b strings.Builder
	for {
		from := r.pos
		for r.pos < r.stop {
			c, next := r.text[r.pos], r.peek(1)
			if c == '$' && next == '{' {
				r.pos += templateLength(r.text[r.pos:r.stop])
				continue
			}
			if strings.IndexByte(",[]{}", c) >= 0 || c == ':' && (next == 0 || isBlank(next) || strings.IndexByte(",[]{}", next) >= 0) ||
				c == '#' && r.pos > from && isBlank(r.text[r.pos-1]) {
				break
			}
			r.pos++
		}
		b.WriteString(strings.TrimRight(r.text[from:r.pos], " \t"))
		line, after := r.line, r.pos
		if !r.flowSpace(open) || r.line == line || strings.IndexByte(",[]{}:", r.peek(0)) >= 0 || strings.IndexByte(r.text[after:r.pos], '#') >= 0 {
			break
		}
		b.WriteByte(' ')
	}
	if n.Text = b.String(); n.Text == "" && !r.failed {
		r.fail(n.At, "Put it into double quotes", "%q where a value was expected", excerpt(r.text[n.At:max(r.stop, n.At)]))
	}
	return n
}

// templateLength returns the length of the ${…} at the start of s, or 2 if it does not end within 200 bytes.
func templateLength(s string) int {
	depth := 0
	for i := range min(len(s), 200) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 2
}
