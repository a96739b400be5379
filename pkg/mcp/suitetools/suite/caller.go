package suite

import (
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/process/chain"
)

// carried are the keys of a call's _meta that say which trace the call belongs to and what goes along with it (SEP-414), and which runs are
// around it, the environment variables that carry them to a process, and the most bytes of each.
var carried = []struct {
	key, variable string
	limit         int
}{{"traceparent", "TRACEPARENT", 256}, {"tracestate", "TRACESTATE", 512}, {"baggage", "BAGGAGE", 8192}, {chain.Key, chain.Variable, chain.MaxText}}

// CallerOf returns the environment variables that put what a call starts into the trace of the call and inside the runs around it. It
// is empty if the call is in neither.
func CallerOf(call *mcpserver.Call) []string {
	var variables []string
	for _, t := range carried {
		value, ok := call.Meta[t.key].(string)
		if ok && value != "" && len(value) <= t.limit && !strings.ContainsAny(value, "\x00\r\n") {
			variables = append(variables, t.variable+"="+value)
		}
	}
	return variables
}

// calledBy returns an environment with the variables of CallerOf in place of its own. The state of another trace is left out.
func calledBy(env, variables []string) []string {
	if len(variables) == 0 {
		return env
	}
	var without []string
	for _, kv := range variables {
		name, _, _ := strings.Cut(kv, "=")
		if without = append(without, name); name == "TRACEPARENT" {
			without = append(without, "TRACESTATE")
		}
	}
	return slices.Concat(process.Environment(env, without...), variables)
}
