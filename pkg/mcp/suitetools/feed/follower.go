package feed

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// maxWaiting is the most bytes that wait for a follower, whose client may be slow. Of more, only the beginnings and ends of runs are kept.
const maxWaiting = 2 * maxHeld

// Follower receives the events of a run, or the beginnings and ends of all runs.
type Follower struct {
	feed *Feed
	// progress reports that only the progress of the run is wanted, and that of the runs which continue it.
	progress bool
	// runs are those under which the feed has the follower. The mutex of the feed guards them.
	runs []string

	mu      sync.Mutex
	waiting []Line
	size    int
	lost    bool
	more    chan struct{}
}

// More has a value if events may wait.
func (f *Follower) More() <-chan struct{} { return f.more }

// Take returns the events that wait, and whether some were lost because they were too many.
func (f *Follower) Take() (lines []Line, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	lines, f.waiting, f.size = f.waiting, nil, 0
	return lines, f.lost
}

// Leave ends the following.
func (f *Follower) Leave() {
	f.feed.mu.Lock()
	defer f.feed.mu.Unlock()
	for _, run := range f.runs {
		if delete(f.feed.followers[run], f); len(f.feed.followers[run]) == 0 {
			delete(f.feed.followers, run)
		}
	}
}

// add hands an event to the follower. It never waits.
func (f *Follower) add(l Line) {
	ofRun := strings.HasPrefix(l.Kind, "run_")
	if f.progress && !ofRun && (l.Kind == "node_progress" || !strings.HasPrefix(l.Kind, "node_")) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size+len(l.JSON) > maxWaiting {
		if f.lost = true; !ofRun {
			return
		}
	}
	f.waiting = append(f.waiting, l)
	f.size += len(l.JSON)
	select {
	case f.more <- struct{}{}:
	default:
	}
}

// Follow calls apply with the events that show the progress of a run, from its beginning until it has ended for good or ctx ends. A run that
// continues a paused one belongs to it. The call e has started the run.
func (r *Feed) Follow(ctx context.Context, e *Expected, run string, apply func(Event)) {
	f := r.enlist(run, e)
	defer f.Leave()
	f.show(ctx, newOnce(apply))
}

// show passes the events of a run on as they come, until the run has ended for good or ctx ends.
func (f *Follower) show(ctx context.Context, to *once) {
	for {
		lines, _ := f.Take()
		if slices.ContainsFunc(lines, to.pass) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-f.more:
		}
	}
}

// once passes each event on once: they come again when their command is started again.
type once struct {
	seen  map[string]int64
	apply func(Event)
}

func newOnce(apply func(Event)) *once { return &once{map[string]int64{}, apply} }

// pass passes an event on. It reports whether the run has ended for good.
func (o *once) pass(l Line) (ended bool) {
	if l.Seq != 0 && l.Seq <= o.seen[l.Run] {
		return false
	}
	o.seen[l.Run] = l.Seq
	event := l.Event()
	o.apply(event)
	return l.Ends() && event.Status != "paused"
}
