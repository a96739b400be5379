package suitetools

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// runEvent is what a stream of a flow needs of an event.
type runEvent struct {
	seq                             int64
	kind, node, nodeType, time, run string
	// item reports that it is of an item of a batch, an iteration or an attempt that is repeated.
	item bool
	// nodes is how many the workflow has, status and from are those of the end and of the beginning of a run.
	nodes        int
	status, from string
}

// parseRunEvent reads a line of pflow-exec watch.
func parseRunEvent(line []byte) runEvent {
	v := gjson.GetManyBytes(line, "seq", "event", "node", "type", "time", "run", "item", "iteration", "will_retry", "nodes.#", "status", "resumed_from")
	return runEvent{
		seq: v[0].Int(), kind: v[1].Str, node: v[2].Str, nodeType: v[3].Str, time: v[4].Str, run: v[5].Str,
		item: v[6].Exists() || v[7].Int() > 1 || v[8].Bool(), nodes: int(v[9].Int()), status: v[10].Str, from: v[11].Str,
	}
}

const (
	// jobTime is how long a run of a flow may take, also while it is paused; streamTime is a little longer.
	jobTime    = 5 * time.Minute
	streamTime = jobTime + 10*time.Second
	// keptTime is how long the events of a run are kept for a call that may have started it.
	keptTime = 30 * time.Second
	// restart is the pause before the events are read again after their command has ended.
	restart = 200 * time.Millisecond
)

// Runs brings the events of runs to those who follow them. One command reads the events of all runs, from the first time that somebody
// follows one, until ctx ends.
type Runs struct {
	suite *Suite
	ctx   context.Context

	mu        sync.Mutex
	followers map[string][]*follower // by run
	// pending counts the calls whose runs are not known yet; kept has the events of runs without a follower, for them.
	pending int
	kept    map[string]*keptRun
	// since is what the command was started with, "" before the first time, and stop ends it.
	since   string
	stop    context.CancelFunc
	closed  bool
	reading sync.WaitGroup
}

// keptRun has the events of a run without a follower.
type keptRun struct {
	events []runEvent
	at     time.Time
}

// follower receives the events of a run, and of those that continue it.
type follower struct {
	run  string
	seen int64

	mu      sync.Mutex
	waiting []runEvent
	more    chan struct{} // has a value if events may wait
}

// maxWaiting is the most events that wait for a follower, whose client may be slow. Of more, only ends are kept.
const maxWaiting = 4096

// add hands an event to the follower. It never waits.
func (f *follower) add(event runEvent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiting) >= maxWaiting && !strings.HasPrefix(event.kind, "run_") {
		return
	}
	f.waiting = append(f.waiting, event)
	select {
	case f.more <- struct{}{}:
	default:
	}
}

// take returns the events that wait.
func (f *follower) take() []runEvent {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := f.waiting
	f.waiting = nil
	return taken
}

// isNew reports whether an event was not seen before: events come again when their command is started again.
func (f *follower) isNew(event runEvent) bool {
	switch {
	case event.run != f.run:
		f.run, f.seen = event.run, event.seq
		return true
	case event.seq == 0: // an end that is in no journal
		return true
	case event.seq <= f.seen:
		return false
	}
	f.seen = event.seq
	return true
}

// NewRuns returns the runs of a suite.
func NewRuns(ctx context.Context, s *Suite) *Runs {
	return &Runs{suite: s, ctx: ctx, followers: map[string][]*follower{}, kept: map[string]*keptRun{}}
}

// Close ends the command and waits for its end.
func (r *Runs) Close() {
	r.mu.Lock()
	if r.stop != nil {
		r.stop()
	}
	r.since, r.closed = "", true
	r.mu.Unlock()
	r.reading.Wait()
}

// expected is a call that is about to start a run.
type expected struct {
	runs *Runs
	once sync.Once
}

// expect has the events of new runs kept, until end or follow is called.
func (r *Runs) expect() *expected {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending++
	return &expected{runs: r}
}

func (e *expected) end() {
	e.once.Do(func() {
		e.runs.mu.Lock()
		defer e.runs.mu.Unlock()
		e.runs.settle()
	})
}

