package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/llmserver"
)

// standInAgent does what the plan in its prompt says, and reports it in claude's stream-json format.
const standInAgent = `#!/bin/sh
title=$(sed -n 's/^Title: //p')
printf '%s\n' "$title" >notes.txt
echo '{"type":"system","subtype":"init","session_id":"9b1c","model":"stand-in"}'
echo '{"type":"assistant","session_id":"9b1c","message":{"id":"a","model":"stand-in","content":[{"type":"tool_use","name":"Bash"}],"usage":{"input_tokens":5,"output_tokens":2}}}'
echo '{"type":"assistant","session_id":"9b1c","message":{"id":"b","model":"stand-in","content":[{"type":"tool_use","name":"StructuredOutput"}],"usage":{"input_tokens":9,"output_tokens":3}}}'
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":2,"session_id":"9b1c","result":"","structured_output":{"file":"notes.txt","lines":1},"total_cost_usd":0.02,"usage":{"input_tokens":14,"output_tokens":5}}'
`

// planned is a workflow of three steps: a model makes a plan, an agent follows it in a folder, and a command uses the
// agent's output. Text in double brackets is an instruction to the model's server.
const planned = `{
 "inputs": {"llm": {"type": "string"}, "agent": {"type": "string"}},
 "nodes": [
  {"id": "plan", "type": "llm", "params": {
    "provider": "anthropic", "base_url": "${llm}", "api_key": "k", "model": "planner", "prompt": "[[json {\"title\":\"Grüße\",\"steps\":2}]] [[usage 11 7]] Plan it",
    "output_schema": {"type": "object", "properties": {"title": {"type": "string"}, "steps": {"type": "integer"}}, "required": ["title", "steps"]}}},
  {"id": "do", "type": "agent", "params": {
    "command": "${agent}", "cwd": "work", "model": "claude-sonnet-4-5", "allowed_tools": ["Bash"], "max_turns": 5, "timeout": 60,
    "prompt": "[[tool Bash {\"command\":\"echo '${plan.response.title}' >notes.txt\",\"description\":\"write\"}]] [[tool StructuredOutput {\"file\":\"notes.txt\",\"lines\":1}]] [[usage 20 5]] Do it.\nTitle: ${plan.response.title}",
    "env": {"ANTHROPIC_BASE_URL": "${llm}", "ANTHROPIC_API_KEY": "k", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
    "output_schema": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {"file": {"type": "string"}, "lines": {"type": "integer"}}, "required": ["file", "lines"]}}},
  {"id": "use", "type": "shell", "params": {"cwd": "work", "command": "head -n ${do.result.lines} ${do.result.file}"}}
 ],
 "edges": [{"from": "plan", "to": "do"}, {"from": "do", "to": "use"}],
 "outputs": {"text": {"source": "${use.stdout}"}, "session": {"source": "${do.session_id}"}, "turns": {"source": "${do.turns}"}}
}`

