package veloflux

import (
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
)

// message is a failure's message without what is secret in it by its form or by what the arguments taught.
func (c *cleaner) message(failure *Error) string {
	text := fault.Truncate(strings.ToValidUTF8(failure.Message, "\uFFFD"), 2*maxMessage)
	if c.hides() || c.unread {
		text = c.withoutQuotes(text, failure)
	}
	text = c.text(text)
	var short []string // too short for a redactor to look for inside a text
	for _, s := range c.secrets {
		if len(s) > 2 && len(s) < shortest {
			short = append(short, s, redact.Mark)
		}
	}
	return strings.NewReplacer(short...).Replace(text)
}

// withoutQuotes is a message up to the Manager's own words, which may quote the SQL, or the mark alone where it may quote
// the arguments itself, with the place in the SQL behind it.
func (c *cleaner) withoutQuotes(text string, failure *Error) string {
	response, _ := failure.Details["response"].(string)
	at := strings.Index(text, response[:min(16, len(response))])
	switch {
	case response != "" && at >= 0:
		text = text[:at] + redact.Mark
	case failure.Code == CodePlanner, failure.Code == CodeInvalidParams, c.unread, c.declared == nil:
		text = redact.Mark
	default:
		return text
	}
	if line, ok := failure.Details["line"]; ok {
		text += fmt.Sprintf(" at line %v", line)
		if column, ok := failure.Details["column"]; ok {
			text += fmt.Sprintf(", column %v", column)
		}
	}
	return text
}
