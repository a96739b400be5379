package program

import (
	"strings"
	"unicode/utf8"
)

// jsTokens splits a JavaScript program into tokens. Whether a slash starts a regular expression is decided by the token before
// it, which is right for all but contrived programs.
func jsTokens(code string) []token {
	l := &jsLexer{code: code}
	l.tokensUntil("")
	return l.tokens
}

type jsLexer struct {
	code   string
	at     int
	tokens []token
	// newline is set after a line has ended.
	newline bool
	// heads has, for each open parenthesis, whether a statement follows after it, as after if (…).
	heads  []bool
	nested int
}

// tokensUntil reads tokens up to a closing brace that no brace opens, or to the end if that is "".
func (l *jsLexer) tokensUntil(end string) {
	depth := 0
	for l.at < len(l.code) {
		b := l.code[l.at]
		rest := l.code[l.at:]
		switch {
		case b == '\n':
			l.newline = true
			l.at++
			continue
		case b == ' ' || b == '\t' || b == '\r' || b == '\f' || b == '\v':
			l.at++
			continue
		case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "#!") && l.at == 0:
			l.at += lineLength(rest)
			continue
		case strings.HasPrefix(rest, "/*"):
			length := strings.Index(rest[2:], "*/")
			if length < 0 {
				l.at = len(l.code)
				return
			}
			l.newline = l.newline || strings.Contains(rest[:length], "\n")
			l.at += length + 4
			continue
		case end != "" && b == '}' && depth == 0:
			return
		case b == '{':
			depth++
		case b == '}':
			depth--
		}
		t := l.token()
		t.newline, l.newline = l.newline, false
		l.tokens = append(l.tokens, t)
	}
}

func (l *jsLexer) token() token {
	start := l.at
	switch b := l.code[l.at]; {
	case b == '"' || b == '\'':
		return l.str()
	case b == '`':
		return l.template()
	case b >= '0' && b <= '9':
		for l.at < len(l.code) && (isWordByte(l.code[l.at]) || l.code[l.at] == '.') {
			l.at++
		}
		return token{kind: number, text: l.code[start:l.at], at: start}
	case isWordByte(b) || b == '$' || b == '#' || b == '\\':
		l.at++
		for l.at < len(l.code) && (isWordByte(l.code[l.at]) || l.code[l.at] == '$') {
			l.at++
		}
		return token{kind: word, text: l.code[start:l.at], at: start}
	case b == '/' && l.startsRegex():
		return l.regex()
	}
	op := l.code[l.at : l.at+1]
	for _, o := range []string{">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "??=", "||=", "&&=", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "**", "<<", ">>"} {
		if strings.HasPrefix(l.code[l.at:], o) && !(o == "?." && l.at+2 < len(l.code) && l.code[l.at+2] >= '0' && l.code[l.at+2] <= '9') {
			op = o
			break
		}
	}
	before := at(l.tokens, len(l.tokens)-1)
	l.at += len(op)
	t := token{kind: punct, text: op, at: start}
	switch {
	case op == "(":
		l.heads = append(l.heads, before.keyword("if while for with await"))
	case op == ")" && len(l.heads) > 0:
		t.head = l.heads[len(l.heads)-1]
		l.heads = l.heads[:len(l.heads)-1]
	}
	return t
}

// startsRegex reports whether a slash starts a regular expression, and is not a division.
func (l *jsLexer) startsRegex() bool {
	before := at(l.tokens, len(l.tokens)-1)
	switch {
	case len(l.tokens) == 0:
		return true
	case before.kind == word:
		return before.keyword("return typeof case in of delete void throw new do else instanceof yield await") && !at(l.tokens, len(l.tokens)-2).punctuation(". ?.")
	case before.kind != punct, before.punctuation("] ++ --"):
		return false
	case before.is(punct, ")"):
		return before.head
	}
	return true
}

// regex reads a regular expression.
func (l *jsLexer) regex() token {
	start, class := l.at, false
	for l.at++; l.at < len(l.code); l.at++ {
		switch b := l.code[l.at]; {
		case b == '\n':
			return token{kind: regex, at: start}
		case b == '\\':
			l.at++
		case b == '[':
			class = true
		case b == ']':
			class = false
		case b == '/' && !class:
			for l.at++; l.at < len(l.code) && isWordByte(l.code[l.at]); l.at++ {
			}
			return token{kind: regex, at: start}
		}
	}
	l.at = len(l.code)
	return token{kind: regex, at: start}
}

// str reads a string in quotes.
func (l *jsLexer) str() token {
	start, quote := l.at, l.code[l.at]
	for l.at++; l.at < len(l.code) && l.code[l.at] != quote; l.at++ {
		switch l.code[l.at] {
		case '\n': // it is not terminated
			return token{kind: text, at: start}
		case '\\':
			l.at++
		}
	}
	content := l.code[start+1 : min(l.at, len(l.code))]
	l.at = min(l.at+1, len(l.code))
	value, ok := jsUnescaped(content)
	return token{kind: text, text: value, constant: ok, at: start}
}

// template reads a template literal. The expressions in it are read as tokens of the program, in parentheses.
func (l *jsLexer) template() token {
	start := l.at
	constant := true
	var inside []token
	for l.at++; l.at < len(l.code) && l.code[l.at] != '`'; l.at++ {
		switch rest := l.code[l.at:]; {
		case rest[0] == '\\':
			l.at++
		case strings.HasPrefix(rest, "${") && l.nested < maxNested:
			constant = false
			inner := &jsLexer{code: l.code, at: l.at + 2, nested: l.nested + 1}
			inner.tokensUntil("}")
			inside = append(inside, inner.tokens...)
			l.at = min(inner.at, len(l.code)-1)
		case strings.HasPrefix(rest, "${"):
			constant = false
		}
	}
	end := min(l.at, len(l.code))
	l.at = min(l.at+1, len(l.code))
	if !constant {
		l.tokens = append(append(append(l.tokens, token{kind: punct, text: "(", at: start}), inside...), token{kind: punct, text: ")", at: end})
		return token{kind: text, at: start}
	}
	value, ok := jsUnescaped(l.code[start+1 : end])
	return token{kind: text, text: value, constant: ok, at: start}
}

// jsUnescaped returns the value of the content of a string. ok is false if it is not known.
func jsUnescaped(s string) (value string, ok bool) {
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
		switch c := s[i]; {
		case c == '\n':
		case c == 'n':
			b.WriteByte('\n')
		case c == 't':
			b.WriteByte('\t')
		case c == 'x':
			digits = 2
		case c == 'u' && !strings.HasPrefix(s[i+1:], "{"):
			digits = 4
		case c >= '0' && c <= '9', strings.IndexByte("rbfvu\r", c) >= 0, c >= utf8.RuneSelf:
			return "", false
		default:
			b.WriteByte(c)
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