func TestAPlanIsDoneByAnAgent(t *testing.T) {
	t.Parallel()
	server := llmserver.Start(t)
	p := newPlace(t)
	p.write("agents/claude", standInAgent)
	if err := os.Chmod(filepath.Join(p.dir, "agents", "claude"), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	events := p.plan(server, filepath.Join(p.dir, "agents", "claude"))
	if used := usage(events, "do"); used.Get("total_tokens").Int() != 19 || used.Get("cost_usd").Num != 0.02 || used.Get("model").Str != "stand-in" {
		t.Errorf("the agent used %s", used.Raw)
	}
}

// TestAPlanIsDoneByClaude uses the real claude CLI, whose path is in CASE_CLAUDE, with the local server as its model.
func TestAPlanIsDoneByClaude(t *testing.T) {
	t.Parallel()
	program := os.Getenv("CASE_CLAUDE")
	if program == "" {
		t.Skip("CASE_CLAUDE is not set: use scripts/test --all")
	}
	server := llmserver.Start(t)
	p := newPlace(t)
	events := p.plan(server, program)
	if used := usage(events, "do"); used.Get("input_tokens").Int() != 40 || used.Get("output_tokens").Int() != 10 || used.Get("cost_usd").Num <= 0 {
		t.Errorf("claude used %s", used.Raw)
	}
}

// TestATaskIsDoneByCodex uses the real codex CLI, whose path is in CASE_CODEX, with the local server as its model. Codex
// works in a folder and then continues its session.
func TestATaskIsDoneByCodex(t *testing.T) {
	t.Parallel()
	program := os.Getenv("CASE_CODEX")
	if program == "" {
		t.Skip("CASE_CODEX names no codex")
	}
	server := llmserver.Start(t)
	p := newPlace(t)
	p.write("codex/config.toml", `model_provider = "local"
[model_providers.local]
name = "local"
base_url = "`+server.URL+`/v1"
env_key = "LOCAL_KEY"
wire_api = "responses"
`)
	const schema = `{"type": "object", "properties": {"file": {"type": "string"}}, "required": ["file"], "additionalProperties": false}`
	p.write("w.json", `{"inputs": {"agent": {"type": "string"}, "home": {"type": "string"}}, "nodes": [
 {"id": "do", "type": "agent", "params": {"backend": "codex", "command": "${agent}", "model": "gpt-test", "sandbox": "danger-full-access", "system_prompt": "Be \"brief\".",
   "env": {"CODEX_HOME": "${home}", "LOCAL_KEY": "k"}, "output_schema": `+schema+`,
   "prompt": "[[tool exec_command {\"cmd\":\"echo made >made.txt\"}]] [[json {\"file\":\"made.txt\"}]] [[usage 20 5 3]]"}},
 {"id": "on", "type": "agent", "params": {"backend": "codex", "command": "${agent}", "model": "gpt-test", "resume": "${do.session_id}",
   "env": {"CODEX_HOME": "${home}", "LOCAL_KEY": "k"}, "prompt": "go on with ${do.result.file}"}},
 {"id": "use", "type": "shell", "params": {"command": "cat ${do.result.file}"}}
], "edges": [{"from": "do", "to": "on"}, {"from": "on", "to": "use"}]}`)
	var events []gjson.Result
	for line := range strings.Lines(p.must("pflow-exec", "run", "w.json", "agent="+program, "home="+filepath.Join(p.dir, "codex"))) {
		events = append(events, gjson.Parse(line))
	}
	if got := events[len(events)-1].Get("outputs.use.stdout").Str; got != "made" {
		t.Errorf("codex made %q", got)
	}
	if used := usage(events, "do"); used.Get("input_tokens").Int() != 46 || used.Get("cache_read_input_tokens").Int() != 6 || used.Get("output_tokens").Int() != 10 {
		t.Errorf("codex used %s", used.Raw)
	}
	if asked := server.Requests(); len(asked) != 3 || !strings.Contains(asked[0].System, `Be "brief".`) || !strings.HasSuffix(asked[2].Last(), "go on with made.txt") || !strings.Contains(asked[2].Prompt(), "[[tool") {
		t.Errorf("%d requests came", len(asked))
	}
}

// plan runs the three steps and returns the events.
func (p *place) plan(server *llmserver.Server, agent string) []gjson.Result {
	p.Helper()
	p.write("plan.json", planned)
	p.write("work/README", "")
	o := p.run("pflow-exec", "run", "plan.json", "llm="+server.URL, "agent="+agent)
	if o.exit != 0 {
		p.Fatal(o)
	}
	var events []gjson.Result
	for line := range strings.Lines(o.stdout) {
		events = append(events, gjson.Parse(line))
	}
	outputs := events[len(events)-1].Get("outputs")
	if outputs.Get("text").Str != "Grüße" || outputs.Get("session").Str == "" || outputs.Get("turns").Int() != 2 {
		p.Errorf("the run's outputs are %s", outputs.Raw)
	}
	if got := p.read("work/notes.txt"); got != "Grüße\n" {
		p.Errorf("the agent wrote %q", got)
	}
	if used := usage(events, "plan"); used.Get("input_tokens").Int() != 11 || used.Get("output_tokens").Int() != 7 {
		p.Errorf("the plan used %s", used.Raw)
	}
	return events
}

// usage returns the usage in the event of a node.
func usage(events []gjson.Result, node string) gjson.Result {
	for _, e := range events {
		if e.Get("event").Str == "node_completed" && e.Get("node").Str == node {
			return e.Get("outputs.llm_usage")
		}
	}
	return gjson.Result{}
}
