package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/golden"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// roundTrip is an HTTP transport that calls a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// completion is a response that is a completion in both APIs.
const completion = `{"choices":[{"message":{"content":"x"}}],"content":[{"type":"text","text":"x"}],"data":[{"id":"one"},{"id":"two"}]}`

// answer returns a response for a transport.
func answer(status int, header http.Header, body io.Reader) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	header.Set("Content-Type", "application/json")
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(body)}
}

// prepared returns the first question and the exchange of parameters, with a key for each provider. The requests go to a transport.
func prepared(t *testing.T, p nodetype.LLM, transport http.RoundTripper) (*question, *exchange) {
	t.Helper()
	if p.Prompt == "" {
		p.Prompt = "hello"
	}
	p.Timeout = ample
	a := Asker{Getenv: func(name string) string {
		if provider, ok := strings.CutSuffix(name, "_API_KEY"); ok {
			return "key-of-" + strings.ToLower(provider)
		}
		return ""
	}}
	q, x, err := a.prepare(&p)
	if err != nil {
		t.Fatal(err)
	}
	x.client.Transport = transport
	return q, x
}

// written returns a request as text: its line, its headers and its body as indented JSON with sorted names.
func written(t *testing.T, req *http.Request) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", req.Method, req.URL.Redacted())
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(req.Header[name], ", "))
	}
	if req.ContentLength == 0 {
		return b.String()
	}
	body, err := io.ReadAll(req.Body)
	if err != nil || int64(len(body)) != req.ContentLength {
		t.Fatalf("the body has %d bytes, the header says %d: %v", len(body), req.ContentLength, err)
	}
	return b.String() + plain(t, body, "  ") + "\n"
}

