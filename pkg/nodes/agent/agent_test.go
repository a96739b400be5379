package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const schema = `{"type":"object","properties":{"answer":{"type":"integer"}},"required":["answer"],"additionalProperties":false}`

// TestRecordings checks the outputs and faults for recorded output of the agents.
func TestRecordings(t *testing.T) {
	t.Parallel()
	const zero = `"llm_usage":{"model":"claude-opus-4-8[1m]","input_tokens":0,"output_tokens":0,"total_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cost_usd":0}`
	for _, c := range []struct {
		recording, params string
		exit              int
		outputs           string // only some of them
		kind              fault.Type
		retryable         bool
		said              []string
	}{
		{"claude-hello", ``, 0, `{"result":"Hello from the local model.","session_id":"67539427-7e57-465c-862f-d004bf1ac596","turns":1,"denied":[],"llm_usage":{"model":"claude-opus-4-8[1m]","input_tokens":112,"output_tokens":20,"total_tokens":132,"cache_creation_input_tokens":5,"cache_read_input_tokens":7,"cost_usd":0.00103475}}`, "", false, nil},
		{"claude-schema", `,"output_schema":` + schema, 0, `{"result":{"answer":42},"turns":1}`, "", false, nil},
		{"claude-denied", ``, 0, `{"denied":["Bash"],"turns":2}`, "", false, nil},
		{"claude-max-turns", `,"max_turns":3`, 1, `{"turns":3,"session_id":"1af8db0f-28c8-469a-ba99-32f3ed7c50a1"}`, fault.Execution, false, []string{"budget of 3 turns (max_turns)", `resume "1af8db0f-28c8-469a-ba99-32f3ed7c50a1"`}},
		{"claude-max-budget", `,"max_cost_usd":0.01`, 1, `{"turns":10}`, fault.Execution, false, []string{"budget of $0.01 (max_cost_usd)", `resume "4ebf86ba-ba2d-4143-aedd-7d6948be98d4"`}},
		{"claude-400", ``, 1, `{"turns":0,` + zero + `}`, fault.Execution, false, []string{"claude failed: API Error: 400 model: no such model"}},
		{"claude-401", ``, 1, `{"turns":0}`, fault.Unavailable, false, []string{"Invalid API key", "/login", "ANTHROPIC_API_KEY"}},
		{"claude-429", ``, 1, `{}`, fault.RateLimited, true, []string{"This request would exceed your rate limit"}},
		{"claude-529", ``, 1, `{}`, fault.Unavailable, true, []string{"Overloaded"}},
		{"claude-logged-out", ``, 1, `{}`, fault.Unavailable, false, []string{"Not logged in", "ANTHROPIC_API_KEY"}},
		{"claude-no-session", `,"resume":"x"`, 1, `{"turns":0}`, fault.NotFound, false, []string{"No conversation found with session ID", "backend and cwd"}},
		{"codex-hello", `,"backend":"codex"`, 0, `{"result":"Hello from the local model.","session_id":"01a200d3-57d2-7ac3-8346-87feba290d67","turns":1,"llm_usage":{"input_tokens":100,"output_tokens":20,"total_tokens":120,"cache_creation_input_tokens":0,"cache_read_input_tokens":7}}`, "", false, nil},
		{"codex-bash", `,"backend":"codex","model":"m"`, 0, `{"turns":2,"llm_usage":{"model":"m","input_tokens":200,"output_tokens":40,"total_tokens":240,"cache_creation_input_tokens":0,"cache_read_input_tokens":14}}`, "", false, nil},
		{"codex-schema", `,"backend":"codex","output_schema":` + schema, 0, `{"result":{"answer":42}}`, "", false, nil},
		{"codex-400", `,"backend":"codex"`, 1, `{}`, fault.Execution, false, []string{"codex failed: The model does not exist"}},
		{"codex-401", `,"backend":"codex"`, 1, `{}`, fault.Unavailable, false, []string{"401 Unauthorized", "codex login"}},
		{"codex-429", `,"backend":"codex"`, 1, `{}`, fault.RateLimited, true, []string{"429 Too Many Requests"}},
		{"codex-loop", `,"backend":"codex","max_turns":3`, 0, `{"turns":3}`, fault.Execution, false, []string{"budget of 3 turns (max_turns)", "resume"}},
	} {
		t.Run(c.recording, func(t *testing.T) {
			t.Parallel()
			s := newStandIn(t)
			s.stream(0, c.recording, c.exit)
			out, f := s.run(t.Context(), `{"prompt":"do it"`+c.params+`}`)
			if d := cmp.Diff(fields(t, c.outputs, ""), fields(t, asJSON(t, out), c.outputs)); d != "" {
				t.Error(d)
			}
			switch {
			case c.kind == "" && f != nil:
				t.Error(f)
			case c.kind != "" && f == nil:
				t.Error("there is no fault")
			case c.kind != "":
				if f.Type != c.kind || f.Retryable != c.retryable {
					t.Errorf("%s, retryable %v: %s", f.Type, f.Retryable, f)
				}
				has(t, "the fault", f.Message+"\n"+strings.Join(f.Suggestions, "\n"), c.said...)
			}
		})
	}
}

