package nodetype

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// The backends of agents.
const (
	Claude = "claude"
	Codex  = "codex"
)

// backendParam is a parameter of agents that only one backend has.
type backendParam struct {
	name, backend string
	// instead is what to do with the other backend.
	instead string
}

func backendParams() []backendParam {
	const settings = "For claude, write the configuration into its settings files"
	return []backendParam{
		{"allowed_tools", Claude, "For codex, use sandbox"},
		{"disallowed_tools", Claude, "For codex, use sandbox"},
		{"permission_mode", Claude, "For codex, use sandbox: codex exec never asks for permission"},
		{"max_cost_usd", Claude, "codex does not report its cost: limit it with max_turns and timeout"},
		{"max_thinking_tokens", Claude, `For codex, set the effort: "config": {"model_reasoning_effort": "low"}`},
		{"approval_policy", Codex, "For claude, use permission_mode and allowed_tools"},
		{"profile", Codex, settings},
		{"config", Codex, settings},
	}
}

// UnsupportedByAgent returns the fault for parameters that a backend does not have, or nil. given reports whether a parameter is
// given; sandbox is the parameter of that name.
func UnsupportedByAgent(backend string, given func(param string) bool, sandbox Sandbox) *fault.Fault {
	var wrong []backendParam
	for _, p := range backendParams() {
		if p.backend != backend && given(p.name) {
			wrong = append(wrong, p)
		}
	}
	switch {
	case backend == Claude && sandbox.Mode != "":
		wrong = append(wrong, backendParam{name: "sandbox", instead: "For claude, give sandbox an object of settings, or use permission_mode, allowed_tools and disallowed_tools"})
	case backend == Codex && len(sandbox.Settings) > 0:
		wrong = append(wrong, backendParam{name: "sandbox", instead: "For codex, set sandbox to read-only, workspace-write or full-access; config has its further settings"})
	}
	if len(wrong) == 0 {
		return nil
	}
	var names []string
	for _, p := range wrong {
		names = append(names, p.name)
	}
	f := fault.New(fault.Usage, "Backend %s does not support %s", backend, strings.Join(names, ", "))
	f.Path = "params." + names[0]
	for i, p := range wrong {
		if i == 0 || p.instead != wrong[i-1].instead {
			f.Suggest("%s", p.instead)
		}
	}
	return f
}
