package suitetools

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// progress returns a function that reads the events of a run, and reports to the client how many of the workflow's own
// nodes have ended.
func progress(call *mcpserver.Call) func(line []byte) {
	done, total := 0.0, 0.0
	return func(line []byte) {
		fields := gjson.GetManyBytes(line, "event", "node", "nodes.#", "item", "will_retry")
		if strings.Contains(fields[1].Str, "/") || fields[3].Exists() || fields[4].Bool() {
			return // inside a sub-workflow or a batch, or an attempt that is repeated
		}
		switch fields[0].Str {
		case "run_started":
			total = fields[2].Num
		case "node_completed", "node_reused", "node_failed", "node_skipped", "node_cancelled":
			done++
			call.Progress(done, total, fields[0].Str+" "+fields[1].Str)
		}
	}
}
