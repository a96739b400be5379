package suitetools

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

const (
	// heartbeat is how long a call is silent at most: clients end calls that are silent for minutes.
	heartbeat = 20 * time.Second
	// A run may end thousands of nodes and items a second. A burst of them is reported at once, and then one in each pause.
	burst = 50
	pause = 100 * time.Millisecond
)

// progress reports to a client how far a run is: how many of the workflow's own nodes have ended. What happens inside of
// nodes, and heartbeats, add fractions to that, so every report is higher than the one before.
type progress struct {
	report func(done, total float64, message string)

	mu      sync.Mutex
	ended   bool
	silence *time.Timer
	nodes   float64 // the workflow's own nodes
	done    float64 // those that have ended
	steps   float64 // the fractions since the last of them ended
	last    float64 // what was reported last
	running []string
	tokens  float64 // how many reports may follow at once
	refill  time.Time
}

// newProgress begins to report. end must be called.
func newProgress(report func(done, total float64, message string)) *progress {
	p := &progress{report: report, tokens: burst, refill: time.Now()}
	p.mu.Lock() // beat may be called before silence is set
	defer p.mu.Unlock()
	p.silence = time.AfterFunc(heartbeat, p.beat)
	return p
}

// end ends the reports.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.silence.Stop()
}

// apply reports an event of the run, if it is progress.
func (p *progress) apply(line []byte) {
	fields := gjson.GetManyBytes(line, "event", "node", "item", "iteration", "will_retry", "nodes.#", "message")
	kind, path := fields[0].Str, fields[1].Str
	name := path
	if fields[2].Exists() {
		name += "[" + fields[2].Raw + "]"
	} else if n := fields[3].Int(); n > 1 {
		name += "#" + strconv.FormatInt(n, 10)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch kind {
	case "run_started": // also of the run that goes on from another with an answer
		p.nodes, p.done, p.steps, p.running = fields[5].Num, 0, 0, nil
	case "run_queued":
		p.step("queued until another run ends")
	case "node_started":
		if !slices.Contains(p.running, path) {
			p.running = append(p.running, path)
		}
	case "node_progress":
		p.step(name + ": " + cmp.Or(fields[6].Str, kind))
	case "item_completed", "iteration_completed", "approval_requested", "approval_resolved":
		p.step(kind + " " + name)
	case "node_completed", "node_reused", "node_failed", "node_skipped", "node_cancelled":
		if fields[2].Exists() || fields[4].Bool() { // of a batch, or an attempt that is repeated
			p.step(kind + " " + name)
			return
		}
		p.running = slices.DeleteFunc(p.running, func(running string) bool { return running == path })
		if strings.Contains(path, "/") {
			p.step(kind + " " + name)
			return
		}
		p.done++
		p.steps = 0
		if p.may() || p.done == p.nodes {
			p.send(p.done, kind+" "+path)
		}
	}
}

// beat reports that the run goes on.
func (p *progress) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	message := "waiting"
	if len(p.running) > 0 {
		message = "running " + strings.Join(p.running[:min(len(p.running), 5)], ", ")
	}
	p.advance(message)
}

// may reports whether another report may follow, which it counts. p.mu is held.
func (p *progress) may() bool {
	now := time.Now()
	p.tokens = min(burst, p.tokens+float64(now.Sub(p.refill))/float64(pause))
	if p.refill = now; p.tokens < 1 {
		return false
	}
	p.tokens--
	return true
}

// step reports what happens inside of a node. p.mu is held.
func (p *progress) step(message string) {
	if p.may() {
		p.advance(message)
	}
}

// advance reports a fraction more than before, and less than another node. p.mu is held.
func (p *progress) advance(message string) {
	p.steps++
	p.send(p.done+p.steps/(p.steps+1), message)
}

// send reports. After the last node there is no total, because progress must not exceed it. p.mu is held.
func (p *progress) send(done float64, message string) {
	if p.ended {
		return
	}
	p.last = max(done, math.Nextafter(p.last, math.Inf(1)))
	total := p.nodes
	if p.last > total {
		total = 0
	}
	p.report(p.last, total, message)
	p.silence.Reset(heartbeat)
}
