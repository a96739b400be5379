package veloflux

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is the kind of an SQL token.
type tokenKind int

const (
	endToken    tokenKind = iota
	wordToken             // a keyword or an unquoted name
	valueToken            // a number, a string, a quoted name or a numbered parameter
	symbolToken           // any other single character
)

// token is a token of SQL. The text is that of the source, in upper case for a word and empty for a value. Line and
// column count from 1, the column in characters.
type token struct {
	kind         tokenKind
	text         string
	line, column int
}

// lexer splits SQL into tokens by the rules of the Manager's dialect: a doubled quote inside '…', "…" and `…` stands for
// one, a backslash has no special meaning, $tag$…$tag$ is a string, comments begin with -- or are /* nested */.
// An unterminated token extends to the end.
type lexer struct {
	rest         string
	line, column int
}

func newLexer(sql string) *lexer { return &lexer{rest: sql, line: 1, column: 1} }

// next returns the next token, and an endToken for every call after the last.
func (l *lexer) next() token {
	l.skipBlanks()
	t := token{line: l.line, column: l.column}
	if l.rest == "" {
		return t
	}
	first, size := utf8.DecodeRuneInString(l.rest)
	switch {
	case first == '\'' || first == '"' || first == '`':
		t.kind = valueToken
		l.take(quotedLength(l.rest))
	case first == '$':
		t.kind = valueToken
		l.take(dollarLength(l.rest))
	case first >= '0' && first <= '9':
		t.kind = valueToken
		l.take(numberLength(l.rest))
	case isWordStart(first):
		t.kind = wordToken
		t.text = strings.ToUpper(l.take(wordLength(l.rest)))
	default:
		t.kind = symbolToken
		t.text = l.take(size)
	}
	return t
}

// take consumes n bytes and returns them.
func (l *lexer) take(n int) string {
	taken := l.rest[:n]
	l.rest = l.rest[n:]
	if lines := strings.Count(taken, "\n"); lines > 0 {
		l.line += lines
		l.column = 1 + utf8.RuneCountInString(taken[strings.LastIndexByte(taken, '\n')+1:])
	} else {
		l.column += utf8.RuneCountInString(taken)
	}
	return taken
}

// skipBlanks consumes white space and comments.
func (l *lexer) skipBlanks() {
	for {
		n := len(l.rest) - len(strings.TrimLeftFunc(l.rest, unicode.IsSpace))
		switch {
		case n > 0:
		case strings.HasPrefix(l.rest, "--"):
			if n = strings.IndexByte(l.rest, '\n'); n < 0 {
				n = len(l.rest)
			}
		case strings.HasPrefix(l.rest, "/*"):
			n = commentLength(l.rest)
		default:
			return
		}
		l.take(n)
	}
}

// commentLength returns the length in bytes of the /* comment */ at the start of a text, including nested comments. As in
// the Manager's parser, one character may belong to two marks: */* closes a comment and opens another.
func commentLength(text string) int {
	depth := 1
	for i := 3; i < len(text); i++ {
		switch text[i-1 : i+1] {
		case "/*":
			depth++
		case "*/":
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// quotedLength returns the length in bytes of the quoted text at the start of a text, including the quotes.
func quotedLength(text string) int {
	quote := text[0]
	for i := 1; i < len(text); i++ {
		if text[i] != quote {
			continue
		}
		if i+1 == len(text) || text[i+1] != quote {
			return i + 1
		}
		i++
	}
	return len(text)
}

// dollarLength returns the length in bytes of the $tag$string$tag$, or the parameter such as $1, at the start of a text.
func dollarLength(text string) int {
	tag := 1 + wordLength(text[1:])
	if tag == len(text) || text[tag] != '$' {
		return tag
	}
	tag++
	end := strings.Index(text[tag:], text[:tag])
	if end < 0 {
		return len(text)
	}
	return tag + end + tag
}

// numberLength returns the length in bytes of the number at the start of a text, including the L of a long.
func numberLength(text string) int {
	digits := func(from int) int {
		for from < len(text) && text[from] >= '0' && text[from] <= '9' {
			from++
		}
		return from
	}
	n := digits(0)
	if n < len(text) && text[n] == '.' {
		n = digits(n + 1)
	}
	if n < len(text) && (text[n] == 'e' || text[n] == 'E') {
		exponent := n + 1
		if exponent < len(text) && (text[exponent] == '+' || text[exponent] == '-') {
			exponent++
		}
		if end := digits(exponent); end > exponent {
			n = end
		}
	}
	if n < len(text) && text[n] == 'L' {
		n++
	}
	return n
}

func isWordStart(r rune) bool { return r == '_' || unicode.IsLetter(r) }

// wordLength returns the length in bytes of the letters, digits and underscores at the start of a text.
func wordLength(text string) int {
	for i, r := range text {
		if !isWordStart(r) && !unicode.IsMark(r) && (r < '0' || r > '9') {
			return i
		}
	}
	return len(text)
}
