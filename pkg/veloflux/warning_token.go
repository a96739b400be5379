package veloflux

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// tokenKind is the kind of an SQL token.
type tokenKind int

const (
	blankToken  tokenKind = iota // white space or a comment
	valueToken                   // a number, a string, a quoted name or a numbered parameter
	wordToken                    // a keyword or an unquoted name
	symbolToken                  // any other single character
)

// token is a token of SQL. The text is that of the source, in upper case for a word and empty for a value. Line and
// column count from 1, the column in characters.
type token struct {
	kind         tokenKind
	text         string
	line, column int
}

// tokenPattern matches a token by the rules of the Manager's dialect: a doubled quote inside '…', "…" and `…` stands for one, a
// backslash has no special meaning, and a number may end in L. Its groups are those of tokenKind.
var tokenPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^(?:([\s\v\x{85}\p{Z}]+|--[^\n]*)|('(?:[^']|'')*'?|"(?:[^"]|"")*"?|` + "`(?:[^`]|``)*`?" +
		`|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?L?)|([\pL_][\pL\pM0-9_]*)|(.))`)
})

// tokensOf splits SQL into tokens, without blanks. An unterminated token extends to the end.
func tokensOf(sql string) (all []token) {
	t := token{line: 1, column: 1}
	for rest := sql; rest != ""; {
		kind, length := tokenAt(rest)
		text := rest[:length]
		rest = rest[length:]
		if t.kind, t.text = kind, ""; kind == wordToken || kind == symbolToken {
			t.text = strings.ToUpper(text)
		}
		if kind != blankToken {
			all = append(all, t)
		}
		if lines := strings.Count(text, "\n"); lines > 0 {
			t.line, t.column = t.line+lines, 1
			text = text[strings.LastIndexByte(text, '\n')+1:]
		}
		t.column += utf8.RuneCountInString(text)
	}
	return all
}

// tokenAt returns the kind of the token at the start of a text, and its length in bytes.
func tokenAt(text string) (tokenKind, int) {
	if strings.HasPrefix(text, "/*") {
		return blankToken, commentLength(text)
	}
	m := tokenPattern().FindStringSubmatchIndex(text)
	for kind := range symbolToken {
		if m[2+2*kind] >= 0 {
			return kind, m[1]
		}
	}
	if text[0] == '$' {
		return valueToken, dollarLength(text)
	}
	return symbolToken, m[1]
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

// dollarLength returns the length in bytes of the $tag$string$tag$, or the parameter such as $1, at the start of a text.
func dollarLength(text string) int {
	tag := len(text) - len(strings.TrimLeftFunc(text[1:], func(r rune) bool { return r == '_' || unicode.In(r, unicode.L, unicode.M, unicode.Nd) }))
	if tag == len(text) || text[tag] != '$' {
		return tag
	}
	tag++
	if end := strings.Index(text[tag:], text[:tag]); end >= 0 {
		return tag + end + tag
	}
	return len(text)
}
