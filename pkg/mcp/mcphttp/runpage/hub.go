package runpage

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

const (
	// restart is the pause before the events are read again after their command has ended.
	restart = 200 * time.Millisecond
	// maxWaiting is the most bytes that wait for a follower, whose client may be slow.
	maxWaiting = 4 << 20
	// maxHeld is the most bytes of a live run that are held for those who begin to follow it, and maxAllHeld those of all runs.
	maxHeld, maxAllHeld = 1 << 20, 32 << 20
)

// hub brings the events of all runs to those who follow them. One command reads them, from the first time that a run is followed until the
// hub is closed.
type hub struct {
	programs *suite.Programs
	log      *slog.Logger
	ctx      context.Context
	stop     context.CancelFunc
	reading  sync.WaitGroup

	mu        sync.Mutex
	begun     bool
	followers map[*follower]bool
	// live are the runs that have begun in the stream and have not ended.
	live map[string]*liveRun
	held int // bytes
}

// liveRun is a run that goes on.
type liveRun struct {
	workflow string
	// lines are its events from the first one. They are nil if they are too long to be held.
	lines []line
	size  int
}

// line is an event of a run.
type line struct {
	run string
	// seq is 0 for an end that is in no journal.
	seq  int64
	kind string
	json []byte
	// workflow is the name of the run's workflow, if the hub has seen the beginning of the run.
	workflow string
}

// parseLine reads an event and keeps a copy of it.
func parseLine(text []byte) line {
	v := gjson.GetManyBytes(text, "run", "seq", "event")
	return line{run: v[0].Str, seq: v[1].Int(), kind: v[2].Str, json: append([]byte(nil), text...)}
}

// ends reports whether nothing of the run comes after the line.
func (l line) ends() bool { return l.kind == "run_finished" || l.kind == "run_interrupted" }

// workflowOf returns the name of the workflow that an event run_started has.
func workflowOf(l line) string { return gjson.GetBytes(l.json, "workflow.name").Str }

// follower receives the events of a run, or if run is "" the beginnings and ends of all.
type follower struct {
	run string

	mu      sync.Mutex
	waiting []line
	size    int
	// lost is set if events could not wait: the client must ask again.
	lost bool
	more chan struct{} // has a value if events may wait
}

// add hands an event to the follower. It never waits.
func (f *follower) add(l line) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size += len(l.json); f.size > maxWaiting {
		f.lost, f.waiting = true, nil
	} else {
		f.waiting = append(f.waiting, l)
	}
	select {
	case f.more <- struct{}{}:
	default:
	}
}

// take returns the events that wait, and whether some are lost.
func (f *follower) take() (lines []line, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	lines, f.waiting, f.size = f.waiting, nil, 0
	return lines, f.lost
}

func newHub(ctx context.Context, programs *suite.Programs, log *slog.Logger) *hub {
	h := &hub{programs: programs, log: log, followers: map[*follower]bool{}, live: map[string]*liveRun{}}
	h.ctx, h.stop = context.WithCancel(ctx)
	return h
}

// close ends the command and all that wait for events, and waits for the end of the command.
func (h *hub) close() {
	h.mu.Lock()
	h.stop()
	h.mu.Unlock()
	h.reading.Wait()
}

// known is what the hub knows about a live run.
type known struct {
	workflow string
	// live reports that the run goes on, and whole that its events are held from the first one.
	live, whole bool
}

// follow returns a follower of a run; leave must be called. The events that are held wait for it already.
func (h *hub) follow(run string) (*follower, known) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := &follower{run: run, more: make(chan struct{}, 1)}
	h.followers[f] = true
	if !h.begun && h.ctx.Err() == nil {
		h.begun = true
		h.reading.Go(h.read)
	}
	held := h.live[run]
	if held == nil {
		return f, known{}
	}
	for _, l := range held.lines {
		f.add(l)
	}
	return f, known{held.workflow, true, held.lines != nil}
}

func (h *hub) leave(f *follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.followers, f)
}

// isLive reports whether a run goes on, as far as the hub knows.
func (h *hub) isLive(run string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.live[run] != nil
}

// read reads the events of all runs, and again if the command ends, until the hub is closed.
func (h *hub) read() {
	args := []string{"watch", "--format=ndjson"}
	for {
		err := h.programs.Lines(h.ctx, func(text []byte) { h.pass(parseLine(text)) }, "pflow-exec", args...)
		if h.ctx.Err() != nil {
			return
		}
		h.log.Warn("the events of runs cannot be read; they are read again", "error", fault.From(err))
		args = append([]string{"watch", "--format=ndjson"}, h.again()...)
		select {
		case <-h.ctx.Done():
			return
		case <-time.After(restart):
		}
	}
}

// again forgets what the stream has brought, and returns the arguments with which it brings what followers have missed.
func (h *hub) again() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.live)
	h.held = 0
	oldest := ""
	for f := range h.followers {
		if f.run != "" && (oldest == "" || f.run < oldest) {
			oldest = f.run
		}
	}
	if oldest == "" {
		return nil
	}
	return []string{"--since", oldest[:len(oldest)-1]} // a part of an id comes before it
}

// pass hands an event to those who follow its run.
func (h *hub) pass(l line) {
	h.mu.Lock()
	defer h.mu.Unlock()
	held := h.hold(l)
	l.workflow = held.workflow
	for f := range h.followers {
		if f.run == l.run || f.run == "" && (l.ends() || l.seq == 1) {
			f.add(l)
		}
	}
	if l.ends() {
		h.held -= held.size
		delete(h.live, l.run)
	}
}

// hold keeps an event for those who will follow the run. The mu must be held.
func (h *hub) hold(l line) *liveRun {
	run := h.live[l.run]
	if run == nil {
		run = &liveRun{}
		if l.seq == 1 {
			run.workflow, run.lines = workflowOf(l), []line{}
		}
		h.live[l.run] = run
	}
	switch {
	case run.lines == nil:
	case run.size+len(l.json) > maxHeld || h.held+len(l.json) > maxAllHeld:
		h.held -= run.size
		run.lines, run.size = nil, 0
	default:
		run.lines = append(run.lines, l)
		run.size += len(l.json)
		h.held += len(l.json)
	}
	return run
}
