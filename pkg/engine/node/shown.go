package node

import (
	"encoding/json"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// Shown returns the resolved parameters as a person reads them before the node runs: those of the workflow's file, and a shell
// command with its values in place. It contains secrets.
func (p *Call) Shown(n *workflow.Node) json.RawMessage {
	var params, written map[string]json.RawMessage
	if json.Unmarshal(p.Params, &params) != nil || json.Unmarshal(n.Params, &written) != nil {
		return nil
	}
	for _, param := range p.kind.Params { // a program gets the defaults too
		if _, given := written[param.Name]; !given && string(params[param.Name]) == string(param.Default) {
			delete(params, param.Name)
		}
	}
	if p.script != nil {
		var command string
		var values map[string]string
		_ = json.Unmarshal(params["command"], &command)
		_ = json.Unmarshal(params[templatesParam], &values)
		params["command"] = rawjson.Quote(filled(command, values, n.UnsafeTemplates))
		delete(params, templatesParam)
		delete(params, statusParam)
	}
	return marshalParams(params)
}

// filled returns a command with the values of its templates in place, written so that a shell would read them as it reads the
// variables that carry them: as text inside quotes, else as words. Pasted values stand as they are.
func filled(command string, values map[string]string, pasted bool) string {
	var b strings.Builder
	var quote rune // that the text so far has left open
	for _, part := range template.Parse(command) {
		if part.Expr == nil {
			b.WriteString(part.Text)
			quote = openQuote(part.Text, quote)
			continue
		}
		value := values[part.Expr.String()]
		switch {
		case pasted || plain(value) || quote == '\'' || value == part.Expr.String(): // the last is not known yet
		case quote == '"':
			value = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(value)
		default:
			words := strings.Fields(value)
			for i, word := range words {
				if !plain(word) {
					words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
				}
			}
			value = strings.Join(words, " ")
		}
		b.WriteString(value)
	}
	return b.String()
}

// openQuote returns the quote that is open after a text, or 0. open is the one before it.
func openQuote(text string, open rune) rune {
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && open != '\'':
			escaped = true
		case open == 0 && (r == '\'' || r == '"'):
			open = r
		case r == open:
			open = 0
		}
	}
	return open
}

// plain reports whether no shell takes any character of a text for more than itself.
func plain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("_-./:@%+=,", r) && r < 0x80
	})
}
