package yaml

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// plain parses text without quotes. It continues in the lines that are indented more than the column parent.
func (r *reader) plain(parent int) Node {
	n := Node{Kind: Plain, At: r.pos}
	var b strings.Builder
	for {
		line, commented := r.plainLine()
		b.WriteString(line)
		breaks, more := 0, false
		for ahead := *r; !commented && !ahead.lastLine(); {
			ahead.startLine(ahead.next)
			breaks++
			if ahead.skipBlanks(); ahead.pos < ahead.stop {
				more = ahead.column() > parent && ahead.peek(0) != '#'
				if more {
					*r = ahead
				}
				break
			}
		}
		if !more || r.failed {
			break
		}
		if _, ok := r.key(); ok {
			r.fail(r.pos, "Start it in the column of the keys above, or put the text into quotes", "a key inside the text that starts above it")
			break
		}
		if r.atDash() {
			r.fail(r.pos, "Start it in the column of the items above, or put the text into quotes", "a list item inside the text that starts above it")
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

// plainLine returns the rest of the line up to a comment.
func (r *reader) plainLine() (text string, commented bool) {
	from := r.pos
	for ; r.pos < r.stop; r.pos++ {
		switch c := r.text[r.pos]; {
		case c == '#' && r.pos > r.line && isBlank(r.text[r.pos-1]):
			text = r.text[from:r.pos]
			r.pos = r.stop
			return strings.TrimRight(text, " \t"), true
		case c == ':' && (r.peek(1) == 0 || isBlank(r.peek(1))):
			r.fail(r.pos, "Put the text into double quotes", "text without quotes cannot contain a colon followed by a space")
			return "", false
		}
	}
	return strings.TrimRight(r.text[from:r.stop], " \t"), false
}

// quoted parses text in single or double quotes, which may span several lines.
func (r *reader) quoted() Node {
	n := Node{Kind: Quoted, At: r.pos}
	quote := r.peek(0)
	var out []byte
	solid := 0 // the length of out up to which blanks are kept at the end of a line
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
		case c == '\\' && quote == '"' && r.pos+1 == r.stop: // an escaped line break is not part of the text
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

// fold moves to the next line of quoted text that is not empty, and returns the number of line breaks it passed.
func (r *reader) fold(open int) (breaks int) {
	for r.pos >= r.stop {
		if r.lastLine() {
			r.fail(open, "Close the quotes", "the quotes are never closed")
			return 1
		}
		r.startLine(r.next)
		r.skipBlanks()
		breaks++
	}
	return breaks
}

// escapes holds the letters that follow a backslash, and escaped the characters they stand for (YAML 1.2, section 5.7).
const escapes = "0abt\tnvfre \"/\\N_LP"

var escaped = [...]rune{0, '\a', '\b', '\t', '\t', '\n', '\v', '\f', '\r', 0x1b, ' ', '"', '/', '\\', 0x85, 0xa0, 0x2028, 0x2029}

// escape appends the character of the escape sequence at the current position.
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
	if r.pos += 2 + size; ok && utf16.IsSurrogate(char) { // JSON writes a character outside the BMP as a surrogate pair
		low, _ := r.hex(r.pos+2, 4)
		if char = utf16.DecodeRune(char, low); char != utf8.RuneError && r.text[r.pos:r.pos+2] == `\u` {
			r.pos += 6
			return utf8.AppendRune(out, char)
		}
		ok = false
	}
	if !ok || !utf8.ValidRune(char) {
		r.fail(at, `Write a backslash in double quotes as \\, or put the text into single quotes`, "%q is not a valid escape sequence", excerpt(r.text[at:min(at+2+size, r.stop)]))
		return out
	}
	return utf8.AppendRune(out, char)
}

// hex parses a number of the given count of hexadecimal digits; ok is false if the line has no such number there.
func (r *reader) hex(at, digits int) (char rune, ok bool) {
	if digits == 0 || at+digits > r.stop {
		return 0, false
	}
	n, err := strconv.ParseUint(r.text[at:at+digits], 16, 32)
	return rune(n), err == nil && n <= utf8.MaxRune
}
