package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/tidwall/gjson"
	"golang.org/x/sync/semaphore"
)

// activeCalls are the calls of a session that go on.
type activeCalls struct {
	gate *semaphore.Weighted

	mu       sync.Mutex
	attempts map[*attempt]bool
	open     map[*openQuestion]bool
}

// openQuestion is a question whose call is not known yet.
type openQuestion struct {
	// candidates are the calls that may have asked it: those that went on when it came, and still do.
	candidates map[*attempt]bool
	// tainted is true if one of them was given up since. Then the question may have been its.
	tainted bool
	// decided is closed when by is set: to the call, or to nil if that is not known.
	decided chan struct{}
	by      *attempt
	// ended are the calls that were ended because by is not known.
	ended []*attempt
}

func newActiveCalls() *activeCalls {
	return &activeCalls{gate: semaphore.NewWeighted(maxCalls), attempts: map[*attempt]bool{}, open: map[*openQuestion]bool{}}
}

// maxCalls is the most calls of a session at the same time.
const maxCalls = 1 << 30

// enter waits until a call may begin: one that is alone, until no other goes on. The caller must call the returned function.
func (c *activeCalls) enter(ctx context.Context, alone bool) (leave func(), err error) {
	weight := int64(1)
	if alone {
		weight = maxCalls
	}
	if err := c.gate.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	return func() { c.gate.Release(weight) }, nil
}

func (c *activeCalls) add(a *attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attempts[a] = true
}

// remove removes an attempt that has ended. answered is false if it was given up before the server had answered.
func (c *activeCalls) remove(a *attempt, answered bool) {
	a.mu.Lock()
	a.over = true
	a.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.attempts, a)
	close(a.done)
	for q := range c.open {
		if q.candidates[a] {
			delete(q.candidates, a)
			q.tainted = q.tainted || !answered
		}
	}
	c.decide()
}

func (c *activeCalls) all() []*attempt {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.attempts))
}

// ofTask returns the attempt with a task, or nil.
func (c *activeCalls) ofTask(id string) *attempt {
	for _, a := range c.all() {
		a.mu.Lock()
		found := a.task == id
		a.mu.Unlock()
		if found {
			return a
		}
	}
	return nil
}

// errAskedByOneOf ends calls of which one has asked a question, which one is unknown. They are repeated, one after the other.
var errAskedByOneOf = errors.New("one of several calls has asked a question")

// asker returns the attempt that has asked a question. A message on standard output does not say whose it is. So asker waits
// until all calls but one have ended; the call that has asked cannot end. If as many questions are open as calls, these end with
// errAskedByOneOf, and asker returns nil, as it does if no call goes on.
//
// In that case asker also returns the calls that it has ended.
func (c *activeCalls) asker(ctx context.Context) (by *attempt, ended []*attempt) {
	c.mu.Lock()
	q := &openQuestion{candidates: maps.Clone(c.attempts), decided: make(chan struct{})}
	c.open[q] = true
	c.decide()
	c.mu.Unlock()
	select {
	case <-q.decided:
		return q.by, q.ended
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, q)
		return nil, nil
	}
}

// decide decides the open questions whose call is known, or cannot be known.
func (c *activeCalls) decide() {
	asking := map[*attempt]bool{}
	for q := range c.open {
		switch {
		case len(q.candidates) > 1 && !q.tainted:
			maps.Copy(asking, q.candidates)
		case len(q.candidates) == 1 && !q.tainted:
			for a := range q.candidates {
				c.settle(q, a)
			}
		default:
			c.settle(q, nil)
		}
	}
	if len(c.open) == 0 || len(c.open) < len(asking) {
		return
	}
	for q := range c.open {
		c.settle(q, nil)
	}
}

// settle decides a question. Without the call, all that may have asked it end.
func (c *activeCalls) settle(q *openQuestion, by *attempt) {
	delete(c.open, q)
	if q.by = by; by == nil {
		for a := range q.candidates {
			a.cut(errAskedByOneOf)
			q.ended = append(q.ended, a)
		}
	}
	close(q.decided)
}

// report passes a progress notification on, unless the call is over or the notification belongs to another one.
func (a *attempt) report(params json.RawMessage) {
	p := gjson.ParseBytes(params)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over && a.Progress != nil && p.Get("progressToken").String() == a.token {
		a.Progress(p.Get("progress").Num, p.Get("total").Num, p.Get("message").Str)
	}
}