// TestTheWire compares whole requests with a golden file.
func TestTheWire(t *testing.T) {
	t.Parallel()
	warm := 1.5
	strict := json.RawMessage(`{"type":"object","properties":{"b":{"type":["string","null"],"description":"<d> & more"},"a":{"type":"integer","minimum":3}},"required":["b","a"],"additionalProperties":false}`)
	options := func(text string) (m map[string]json.RawMessage) {
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	images := []string{"https://example.org/x.png?a=1&b=2", "data:image/png;base64,iVBORw0KGgo="}
	var b strings.Builder
	for _, c := range []struct {
		name   string
		p      nodetype.LLM
		change func(q *question) // what happens to a question after a refusal or a bad answer
	}{
		{"a question", nodetype.LLM{Model: "gpt-x"}, nil},
		{"all parameters", nodetype.LLM{Model: "gpt-x", System: "be brief", Temperature: &warm, MaxTokens: 100, ReasoningEffort: "minimal", OutputSchema: strict, PromptCache: true}, nil},
		{"all parameters of another server", nodetype.LLM{Model: "m", BaseURL: "http://h:1/v1", System: "be brief", Temperature: &warm, MaxTokens: 100, ReasoningEffort: "none", OutputSchema: json.RawMessage(flat), PromptCache: true}, nil},
		{"a second question", nodetype.LLM{Model: "gpt-x", OutputSchema: json.RawMessage(flat)}, func(q *question) { q.correct("no\nidea", io.ErrUnexpectedEOF) }},
		{"the schema in the prompt", nodetype.LLM{Model: "gpt-x", System: "be brief", OutputSchema: strict}, func(q *question) { q.schemaInPrompt = true }},
		{"images", nodetype.LLM{Model: "gpt-x", Images: images}, nil},
		{"odd characters", nodetype.LLM{Model: "gpt-x", Prompt: "<&>\u2028 \xff \u0000 \" \\ 🙂", System: "\t"}, nil},
		{"options", nodetype.LLM{Model: "groq/x", ModelOptions: options(`{"seed":12345678901234567890,"stop":["<a>",null],"a.b":{"c*":1.50},"reasoning":{"max_tokens":5},"n":null}`)}, nil},
		{"a limit of thinking, gemini", nodetype.LLM{Model: "gemini/g", ReasoningMaxTokens: 500, ModelOptions: options(`{"top_p":0.5}`)}, nil},
		{"a limit of thinking, openrouter", nodetype.LLM{Model: "openrouter/a/b", ReasoningMaxTokens: 500}, nil},
		{"the cache of openrouter", nodetype.LLM{Model: "openrouter/a/b", System: "rules", Images: images, PromptCache: true}, nil},
		{"a base URL with a path, a query and a password", nodetype.LLM{Model: "m", BaseURL: "http://me:hush@h:1/a%20b//c/?d=e#f"}, nil},
		{"a base URL with a password, and a key", nodetype.LLM{Model: "m", BaseURL: "http://me:hush@h", APIKey: "k"}, nil},

		{"a question", nodetype.LLM{Model: "claude-x"}, nil},
		{"all parameters", nodetype.LLM{Model: "claude-x", System: "be brief", Temperature: &warm, MaxTokens: 100, ReasoningEffort: "minimal", OutputSchema: strict, PromptCache: true}, nil},
		{"a second question", nodetype.LLM{Model: "claude-x", OutputSchema: json.RawMessage(flat), PromptCache: true}, func(q *question) { q.correct("no\nidea", io.ErrUnexpectedEOF) }},
		{"the schema in the prompt", nodetype.LLM{Model: "claude-x", System: "be brief", OutputSchema: strict, ReasoningEffort: "high"}, func(q *question) { q.schemaInPrompt = true }},
		{"images", nodetype.LLM{Model: "claude-x", Images: images, PromptCache: true}, nil},
		{"odd characters", nodetype.LLM{Model: "claude-x", Prompt: "<&>\u2028 \xff \u0000 \" \\ 🙂", System: "\t"}, nil},
		{"options", nodetype.LLM{Model: "claude-x", ModelOptions: options(`{"top_k":3,"stop_sequences":["<a>",null],"a.b":{"c*":1.50},"thinking":{"type":"disabled"},"n":null}`)}, nil},
		{"no thinking", nodetype.LLM{Model: "claude-x", ReasoningEffort: "none"}, nil},
		{"a limit of thinking", nodetype.LLM{Model: "claude-x", ReasoningMaxTokens: 5000}, nil},
		{"a small limit of thinking", nodetype.LLM{Model: "claude-x", ReasoningMaxTokens: 5, MaxTokens: 3000}, nil},
		{"an effort as a limit", nodetype.LLM{Model: "claude-x", ReasoningEffort: "high"}, func(q *question) { q.effortAsBudget = true }},
		{"an effort as a small limit", nodetype.LLM{Model: "claude-x", ReasoningEffort: "medium", MaxTokens: 6000}, func(q *question) { q.effortAsBudget = true }},
		{"a base URL with a path, a query and a password", nodetype.LLM{Model: "claude-x", BaseURL: "http://me:hush@h:1/a%20b//c/v1/?d=e#f"}, nil},
		{"a base URL with a password, and a key", nodetype.LLM{Model: "claude-x", BaseURL: "http://me:hush@h", APIKey: "k"}, nil},
	} {
		q, x := prepared(t, c.p, roundTrip(func(req *http.Request) (*http.Response, error) {
			b.WriteString(written(t, req))
			return answer(http.StatusOK, nil, strings.NewReader(completion)), nil
		}))
		if c.change != nil {
			c.change(q)
		}
		fmt.Fprintf(&b, "# %s: %s\n", x.at.provider, c.name)
		if r, err := x.send(t.Context(), q); err != nil || r.text != "x" {
			t.Errorf("%s: %+v, %v", c.name, r, err)
		}
		if got := x.models(t.Context()); !slices.Equal(got, []string{"one", "two"}) {
			t.Errorf("%s: the models are %q", c.name, got)
		}
		b.WriteString("\n")
	}
	golden.Compare(t, "testdata/wire.golden", b.String())
}

// TestSchemasOnTheWire compares what the messages API gets for schemas with a golden file.
func TestSchemasOnTheWire(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, schema := range []string{
		`{"type":"string"}`, `{"type":"string","minLength":1,"maxLength":20,"pattern":"^a<b>$"}`, `{"type":"string","format":"email"}`,
		`{"type":"string","format":"idn-email","description":"d"}`, `{"type":"integer","format":"int32"}`, `{"type":"string","description":"","title":"t"}`,
		`{"type":"integer","minimum":0,"maximum":1e3,"exclusiveMinimum":-1,"exclusiveMaximum":1.50,"multipleOf":0.1}`,
		`{"type":"string","enum":["a","b"],"default":"a"}`, `{"enum":[1,null,"x"]}`, `{"const":"x","$comment":"c"}`, `{"const":null}`, `{"enum":[]}`,
		`{"type":["string","null"],"minLength":2,"description":"d"}`, `{"type":["integer","array"],"items":{"type":"string","maxLength":3},"minimum":1}`,
		`{"type":"string","default":null,"deprecated":true,"readOnly":false,"writeOnly":true,"examples":["a",{"b":1}]}`,
		`{"type":"number","default":1000000}`, `{"type":"boolean","default":false}`, `{"type":"null"}`,
		`{"type":"array","items":{"type":"string"},"minItems":1}`, `{"type":"array","items":{"type":"string"},"minItems":2,"maxItems":5,"uniqueItems":true}`,
		`{"type":"array"}`, `{"type":"array","items":true}`, `{"type":"array","items":{}}`, `{"type":"array","prefixItems":[{"type":"string"}],"contains":{"type":"string"},"minContains":1,"uniqueItems":false}`,
		`{"type":"object"}`, `{"type":"object","properties":{}}`, `{"type":"object","properties":{"y":{"type":"string","maxLength":3}},"required":["y"],"additionalProperties":true}`,
		`{"type":"object","additionalProperties":{"type":"string","maxLength":3}}`, `{"type":"object","additionalProperties":true}`, `{"type":"object","additionalProperties":false}`,
		`{"type":"object","required":[],"minProperties":1,"patternProperties":{"^a":{"type":"string"}},"propertyNames":{"maxLength":5}}`,
		`{"properties":{"y":{"type":"string"}}}`, `{"description":"anything"}`, `{}`, `true`, `false`,
		`{"anyOf":[{"type":"string","maxLength":3},{"type":"null"}],"default":"a"}`, `{"oneOf":[{"type":"string"},{"type":"object","properties":{"y":{"type":"integer","minimum":1}}}]}`,
		`{"oneOf":[{"type":"string"}],"anyOf":[{"type":"integer"}]}`, `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"anyOf":[{"required":["a"]},{"type":"string"}]}`, `{"anyOf":[true,{"type":"string"}]}`,
		`{"type":"object","anyOf":[{"required":["a"]}],"properties":{"a":{"type":"string"}}}`, `{"allOf":[{"$ref":"#/$defs/d"},{"type":"object","properties":{"y":{"maxLength":1}}},{"required":["y"]}]}`,
		`{"$ref":"#/$defs/d","description":"gone"}`, `{"type":"string","not":{"const":"x"}}`, `{"type":"object","if":{"required":["a"]},"then":{"required":["b"]},"else":false,"dependentRequired":{"a":["b"]}}`,
		`{"type":"string","nullable":true,"x-order":1,"unevaluatedProperties":false}`, `{"type":"string","$id":"urn:x","$anchor":"a","contentEncoding":"base64","contentMediaType":"text/plain"}`,
		`{"type":"object","properties":{"type":{"type":"string","maxLength":1},"$ref":{"type":"string"}}}`, `{"type":"array","items":[{"type":"string"}]}`, `{"type":"array","minItems":2.0}`,
	} {
		sent := sentSchema(t, `{"type":"object","properties":{"x":`+schema+`},"$defs":{"d":{"type":"string","minLength":1}}}`)
		if inner := gjson.Get(sent, "properties.x"); inner.Exists() {
			sent = inner.Raw
		}
		fmt.Fprintf(&b, "%s\n\t%s\n", schema, sent)
	}
	for _, root := range []string{
		`{"properties":{"y":{"type":"string"}},"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{"d":{"maxLength":3,"type":"string"}}}`,
		`{"$ref":"#/$defs/d","$defs":{"d":{"type":"object"}}}`, `{"type":["object","null"],"properties":{}}`, `{"anyOf":[{"type":"object"}],"minProperties":2}`,
	} {
		fmt.Fprintf(&b, "the whole of %s\n\t%s\n", root, sentSchema(t, root))
	}
	golden.Compare(t, "testdata/schemas.golden", b.String())
}

// sentSchema returns the schema that the messages API gets for a parameter output_schema.
func sentSchema(t *testing.T, schema string) (sent string) {
	t.Helper()
	q, x := prepared(t, nodetype.LLM{Model: "claude-x", OutputSchema: json.RawMessage(schema)}, roundTrip(func(req *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		switch format := gjson.GetBytes(body, "output_config.format.schema"); {
		case format.Exists():
			sent = plain(t, []byte(format.Raw), "")
		case gjson.GetBytes(body, "system.0.text").Exists():
			sent = "in the prompt"
		}
		return answer(http.StatusOK, nil, strings.NewReader(completion)), nil
	}))
	if _, err := x.send(t.Context(), q); err != nil {
		t.Errorf("%s: %v", schema, err)
	}
	return sent
}

// plain returns JSON with sorted names and without escapes.
func plain(t *testing.T, raw []byte, indent string) string {
	t.Helper()
	var value any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(value); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
