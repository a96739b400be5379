package yaml

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// plain reads text without quotes, which goes on in the lines that are indented more than the column parent.
func (r *reader) plain(parent int) Node {
	n := Node{Kind: Plain, At: r.pos}
	var b strings.Builder
	for {
		line, commented := r.plainLine()
		b.WriteString(line)
		breaks, more := 0, false
		for look := *r; !commented && !look.atEnd(); {
			look.begin(look.next)
			breaks++
			if look.spaces(); look.pos < look.stop {
				more = look.column() > parent && look.peek(0) != '#'
				if more {
					*r = look
				}
				break
			}
		}
		if !more || r.failed {
			break
		}
		if _, ok := r.key(); ok {
			r.fail(r.pos, "Begin it in the column of the keys before, or put the text into quotes", "a key, where the text before goes on")
			break
		}
		if r.dash() {
			r.fail(r.pos, "Begin it in the column of the items before, or put the text into quotes", "an item of a list, where the text before goes on")
			break
		}
		if breaks == 1 {
			b.WriteByte(' ')
		} else {
			b.WriteString(strings.Repeat("\n", breaks-1))
		}
	}
	n.Text = b.String()
	return n
}

// plainLine is the rest of a line up to a comment.
func (r *reader) plainLine() (text string, commented bool) {
	from := r.pos
	for ; r.pos < r.stop; r.pos++ {
		switch c := r.text[r.pos]; {
		case c == '#' && r.pos > r.line && isBlank(r.text[r.pos-1]):
			text = r.text[from:r.pos]
			r.pos = r.stop
			return strings.TrimRight(text, " \t"), true
		case c == ':' && (r.peek(1) == 0 || isBlank(r.peek(1))):
			r.fail(r.pos, "Put the text into double quotes", "a colon with a space after it, which text without quotes cannot have")
			return "", false
		}
	}
	return strings.TrimRight(r.text[from:r.stop], " \t"), false
}

// quoted reads text in single or double quotes, over as many lines as it has.
func (r *reader) quoted() Node {
	n := Node{Kind: Quoted, At: r.pos}
	quote := r.peek(0)
	var out []byte
	solid := 0 // no blank before this belongs to the end of a line
	for r.pos++; !r.failed; {
		switch c := r.peek(0); {
		case r.pos >= r.stop:
			for len(out) > solid && isBlank(out[len(out)-1]) {
				out = out[:len(out)-1]
			}
			breaks := r.fold(n.At)
			if breaks == 1 {
				out = append(out, ' ')
			}
			for range breaks - 1 {
				out = append(out, '\n')
			}
			solid = len(out)
		case c == quote && quote == '\'' && r.peek(1) == '\'':
			out = append(out, '\'')
			r.pos += 2
		case c == quote:
			r.pos++
			n.Text = string(out)
			return n
		case c == '\\' && quote == '"' && r.pos+1 == r.stop: // the break is no part of the text
			r.pos++
			for range r.fold(n.At) - 1 {
				out = append(out, '\n')
			}
			solid = len(out)
		case c == '\\' && quote == '"':
			out = r.escape(out)
			solid = len(out)
		default:
			out = append(out, c)
			r.pos++
		}
	}
	return n
}

// fold goes to where quoted text goes on, and counts the line breaks on the way.
func (r *reader) fold(open int) (breaks int) {
	for r.pos >= r.stop {
		if r.atEnd() {
			r.fail(open, "Close the quotes", "text in quotes that are never closed")
			return 1
		}
		r.begin(r.next)
		r.spaces()
		breaks++
	}
	return breaks
}

// escapes are the letters that stand after a backslash for one character, and escaped are the characters.
const escapes = "0abt\tnvfre \"/\\N_LP"

var escaped = [...]rune{0, '\a', '\b', '\t', '\t', '\n', '\v', '\f', '\r', 0x1b, ' ', '"', '/', '\\', 0x85, 0xa0, 0x2028, 0x2029}

// escape appends the character that a backslash and what follows it stand for.
func (r *reader) escape(out []byte) []byte {
	at, c := r.pos, r.peek(1)
	if i := strings.IndexByte(escapes, c); i >= 0 {
		r.pos += 2
		return utf8.AppendRune(out, escaped[i])
	}
	size := 0
	switch c {
	case 'x':
		size = 2
	case 'u':
		size = 4
	case 'U':
		size = 8
	}
	char, ok := r.hex(r.pos+2, size)
	if r.pos += 2 + size; ok && utf16.IsSurrogate(char) { // JSON writes one character as two halves
		low, _ := r.hex(r.pos+2, 4)
		if char = utf16.DecodeRune(char, low); char != utf8.RuneError && r.text[r.pos:r.pos+2] == `\u` {
			r.pos += 6
			return utf8.AppendRune(out, char)
		}
		ok = false
	}
	if !ok || !utf8.ValidRune(char) {
		r.fail(at, `Write a backslash in double quotes as \\, or put the text into single quotes`, "%q, which stands for no character", shown(r.text[at:min(at+2+size, r.stop)]))
		return out
	}
	return utf8.AppendRune(out, char)
}

// hex reads a number of so many digits; false when there is none in this line.
func (r *reader) hex(at, digits int) (rune, bool) {
	if digits == 0 || at+digits > r.stop {
		return 0, false
	}
	n, err := strconv.ParseUint(r.text[at:at+digits], 16, 32)
	return rune(n), err == nil && n <= utf8.MaxRune
}
