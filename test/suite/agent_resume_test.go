package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// Of many agents of which one fails, a resume in a new process asks that one alone.
func TestAResumeAsksOnlyTheAgentThatFailed(t *testing.T) {
	t.Parallel()
	const agents = 102
	p := newPlace(t)
	// It fails for the task of an agent while the file broken is there.
	p.write("agents/claude", `#!/bin/sh
task=$(cat)
echo "$task" >>asked.txt
echo '{"type":"system","subtype":"init","session_id":"9b1c","model":"stand-in"}'
case $task in *"number 57."*) [ -e broken ] && { echo "no such model" >&2; exit 1; } ;; esac
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"9b1c","result":"done","total_cost_usd":0.01,"usage":{"input_tokens":3,"output_tokens":1}}'
`)
	if err := os.Chmod(filepath.Join(p.dir, "agents", "claude"), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	var nodes []string
	for i := range agents {
		nodes = append(nodes, fmt.Sprintf(`{"id":"agent-%d","type":"agent","params":{"command":%s,"prompt":"You are number %d."}}`, i, strconv.Quote(filepath.Join(p.dir, "agents", "claude")), i))
	}
	p.write("w.json", `{"nodes":[`+strings.Join(nodes, ",")+`],"edges":[]}`)
	p.write("broken", "")
	o := p.run("pflow-exec", "run", "w.json", "--keep-going", "--jobs", "4", "--format", "json")
	if d := gjson.Parse(o.stdout); o.exit != 1 || d.Get("checkpoint.failed_node").Str != "agent-57" || len(d.Get("checkpoint.completed_nodes").Array()) != agents-1 {
		t.Fatal(o)
	}
	if got := strings.Count(p.read("asked.txt"), "\n"); got != agents {
		t.Errorf("%d agents were asked", got)
	}
	_ = os.Remove(filepath.Join(p.dir, "broken"))
	_ = os.Remove(filepath.Join(p.dir, "asked.txt"))
	last := p.last(p.must("pflow-exec", "resume", "last"))
	if got := p.read("asked.txt"); got != "You are number 57.\n" {
		t.Errorf("the resume asked %q", got)
	}
	if last["status"] != "completed" || last["nodes_executed"] != 1.0 || last["nodes_reused"] != float64(agents-1) || last["usage"].(map[string]any)["calls"] != 1.0 {
		t.Errorf("%v", last)
	}
}
