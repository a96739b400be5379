package form

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Fill asks for the values of the fields, one after the other, and returns the answer. ask shows a prompt and returns the line that
// is typed; it returns false at the end of the input, and then Fill returns "". say shows a line of text.
//
// The first line decides: a JSON object or one of the choices is the whole answer, and an empty line or yes begins the fields. An
// empty line takes a field's default, or leaves the field out if it is optional.
func (f Form) Fill(ask func(prompt string) (line string, ok bool), say func(line string)) string {
	for {
		line, ok := ask(fmt.Sprintf("Answer? [%s] ", strings.Join(slices.Compact(append([]string{"yes"}, f.Choices()...)), "/")))
		if !ok {
			return ""
		}
		switch line = strings.TrimSpace(line); {
		case line == "" || line == "y" || line == "yes":
			if line, ok = f.fill(ask, say); !ok {
				return ""
			}
		case line == "n":
			line = "no"
		}
		wrong := f.Check(line)
		if wrong == nil {
			return line
		}
		say(wrong.Message)
	}
}

// fill asks for each field and returns the object of their values.
func (f Form) fill(ask func(prompt string) (string, bool), say func(string)) (answer string, ok bool) {
	content := map[string]json.RawMessage{}
	required := f.required()
	ok = true
	gjson.GetBytes(f, "properties").ForEach(func(name, field gjson.Result) bool {
		for ok {
			var line string
			if line, ok = ask(label(name.Str, field)); !ok {
				return false
			}
			line = strings.TrimSpace(line)
			if line == "" {
				if standard := field.Get("default"); standard.Exists() {
					content[name.Str] = json.RawMessage(standard.Raw)
					return true
				}
				if !slices.Contains(required, name.Str) {
					return true
				}
			}
			content[name.Str] = valueOf(field, line)
			wrong := f.schema().CheckMember(name.Str, content[name.Str])
			if wrong == nil {
				return true
			}
			say(wrong.Error())
		}
		return ok
	})
	object, err := rawjson.Marshal(content)
	return string(object), ok && err == nil
}

// label returns the prompt for a field.
func label(name string, field gjson.Result) string {
	text := name
	if title := field.Get("title").Str; title != "" && title != name {
		text += " (" + title + ")"
	}
	if described := field.Get("description").Str; described != "" {
		text += ", " + described
	}
	var choices []string
	for _, path := range []string{"enum", "oneOf.#.const", "items.enum", "items.anyOf.#.const"} {
		for _, choice := range field.Get(path).Array() {
			choices = append(choices, choice.String())
		}
	}
	if field.Get("type").Str == "boolean" {
		choices = []string{"yes", "no"}
	}
	if len(choices) > 0 {
		text += " [" + strings.Join(choices, "/") + "]"
	}
	if standard := field.Get("default"); standard.Exists() {
		text += " (" + standard.String() + ")"
	}
	return text + ": "
}

// valueOf returns the value of a field that was typed as a line: of a list, its items with commas between them.
func valueOf(field gjson.Result, line string) json.RawMessage {
	switch field.Get("type").Str {
	case "boolean":
		switch strings.ToLower(line) {
		case "y", "yes", "true":
			return json.RawMessage("true")
		case "n", "no", "false":
			return json.RawMessage("false")
		}
	case "integer", "number":
		if gjson.Valid(line) && gjson.Parse(line).Type == gjson.Number {
			return json.RawMessage(line)
		}
	case "array":
		items := []string{}
		for item := range strings.SplitSeq(line, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
		list, err := rawjson.Marshal(items)
		if err == nil {
			return list
		}
	}
	return rawjson.Quote(line)
}
