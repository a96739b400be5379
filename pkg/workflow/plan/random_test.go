package plan

import (
	"encoding/json"
	"fmt"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/workflow"
)

// script is what a random run does with its nodes: how each ends, how often it fails before, and so on.
type script struct {
	ends    string // "", "error" or an action
	retried int    // attempts that fail before
	items   int
	bad     map[int]bool // items that fail for good
	rounds  int
}

// randomFlow draws a graph whose edges lead forward, with actions, readings, batches, loops, retries and approvals.
func randomFlow(t *rapid.T) (*workflow.Workflow, map[string]*script) {
	n := rapid.IntRange(1, 10).Draw(t, "nodes")
	var lines []string
	scripts := map[string]*script{}
	id := func(i int) string { return fmt.Sprintf("n%d", i) }
	for i := range n {
		lines = append(lines, id(i))
		scripts[id(i)] = &script{ends: rapid.SampledFrom([]string{"", "", "", "error", "left"}).Draw(t, "result")}
		for j := range i {
			switch rapid.IntRange(0, 9).Draw(t, "link") {
			case 0, 1:
				lines = append(lines, id(j)+">"+id(i))
			case 2:
				lines = append(lines, id(j)+">"+id(i)+":"+rapid.SampledFrom([]string{"error", "left"}).Draw(t, "action"))
			case 3:
				lines = append(lines, id(i)+"<"+id(j))
			case 4:
				lines = append(lines, id(i)+"<"+id(j)+".x ?? 1")
			}
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "start") == 0 {
		lines = append(lines, "start "+id(rapid.IntRange(0, n-1).Draw(t, "start node")))
	}
	w := flow(lines...)
	for i := range w.Nodes {
		node, s := &w.Nodes[i], scripts[w.Nodes[i].ID]
		if rapid.IntRange(0, 3).Draw(t, "retry") == 0 {
			node.Retry = &workflow.Retry{Max: 3, MaxWait: 1}
			s.retried = rapid.IntRange(0, 2).Draw(t, "retried")
		}
		switch rapid.IntRange(0, 4).Draw(t, "body") {
		case 0:
			node.Batch = &workflow.Batch{
				As: "item", Items: json.RawMessage("[]"), MaxConcurrent: rapid.IntRange(1, 3).Draw(t, "width"), Parallel: rapid.Bool().Draw(t, "parallel"),
				ErrorHandling: rapid.SampledFrom([]string{"fail_fast", Continue}).Draw(t, "handling"), MaxRetries: 1,
			}
			s.items, s.bad = rapid.IntRange(0, 5).Draw(t, "items"), map[int]bool{}
			for k := range s.items {
				s.bad[k] = rapid.IntRange(0, 4).Draw(t, "bad") == 0
			}
		case 1:
			node.Loop = &workflow.Loop{While: "true", MaxIterations: json.RawMessage("3")}
			s.rounds = rapid.IntRange(1, 3).Draw(t, "rounds")
		}
		if node.Batch == nil && rapid.IntRange(0, 5).Draw(t, "approval") == 0 {
			node.Approval = &workflow.Approval{}
		}
	}
	return w, scripts
}
