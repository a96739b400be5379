package mcpclient

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/form"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Question is what a server asks a person during a call: a form, see elicitation/create in the specification.
type Question struct {
	Message string `json:"message"`
	// Fields is the schema of the answer, an object, or nil.
	Fields json.RawMessage `json:"fields,omitempty"`
}

// Form returns the form of the question. A question without fields has an empty one.
func (q Question) Form() form.Form {
	if q.Fields == nil {
		return form.Form(`{"type":"object","properties":{}}`)
	}
	return form.Form(q.Fields)
}

// Reply is a person's answer to a question.
type Reply struct {
	Question
	// Action is form.Accept, form.Decline or form.Cancel.
	Action string `json:"action"`
	// Content is an object with the values of the fields if the action is form.Accept.
	Content json.RawMessage `json:"content,omitempty"`
}

// Asked is the error of a call in which the server asks a person. The call has ended; the same call with the reply is answered
// when the server asks again.
type Asked struct{ Question }

func (a *Asked) Error() string { return "the server asks: " + a.Message }

// same reports whether two questions have the same message and equal fields.
func (q Question) same(other Question) bool {
	return q.Message == other.Message && (q.Fields == nil && other.Fields == nil || rawjson.Equal(q.Fields, other.Fields))
}

// parseQuestion parses the parameters of elicitation/create. It returns a fault for a question that cannot be asked in a form:
// one about a secret, which would be recorded, or one in the mode "url".
func parseQuestion(server string, params json.RawMessage) (Question, *fault.Fault) {
	p := gjson.ParseBytes(params)
	q := Question{Message: strings.TrimSpace(p.Get("message").String())}
	if q.Message == "" {
		q.Message = "MCP server " + server + " asks:"
	}
	if p.Get("mode").Str == "url" {
		return q, pageFault(server, p)
	}
	if fields := p.Get("requestedSchema"); fields.IsObject() {
		q.Fields = json.RawMessage(fields.Raw)
	}
	var secret string
	p.Get("requestedSchema.properties").ForEach(func(name, field gjson.Result) bool {
		if field.Get("format").Str == "password" || field.Get("writeOnly").Bool() {
			secret = name.Str
		}
		return secret == ""
	})
	if secret != "" {
		return q, fault.New(fault.Execution, "MCP server %s asks for the secret %s in a form, which MCP forbids: %s", server, secret, q.Message).
			Detail("server", server).Suggest("Give the server its secrets in the env or headers of its entry")
	}
	return q, nil
}

// pageFault returns the fault of a call that goes on only after a person has opened a page. p has the message and the url.
func pageFault(server string, p gjson.Result) *fault.Fault {
	return fault.New(fault.Execution, "MCP server %s wants a person to open a page first: %s", server, p.Get("message").String()).
		Detail("server", server).Detail("url", p.Get("url").String()).
		Suggest("A person opens %s, and then runs the node again", p.Get("url").String())
}

// result returns the reply as the result of elicitation/create.
func (r Reply) result() json.RawMessage {
	if r.Action != form.Accept {
		return json.RawMessage(fmt.Sprintf(`{"action":%q}`, r.Action))
	}
	return json.RawMessage(`{"action":"accept","content":` + string(r.withDefaults()) + `}`)
}

// values returns the content with defaults, decoded. A whole number of at most 64 bits keeps its value.
func (r Reply) values() map[string]any {
	values := map[string]any{}
	gjson.ParseBytes(r.withDefaults()).ForEach(func(name, value gjson.Result) bool {
		values[name.Str] = value.Value()
		if whole, err := strconv.ParseInt(value.Raw, 10, 64); err == nil {
			values[name.Str] = whole
		}
		return true
	})
	return values
}

// withDefaults returns the content with the defaults of the fields that are not given.
func (r Reply) withDefaults() json.RawMessage {
	var content map[string]json.RawMessage
	if json.Unmarshal(r.Content, &content) != nil || content == nil {
		content = map[string]json.RawMessage{}
	}
	gjson.GetBytes(r.Fields, "properties").ForEach(func(name, field gjson.Result) bool {
		if standard := field.Get("default"); standard.Exists() && content[name.Str] == nil {
			content[name.Str] = json.RawMessage(standard.Raw)
		}
		return true
	})
	out, err := rawjson.Marshal(content)
	if err != nil {
		return json.RawMessage("{}")
	}
	return out
}
