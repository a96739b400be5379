package flow

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/feed"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// progress reports the progress of a flow's run on the stream of the call.
type progress struct {
	stream *mcpserver.Stream
	job    string
	// after is the place of the last event that the client has; its zero value is before the first.
	after place
	// run and seq are those of the event that is reported.
	run string
	seq int64

	total int
	done  int     // nodes that have ended
	steps float64 // reports since the last of them ended
	last  float64 // what was reported last
	types map[string]string
}

// node is what happened to a node.
type node struct {
	ID        string `json:"nodeId"`
	Label     string `json:"nodeLabel"`
	Type      string `json:"nodeType"`
	Status    string `json:"status"`
	Timestamp string `json:"timestamp"`
}

// report is the params of notifications/progress.
type report struct {
	Token    json.RawMessage `json:"progressToken"`
	Progress float64         `json:"progress"`
	Total    int             `json:"total,omitempty"`
	Message  string          `json:"message"`
	Job      string          `json:"job_id"`
	Node     *node           `json:"node,omitempty"`
}

// begin reports the job, before anything has happened.
func (p *progress) begin() {
	p.send(report{Message: "Flow: running"})
}

// seen reports whether the client has the event that is reported.
func (p *progress) seen() bool { return p.after.run == mark(p.run) && p.seq <= p.after.seq }

// apply reports an event of the run, if it is one of the workflow's own nodes.
func (p *progress) apply(e feed.Event) {
	p.run, p.seq = e.Run, e.Seq
	if e.Kind == "run_started" {
		p.total = e.Nodes
		if e.From != "" { // what is done already comes again
			p.done = 0
		}
		return
	}
	status := map[string]string{
		"node_started": "running", "node_completed": "success", "node_reused": "success", "node_failed": "error", "node_skipped": "", "node_cancelled": "",
	}
	word, known := status[e.Kind]
	if !known || e.Item || strings.Contains(e.Node, "/") {
		return
	}
	if e.Type != "" {
		if p.types == nil {
			p.types = map[string]string{}
		}
		p.types[e.Node] = e.Type
	}
	if e.Kind == "node_started" {
		p.steps++
	} else {
		p.done++
		p.steps = 0
	}
	if word == "" {
		return
	}
	if !p.seen() { // what comes rises from what the client has
		p.last = math.Max(p.last, p.after.progress)
	}
	next := math.Max(float64(p.done)+p.steps/(p.steps+1), math.Nextafter(p.last, math.Inf(1)))
	p.last = next
	r := report{Progress: next, Message: e.Node + ": " + word, Node: &node{e.Node, e.Node, p.types[e.Node], word, e.Time}}
	if next <= float64(p.total) { // a total that is exceeded would be wrong
		r.Total = p.total
	}
	p.send(r)
}

// send sends a report, unless the client has it.
func (p *progress) send(r report) {
	if p.seen() {
		return
	}
	r.Token, r.Job = p.stream.Token, p.job
	raw, err := rawjson.Marshal(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  report `json:"params"`
	}{"2.0", "notifications/progress", r})
	if err == nil {
		p.stream.Send(raw, place{p.job, mark(p.run), p.seq, r.Progress}.String())
	}
}