// fields returns the members of an object, or only those that another object has, if it is given.
func fields(t *testing.T, raw, only string) map[string]any {
	t.Helper()
	var all, of map[string]any
	if err := json.Unmarshal([]byte(raw), &all); err != nil {
		t.Fatal(err)
	}
	if only == "" {
		return all
	}
	if err := json.Unmarshal([]byte(only), &of); err != nil {
		t.Fatal(err)
	}
	for name := range all {
		if _, ok := of[name]; !ok {
			delete(all, name)
		}
	}
	return all
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestClaudeIsCalled(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	s.write("work/a", "")
	s.stream(0, "claude-schema", 0)
	s.done(`{"prompt":"do \"it\"\n$HOME","cwd":"work","model":"opus","system_prompt":"be brief","allowed_tools":["Bash(git *)","Read"],"disallowed_tools":["WebFetch"],
		"permission_mode":"plan","max_turns":7,"max_cost_usd":1.5,"resume":"abc","output_schema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}}`)
	args := strings.Split(strings.TrimSpace(s.read("args.0")), "\n")
	for i, arg := range args {
		if name, _, ok := strings.Cut(arg, "="); ok && name == "--append-system-prompt-file" {
			args[i] = name
		}
	}
	want := []string{
		"-p", "--output-format", "stream-json", "--verbose", "--max-turns=7", "--model=opus", "--allowedTools=Bash(git *),Read", "--disallowedTools=WebFetch",
		"--permission-mode=plan", "--resume=abc", "--max-budget-usd=1.5", "--append-system-prompt-file", `--json-schema={"type":"object"}`,
	}
	if d := cmp.Diff(want, args); d != "" {
		t.Error(d)
	}
	if got := s.read("prompt.0"); got != "do \"it\"\n$HOME" {
		t.Errorf("the prompt came as %q", got)
	}
	if got := s.read("file.0"); got != "be brief" {
		t.Errorf("the system prompt came as %q", got)
	}
	if got := s.read("folder.0"); got != s.place+"/work\n" {
		t.Errorf("it works in %q", got)
	}
}

func TestCodexIsCalled(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	s.stream(0, "codex-schema", 0)
	s.done(`{"backend":"codex","prompt":"p","model":"gpt","system_prompt":"be \"brief\"\n","sandbox":"read-only","resume":"abc","output_schema":` + schema + `}`)
	args := strings.Split(strings.TrimSpace(s.read("args.0")), "\n")
	for i, arg := range args {
		if name, _, ok := strings.Cut(arg, "="); ok && name == "--output-schema" {
			args[i] = name
		}
	}
	want := []string{"exec", "--json", "--skip-git-repo-check", "--sandbox=read-only", "--model=gpt", `--config=developer_instructions="be \"brief\"\n"`, "resume", "--output-schema", "abc", "-"}
	if d := cmp.Diff(want, args); d != "" {
		t.Error(d)
	}
	if got := s.read("file.0"); got != schema {
		t.Errorf("the schema came as %q", got)
	}
}

// TestAnotherTry checks that a result that does not fit is asked for once more, in the same session, with the rest of the budget.
func TestAnotherTry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ backend, session, usage string }{
		{"claude", "--resume=25c31779-4bcc-466d-bd90-8e870c523838", `{"model":"claude-opus-4-8[1m]","input_tokens":560,"output_tokens":100,"total_tokens":660,"cache_creation_input_tokens":25,"cache_read_input_tokens":35,"cost_usd":0.00517375}`},
		{"codex", "01a200e1-b60e-72d2-856a-50f37798bccb", `{"input_tokens":100,"output_tokens":20,"total_tokens":120,"cache_creation_input_tokens":0,"cache_read_input_tokens":7}`},
	} {
		s := newStandIn(t)
		s.stream(0, c.backend+"-misfit", 0)
		s.stream(1, c.backend+"-schema", 0)
		out := s.done(`{"backend":"` + c.backend + `","prompt":"do it","output_schema":` + schema + `}`)
		if string(out.Result) != `{"answer":42}` || s.calls() != 2 {
			t.Errorf("%s: %d calls, result %s", c.backend, s.calls(), out.Result)
		}
		has(t, "the second call", s.read("args.1"), c.session)
		has(t, "the second prompt", s.read("prompt.1"), "does not fit the JSON Schema", schema)
		if c.backend == "claude" {
			has(t, "the second call", s.read("args.1"), "--max-turns=46")
		}
		if d := cmp.Diff(fields(t, c.usage, ""), fields(t, asJSON(t, out.LLMUsage), "")); d != "" {
			t.Errorf("%s: %s", c.backend, d)
		}
	}
}

