// Package program reads from the text of a program which values it assigns to its variable next: the action that the program's
// node ends with. Strings and comments are not code, and variables of the same name in functions are not that variable.
package program

import "strings"

// Next is what a program assigns to its variable next.
type Next struct {
	// Literals are the texts that it assigns, each once, in the order of the program. The empty text is not among them, because
	// it leaves next unset.
	Literals []Literal
	// Other is the offset of the first assignment of a value that is known only when the program runs. It is -1 if there is none.
	Other int
}

// Literal is a text, and the offset in the program at which it stands.
type Literal struct {
	Text   string
	Offset int
}

// Assigns reports whether the program assigns a value to next.
func (n Next) Assigns() bool { return len(n.Literals) > 0 || n.Other >= 0 }

// AssignedNext returns what a program assigns to next. The language is python, node or bash. A program with a syntax error, or in
// another language, may have any result.
func AssignedNext(language, code string) Next {
	n := Next{Other: -1}
	if !strings.Contains(code, name) {
		return n
	}
	switch language {
	case "python":
		python(code, &n)
	case "node":
		javascript(code, &n)
	case "bash":
		bash(code, &n)
	}
	return n
}

// name is the variable.
const name = "next"

// maxNested bounds how deep parentheses around a value, and templates in strings, may nest.
const maxNested = 50

// maxLiterals bounds the literals of a program. Further ones count as other values.
const maxLiterals = 1000

// literal adds a text.
func (n *Next) literal(text string, offset int) {
	if text == "" {
		return
	}
	if len(n.Literals) == maxLiterals {
		n.other(offset)
		return
	}
	for _, l := range n.Literals {
		if l.Text == text {
			return
		}
	}
	n.Literals = append(n.Literals, Literal{text, offset})
}

// other notes a value that is not a literal.
func (n *Next) other(offset int) {
	if n.Other < 0 || offset < n.Other {
		n.Other = offset
	}
}

// kind is the kind of a token.
type kind byte

const (
	word kind = iota // a name or keyword
	number
	text  // a string
	regex // of JavaScript
	punct
)

// token is a token of Python or JavaScript.
type token struct {
	kind kind
	// text is the token as written; of a string that is a constant, its value.
	text string
	// constant reports whether a string is one.
	constant bool
	at       int
	// newline is set if the token is the first of its line, head if it closes the head of a statement such as if (…). Both are set
	// for JavaScript only.
	newline, head bool
}

func (t token) is(k kind, text string) bool { return t.kind == k && t.text == text }

// punctuation reports whether the token is one of the given punctuators, which are separated by blanks.
func (t token) punctuation(among string) bool {
	return t.kind == punct && listed(among, t.text)
}

// keyword reports whether the token is one of the given words, which are separated by blanks.
func (t token) keyword(among string) bool {
	return t.kind == word && listed(among, t.text)
}

func listed(among, s string) bool {
	for w := range strings.FieldsSeq(among) {
		if w == s {
			return true
		}
	}
	return false
}

func opens(t token) bool  { return t.punctuation("( [ {") }
func closes(t token) bool { return t.punctuation(") ] }") }

func isWordByte(b byte) bool {
	return b == '_' || b >= 0x80 || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// at returns the token at an index, or an empty punctuator outside of the list.
func at(tokens []token, i int) token {
	if i < 0 || i >= len(tokens) {
		return token{kind: punct}
	}
	return tokens[i]
}

// topLevel returns the index of the first token from an index on that is in no bracket and fulfils a condition, or -1.
func topLevel(tokens []token, from int, which func(token) bool) int {
	depth := 0
	for i := from; i < len(tokens); i++ {
		t := tokens[i]
		if depth == 0 && which(t) {
			return i
		}
		if opens(t) {
			depth++
		} else if closes(t) {
			depth--
		}
	}
	return -1
}

// unwrapped returns tokens without the parentheses around all of them, up to maxNested pairs.
func unwrapped(tokens []token) []token {
	for range maxNested {
		if len(tokens) < 2 || !tokens[0].is(punct, "(") {
			break
		}
		end := -1
		depth := 0
		for i, t := range tokens {
			if opens(t) {
				depth++
			} else if closes(t) {
				if depth--; depth == 0 {
					end = i
					break
				}
			}
		}
		if end != len(tokens)-1 {
			break
		}
		tokens = tokens[1:end]
	}
	return tokens
}
