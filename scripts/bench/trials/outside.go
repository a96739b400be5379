package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/stdio"
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

// prepareOutside writes the agent and the configuration of the MCP server, which starts a stray and then becomes this program.
func (t *trial) prepareOutside() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	env := object{}
	for name, value := range t.env {
		env[name] = value
	}
	server := object{"command": "sh", "args": []string{"-c", stray + `exec "$0" ` + serverMode, self}, "env": env}
	servers, err := json.Marshal(object{"mcpServers": object{"trial": server}})
	return errors.Join(err,
		os.WriteFile(filepath.Join(t.home, "mcp-servers.json"), servers, 0o600),
		os.WriteFile(filepath.Join(t.dir, "claude"), []byte(agentProgram), 0o700)) //nolint:gosec // it is a program
}

// serverMode is the argument with which this program is an MCP server.
const serverMode = "mcp-server"

// serve serves a tool that leaves a side effect. A tool has no key: the server is shared by the nodes of a run.
func serve() error {
	mark := mcpserver.Tool{
		Name: "mark", Description: "Leave a side effect",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"node":{"type":"string"},"item":{"type":"integer"}},"required":["node"]}`),
		Call: func(_ context.Context, call *mcpserver.Call) *mcpserver.Result {
			item := "-"
			if i := gjson.GetBytes(call.Arguments, "item"); i.Exists() {
				item = i.Raw
			}
			f, err := os.OpenFile(os.Getenv("EFFECTS"), os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = fmt.Fprintf(f, "%s %s %s - 1 -\n", os.Getenv("PFLOW_RUN_ID"), gjson.GetBytes(call.Arguments, "node").Str, item)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				return &mcpserver.Result{Text: err.Error(), IsError: true}
			}
			return &mcpserver.Result{Text: "marked"}
		},
	}
	server, err := mcpserver.New(mcpserver.Config{Name: "trial", Version: "1", Tools: []mcpserver.Tool{mark}})
	if err != nil {
		return err
	}
	return server.Serve(context.Background(), &stdio.Transport{In: os.Stdin, Out: os.Stdout})
}
