package llm

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/internal/llmserver"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// says starts a server that answers every request with a text as application/json.
func says(t *testing.T, text string) string {
	t.Helper()
	return raw(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(text))
	})
}

// TestAnswersOfAnotherShape checks that JSON that is not a completion is reported, and not taken for an empty answer.
func TestAnswersOfAnotherShape(t *testing.T) {
	t.Parallel()
	for provider, answers := range map[string][]string{
		openaiName: {
			`null`, `5`, `"text"`, `[]`, `[{"choices":[]}]`, `{}`, `{"choices":null}`, `{"choices":[]}`, `{"choices":{}}`, `{"choices":[null]}`, `{"choices":[5]}`,
			`{"choices":[[]]}`, `{"choices":[{}]}`, `{"choices":[{"message":null}]}`, `{"choices":[{"message":"hello"}]}`, `{"choices":[{"message":{}}]}`,
			`{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}`, `{"choices":[{"message":{"content":5}}]}`,
			`{"choices":[{"message":{"content":[{"type":"text"}]}}]}`, `{"choices":{"0":{"message":{"content":"x"}}}}`,
		},
		anthropicName: {
			`null`, `5`, `"text"`, `[]`, `{}`, `{"content":null}`, `{"content":[]}`, `{"content":[5],"stop_reason":"end_turn"}`, `{"content":[null]}`, `{"content":"hello"}`,
			`{"content":{},"stop_reason":"end_turn"}`, `{"stop_reason":"end_turn"}`, `{"content":[{}]}`, `{"content":[{"type":"text"}]}`,
			`{"content":[{"type":"text","text":null}]}`, `{"content":[{"type":5,"text":"x"}]}`,
		},
	} {
		for _, answer := range answers {
			var a Asker
			out, err := a.Ask(t.Context(), params(says(t, answer), provider, "hello"))
			if f := mustFail(t, err); f.Type != fault.Protocol || out != nil || !strings.Contains(f.Message, "is not a completion") {
				t.Errorf("%s: %s: %+v, %+v", provider, answer, f, out)
			}
		}
	}
}

// TestWhatAServerCounts checks that impossible counts and costs are dropped.
func TestWhatAServerCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ provider, usage, want string }{
		{openaiName, `{"prompt_tokens":-5,"completion_tokens":-1,"prompt_tokens_details":{"cached_tokens":-9},"cost":-3}`, `{"model":"m"}`},
		{openaiName, `{"prompt_tokens":1e308,"completion_tokens":"7","cost":1e308}`, `{"model":"m"}`},
		{openaiName, `{"prompt_tokens":1e999,"completion_tokens":7,"cost":1e999}`, `{"model":"m","output_tokens":7,"total_tokens":7}`},
		{openaiName, `null`, `{"model":"m"}`},
		{openaiName, `[1]`, `{"model":"m"}`},
		{openaiName, `{"prompt_tokens":2,"completion_tokens":3,"cost":0.5}`, `{"model":"m","input_tokens":2,"output_tokens":3,"total_tokens":5,"cost_usd":0.5}`},
		{anthropicName, `{"input_tokens":-5,"output_tokens":9223372036854775807,"cache_creation_input_tokens":-1,"cache_read_input_tokens":-9223372036854775808}`, `{"model":"m"}`},
		{anthropicName, `{"input_tokens":2,"output_tokens":3,"cache_read_input_tokens":1e300}`, `{"model":"m","input_tokens":2,"output_tokens":3,"total_tokens":5}`},
	} {
		answer := `{"model":"m","choices":[{"message":{"content":"x"}}],"content":[{"type":"text","text":"x"}],"usage":` + c.usage + `}`
		var a Asker
		out, err := a.Ask(t.Context(), params(says(t, answer), c.provider, "hello"))
		if err != nil {
			t.Errorf("%s: %v", c.usage, err)
			continue
		}
		want := &nodetype.Usage{}
		if err := json.Unmarshal([]byte(c.want), want); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, out.LLMUsage); d != "" {
			t.Errorf("%s: %s", c.usage, d)
		}
	}
}

// TestAKeyIsWithheld checks that a server that only the workflow names does not get the key of the environment, and that the fault
// says why.
func TestAKeyIsWithheld(t *testing.T) {
	each(t, func(t *testing.T, provider string, s *llmserver.Server) {
		s.Key = secret
		known, _ := nodetype.LLMServiceNamed(provider)
		env := map[string]string{known.KeyVar: secret}
		a := Asker{Getenv: func(name string) string { return env[name] }}
		p := params(s.URL, provider, "hello")
		p.APIKey = ""
		_, err := a.Ask(t.Context(), p)
		f := mustFail(t, err)
		if s.Requests()[0].Key() != "" || !strings.Contains(f.Message, "requires a key (HTTP 401)") {
			t.Errorf("the key %q was sent: %+v", s.Requests()[0].Key(), f)
		}
		if said := strings.Join(f.Suggestions, "\n"); !strings.Contains(said, known.KeyVar+" was not sent") || !strings.Contains(said, "set "+known.URLVar) || !strings.Contains(said, "api_key") {
			t.Errorf("suggestions %q", said)
		}
		env[known.URLVar] = s.URL
		if _, err := a.Ask(t.Context(), p); err != nil {
			t.Errorf("the user's own server: %v", err)
		}
	})
}
