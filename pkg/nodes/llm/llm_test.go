package llm

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/llmserver"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// providers are the APIs. All behaviour is tested with each.
var providers = []string{openaiName, anthropicName}

// secret is the key of all tests.
const secret = "sk-very-secret-123456"

// ample is a time limit in seconds that no machine is too busy for.
const ample = 3600

// params returns the parameters of a question to a server.
func params(server, provider, prompt string) nodetype.LLM {
	return nodetype.LLM{Prompt: prompt, Model: "m", Provider: provider, BaseURL: server + "/v1", APIKey: secret, Retries: 2, Timeout: ample}
}

// each runs a test with both APIs.
func each(t *testing.T, test func(t *testing.T, provider string, s *llmserver.Server)) {
	t.Parallel()
	for _, provider := range providers {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			test(t, provider, llmserver.Start(t))
		})
	}
}

// mustFail checks what all faults have in common, and returns the fault.
func mustFail(t *testing.T, err error) *fault.Fault {
	t.Helper()
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok {
		t.Fatalf("the error is not a fault: %v", err)
	}
	raw, _ := json.Marshal(f)
	if strings.Contains(string(raw), secret) {
		t.Errorf("the key is in %s", raw)
	}
	if len(f.Suggestions) == 0 && !strings.Contains(f.Message, "must be") {
		t.Errorf("nothing says what to do next: %s", raw)
	}
	return f
}

func TestAnAnswer(t *testing.T) {
	each(t, func(t *testing.T, provider string, s *llmserver.Server) {
		s.Key = secret
		s.Reply = func(*llmserver.Request) llmserver.Answer {
			return llmserver.Answer{Text: "```\nyes\n```", Input: 10, Output: 5, CacheRead: 30, CacheWrite: 0}
		}
		var a Asker
		out, err := a.Ask(t.Context(), params(s.URL, provider, "is it?"))
		if err != nil {
			t.Fatal(err)
		}
		want := &nodetype.Usage{Model: "m", InputTokens: 40, OutputTokens: 5, TotalTokens: 45, CacheReadTokens: 30}
		if d := cmp.Diff(want, out.LLMUsage); d != "" || string(out.Response) != `"yes"` || out.Model != "m" {
			t.Errorf("%s %+v", d, out)
		}
	})
}

func TestFailures(t *testing.T) {
	each(t, func(t *testing.T, provider string, s *llmserver.Server) {
		for _, c := range []struct {
			name      string
			answer    llmserver.Answer
			kind      fault.Type
			retryable bool
			message   string
			suggest   string
			attempts  int
		}{
			{"key", llmserver.Answer{Status: 401, Error: "bad key " + secret}, fault.Execution, false, "does not accept the key (HTTP 401): bad key <redacted>", "the parameter api_key", 1},
			{"forbidden", llmserver.Answer{Status: 403, Error: "not this model"}, fault.Execution, false, "(HTTP 403): not this model", `the model "m"`, 1},
			{"credit", llmserver.Answer{Status: 402}, fault.Execution, false, "requires payment", "Add credit", 1},
			{"too large", llmserver.Answer{Status: 413}, fault.TooLarge, false, "does not accept a request of this size", "Shorten the prompt", 1},
			{"rate", llmserver.Answer{Status: 429, Error: "slow down"}, fault.RateLimited, true, "reports too many requests (HTTP 429): slow down", "later", 3},
			{"rate for long", llmserver.Answer{Status: 429, Header: map[string]string{"Retry-After": "3600"}}, fault.RateLimited, true, "reports too many requests", "later", 1},
			{"quota", llmserver.Answer{Status: 429, ErrorCode: quotaUsedUp}, fault.RateLimited, provider == anthropicName, "(HTTP 429)", "", map[string]int{openaiName: 1, anthropicName: 3}[provider]},
			{"overloaded", llmserver.Answer{Status: 529, Error: "Overloaded"}, fault.Unavailable, true, "failed (HTTP 529): Overloaded", "later", 3},
			{"server", llmserver.Answer{Status: 500}, fault.Unavailable, true, "failed (HTTP 500)", "later", 3},
			{"request", llmserver.Answer{Status: 400, Error: "top_k: must be 1"}, fault.Execution, false, "rejected the request (HTTP 400): top_k: must be 1", `model "m"`, 1},
			{"length", llmserver.Answer{Status: 400, Error: "prompt is too long: 210000 tokens > 200000 maximum"}, fault.TooLarge, false, "the limit of model", "Shorten the prompt", 1},
			{"unknown model, of a gateway", llmserver.Answer{Status: 400, Error: "Invalid model name passed in model=m"}, fault.Execution, false, `does not know the model "m"`, "another model", 1},
			{"unknown model", llmserver.Answer{Status: 404, Error: "there is no model m"}, fault.Execution, false, `does not know the model "m"`, "another model", 1},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := llmserver.Start(t)
				s.Reply = func(*llmserver.Request) llmserver.Answer { return c.answer }
				var told []string
				a := Asker{Progress: func(m string) { told = append(told, m) }}
				out, err := a.Ask(t.Context(), params(s.URL, provider, "hello"))
				f := mustFail(t, err)
				if out != nil || f.Type != c.kind || f.Retryable != c.retryable || !strings.Contains(f.Message, c.message) {
					t.Errorf("got %+v, %+v", out, f)
				}
				if !strings.Contains(strings.Join(f.Suggestions, "\n"), c.suggest) {
					t.Errorf("suggestions %q do not have %q", f.Suggestions, c.suggest)
				}
				if got := len(s.Requests()); got != c.attempts || len(told) != c.attempts-1 {
					t.Errorf("%d attempts, told %q; want %d", got, told, c.attempts)
				}
				if f.Details["status"] != c.answer.Status {
					t.Errorf("details %v", f.Details)
				}
			})
		}
	})
}

