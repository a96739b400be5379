package suitetools

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/form"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// question is a question of a run that waits for a person's answer, as pflow-exec status prints it.
type question struct {
	Node      string          `json:"node"`
	Text      string          `json:"question"`
	Choices   []string        `json:"choices"`
	AnyAnswer bool            `json:"any_answer"`
	Fields    json.RawMessage `json:"fields"`
	Params    json.RawMessage `json:"params"`
}

// standing is how far a run is, as far as its questions go.
type standing struct {
	Run       string     `json:"run_id"`
	Workflow  string     `json:"workflow"`
	Status    string     `json:"status"`
	ResumedBy string     `json:"resumed_by"`
	Questions []question `json:"questions"`
}

const (
	// maxAsked is how many questions of a run are asked at once. The others are asked when these are answered.
	maxAsked = 10
	// maxQuestion is the most bytes of a question's text, and of its parameters, in an elicitation.
	maxQuestion = 2000
	// answerField is the field of a form that has the whole answer.
	answerField = "answer"
)

// standingOf returns what a run asks, at most the first maxAsked questions, or a failed result.
func standingOf(ctx context.Context, f *Front, run string) (*standing, *mcpserver.Result) {
	r := f.answer(ctx, suite.Command{Program: "pflow-exec", Args: []string{"status", "--format", "json", "--max-bytes=0", "--", run}})
	if r.IsError {
		return nil, r
	}
	var s standing
	if err := json.Unmarshal(r.Structured, &s); err != nil || s.Run == "" {
		return nil, suite.Failure(fault.New(fault.Protocol, "pflow-exec status printed no run_id"))
	}
	s.Questions = s.Questions[:min(len(s.Questions), maxAsked)]
	return &s, nil
}

// elicitations returns the questions as forms, by the paths of their nodes, with the answers that the model proposes.
func (s *standing) elicitations(proposed map[string]json.RawMessage) map[string]*mcpserver.Elicitation {
	forms := make(map[string]*mcpserver.Elicitation, len(s.Questions))
	for i := range s.Questions {
		forms[s.Questions[i].Node] = s.Questions[i].elicitation(s.Run, proposalFor(proposed, s.Questions[i].Node))
	}
	return forms
}

// numbers matches the numbers of items and iterations in a node's path.
var numbers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\[#][^/]*`) })

// proposalFor returns the answer that is proposed to the question of a node, perhaps for all its items and iterations.
func proposalFor(proposed map[string]json.RawMessage, node string) json.RawMessage {
	if answer, named := proposed[node]; named {
		return answer
	}
	return proposed[numbers().ReplaceAllString(node, "")]
}

// answers returns the answers to the questions that are in the replies, by the paths of their nodes, as the argument answers of
// execute has them. A question whose reply was dismissed, or is absent, has no answer. asked is when the questions were asked.
func (s *standing) answers(replies map[string]mcpserver.Reply, asked time.Time) (map[string]json.RawMessage, *fault.Fault) {
	answers := map[string]json.RawMessage{}
	for i := range s.Questions {
		q := &s.Questions[i]
		reply, ok := replies[q.Node]
		if !ok {
			continue
		}
		answer, f := q.answer(seen(reply, asked))
		if f != nil {
			return nil, f
		}
		if answer != nil {
			answers[q.Node] = answer
		}
	}
	return answers, nil
}

// elicitation returns the question as a form. proposed is the answer that the model proposes, or nil.
func (q *question) elicitation(run string, proposed json.RawMessage) *mcpserver.Elicitation {
	message := fmt.Sprintf("%s\n\nNode %s of run %s asks this.", legible(q.Text), legible(q.Node), run)
	if q.Params != nil {
		message = fmt.Sprintf("%s\n\nNode %s of run %s would run with: %s", legible(q.Text), legible(q.Node), run, legible(string(q.Params)))
	}
	if proposed != nil { // on one line, so that it can say nothing else
		message += "\n\nThe agent proposes: " + legible(oneLine(answerText(proposed)))
	}
	e := &mcpserver.Elicitation{Message: message, Schema: q.Fields}
	if q.isForm() {
		return e
	}
	field := struct {
		Type        string   `json:"type"`
		Title       string   `json:"title"`
		Description string   `json:"description,omitempty"`
		Enum        []string `json:"enum,omitempty"`
		MinLength   int      `json:"minLength,omitempty"`
	}{Type: "string", Title: "Answer", Enum: q.Choices}
	switch {
	case q.Fields != nil:
		field.Enum, field.MinLength, field.Description = nil, 1, "a JSON object such as "+form.Form(q.Fields).Example()
	case q.AnyAnswer:
		if field.Enum, field.MinLength = nil, 1; len(q.Choices) > 0 {
			field.Description = "any text, such as one of: " + strings.Join(q.Choices, ", ")
		}
	}
	schema, err := rawjson.Marshal(map[string]any{"type": "object", "properties": map[string]any{answerField: field}, "required": []string{answerField}})
	if err == nil {
		e.Schema = schema
	}
	return e
}

// answer returns what a reply answers, or nil if it answers nothing. A person who declines answers no, if that is an answer to the
// question.
func (q *question) answer(reply mcpserver.Reply) (json.RawMessage, *fault.Fault) {
	switch reply.Action {
	case mcpserver.Accept:
	case mcpserver.Decline:
		if !slices.Contains(q.Choices, no) {
			return nil, nil
		}
		return rawjson.Quote(no), nil
	default:
		return nil, nil
	}
	if q.isForm() {
		if f := form.Form(q.Fields).Check(string(reply.Content)); f != nil {
			f.Node = q.Node
			return nil, f
		}
		return reply.Content, nil
	}
	text := gjson.GetBytes(reply.Content, answerField)
	switch {
	case text.Type != gjson.String || strings.TrimSpace(text.Str) == "":
	case q.Fields != nil:
		if f := form.Form(q.Fields).Check(text.Str); f != nil {
			f.Node = q.Node
			return nil, f
		}
		return rawjson.Quote(text.Str), nil
	case q.AnyAnswer || slices.Contains(q.Choices, text.Str):
		return rawjson.Quote(text.Str), nil
	}
	f := fault.New(fault.Usage, "The reply to the question of node %s has no answer to it", q.Node)
	if f.Node = q.Node; len(q.Choices) > 0 {
		f.Suggest("Answer with one of: %s", strings.Join(q.Choices, ", "))
	}
	return nil, f
}

// no is the answer that denies.
const no = "no"

// isForm reports whether the question is answered with the values of fields that a client can show as a form. MCP allows only fields
// without further fields in them.
func (q *question) isForm() bool {
	fields := gjson.ParseBytes(q.Fields)
	if fields.Get("type").Str != "object" || !fields.Get("properties").IsObject() {
		return false
	}
	flat := true
	fields.Get("properties").ForEach(func(_, field gjson.Result) bool {
		switch field.Get("type").Str {
		case "string", "number", "integer", "boolean":
		case "array":
			flat = field.Get("items.enum").IsArray() || field.Get("items.anyOf").IsArray()
		default:
			flat = false
		}
		return flat
	})
	return flat
}

// legible returns the beginning of a text without characters that would change how a terminal or a dialog shows the rest.
func legible(text string) string {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
	return fault.Truncate(text, maxQuestion)
}