func TestAResultThatDoesNotFit(t *testing.T) {
	t.Parallel()
	s := newStandIn(t)
	s.stream(0, "codex-misfit", 0)
	s.stream(1, "codex-misfit", 0)
	task := `{"backend":"codex","prompt":"do it","output_schema":` + schema
	out, f := s.run(t.Context(), task+`}`)
	if f == nil || f.Type != fault.Execution || s.calls() != 2 || out.Turns != 2 || out.Result != nil {
		t.Fatalf("%d calls: %v, %s", s.calls(), f, asJSON(t, out))
	}
	has(t, "the fault", f.Message, "asked 2 times", "answer must be an integer, not a string", `The result: {"answer":"wrong"}`)
	again := newStandIn(t)
	again.stream(0, "codex-misfit", 0)
	if _, f = again.run(t.Context(), task+`,"max_turns":1}`); f == nil || again.calls() != 1 {
		t.Fatalf("%d calls: %v", again.calls(), f)
	}
	has(t, "the fault", f.Message, "max_turns does not allow another attempt")
}

// TestASchemaThatIsTold checks that the prompt has a schema that the backend does not accept, and that the answer may be in a code
// block.
func TestASchemaThatIsTold(t *testing.T) {
	t.Parallel()
	for schema, text := range map[string]string{
		`{"type":"array","items":{"type":"integer"}}`:                                                                          "[1, 2]",
		`{"type":"object","properties":{"a":{"type":"integer"}}}`:                                                              "Here it is:\n```json\n{\"a\": 1}\n```\nDone.",
		`{"anyOf":[{"type":"null"},{"type":"object","required":["a"]}]}`:                                                       "null",
		`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"object","properties":{}}},"required":["a"]}`: `{"a":{"b":"` + "```" + `"}}`,
	} {
		s := newStandIn(t)
		s.write("stream.0", `{"type":"item.completed","item":{"id":"1","type":"agent_message","text":`+asJSON(t, text)+`}}`+"\n"+`{"type":"turn.completed","usage":{}}`)
		out := s.done(`{"backend":"codex","prompt":"do it","output_schema":` + schema + `}`)
		has(t, "the prompt", s.read("prompt.0"), "do it\n\n", schema)
		if strings.Contains(s.read("args.0"), "--output-schema") || !strings.Contains(strings.Join(strings.Fields(text), ""), strings.Join(strings.Fields(string(out.Result)), "")) {
			t.Errorf("%s: %s, called with %s", schema, out.Result, s.read("args.0"))
		}
	}
}
