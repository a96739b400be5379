package workflow

import (
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// stop reports a syntax error at an offset with its line, and returns false.
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

// fail reports that something was expected that the text does not have.
func (s *scanner) fail(at int, expected string) bool {
	if at >= len(s.text) && len(s.frames) > 0 {
		f := s.frames[len(s.frames)-1]
		return s.stop(f.open, fmt.Sprintf("expected %s, found the end of the text: this %c is never closed", expected, s.text[f.open]),
			fmt.Sprintf("Close it with %c; if the text was cut off, write it again", closerOf(s.text[f.open])))
	}
	return s.stop(at, fmt.Sprintf("expected %s, found %s", expected, s.quote(at)), s.hints(at)...)
}

// noColon reports a key without a colon after it.
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

// hints suggests what was probably meant at a syntax error.
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
		return []string{`JSON has no comments: remove it, or move it to "purpose" or "description"`}
	case before == ',' && (c == '}' || c == ']'):
		return []string{"Remove the comma before it: the last element has none"}
	case c == ',' && (before == ',' || before == '[' || before == '{'):
		return []string{"Remove the comma"}
	case c == '\'':
		return []string{`Put text and keys into double quotes: "text"`}
	case strings.HasPrefix(rest, "“"), strings.HasPrefix(rest, "”"), strings.HasPrefix(rest, "„"):
		return []string{`Use the plain double quote "`}
	case inside == '{' && before == ':' && (c == '}' || c == ','):
		return []string{"The key has no value: add one, or remove the key"}
	case (c == '}' || c == ']') && inside != 0 && c != closerOf(inside):
		line, _ := s.d.text.place(s.frames[len(s.frames)-1].open)
		return []string{fmt.Sprintf("The %c of line %d is still open: close it with %c first", inside, line, closerOf(inside))}
	case at == s.before && before == '"' && isWord(c):
		return []string{`The text before it ends at the double quote: write a double quote inside text as \"`}
	case s.afterKey(before) && isWord(c):
		return s.wordHints(rest)
	case inside == '{' && isWord(c):
		return []string{fmt.Sprintf("Put the key into double quotes: %q", word(rest))}
	case inside != 0 && before != ':' && before != ',' && (c == '"' || c == '{' || c == '[' || isWord(c)):
		line, column := s.d.text.place(s.before)
		return []string{fmt.Sprintf("Put a comma after the value before it, at %d:%d", line, column)}
	case len(s.frames) == 0 && s.before > 0 && at > 0:
		return []string{"A workflow file is one JSON object: remove what follows it"}
	}
	return nil
}

// afterKey reports whether a value is expected at the current position.
func (s *scanner) afterKey(before byte) bool {
	return before == ':' || len(s.frames) == 0 || s.text[s.frames[len(s.frames)-1].open] == '[' && (before == '[' || before == ',')
}

// wordHints suggests what a word that is not valid JSON was probably meant to be.
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

// numberHint says how to write a number that is not valid JSON, or returns "".
func numberHint(w string) string {
	trimmed := strings.TrimLeft(w, "+-.")
	if trimmed == "" || trimmed[0] < '0' || trimmed[0] > '9' {
		return ""
	}
	switch digits := strings.TrimLeft(w, "+-"); {
	case w[0] == '+':
		return "Write the number without the plus"
	case digits[0] == '.':
		return "Write a digit before the decimal point"
	case strings.HasSuffix(w, "."):
		return "Write a digit after the decimal point"
	case strings.HasPrefix(digits, "0x"), strings.HasPrefix(digits, "0o"), strings.HasPrefix(digits, "0b"):
		return "Write the number in decimal"
	case len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9':
		return "Write the number without leading zeros, or as text in double quotes"
	}
	return ""
}

// word returns the word at the start of a text, shortened for an error.
func word(text string) string {
	end := 0
	for end < len(text) && end < 40 && isWord(text[end]) {
		end++
	}
	return strings.ToValidUTF8(text[:end], "")
}

func (s *scanner) badNumber(from int) bool {
	return s.stop(from, fmt.Sprintf("%s is not a number", s.quote(from)), s.wordHints(s.text[from:])...)
}

func (s *scanner) badEscape(at int) bool {
	end := min(at+2, len(s.text))
	return s.stop(at, fmt.Sprintf("%s is not an escape sequence", strings.ToValidUTF8(s.text[at:end], "")), `Write a backslash in text as \\`)
}

// control reports a control character in text.
func (s *scanner) control(from int, c byte) bool {
	switch c {
	case '\n', '\r':
		return s.stop(from, "the text that starts here does not end in its line", `Close it with ", or write a line break as \n`)
	case '\t':
		return s.stop(s.pos, "a tab in text", `Write it as \t`)
	}
	return s.stop(s.pos, fmt.Sprintf("the control character %d in text", c), fmt.Sprintf(`Write it as \u%04x`, c))
}

func (s *scanner) unclosed(from int) bool {
	return s.stop(from, "the text that starts here is never closed", `Close it with "`)
}

// notUTF8 reports a file that is not UTF-8.
func (d *decoder) notUTF8(at int) {
	f := d.addAt(at, "", "%s is not UTF-8 text: the byte 0x%02x is invalid", d.file, d.text.s[at])
	if strings.HasPrefix(d.text.s, "\xff\xfe") || strings.HasPrefix(d.text.s, "\xfe\xff") {
		f.Suggest("The file is UTF-16: save it as UTF-8")
		return
	}
	f.Suggest("Save the file as UTF-8, and write binary data as base64")
}

// noForm returns the fault of a text that is neither form of a workflow file.
func (d *decoder) noForm() *fault.Fault {
	return d.addAt(len(d.text.s)-len(strings.TrimLeft(d.text.s, " \t\r\n")), "", "%s is not a workflow: it is neither JSON nor Markdown", d.file).
		Suggest(`The JSON form starts with {, such as {"nodes": [{"id": "hello", "type": "echo"}]}`).
		Suggest("The Markdown form starts with # and a title, and has a section ## Steps")
}
