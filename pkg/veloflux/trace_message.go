package veloflux

import (
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
)

// message returns a failure's message without texts that look secret and without the secrets of the arguments.
func (c *cleaner) message(failure *Error) string {
	text := fault.Truncate(strings.ToValidUTF8(failure.Message, "\uFFFD"), 2*maxMessage)
	if c.hidesSQL() || c.omitted {
		text = c.withoutQuotes(text, failure)
	}
	text = c.text(text)
	var short []string // secrets too short for a redactor to look for inside a text
	for _, s := range c.secrets {
		if len(s) > 2 && len(s) < minSecret {
			short = append(short, s, redact.Mark)
		}
	}
	return strings.NewReplacer(short...).Replace(text)
}

// withoutQuotes returns a message up to the Manager's text, which may quote the SQL. If the message itself may quote the
// arguments, only a mark is left of it. The place in the SQL, if known, is appended.
func (c *cleaner) withoutQuotes(text string, failure *Error) string {
	response, _ := failure.Details["response"].(string)
	at := strings.Index(text, response[:min(16, len(response))])
	switch {
	case response != "" && at >= 0:
		text = text[:at] + redact.Mark
	case failure.Code == CodePlanner, failure.Code == CodeInvalidParams, c.omitted, c.declared == nil:
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
