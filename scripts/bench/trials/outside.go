package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// stray is a shell command that leaves a process in a session of its own. The last argument of the process names the trial and
// the run, so it is found whatever its environment says. It reads a named pipe that nobody writes to.
const stray = `$SETSID sh -c 'read x <> "$NEVER"' "$STRAY$PFLOW_RUN_ID" >/dev/null 2>&1 & `

// agentProgram stands in for claude: it leaves a side effect and a process, and reports a result in the format stream-json.
const agentProgram = `#!/bin/sh
cat >/dev/null
` + stray + effect + `
echo '{"type":"system","subtype":"init","session_id":"9b1c","model":"stand-in"}'
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"9b1c","result":"done","total_cost_usd":0.01,"usage":{"input_tokens":1,"output_tokens":1}}'
`

// outside adds nodes whose work is done by processes of others: one that leaves a process in a session of its own, an agent, and
// two that call an MCP server, of which one is a batch.
func (w *workflow) outside() {
	w.add("stray", stray+"true", nil, "start")
	plain := func(id, kind string, params object) object {
		n := object{"id": id, "type": kind, "params": params}
		w.nodes = append(w.nodes, n)
		w.after(id, "start")
		return n
	}
	plain("agent", "agent", object{"command": "./claude", "prompt": "Do it"})
	w.effects = append(w.effects, "agent")
	w.output("agent", "${agent.result}", `"done"`)
	plain("tool", "mcp-trial-mark", object{"node": "tool"})
	w.effects = append(w.effects, "tool")
	w.output("tool", "${tool.result}", `"marked"`)
	plain("tools", "mcp-trial-mark", object{"node": "tools", "item": "${item}"})["batch"] = object{"items": numbers(4), "parallel": true}
	for i := range 4 {
		w.effects = append(w.effects, fmt.Sprintf("tools[%d]", i))
	}
	w.output("tools", "${tools.success_count}", "4")
}

// tellingAgent stands in for claude. It says which key it has in every way.
const tellingAgent = `#!/bin/sh
cat >/dev/null
echo "the key is $ANTHROPIC_API_KEY" >&2
echo '{"type":"system","subtype":"init","session_id":"9b1c","model":"stand-in"}'
echo '{"type":"assistant","session_id":"9b1c","message":{"id":"a","model":"stand-in","content":[{"type":"text","text":"my key is '"$ANTHROPIC_API_KEY"'"}],"usage":{"input_tokens":5,"output_tokens":2}}}'
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"9b1c","result":"the key is '"$ANTHROPIC_API_KEY"'","total_cost_usd":0.01,"usage":{"input_tokens":1,"output_tokens":1}}'
`

// putProgram writes a shell script of the trial.
func (t *trial) putProgram(name, script string) error {
	return os.WriteFile(filepath.Join(t.dir, name), []byte(script), 0o700) //nolint:gosec // it is a program
}
