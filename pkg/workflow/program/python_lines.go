package program

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// pythonLine is a logical line of Python: it has no comments, and continues over brackets and escaped newlines.
type pythonLine struct {
	// indent is the column at which the line starts.
	indent int
	tokens []token
}

// pythonLines splits a program into lines and tokens.
func pythonLines(code string) (lines []pythonLine) {
	p := &pythonLexer{code: code}
	for p.at < len(code) {
		if line := p.line(); len(line.tokens) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

type pythonLexer struct {
	code string
	at   int
}

// line reads a logical line.
func (p *pythonLexer) line() (l pythonLine) {
	l.indent = p.indent()
	depth := 0
	for p.at < len(p.code) {
		switch b := p.code[p.at]; {
		case b == '\n':
			p.at++
			if depth == 0 {
				return l
			}
		case b == ' ', b == '\t', b == '\f', b == '\r':
			p.at++
		case b == '\\' && strings.HasPrefix(strings.TrimLeft(p.code[p.at+1:], "\r"), "\n"):
			p.at += strings.IndexByte(p.code[p.at:], '\n') + 1
		case b == '#':
			p.at += lineLength(p.code[p.at:])
		default:
			t := p.token()
			if opens(t) {
				depth++
			} else if closes(t) {
				depth = max(0, depth-1)
			}
			l.tokens = append(l.tokens, t)
		}
	}
	return l
}

// lineLength returns the number of bytes before the end of a line.
func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// indent reads the blanks at the start of a line. A tab leads to the next multiple of eight columns.
func (p *pythonLexer) indent() (column int) {
	for ; p.at < len(p.code); p.at++ {
		switch p.code[p.at] {
		case ' ':
			column++
		case '\t':
			column += 8 - column%8
		case '\f':
			column = 0
		default:
			return column
		}
	}
	return column
}

// token reads a token.
func (p *pythonLexer) token() token {
	start := p.at
	switch b := p.code[p.at]; {
	case b == '"' || b == '\'':
		return p.str(start, "", 0)
	case b >= '0' && b <= '9':
		for p.at < len(p.code) && (isWordByte(p.code[p.at]) || p.code[p.at] == '.') {
			p.at++
		}
		return token{kind: number, text: p.code[start:p.at], at: start}
	case isWordByte(b):
		for p.at < len(p.code) && isWordByte(p.code[p.at]) {
			p.at++
		}
		text := p.code[start:p.at]
		if p.at < len(p.code) && (p.code[p.at] == '"' || p.code[p.at] == '\'') && isStringPrefix(text) {
			return p.str(start, strings.ToLower(text), 0)
		}
		return token{kind: word, text: text, at: start}
	}
	for _, op := range []string{"**=", "//=", ">>=", "<<=", "...", ":=", "==", "!=", "<=", ">=", "->", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", "**", "//", "<<", ">>"} {
		if strings.HasPrefix(p.code[p.at:], op) {
			p.at += len(op)
			return token{kind: punct, text: op, at: start}
		}
	}
	p.at++
	return token{kind: punct, text: p.code[start:p.at], at: start}
}

func isStringPrefix(s string) bool {
	return listed("r u b f t br rb fr rf tr rt", strings.ToLower(s))
}

// str reads a string whose prefix, in lower case, has been read.
func (p *pythonLexer) str(start int, prefix string, nested int) token {
	quote := p.code[p.at : p.at+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(p.code[p.at:], triple) {
		quote = triple
	}
	p.at += len(quote)
	from, formatted := p.at, strings.ContainsAny(prefix, "ft")
	for p.at < len(p.code) && !strings.HasPrefix(p.code[p.at:], quote) {
		switch b := p.code[p.at]; {
		case b == '\n' && len(quote) == 1: // it is not terminated
			return token{kind: text, at: start}
		case b == '\\':
			p.at = min(p.at+2, len(p.code))
		case b == '{' && formatted && strings.HasPrefix(p.code[p.at:], "{{"):
			p.at += 2
		case b == '{' && formatted && nested < maxNested:
			p.at++
			p.field(nested+1, len(quote) == 1)
		default:
			p.at++
		}
	}
	content := p.code[from:min(p.at, len(p.code))]
	p.at = min(p.at+len(quote), len(p.code))
	t := token{kind: text, at: start}
	if formatted || strings.Contains(prefix, "b") {
		return t
	}
	if t.text, t.constant = content, true; !strings.Contains(prefix, "r") {
		t.text, t.constant = pythonUnescaped(content)
	}
	return t
}

// field reads the rest of a replacement field of a formatted string, up to its closing brace.
func (p *pythonLexer) field(nested int, oneLine bool) {
	depth, format := 0, false
	for p.at < len(p.code) {
		b := p.code[p.at]
		switch {
		case b == '\n' && oneLine && format:
			return
		case format && b == '{' && nested < maxNested:
			p.at++
			p.field(nested+1, oneLine)
			continue
		case b == '}' && depth == 0:
			p.at++
			return
		case format:
		case b == '(' || b == '[' || b == '{':
			depth++
		case b == ')' || b == ']' || b == '}':
			depth--
		case b == ':' && depth == 0:
			format = true
		case b == '#':
			p.at += lineLength(p.code[p.at:])
			continue
		case b == '"' || b == '\'':
			start := p.at
			for start > 0 && isWordByte(p.code[start-1]) {
				start--
			}
			prefix := strings.ToLower(p.code[start:p.at])
			if !isStringPrefix(prefix) {
				prefix = ""
			}
			if nested >= maxNested {
				prefix = ""
			}
			p.str(p.at, prefix, nested)
			continue
		}
		p.at++
	}
}

// pythonUnescaped returns the value of the content of a string. ok is false if it is not known.
func pythonUnescaped(s string) (value string, ok bool) {
	if !strings.Contains(s, `\`) {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		digits := 0
		switch c := s[i]; c {
		case '\n':
		case '\\', '\'', '"':
			b.WriteByte(c)
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'x':
			digits = 2
		case 'u':
			digits = 4
		case 'U':
			digits = 8
		default:
			return "", false
		}
		if digits == 0 {
			continue
		}
		r, known := hexRune(s[i+1:], digits)
		if !known {
			return "", false
		}
		b.WriteRune(r)
		i += digits
	}
	return b.String(), true
}

// hexRune returns the character with a code of the given number of hexadecimal digits.
func hexRune(s string, digits int) (rune, bool) {
	if len(s) < digits {
		return 0, false
	}
	v, err := strconv.ParseUint(s[:digits], 16, 32)
	return rune(v), err == nil && v <= utf8.MaxRune && utf8.ValidRune(rune(v))
}
