package suitetools

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// flowProgress reports the progress of a flow's run on the stream of the call.
type flowProgress struct {
	stream *mcpserver.Stream
	job    string

	total int
	done  int     // nodes that have ended
	steps float64 // reports since the last of them ended
	last  float64 // what was reported last
	types map[string]string
}

// flowNode is what happened to a node.
type flowNode struct {
	ID        string `json:"nodeId"`
	Label     string `json:"nodeLabel"`
	Type      string `json:"nodeType"`
	Status    string `json:"status"`
	Timestamp string `json:"timestamp"`
}

// flowReport is the params of notifications/progress.
type flowReport struct {
	Token    json.RawMessage `json:"progressToken"`
	Progress float64         `json:"progress"`
	Total    int             `json:"total,omitempty"`
	Message  string          `json:"message"`
	Job      string          `json:"job_id"`
	Node     *flowNode       `json:"node,omitempty"`
}

// begin reports the job, before anything has happened.
func (p *flowProgress) begin() {
	p.types = map[string]string{}
	p.send(flowReport{Message: "Flow: running"})
}

// apply reports an event of the run, if it is one of the workflow's own nodes.
func (p *flowProgress) apply(e runEvent) {
	if e.kind == "run_started" {
		p.total = e.nodes
		if e.from != "" { // what is done already comes again
			p.done = 0
		}
		return
	}
	status := map[string]string{
		"node_started": "running", "node_completed": "success", "node_reused": "success", "node_failed": "error", "node_skipped": "", "node_cancelled": "",
	}
	word, known := status[e.kind]
	if !known || e.item || strings.Contains(e.node, "/") {
		return
	}
	if e.nodeType != "" {
		p.types[e.node] = e.nodeType
	}
	if e.kind == "node_started" {
		p.steps++
	} else {
		p.done++
		p.steps = 0
	}
	if word == "" {
		return
	}
	next := math.Max(float64(p.done)+p.steps/(p.steps+1), math.Nextafter(p.last, math.Inf(1)))
	p.last = next
	r := flowReport{Progress: next, Message: e.node + ": " + word, Node: &flowNode{e.node, e.node, p.types[e.node], word, e.time}}
	if next <= float64(p.total) { // a total that is exceeded would be wrong
		r.Total = p.total
	}
	p.send(r)
}

func (p *flowProgress) send(r flowReport) {
	r.Token, r.Job = p.stream.Token, p.job
	raw, err := rawjson.Marshal(struct {
		Version string     `json:"jsonrpc"`
		Method  string     `json:"method"`
		Params  flowReport `json:"params"`
	}{"2.0", "notifications/progress", r})
	if err == nil {
		p.stream.Send(raw)
	}
}
