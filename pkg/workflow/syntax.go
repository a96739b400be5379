package workflow

import (
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// stop notes the error of the syntax at an offset, with the line shown, and is false.
func (s *scanner) stop(at int, message string, suggestions ...string) bool {
	what := s.d.file
	if s.within != "" {
		what = s.within
	}
	f := s.note(at, s.path(), "Invalid JSON in %s: %s", what, message)
	line, mark := s.d.text.show(at)
	f.Detail("text", line).Detail("mark", mark)
	for _, suggestion := range suggestions {
		f.Suggest("%s", suggestion)
	}
	return false
}

// fail is the error of something else than what was expected.
func (s *scanner) fail(at int, expected string) bool {
	if at >= len(s.text) && len(s.frames) > 0 {
		f := s.frames[len(s.frames)-1]
		return s.stop(f.open, fmt.Sprintf("expected %s, found the end of the text: this %c is never closed", expected, s.text[f.open]),
			fmt.Sprintf("Close it with %c; if the text was cut off, write it anew", closerOf(s.text[f.open])))
	}
	return s.stop(at, fmt.Sprintf("expected %s, found %s", expected, s.quote(at)), s.hints(at)...)
}

// noColon is the error of a key without a colon after it.
func (s *scanner) noColon() bool {
	if s.pos >= len(s.text) {
		return s.fail(s.pos, `":"`)
	}
	return s.stop(s.pos, fmt.Sprintf(`expected ":", found %s`, s.quote(s.pos)), "Write a colon between a key and its value")
}

func closerOf(open byte) byte {
	if open == '{' {
		return '}'
	}
	return ']'
}

// hints says what was probably meant where the syntax is wrong.
func (s *scanner) hints(at int) []string {
	rest := s.text[at:]
	c := byte(0)
	if rest != "" {
		c = rest[0]
	}
	before := byte(0)
	if trimmed := strings.TrimRight(s.text[:at], " \t\r\n"); trimmed != "" {
		before = trimmed[len(trimmed)-1]
	}
	inside := byte(0)
	if n := len(s.frames); n > 0 {
		inside = s.text[s.frames[n-1].open]
	}
	switch {
	case c == '#' && len(s.frames) == 0 && s.before == 0:
		return []string{"It looks like the Markdown form: give the file a name that ends in .pflow.md"}
	case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "/*"), c == '#':
		return []string{`JSON has no comments: take it out, or put it into "purpose" or "description"`}
	case before == ',' && (c == '}' || c == ']'):
		return []string{"Take out the comma before it: none stands after the last one"}
	case c == ',' && (before == ',' || before == '[' || before == '{'):
		return []string{"Take the comma out"}
	case c == '\'':
		return []string{`Put text and keys into double quotes: "text"`}
	case strings.HasPrefix(rest, "“"), strings.HasPrefix(rest, "”"), strings.HasPrefix(rest, "„"):
		return []string{`Use the plain double quote "`}
	case inside == '{' && before == ':' && (c == '}' || c == ','):
		return []string{"The key has no value: give it one, or take it out"}
	case (c == '}' || c == ']') && inside != 0 && c != closerOf(inside):
		line, _ := s.d.text.place(s.frames[len(s.frames)-1].open)
		return []string{fmt.Sprintf("The %c of line %d is still open: close it with %c first", inside, line, closerOf(inside))}
	case at == s.before && before == '"' && isWord(c):
		return []string{`The text before it ends at the double quote: close text where it ends, and write a quote in it as \"`}
	case s.afterKey(before) && isWord(c):
		return s.wordHints(rest)
	case inside == '{' && isWord(c):
		return []string{fmt.Sprintf("Put the key into double quotes: %q", word(rest))}
	case inside != 0 && before != ':' && before != ',' && (c == '"' || c == '{' || c == '[' || isWord(c)):
		line, column := s.d.text.place(s.before)
		return []string{fmt.Sprintf("Put a comma after the value before it, at %d:%d", line, column)}
	case len(s.frames) == 0 && s.before > 0 && at > 0:
		return []string{"A workflow file is one JSON object: take out what stands after it"}
	}
	return nil
}