func TestTheNearestModelIsNamed(t *testing.T) {
	each(t, func(t *testing.T, provider string, s *llmserver.Server) {
		s.Models = []string{"big-one", "small-one"}
		p := params(s.URL, provider, "hello")
		p.Model = "small-on"
		var a Asker
		_, err := a.Ask(t.Context(), p)
		f := mustFail(t, err)
		if f.Suggestions[0] != `Did you mean "small-one"?` || !slices.Equal(f.Available, s.Models) {
			t.Errorf("got %+v", f)
		}
	})
}

func TestThereIsNoSuchAPI(t *testing.T) {
	each(t, func(t *testing.T, provider string, s *llmserver.Server) {
		p := params(s.URL+"/elsewhere", provider, "hello")
		var a Asker
		_, err := a.Ask(t.Context(), p)
		if f := mustFail(t, err); !strings.Contains(f.Message, "has no "+provider+" API at this URL") || !strings.Contains(f.Suggestions[0], "/elsewhere") {
			t.Errorf("got %+v", f)
		}
	})
}

func TestAnswersThatAreNone(t *testing.T) {
	each(t, func(t *testing.T, provider string, s *llmserver.Server) {
		cut := map[string]string{openaiName: "length", anthropicName: "max_tokens"}[provider]
		refused := map[string]string{openaiName: "content_filter", anthropicName: "refusal"}[provider]
		for _, c := range []struct{ prompt, message string }{
			{"[[stop " + refused + "]] [[text I'd rather not]]", "The model refused to answer (" + refused + "): I'd rather not"},
			{"[[stop " + cut + "]] [[text ]] [[usage 5 77]]", "The answer was cut off after 77 tokens (" + cut + ")"},
		} {
			var a Asker
			out, err := a.Ask(t.Context(), params(s.URL, provider, c.prompt))
			f := mustFail(t, err)
			if f.Message != c.message || out == nil || out.LLMUsage == nil {
				t.Errorf("got %+v, outputs %+v", f, out)
			}
		}
		var a Asker
		out, err := a.Ask(t.Context(), params(s.URL, provider, "[[stop "+cut+"]] [[text the beg]]"))
		if err != nil || string(out.Response) != `"the beg"` || out.StopReason != cut {
			t.Errorf("a text that is cut off is still an answer: %+v %v", out, err)
		}
	})
	t.Run("OpenAI's refusal", func(t *testing.T) {
		t.Parallel()
		s := llmserver.Start(t)
		s.Reply = func(*llmserver.Request) llmserver.Answer { return llmserver.Answer{Refusal: "no"} }
		var a Asker
		_, err := a.Ask(t.Context(), params(s.URL, openaiName, "hello"))
		if f := mustFail(t, err); f.Message != "The model refused to answer (refusal): no" {
			t.Errorf("got %+v", f)
		}
	})
}

