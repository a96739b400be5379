package report

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
)

// action is a button about the whole run.
type action struct{ Name, Text string }

// actions returns what a person may do with the run as it is.
func (r *writer) actions() []action {
	switch {
	case !r.acts || r.ResumedBy != "":
		return nil
	case r.live():
		return []action{{"cancel", "Cancel"}}
	}
	switch r.status {
	case event.Failed, event.Cancelled, event.TimedOut, interrupted:
		return []action{{"resume", "Resume"}}
	}
	return nil
}

// live reports whether the run may still change by itself.
func (r *writer) live() bool {
	return r.run.Finished == nil && (r.status == running || r.status == queued)
}

// ask is a question to a person that is open.
type ask struct {
	ID, Node, Link, Question string
	Params                   []field
	// Acts is set if the question can be answered with the buttons.
	Acts      bool
	Choices   []choice
	AnyAnswer bool
	// Inputs are the fields of an answer that is an object.
	Inputs []input
}

// choice is an answer to choose. Value is what is sent.
type choice struct {
	Value, Text string
	Main        bool
}

// input is a field of an answer.
type input struct {
	Name, Label, Description, Type, Default string
	Required, Multiple                      bool
	Choices                                 []option
}

type option struct {
	Value, Text string
	Chosen      bool
}

// maxAsks is the most open questions that are shown above the nodes.
const maxAsks = 20

// asks returns the open questions of a run that waits for their answers.
func (r *writer) asks(space *budget) (asks []*ask) {
	if r.status != event.Paused || r.ResumedBy != "" {
		return nil
	}
	for n := range r.run.All() {
		if n.State == history.Waiting && len(asks) < maxAsks {
			asks = append(asks, r.ask(n, len(asks), space))
		}
	}
	return asks
}

func (r *writer) ask(n *history.Node, i int, space *budget) *ask {
	a := &ask{
		ID: strconv.Itoa(i), Node: oneLine(n.Path), Link: r.link(n.Path), Question: visible(cut(n.Question, maxValue)), Params: r.fields(n.Params, space),
		Acts: r.acts && exact(n.Path) && exact(r.run.ID()),
	}
	if !a.Acts {
		return a
	}
	a.Inputs = inputs(n.Fields)
	a.AnyAnswer = n.AnyAnswer && len(a.Inputs) == 0
	for _, c := range n.Choices {
		if !exact(c) || len(a.Choices) == maxAsks || c == "yes" && len(a.Inputs) > 0 {
			continue // what cannot be shown as it is cannot be chosen; Send replaces the empty answer
		}
		a.Choices = append(a.Choices, choice{Value: c, Text: choiceText(c), Main: c != event.Denial && c != "cancel" && len(a.Choices) == 0 && len(a.Inputs) == 0 && !a.AnyAnswer})
	}
	return a
}

// exact reports whether a text is shown as it is, so that it can be sent back.
func exact(text string) bool { return text != "" && oneLine(text) == text }

// choiceText returns the text of the button for a choice.
func choiceText(c string) string {
	switch c {
	case "yes", "no", "cancel":
		return strings.ToUpper(c[:1]) + c[1:]
	}
	return c
}

// inputs returns the fields of the schema of an answer, see elicitation/create in the MCP specification.
func inputs(schema json.RawMessage) (inputs []input) {
	var required []string
	for _, name := range gjson.GetBytes(schema, "required").Array() {
		required = append(required, name.Str)
	}
	gjson.GetBytes(schema, "properties").ForEach(func(k, v gjson.Result) bool {
		name := k.Str
		if !exact(name) {
			return true
		}
		in := input{
			Name: name, Label: oneLine(v.Get("title").Str), Description: oneLine(v.Get("description").Str), Type: v.Get("type").Str, Default: oneLine(v.Get("default").String()),
			Required: slices.Contains(required, name), Choices: options(v),
		}
		if in.Label == "" {
			in.Label = name
		}
		switch in.Type {
		case "number", "integer", "boolean":
		case "array":
			in.Multiple, in.Choices = true, options(v.Get("items"))
		default:
			in.Type = "string"
		}
		for i := range in.Choices {
			c := &in.Choices[i]
			c.Chosen = in.Default != "" && c.Value == in.Default || slices.ContainsFunc(v.Get("default").Array(), func(d gjson.Result) bool { return in.Multiple && d.Str == c.Value })
		}
		inputs = append(inputs, in)
		return len(inputs) < maxAsks
	})
	return inputs
}

// options returns the values to choose from of a field.
func options(field gjson.Result) (list []option) {
	add := func(value, text string) {
		if exact(value) && len(list) < maxFields {
			if text = oneLine(text); text == "" {
				text = value
			}
			list = append(list, option{Value: value, Text: text})
		}
	}
	names := field.Get("enumNames").Array()
	for i, v := range field.Get("enum").Array() {
		text := ""
		if i < len(names) {
			text = names[i].Str
		}
		add(v.String(), text)
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		for _, v := range field.Get(key).Array() {
			add(v.Get("const").String(), v.Get("title").Str)
		}
	}
	return list
}
