package veloflux

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/redact"
)

// message is a failure's message without SQL, where the mode hides that, and without the userinfo of URLs.
func (c *cleaner) message(failure *Error) string {
	text := strings.ToValidUTF8(failure.Message, "\uFFFD")
	if c.hides() {
		text = c.withoutSQL(text, failure)
	}
	return c.text(text)
}

// withoutSQL is a message without the Manager's own text and the SQL, and with the place in the SQL behind it.
func (c *cleaner) withoutSQL(text string, failure *Error) string {
	hidden := text
	if response, ok := failure.Details["response"].(string); ok {
		hidden = without(without(hidden, response), excerpt(response))
	}
	for _, sql := range c.sql {
		for _, form := range [...]string{sql, strings.TrimSpace(sql), excerpt(sql), fmt.Sprintf("%q", sql), string(rawjson.Quote(sql))} {
			hidden = without(hidden, strings.TrimSuffix(strings.TrimPrefix(form, `"`), `"`))
		}
	}
	if hidden == text && failure.Code == CodePlanner { // the planner's words in another form
		hidden = redact.Mark
	}
	if line, ok := failure.Details["line"]; ok && hidden != text {
		hidden += fmt.Sprintf(" at line %v", line)
		if column, ok := failure.Details["column"]; ok {
			hidden += fmt.Sprintf(", column %v", column)
		}
	}
	return hidden
}

const (
	// whole is how many bytes a text must have to be looked for inside words.
	whole = 6
	// telling is how many bytes of the beginning of a text are enough to know it by, where the rest was cut off.
	telling = 16
)

// without is a text with the mark for each place that is the part or a beginning of it.
func without(text, part string) string {
	if len(part) < whole {
		return withoutWord(text, part)
	}
	head := part[:min(telling, len(part))]
	var b strings.Builder
	for {
		at := strings.Index(text, head)
		if at < 0 {
			b.WriteString(text)
			return strings.ToValidUTF8(b.String(), "")
		}
		n := len(head)
		for n < len(part) && at+n < len(text) && text[at+n] == part[n] {
			n++
		}
		b.WriteString(text[:at])
		b.WriteString(redact.Mark)
		text = text[at+n:]
	}
}

// withoutWord is a text with the mark for each place where a word stands alone.
func withoutWord(text, word string) string {
	if word == "" {
		return text
	}
	var b strings.Builder
	for at := 0; ; {
		next := strings.Index(text[at:], word)
		if next < 0 {
			b.WriteString(text[at:])
			return b.String()
		}
		start, end := at+next, at+next+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if start > 0 && wordRune(before) || end < len(text) && wordRune(after) {
			_, size := utf8.DecodeRuneInString(text[start:])
			b.WriteString(text[at : start+size])
			at = start + size
			continue
		}
		b.WriteString(text[at:start])
		b.WriteString(redact.Mark)
		at = end
	}
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// withoutShort is a message without the secrets of the arguments that a Redactor does not look for inside a text, being too
// short: where they stand alone they are taken out.
func (c *cleaner) withoutShort(text string) string {
	for _, s := range c.secrets {
		if len(s) < whole && len(s) > 2 {
			text = withoutWord(text, s)
		}
	}
	return text
}
