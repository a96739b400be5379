package llm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/llmserver"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

const flat = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`

// TestAModelWithoutSchemas checks that the prompt has the schema if the API does not support schemas.
func TestAModelWithoutSchemas(t *testing.T) {
	each(t, func(t *testing.T, provider string, s *llmserver.Server) {
		s.Reply = func(r *llmserver.Request) llmserver.Answer {
			if len(r.Schema) > 0 {
				return llmserver.Answer{Status: 400, Error: map[string]string{openaiName: "This response_format type is unavailable now", anthropicName: "'m' does not support output format."}[provider]}
			}
			return llmserver.Answer{Text: "Here it is:\n```json\n{\"n\": 12345678901234567890}\n```\nAnything else?"}
		}
		p := params(s.URL, provider, "count")
		p.System, p.OutputSchema = "be brief", json.RawMessage(flat)
		var told []string
		a := Asker{Progress: func(m string) { told = append(told, m) }}
		out, err := a.Ask(t.Context(), p)
		if err != nil || string(out.Response) != `{"n":12345678901234567890}` {
			t.Fatalf("%+v %v", out, err)
		}
		if r := s.Requests(); len(r) != 2 || !strings.HasPrefix(r[1].System, "be brief\n\n") || !strings.Contains(r[1].System, `"integer"`) || len(told) != 1 {
			t.Errorf("%d requests, told %q, system %q", len(r), told, r[len(r)-1].System)
		}
	})
}

func TestTheSecondRefusalIsTold(t *testing.T) {
	each(t, func(t *testing.T, provider string, s *llmserver.Server) {
		p := params(s.URL, provider, "[[status 400 response_format and output_config: no]]")
		p.OutputSchema = json.RawMessage(flat)
		var a Asker
		_, err := a.Ask(t.Context(), p)
		if f := mustFail(t, err); !strings.Contains(f.Message, "output_config: no") || len(s.Requests()) != 2 {
			t.Errorf("%d requests: %+v", len(s.Requests()), f)
		}
	})
}

// TestAModelThatThinksByBudget checks the effort for older models, which need a number of tokens.
func TestAModelThatThinksByBudget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		effort            string
		maxTokens         int
		budget, sentLimit float64
	}{
		{"high", 0, 12288, 8192 + 16384},
		{"low", 0, 2048, 8192 + 2048},
		{"medium", 6000, 3000, 6000},
		{"minimal", 1500, 1024, 1500},
	} {
		s := llmserver.Start(t)
		s.Reply = func(r *llmserver.Request) llmserver.Answer {
			if strings.Contains(string(r.Body), "adaptive") {
				return llmserver.Answer{Status: 400, Error: "adaptive thinking is not supported on this model"}
			}
			return llmserver.Answer{Text: "thought"}
		}
		p := params(s.URL, anthropicName, "think")
		p.ReasoningEffort, p.MaxTokens = c.effort, c.maxTokens
		var a Asker
		if _, err := a.Ask(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		var sent struct {
			MaxTokens float64 `json:"max_tokens"`
			Thinking  struct {
				Type         string  `json:"type"`
				BudgetTokens float64 `json:"budget_tokens"`
			} `json:"thinking"`
			OutputConfig json.RawMessage `json:"output_config"`
		}
		if err := json.Unmarshal(s.Requests()[1].Body, &sent); err != nil {
			t.Fatal(err)
		}
		if sent.Thinking.BudgetTokens != c.budget || sent.MaxTokens != c.sentLimit || sent.Thinking.Type != "enabled" || sent.OutputConfig != nil {
			t.Errorf("%s with %d: %+v", c.effort, c.maxTokens, sent)
		}
	}
	s := llmserver.Start(t)
	p := params(s.URL, anthropicName, "[[request thinking.type]]")
	p.ReasoningEffort = "none"
	var a Asker
	if out, err := a.Ask(t.Context(), p); err != nil || string(out.Response) != `"disabled"` {
		t.Errorf("none: %+v %v", out, err)
	}
}

// TestALooseSchemaIsSentAsOne checks that a schema is sent as strict only if it is, since OpenAI rejects others as strict.
func TestALooseSchemaIsSentAsOne(t *testing.T) {
	t.Parallel()
	s := llmserver.Start(t)
	p := params(s.URL, openaiName, "count")
	p.OutputSchema = json.RawMessage(flat)
	var a Asker
	if _, err := a.Ask(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if v := gjson.GetBytes(s.Requests()[0].Body, "response_format.json_schema.strict"); v.Type != gjson.False {
		t.Errorf("strict is %q", v.Raw)
	}
}

func TestWhatIsWrongWithAnAnswer(t *testing.T) {
	t.Parallel()
	s, f := jsonschema.ParseObjectOutput(json.RawMessage(`{"properties":{"n":{"type":"integer"},"o":{"properties":{"p":{"anyOf":[{"type":"string"},{"type":"null"}]}}}},"required":["n"],"additionalProperties":false}`))
	if f != nil {
		t.Fatal(f)
	}
	for said, want := range map[string]string{
		`{"n":1}`:                       "",
		"```json\n{\"n\":1}\n```":       "",
		"Sure! {\"n\":1} is it.":        "",
		``:                              "it must be JSON",
		`[1]`:                           "it must be an object, not an array",
		`{"n":1}{"n":2}`:                "it must be JSON",
		`{"n":"validating x: type: y"}`: "n must be an integer, not a string",
		`{"o":{}}`:                      `it must have "n"`,
		`{"n":1,"x":{"deep":{"er":1}}}`: `it must not have "x"`,
		`{"n":{"deep":1}}`:              "n must be an integer, not an object",
		`{"n":1,"o":{"p":[{"q":"r"}]}}`: "o.p must fit one of the forms",
	} {
		value, err := valueIn(said, s)
		if want == "" {
			if err != nil || string(value) != `{"n":1}` {
				t.Errorf("%q: %s %v", said, value, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "map[") {
			t.Errorf("%q: %v, want %q", said, err, want)
		}
	}
}

func TestUnfenced(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		" plain \n":                     "plain", //nolint:gocritic // the blanks are what it is about
		"```\na\n```":                   "a",
		"```json\n{\"a\":1}\n```\n":     `{"a":1}`,
		"```a```":                       "```a```",
		"```\na\n```\nand\n```\nb\n```": "```\na\n```\nand\n```\nb\n```",
		"see:\n```\na\n```":             "see:\n```\na\n```",
		"```":                           "```",
		"``````":                        "``````",
	} {
		if got := unfenced(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{`{"n":1}`, "```json\n{}\n```", "x { } y", "```", "{}}"} {
		f.Add(seed)
	}
	s, wrong := jsonschema.ParseObjectOutput(json.RawMessage(flat))
	if wrong != nil {
		f.Fatal(wrong)
	}
	f.Fuzz(func(t *testing.T, said string) {
		if value, err := valueIn(said, s); err == nil && (!json.Valid(value) || value[0] != '{') {
			t.Errorf("%q: %s", said, value)
		}
		if got := unfenced(said); len(got) > len(said) {
			t.Errorf("%q grew to %q", said, got)
		}
	})
}
