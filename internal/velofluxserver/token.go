package velofluxserver

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a token of SQL.
type token struct {
	kind      tokenKind
	text      string // as it was written
	line, col int    // from 1, in characters
}

type tokenKind int

const (
	endToken tokenKind = iota
	wordToken
	nameToken // a name in quotes
	numberToken
	textToken // in quotes
	symbolToken
)

// is reports whether a token is the given symbol, or the given word in any case.
func (t token) is(text string) bool {
	return t.kind == symbolToken && t.text == text || t.kind == wordToken && strings.EqualFold(t.text, text)
}

// position returns the place of a token as the Manager appends it to a text, or "" for the end.
func (t token) position() string {
	if t.kind == endToken {
		return ""
	}
	return fmt.Sprintf(" at Line: %d, Column %d", t.line, t.col)
}

func (t token) String() string {
	if t.kind == endToken {
		return "EOF"
	}
	return t.text
}

// lexer splits SQL into tokens.
type lexer struct {
	rest      string
	line, col int
}

// tokens splits SQL into tokens, ending with an endToken, or returns the Manager's text for what is wrong.
func tokens(sql string) (all []token, wrong string) {
	l := &lexer{rest: sql, line: 1, col: 1}
	for {
		l.skipBlanks()
		t := token{line: l.line, col: l.col}
		if l.rest == "" {
			return append(all, t), ""
		}
		n := 0
		if t.kind, n, wrong = l.next(); wrong != "" {
			return nil, "Parse error: sql parser error: " + wrong + fmt.Sprintf(" at Line: %d, Column %d", t.line, t.col)
		}
		t.text = l.take(n)
		all = append(all, t)
	}
}

func (l *lexer) take(n int) string {
	taken := l.rest[:n]
	l.rest = l.rest[n:]
	for _, r := range taken {
		l.col++
		if r == '\n' {
			l.line, l.col = l.line+1, 1
		}
	}
	return taken
}

// skipBlanks skips white space and comments.
func (l *lexer) skipBlanks() {
	for {
		l.take(len(l.rest) - len(strings.TrimLeftFunc(l.rest, unicode.IsSpace)))
		switch {
		case strings.HasPrefix(l.rest, "--"):
			l.take(upTo(l.rest, "\n"))
		case strings.HasPrefix(l.rest, "/*"):
			l.take(upTo(l.rest, "*/"))
		default:
			return
		}
	}
}

func upTo(s, mark string) int {
	if i := strings.Index(s, mark); i >= 0 {
		return i + len(mark)
	}
	return len(s)
}

// next returns the kind of the next token and its length in bytes.
func (l *lexer) next() (kind tokenKind, n int, wrong string) {
	first, size := utf8.DecodeRuneInString(l.rest)
	switch {
	case first == '\'':
		if n = quotedLength(l.rest, '\''); n == 0 {
			return 0, 0, "Unterminated string literal"
		}
		return textToken, n, ""
	case first == '"' || first == '`':
		if n = quotedLength(l.rest, byte(first)); n == 0 {
			return 0, 0, fmt.Sprintf("Expected close delimiter '%c' before EOF.", first)
		}
		return nameToken, n, ""
	case unicode.IsDigit(first):
		return numberToken, prefixLength(l.rest, func(r rune) bool { return unicode.IsDigit(r) || r == '.' }), ""
	case unicode.IsLetter(first) || first == '_' || first == '@' || first == '$':
		return wordToken, prefixLength(l.rest, func(r rune) bool {
			return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '$' || r == '@'
		}), ""
	}
	for _, two := range [...]string{"->", "<=", ">=", "<>", "!=", "||"} {
		if strings.HasPrefix(l.rest, two) {
			return symbolToken, 2, ""
		}
	}
	return symbolToken, size, ""
}

// quotedLength returns the length in bytes of the quoted text at the start of s, or 0 if it is not closed. A doubled quote
// does not close it.
func quotedLength(s string, quote byte) int {
	for i := 1; i < len(s); i++ {
		if s[i] != quote {
			continue
		}
		if i+1 == len(s) || s[i+1] != quote {
			return i + 1
		}
		i++
	}
	return 0
}

func prefixLength(s string, in func(rune) bool) int {
	return len(s) - len(strings.TrimLeftFunc(s, in))
}
