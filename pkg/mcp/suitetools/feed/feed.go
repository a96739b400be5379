// Package feed brings the events of runs to those who follow them.
package feed

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// Event is what followers need of an event.
type Event struct {
	Seq                         int64
	Kind, Node, Type, Time, Run string
	// Item reports that it is of an item of a batch, an iteration or an attempt that is repeated.
	Item bool
	// Nodes is how many the workflow has, Status and From are those of the end and of the beginning of a run.
	Nodes        int
	Status, From string
}

// parse reads a line of pflow-exec watch.
func parse(line []byte) Event {
	v := gjson.GetManyBytes(line, "seq", "event", "node", "type", "time", "run", "item", "iteration", "will_retry", "nodes.#", "status", "resumed_from")
	return Event{
		Seq: v[0].Int(), Kind: v[1].Str, Node: v[2].Str, Type: v[3].Str, Time: v[4].Str, Run: v[5].Str,
		Item: v[6].Exists() || v[7].Int() > 1 || v[8].Bool(), Nodes: int(v[9].Int()), Status: v[10].Str, From: v[11].Str,
	}
}

const (
	// keptTime is how long the events of a run are kept for a call that may have started it.
	keptTime = 30 * time.Second
	// restart is the pause before the events are read again after their command has ended.
	restart = 200 * time.Millisecond
)

// Feed brings the events of runs to those who follow them. One command reads the events of all runs, from the first time that somebody
// follows one, until ctx ends.
type Feed struct {
	suite *suite.Programs
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
	events []Event
	at     time.Time
}

// follower receives the events of a run, and of those that continue it.
type follower struct {
	run  string
	seen int64

	mu      sync.Mutex
	waiting []Event
	more    chan struct{} // has a value if events may wait
}

// maxWaiting is the most events that wait for a follower, whose client may be slow. Of more, only ends are kept.
const maxWaiting = 4096

// add hands an event to the follower. It never waits.
func (f *follower) add(event Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiting) >= maxWaiting && !strings.HasPrefix(event.Kind, "run_") {
		return
	}
	f.waiting = append(f.waiting, event)
	select {
	case f.more <- struct{}{}:
	default:
	}
}

// take returns the events that wait.
func (f *follower) take() []Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := f.waiting
	f.waiting = nil
	return taken
}

// isNew reports whether an event was not seen before: events come again when their command is started again.
func (f *follower) isNew(event Event) bool {
	switch {
	case event.Run != f.run:
		f.run, f.seen = event.Run, event.Seq
		return true
	case event.Seq == 0: // an end that is in no journal
		return true
	case event.Seq <= f.seen:
		return false
	}
	f.seen = event.Seq
	return true
}

// New returns the feed of a suite.
func New(ctx context.Context, s *suite.Programs) *Feed {
	return &Feed{suite: s, ctx: ctx, followers: map[string][]*follower{}, kept: map[string]*keptRun{}}
}

// Close ends the command and waits for its end.
func (r *Feed) Close() {
	r.mu.Lock()
	if r.stop != nil {
		r.stop()
	}
	r.since, r.closed = "", true
	r.mu.Unlock()
	r.reading.Wait()
}

// Expected is a call that is about to start a run.
type Expected struct {
	feed *Feed
	once sync.Once
}

// Expect has the events of new runs kept, until End or Follow is called.
func (r *Feed) Expect() *Expected {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending++
	return &Expected{feed: r}
}

// End says that the call has started no run, or that it need not be followed.
func (e *Expected) End() {
	e.once.Do(func() {
		e.feed.mu.Lock()
		defer e.feed.mu.Unlock()
		e.feed.settle()
	})
}

// settle counts a call off that knows its run. The mu must be held.
func (r *Feed) settle() {
	if r.pending--; r.pending == 0 {
		clear(r.kept)
	}
}

// Follow calls apply with the events of a run from its beginning until it has ended for good or ctx ends.
func (r *Feed) Follow(ctx context.Context, e *Expected, run string, apply func(Event)) {
	f := &follower{run: run, more: make(chan struct{}, 1)}
	r.enlist(e, f)
	defer r.leave(f)
	for {
		for _, event := range f.take() {
			if !f.isNew(event) {
				continue
			}
			if apply(event); ends(event) {
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

// ends reports whether nothing comes after an event: a run that is paused can be continued by another.
func ends(event Event) bool {
	return event.Kind == "run_interrupted" || event.Kind == "run_finished" && event.Status != "paused"
}

// enlist makes a follower one of those of its run. The follower begins with the events that are kept of it.
func (r *Feed) enlist(e *Expected, f *follower) {
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
func (r *Feed) leave(f *follower) {
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
func (r *Feed) read(ctx context.Context, since string) {
	for ctx.Err() == nil {
		_, err := r.suite.Run(ctx, suite.Command{Program: "pflow-exec", Args: []string{"--quiet", "watch", "--format=ndjson", "--since", since}, Long: true, OnLine: func(line []byte) {
			if interesting(line) {
				r.pass(parse(line))
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

// interesting reports whether a line can be an event that followers may need, without parsing it.
func interesting(line []byte) bool {
	head := line[:min(len(line), 80)]
	return bytes.Contains(head, []byte(`"event":"run_`)) || bytes.Contains(head, []byte(`"event":"node_`)) && !bytes.Contains(head, []byte(`"event":"node_progress"`))
}

// pass hands an event to those who follow its run, or keeps it for a call that may have started the run.
func (r *Feed) pass(event Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if event.Kind == "run_started" && event.From != "" { // it continues a run that may be followed
		if followers := r.followers[event.From]; len(followers) > 0 {
			r.followers[event.Run] = append(r.followers[event.Run], followers...)
		}
	}
	followers := r.followers[event.Run]
	for _, f := range followers {
		f.add(event)
	}
	if len(followers) == 0 && r.pending > 0 {
		r.keep(event)
	}
}

// keep keeps an event, and forgets runs that it has kept for long. The mu must be held.
func (r *Feed) keep(event Event) {
	now := time.Now()
	kept := r.kept[event.Run]
	if kept == nil {
		for run, old := range r.kept {
			if now.Sub(old.at) > keptTime {
				delete(r.kept, run)
			}
		}
		kept = &keptRun{at: now}
		r.kept[event.Run] = kept
	}
	kept.events = append(kept.events, event)
}
