// Package feed brings the events of runs to those who follow them: streams that show the progress of a call, and the pages of runs.
package feed

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// restart is the pause before the events are read again after their command has ended.
const restart = 200 * time.Millisecond

// Feed brings the events of runs to those who follow them. One command reads the events of all runs, from the first time that somebody
// follows or expects a run until the feed is closed.
type Feed struct {
	suite *suite.Programs
	// now returns the time.
	now     func() time.Time
	ctx     context.Context
	stop    context.CancelFunc
	reading sync.WaitGroup

	mu    sync.Mutex
	begun bool
	// followers are by run, and those of all runs under "".
	followers map[string]map[*Follower]bool
	// runs are those that go on, and those that have ended while calls were pending. The events that they hold have held bytes together.
	runs map[string]*heldRun
	held int
	// holdsAll reports that the events of all runs that go on are held.
	holdsAll bool
	// pending counts the calls whose runs are not known yet, the first since pendingSince.
	pending      int
	pendingSince time.Time
}

// New returns the feed of a suite. Close must be called.
func New(ctx context.Context, s *suite.Programs) *Feed {
	r := &Feed{suite: s, now: time.Now, followers: map[string]map[*Follower]bool{}, runs: map[string]*heldRun{}}
	r.ctx, r.stop = context.WithCancel(ctx)
	return r
}

// Close ends the command and waits for its end.
func (r *Feed) Close() {
	r.mu.Lock()
	r.stop()
	r.mu.Unlock()
	r.reading.Wait()
}

// HoldAll has the events of all runs held while they go on, for those who begin to follow a run that has begun.
func (r *Feed) HoldAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holdsAll = true
}

// Known is what the feed knows about a run.
type Known struct {
	Workflow string
	// Live reports that the run goes on, and Whole that its events were held from the first one: they wait for the follower.
	Live, Whole bool
}

// AttachAll returns a follower of the beginnings and ends of all runs, and of all events of some, from now on. Leave must be called.
func (r *Feed) AttachAll(runs []string) *Follower {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.newFollower("", false)
	for _, run := range runs {
		r.add(f, run)
	}
	return f
}

// Attach returns a follower of a run. Leave must be called.
func (r *Feed) Attach(run string) (*Follower, Known) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.newFollower(run, false)
	held := r.runs[run]
	if held == nil || !held.ended.IsZero() {
		return f, Known{}
	}
	for _, l := range held.lines {
		f.add(l)
	}
	return f, Known{held.workflow, true, held.lines != nil}
}

// IsLive reports whether a run goes on, as far as the feed knows.
func (r *Feed) IsLive(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	held := r.runs[run]
	return held != nil && held.ended.IsZero()
}

// Expected is a call that is about to start a run.
type Expected struct {
	feed *Feed
	once sync.Once
}

// Expect has the events of new runs held, until End or Follow is called.
func (r *Feed) Expect() *Expected {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.start()
	if r.pending++; r.pending == 1 {
		r.pendingSince = r.now()
	}
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
	if r.pending--; r.pending > 0 {
		return
	}
	for id, run := range r.runs {
		switch {
		case !run.ended.IsZero():
			r.forget(id)
		case !r.holdsAll:
			r.drop(run)
		}
	}
}

// enlist returns a follower of the progress of a run, which begins with the events that are held of it. The call e has started the run.
func (r *Feed) enlist(run string, e *Expected) *Follower {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.newFollower(run, true)
	if held := r.runs[run]; held != nil {
		for _, l := range held.lines {
			f.add(l)
		}
		if !held.ended.IsZero() {
			r.forget(run)
		}
	}
	e.once.Do(r.settle)
	return f
}

// newFollower returns a follower of a run. The mu must be held.
func (r *Feed) newFollower(run string, progress bool) *Follower {
	f := &Follower{feed: r, progress: progress, more: make(chan struct{}, 1)}
	r.add(f, run)
	r.start()
	return f
}

// add makes a follower one of a run. The mu must be held.
func (r *Feed) add(f *Follower, run string) {
	if r.followers[run] == nil {
		r.followers[run] = map[*Follower]bool{}
	}
	r.followers[run][f] = true
	f.runs = append(f.runs, run)
}

// start starts the reading once. The mu must be held.
func (r *Feed) start() {
	if r.begun || r.ctx.Err() != nil {
		return
	}
	r.begun = true
	since := firstID(r.now())
	r.reading.Go(func() { r.read(since) })
}

// firstID returns an id that comes before those of all runs that begin from now on, also of those that begin before the command does.
func firstID(now time.Time) string {
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(now)) // it fails for times after the year 10889
	return "r" + strings.ToLower(id.String())
}

// read reads the events of all runs that begin after one or go on, and again if the command ends, until the feed is closed.
func (r *Feed) read(since string) {
	for {
		err := r.suite.Lines(r.ctx, func(text []byte) { r.pass(parse(text)) }, "pflow-exec", "watch", "--format=ndjson", "--since="+since)
		if r.ctx.Err() != nil {
			return
		}
		since = r.again()
		r.suite.Log.Warn("the events of runs cannot be read; they are read again", "error", fault.From(err))
		select {
		case <-r.ctx.Done():
			return
		case <-time.After(restart):
		}
	}
}

// again forgets what the stream has brought, and returns the id after which it brings what followers and calls have missed.
func (r *Feed) again() (since string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	oldest := r.now()
	if r.pending > 0 {
		if oldest = oldest.Add(-keptTime); oldest.Before(r.pendingSince) {
			oldest = r.pendingSince
		}
	}
	since = firstID(oldest)
	missed := func(run string) {
		if run != "" && run <= since {
			since = run[:len(run)-1] // a part of an id comes before it
		}
	}
	for run := range r.followers {
		missed(run)
	}
	for run, held := range r.runs {
		if held.ended.IsZero() {
			missed(run)
		}
	}
	clear(r.runs)
	r.held = 0
	return since
}
