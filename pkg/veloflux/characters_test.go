package veloflux

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

func TestTextsThatAreNone(t *testing.T) {
	const half, utf = "surrogate", "UTF-8"
	s := velofluxserver.Start(t)
	s.AddPipeline("\ufffd", "SELECT a FROM user")
	s.Reset()
	r, err := NewRuntime(managerFor(t, Config{URL: s.URL}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ tool, args, names, problem string }{
		{"pipelines.delete", `{"pipeline_id":"\udfff"}`, `argument "pipeline_id"`, half},
		{"pipelines.delete", "{\"pipeline_id\":\"\xff\"}", `argument "pipeline_id"`, utf},
		{"streams.describe", `{"name":"\uD83Dx"}`, `argument "name"`, half},
		{"functions.describe", `{"name":"\ud83d\ud83d\ude00"}`, `argument "name"`, half},
		{"pipelines.verify", `{"sql":"SELECT '\udE00\ud83d'"}`, `argument "sql"`, half},
		{"pipelines.verify", "{\"sql\":\"SELECT '\xe4\xb8'\"}", `argument "sql"`, utf},
		{"pipelines.create", `{"id":"p","sql":"SELECT a FROM user","sinks":[{"type":"nop","props":{"a":["\ud800"]}}]}`, `argument "sinks"`, half},
		{"pipelines.create", `{"id":"p","sql":"SELECT a FROM user","sinks":[{"\ud800":1}]}`, `argument "sinks"`, half},
		{"pipelines.get", `{"\ud800":"p"}`, "arguments", half},
	} {
		_, err := r.CallTool(t.Context(), tc.tool, json.RawMessage(tc.args))
		if e := failureOf(t, err); e.Code != CodeInvalidParams || !strings.Contains(e.Message, tc.names) || !strings.Contains(e.Message, tc.problem) {
			t.Errorf("%s %q: %+v, want %s and %s", tc.tool, tc.args, e, tc.names, tc.problem)
		}
	}
	_, err = r.manager.CreatePipeline(t.Context(), []byte("{\"id\":\"p\",\"sql\":\"\xff\"}"))
	if e := failureOf(t, err); e.Code != CodeInvalidParams || !strings.Contains(e.Message, `argument "sql"`) || !strings.Contains(e.Message, utf) {
		t.Errorf("%+v", e)
	}
	if asked := s.Requests(); len(asked) != 0 {
		t.Errorf("the Manager was asked %v", asked)
	}
	for _, name := range []string{`\ufffd`, "\ufffd"} {
		if _, err := r.CallTool(t.Context(), "pipelines.get", json.RawMessage(`{"pipeline_id":"`+name+`"}`)); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	_, err = r.CallTool(t.Context(), "pipelines.get", json.RawMessage(`{"pipeline_id":"\ud83d\ude00 \\ud800"}`))
	if e := failureOf(t, err); e.Code != CodeNotFound {
		t.Errorf("a whole pair is refused: %+v", e)
	}
}

// TestLoneSurrogates compares with a decoder that replaces them by U+FFFD.
func TestLoneSurrogates(t *testing.T) {
	parts := rapid.SampledFrom([]string{`\ud800`, `\uDBFF`, `\udc00`, `\uDfFf`, `\ud7ff`, `\ue000`, `\u0041`, `\\`, `\"`, `\n`, `\/`, "ud800", "u", "d8", "a", "流"})
	rapid.Check(t, func(t *rapid.T) {
		text := `"` + strings.Join(rapid.SliceOf(parts).Draw(t, "parts"), "") + `"`
		var decoded string
		if err := json.Unmarshal([]byte(text), &decoded); err != nil {
			t.Fatal(err)
		}
		if got, want := loneSurrogate(json.RawMessage(text)), strings.ContainsRune(decoded, utf8.RuneError); got != want {
			t.Fatalf("%s: %v, want %v", text, got, want)
		}
	})
}

func FuzzLoneSurrogate(f *testing.F) {
	for _, text := range []string{`\`, `\u`, `\ud800\`, `"\ud800\udc00"`, `{"\udc00":1}`, `\\\`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(_ *testing.T, raw []byte) { loneSurrogate(raw) }) // and does not end with a panic
}
