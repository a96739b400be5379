package completion

import (
	"strings"
)

// bashWord is what bash must know again of the word that is completed.
type bashWord struct {
	// before is the part of the word, without quotes, that bash does not replace: it ends at a character of COMP_WORDBREAKS, such as =.
	before string
	// quote is the open quote in which the cursor is: ', " or 0.
	quote byte
	// redirected is true if the word is the file of a redirection, expanded if bash replaces a part of it, as it does $NAME.
	redirected, expanded bool
}

// bashLine takes a command line of bash apart. The line ends at the cursor; replaced is the part of its last word that bash replaces.
func bashLine(line, replaced string) Line {
	s := scanner{rest: line}
	s.run()
	words := s.words
	for len(words) > 0 && assignsVariable(words[0]) {
		words = words[1:]
	}
	if len(words) > 0 { // the program's name
		words = words[1:]
	}
	l := Line{Words: words, Current: s.word.String(), bash: bashWord{quote: s.quote, redirected: s.redirects, expanded: s.expands}}
	raw := line[s.start:]
	if kept, ok := strings.CutSuffix(raw, replaced); ok {
		before := scanner{rest: kept}
		before.run()
		l.bash.before = before.word.String()
	}
	return l
}

// assignsVariable reports whether a word before a command sets a variable for it.
func assignsVariable(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// scanner divides a line into words, as bash does.
type scanner struct {
	rest  string
	at    int // in the line
	start int // of the current word
	words []string
	word  strings.Builder
	quote byte
	// inWord is true within a word, expands if the word has an expansion, redirects if it follows an operator of redirection.
	inWord, expands, redirects bool
}

func (s *scanner) run() {
	line := s.rest
	for s.at < len(line) {
		c := line[s.at]
		s.at++
		switch {
		case s.quote == '\'':
			if c == '\'' {
				s.quote = 0
			} else {
				s.word.WriteByte(c)
			}
		case c == '\\' && s.at < len(line):
			next := line[s.at]
			if s.quote == '"' && !strings.ContainsRune("\"\\$`", rune(next)) {
				s.word.WriteByte(c)
			}
			s.word.WriteByte(next)
			s.at++
			s.inWord = true
		case c == '\\':
			s.inWord = true
		case c == '"' && s.quote == '"':
			s.quote = 0
		case s.quote == 0 && (c == '\'' || c == '"'):
			s.quote, s.inWord = c, true
		case s.quote == 0 && strings.IndexByte(" \t\n", c) >= 0:
			s.end()
		case s.quote == 0 && strings.IndexByte(";|&()", c) >= 0:
			s.end()
			s.words = nil
		case s.quote == 0 && (c == '<' || c == '>'):
			if strings.Trim(s.word.String(), "0123456789") == "" { // a descriptor, such as 2 of 2>
				s.word.Reset()
				s.inWord = false
			}
			s.end()
			s.redirects = true
		default:
			s.expands = s.expands || c == '$' || c == '`'
			s.word.WriteByte(c)
			s.inWord = true
		}
	}
}

// end ends a word, and drops the file of a redirection.
func (s *scanner) end() {
	if s.inWord {
		if !s.redirects {
			s.words = append(s.words, s.word.String())
		}
		s.redirects = false
	}
	s.word.Reset()
	s.start, s.inWord, s.expands = s.at, false, false
}

// quoted returns a text as it is written in bash within a quote, or outside of quotes if that is 0.
func (w bashWord) quoted(text string) string {
	switch w.quote {
	case '\'':
		return strings.ReplaceAll(text, "'", `'\''`)
	case '"':
		return escaped(text, "\"\\$`")
	}
	if w.before == "" && strings.HasPrefix(text, "~") {
		return `\` + escaped(text, special)
	}
	return escaped(text, special)
}

// special are the characters that mean something to a shell outside of quotes, in the middle of a word.
const special = " \t\"'\\$`;|&()<>*?[]{}!#^"

// escaped returns a text with a backslash before each of the given characters.
func escaped(text, chars string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune(chars, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