// afterKey says whether a value stands where the scanner is.
func (s *scanner) afterKey(before byte) bool {
	return before == ':' || len(s.frames) == 0 || s.text[s.frames[len(s.frames)-1].open] == '[' && (before == '[' || before == ',')
}

// wordHints says what a word that is no JSON was probably meant to be.
func (s *scanner) wordHints(rest string) []string {
	w := word(rest)
	switch strings.ToLower(w) {
	case "true", "false", "null":
		return []string{"Write it in lower case: " + strings.ToLower(w)}
	case "none", "nil", "undefined":
		return []string{"Write null"}
	case "nan", "inf", "infinity", "-inf", "-infinity":
		return []string{"JSON has no such number: put it into quotes as text"}
	}
	if hint := numberHint(w); hint != "" {
		return []string{hint}
	}
	return []string{fmt.Sprintf("Put text into double quotes: %q", w)}
}

// numberHint says how to write what is a number elsewhere and none in JSON, or "".
func numberHint(w string) string {
	trimmed := strings.TrimLeft(w, "+-.")
	if trimmed == "" || trimmed[0] < '0' || trimmed[0] > '9' {
		return ""
	}
	switch digits := strings.TrimLeft(w, "+-"); {
	case w[0] == '+':
		return "Write the number without the plus"
	case digits[0] == '.':
		return "Write a digit before the point"
	case strings.HasSuffix(w, "."):
		return "Write a digit after the point"
	case strings.HasPrefix(digits, "0x"), strings.HasPrefix(digits, "0o"), strings.HasPrefix(digits, "0b"):
		return "Write the number with the digits 0 to 9"
	case len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9':
		return "Write the number without zeros before it, or text in double quotes"
	}
	return ""
}

// word is the word with which a text begins, as far as it is shown.
func word(text string) string {
	end := 0
	for end < len(text) && end < 40 && isWord(text[end]) {
		end++
	}
	return strings.ToValidUTF8(text[:end], "")
}

func (s *scanner) badNumber(from int) bool {
	return s.stop(from, fmt.Sprintf("%s is no number", s.quote(from)), s.wordHints(s.text[from:])...)
}

func (s *scanner) badEscape(at int) bool {
	end := min(at+2, len(s.text))
	return s.stop(at, fmt.Sprintf("%s begins no escape", strings.ToValidUTF8(s.text[at:end], "")), `Write a backslash in text as \\`)
}

// control is the error of a control character in text.
func (s *scanner) control(from int, c byte) bool {
	switch c {
	case '\n', '\r':
		return s.stop(from, "the text that begins here is not closed in its line", `Close it with ", or write a line break in it as \n`)
	case '\t':
		return s.stop(s.pos, "a tab in text", `Write it as \t`)
	}
	return s.stop(s.pos, fmt.Sprintf("the control character %d in text", c), fmt.Sprintf(`Write it as \u%04x`, c))
}

func (s *scanner) unclosed(from int) bool {
	return s.stop(from, "the text that begins here is never closed", `Close it with "`)
}

// notUTF8 is the fault of a file that is no text.
func (d *decoder) notUTF8(at int) {
	f := d.addAt(at, "", "%s is not UTF-8 text: the byte 0x%02x stands in no character", d.file, d.text.s[at])
	if strings.HasPrefix(d.text.s, "\xff\xfe") || strings.HasPrefix(d.text.s, "\xfe\xff") {
		f.Suggest("The file is UTF-16: save it as UTF-8")
		return
	}
	f.Suggest("Save the file as UTF-8; bytes that are no text stand in it as base64")
}

// noForm is the fault of a text that is neither form of a workflow file.
func (d *decoder) noForm() *fault.Fault {
	return d.addAt(len(d.text.s)-len(strings.TrimLeft(d.text.s, " \t\r\n")), "", "%s is no workflow: it is neither JSON nor Markdown", d.file).
		Suggest(`The JSON form begins with {, such as {"nodes": [{"id": "hello", "type": "echo"}]}`).
		Suggest("The Markdown form begins with # and a title, and has a section ## Steps")
}