func TestImagesAreSent(t *testing.T) {
	each(t, func(t *testing.T, provider string, s *llmserver.Server) {
		path := filepath.Join(t.TempDir(), "dot.gif")
		if err := os.WriteFile(path, []byte("GIF89a"), 0o600); err != nil {
			t.Fatal(err)
		}
		p := params(s.URL, provider, "what is it?")
		p.Images = []string{path, "https://example.org/x.png", "data:image/png;base64,iVBORw0KGgo="}
		var a Asker
		if _, err := a.Ask(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		want := []string{"data:image/gif;base64,R0lGODlh", "https://example.org/x.png", "data:image/png;base64,iVBORw0KGgo="}
		if got := s.Requests()[0].Messages[0]; !slices.Equal(got.Images, want) || got.Text != "what is it?" {
			t.Errorf("got %+v", got)
		}
	})
}

// TestNothingIsSent checks that invalid parameters are reported before any request.
func TestNothingIsSent(t *testing.T) {
	t.Parallel()
	s := llmserver.Start(t)
	dir := t.TempDir()
	big, text := filepath.Join(dir, "big.gif"), filepath.Join(dir, "notes.txt")
	if err := errors.Join(os.WriteFile(big, []byte("GIF89a"), 0o600), os.Truncate(big, maxImages+1), os.WriteFile(text, []byte("hello"), 0o600)); err != nil {
		t.Fatal(err)
	}
	hot := 2.5
	long := "data:image/png;base64," + strings.Repeat("AAAA", maxImages/3+1)
	for name, c := range map[string]struct {
		change  func(p *nodetype.LLM)
		message string
	}{
		"an empty prompt":       {func(p *nodetype.LLM) { p.Prompt = " \n" }, "The prompt is empty"},
		"temperature":           {func(p *nodetype.LLM) { p.Temperature = &hot }, "temperature must be from 0 to 2, not 2.5"},
		"max_tokens":            {func(p *nodetype.LLM) { p.MaxTokens = -1 }, "max_tokens must be"},
		"retries":               {func(p *nodetype.LLM) { p.Retries = -1 }, "retries must be"},
		"timeout":               {func(p *nodetype.LLM) { p.Timeout = 0 }, "timeout must be"},
		"base_url":              {func(p *nodetype.LLM) { p.BaseURL = "localhost:8080" }, "is not an http or https URL"},
		"no such image":         {func(p *nodetype.LLM) { p.Images = []string{filepath.Join(dir, "none.png")} }, "no such file or directory"},
		"a folder":              {func(p *nodetype.LLM) { p.Images = []string{dir} }, "is not a regular file"},
		"an image too large":    {func(p *nodetype.LLM) { p.Images = []string{big} }, "more than 20 MiB"},
		"data too large":        {func(p *nodetype.LLM) { p.Images = []string{long} }, "more than 20 MiB"},
		"no image":              {func(p *nodetype.LLM) { p.Images = []string{text} }, "type text/plain"},
		"data that is no image": {func(p *nodetype.LLM) { p.Images = []string{"data:application/pdf;base64,aGk="} }, "type application/pdf"},
		"data that is none":     {func(p *nodetype.LLM) { p.Images = []string{"data:image/png,raw"} }, "is not base64"},
		"a schema of itself":    {func(p *nodetype.LLM) { p.OutputSchema = json.RawMessage(`{"allOf":[{"$ref":"#"}]}`) }, "/allOf/0/$ref leads back to the root"},
		"no schema":             {func(p *nodetype.LLM) { p.OutputSchema = json.RawMessage(`{"name":"text"}`) }, "output_schema cannot be used"},
	} {
		p := params(s.URL, openaiName, "hello")
		c.change(&p)
		var a Asker
		_, err := a.Ask(t.Context(), p)
		if f := mustFail(t, err); !strings.Contains(f.Message, c.message) {
			t.Errorf("%s: got %+v", name, f)
		}
	}
	if n := len(s.Requests()); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestTheCostIsCounted(t *testing.T) {
	t.Parallel()
	s := llmserver.Start(t)
	a := Asker{Settings: settings.Settings{LLM: settings.LLM{Prices: map[string]settings.Price{"m": {Input: 2, Output: 10}}}}}
	p := params(s.URL, anthropicName, `[[json {"n":"x"}]] [[json {"n":1}]] [[usage 1000 100 0 0]]`)
	p.OutputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	out, err := a.Ask(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if u := out.LLMUsage; u.InputTokens != 2000 || u.OutputTokens != 200 || u.CostUSD == nil || *u.CostUSD != 0.006 {
		t.Errorf("both questions count: %+v", u)
	}
}

// TestTheRequests compares what is sent with what the APIs document.
func TestTheRequests(t *testing.T) {
	t.Parallel()
	warm := 1.5
	full := nodetype.LLM{
		Prompt: "hello", System: "be brief", Model: "m", Temperature: &warm, MaxTokens: 100, ReasoningEffort: "minimal", Timeout: ample,
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":["string","null"],"description":"d"},"n":{"type":"integer","minimum":3}},"required":["a","n"],"additionalProperties":false}`),
	}
	for provider, want := range map[string]string{
		openaiName: `{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hello"}],"temperature":1.5,"max_tokens":100,"reasoning_effort":"minimal",
			"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":
			{"type":"object","properties":{"a":{"type":["string","null"],"description":"d"},"n":{"type":"integer","minimum":3}},"required":["a","n"],"additionalProperties":false}}}}`,
		anthropicName: `{"model":"m","system":[{"type":"text","text":"be brief"}],"messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}],"temperature":1,"max_tokens":100,
			"thinking":{"type":"adaptive"},"output_config":{"effort":"low","format":{"type":"json_schema","schema":
			{"type":"object","properties":{"a":{"description":"d","anyOf":[{"type":"string","description":"d"},{"type":"null"}]},"n":{"type":"integer","description":"{minimum: 3}"}},"required":["a","n"],"additionalProperties":false}}}}`,
	} {
		s := llmserver.Start(t)
		s.Reply = func(*llmserver.Request) llmserver.Answer { return llmserver.Answer{Text: `{"a":null,"n":4}`} }
		p := full
		p.Provider, p.BaseURL = provider, s.URL+"/v1"
		var a Asker
		if _, err := a.Ask(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		r := s.Requests()[0]
		if d := cmp.Diff(gjson.Parse(want).Value(), gjson.ParseBytes(r.Body).Value()); d != "" {
			t.Errorf("%s: %s", provider, d)
		}
		if r.Key() != "" {
			t.Errorf("%s: a key was sent: %s", provider, r.Key())
		}
	}
}