// settle counts a call off that knows its run. The mu must be held.
func (r *Runs) settle() {
	if r.pending--; r.pending == 0 {
		clear(r.kept)
	}
}

// follow calls apply with the events of a run from its beginning until it has ended for good, ctx ends or the run has taken too long.
func (r *Runs) follow(ctx context.Context, e *expected, run string, apply func(runEvent)) {
	ctx, cancel := context.WithTimeout(ctx, streamTime)
	defer cancel()
	f := &follower{run: run, more: make(chan struct{}, 1)}
	r.enlist(e, f)
	defer r.leave(f)
	for {
		for _, event := range f.take() {
			if !f.isNew(event) {
				continue
			}
			if apply(event); endsFlow(event) {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-f.more:
		}
	}
}

// endsFlow reports whether nothing comes after an event: a run that is paused can be continued by another.
func endsFlow(event runEvent) bool {
	return event.kind == "run_interrupted" || event.kind == "run_finished" && event.status != "paused"
}

// enlist makes a follower one of those of its run. The follower begins with the events that are kept of it.
func (r *Runs) enlist(e *expected, f *follower) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if kept := r.kept[f.run]; kept != nil {
		f.waiting = slices.Clone(kept.events)
	}
	r.followers[f.run] = append(r.followers[f.run], f)
	e.once.Do(r.settle)
	// Ids of runs begin with their time, so a part of an id comes before it and before all later ones.
	if since := f.run[:len(f.run)-1]; !r.closed && (r.since == "" || since < r.since) {
		r.since = since
		if r.stop != nil {
			r.stop()
		}
		var ctx context.Context
		ctx, r.stop = context.WithCancel(r.ctx)
		r.reading.Go(func() { r.read(ctx, since) })
	}
}

// leave ends the following of a run, under whichever id it has by now.
func (r *Runs) leave(f *follower) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for run, followers := range r.followers {
		if followers = slices.DeleteFunc(followers, func(other *follower) bool { return other == f }); len(followers) == 0 {
			delete(r.followers, run)
		} else {
			r.followers[run] = followers
		}
	}
}

// read reads the events of all runs, and again if the command ends, until ctx ends.
func (r *Runs) read(ctx context.Context, since string) {
	for ctx.Err() == nil {
		_, err := r.suite.run(ctx, command{program: "pflow-exec", args: []string{"--quiet", "watch", "--format=ndjson", "--since", since}, long: true, onLine: func(line []byte) {
			if interesting(line) {
				r.pass(parseRunEvent(line))
			}
		}})
		if ctx.Err() == nil {
			r.suite.Log.Warn("the events of runs cannot be read; they are read again", "error", fault.From(err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(restart):
		}
	}
}

// interesting reports whether a line can be an event that streams of flows show, without parsing it.
func interesting(line []byte) bool {
	head := line[:min(len(line), 80)]
	return bytes.Contains(head, []byte(`"event":"run_`)) || bytes.Contains(head, []byte(`"event":"node_`)) && !bytes.Contains(head, []byte(`"event":"node_progress"`))
}

// pass hands an event to those who follow its run, or keeps it for a call that may have started the run.
func (r *Runs) pass(event runEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if event.kind == "run_started" && event.from != "" { // it continues a run that may be followed
		if followers := r.followers[event.from]; len(followers) > 0 {
			r.followers[event.run] = append(r.followers[event.run], followers...)
		}
	}
	followers := r.followers[event.run]
	for _, f := range followers {
		f.add(event)
	}
	if len(followers) == 0 && r.pending > 0 {
		r.keep(event)
	}
}

// keep keeps an event, and forgets runs that it has kept for long. The mu must be held.
func (r *Runs) keep(event runEvent) {
	now := time.Now()
	kept := r.kept[event.run]
	if kept == nil {
		for run, old := range r.kept {
			if now.Sub(old.at) > keptTime {
				delete(r.kept, run)
			}
		}
		kept = &keptRun{at: now}
		r.kept[event.run] = kept
	}
	kept.events = append(kept.events, event)
}
