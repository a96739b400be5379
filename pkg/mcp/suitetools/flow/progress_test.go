package flow

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/feed"
)

// TestProgressRises holds that each report is higher than the one before and at most its total, that only the workflow's own nodes are
// reported, and that each report names the call and the job.
func TestProgressRises(t *testing.T) {
	var messages []string
	last := -1.0
	p := &progress{job: "job_1", stream: &mcpserver.Stream{Token: json.RawMessage(`"t"`), Send: func(line json.RawMessage, _ string) {
		var m struct {
			Params struct {
				Token    string  `json:"progressToken"`
				Progress float64 `json:"progress"`
				Total    float64 `json:"total"`
				Message  string  `json:"message"`
				Job      string  `json:"job_id"`
				Node     *node   `json:"node"`
			} `json:"params"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Error(err)
		}
		got := m.Params
		if got.Token != "t" || got.Job != "job_1" || got.Progress <= last || got.Total > 0 && got.Progress > got.Total {
			t.Errorf("after %v: %s", last, line)
		}
		if got.Node != nil && (got.Node.Type != "shell" || got.Node.Timestamp != "now") {
			t.Errorf("%s", line)
		}
		last = got.Progress
		messages = append(messages, got.Message)
	}}}
	p.begin()
	for _, e := range []feed.Event{
		{Kind: "run_started", Nodes: 2},
		{Kind: "node_started", Node: "a", Type: "shell", Time: "now"},
		{Kind: "node_started", Node: "a/inner", Type: "shell", Time: "now"},
		{Kind: "item_completed", Node: "a", Time: "now", Item: true},
		{Kind: "node_failed", Node: "a", Time: "now", Item: true}, // is tried again
		{Kind: "node_completed", Node: "a", Time: "now"},
		{Kind: "node_skipped", Node: "c", Time: "now"},
		{Kind: "run_started", From: "r1", Nodes: 2},
		{Kind: "node_reused", Node: "a", Time: "now"},
		{Kind: "node_started", Node: "b", Type: "shell", Time: "now"},
		{Kind: "node_failed", Node: "b", Time: "now"},
		{Kind: "run_finished", Status: "failed"},
	} {
		p.apply(e)
	}
	if want := []string{"Flow: running", "a: running", "a: success", "a: success", "b: running", "b: error"}; !slices.Equal(messages, want) {
		t.Errorf("%q, want %q", messages, want)
	}
}
