package veloflux

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/process"
)

// temporaryPrefix opens the id of a pipeline that is made to verify SQL.
const temporaryPrefix = "__veloflux_mcp_verify__"

// temporaryID names a pipeline that is made to verify SQL: whose it is and how old, so that it can be told from another
// live process's when it is found later.
type temporaryID struct {
	owner   process.Identity
	created time.Time
	random  string
}

func (t temporaryID) String() string {
	return fmt.Sprintf("%s%s_%d_%s_%s_%s", temporaryPrefix, t.owner.Machine, t.owner.PID, t.owner.Started,
		strconv.FormatInt(t.created.UnixMilli(), 10), t.random)
}

// parseTemporary reads the id of a temporary pipeline; false for any other.
func parseTemporary(id string) (t temporaryID, ok bool) {
	rest, ok := strings.CutPrefix(id, temporaryPrefix)
	parts := strings.Split(rest, "_")
	if !ok || len(parts) != 5 {
		return t, false
	}
	pid, pidErr := strconv.Atoi(parts[1])
	created, createdErr := strconv.ParseInt(parts[3], 10, 64)
	t = temporaryID{owner: process.Identity{Machine: parts[0], PID: pid, Started: parts[2]}, created: time.UnixMilli(created), random: parts[4]}
	return t, pidErr == nil && createdErr == nil && t.String() == id && isPart(parts[0]) && isPart(parts[2]) && isPart(parts[4])
}

// isPart says whether a part of an id is made of what parts are made of.
func isPart(part string) bool {
	return part != "" && strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// temporaries are the temporary pipelines of one runtime: each is deleted, at once or as soon as the Manager allows.
type temporaries struct {
	del   func(ctx context.Context, id string) error
	log   *slog.Logger
	owner func() process.Identity
	mark  string // in all ids of this runtime: another one of the process has its own

	mu      sync.Mutex
	live    map[string]int // how many here see to an id: a verification, a deletion that is tried again
	left    int            // how many were given up since the runtime is being closed
	closed  bool
	work    sync.WaitGroup // what Close waits for
	closing chan struct{}
}

func newTemporaries(del func(ctx context.Context, id string) error, log *slog.Logger) *temporaries {
	return &temporaries{
		del: del, log: log, owner: sync.OnceValue(process.Self), mark: strings.ToLower(rand.Text()),
		live: map[string]int{}, closing: make(chan struct{}),
	}
}

// begin counts work that close waits for; false when it is too late.
func (t *temporaries) begin(work func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.work.Go(work)
	return true
}

// while runs a verification under an id of its own; false when the runtime has been closed.
func (t *temporaries) while(verification func(id string)) (began bool) {
	id := temporaryID{owner: t.owner(), created: time.Now(), random: t.mark + strings.ToLower(rand.Text()[:10])}.String()
	return t.begin(func() {
		defer t.see(id)()
		verification(id)
	})
}

// see notes that one more here sees to an id, until the function that it gives is called.
func (t *temporaries) see(id string) (done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live[id]++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.live[id]--; t.live[id] == 0 {
			delete(t.live, id)
		}
	}
}

// seen says of an id whether it is one of this runtime's, and whether somebody here sees to it.
func (t *temporaries) seen(id temporaryID) (own, live bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.HasPrefix(id.random, t.mark), t.live[id.String()] > 0
}

// How long the deletion of a temporary pipeline is tried again, and how long one that the Manager may yet make is looked
// for. What is left then is swept later.
const (
	firstRetry = 200 * time.Millisecond
	lastRetry  = 30 * time.Second
	giveUp     = 10 * time.Minute
	lookFor    = 30 * time.Second
)

// remove deletes a temporary pipeline, whatever became of its create. When that cannot be done now it is tried again in the
// background, unless it was refused for good, and the reason is returned. A pipeline whose create is uncertain may be made
// after it was asked to be deleted.
func (t *temporaries) remove(ctx context.Context, id string, uncertain bool) error {
	err := t.del(ctx, id)
	if settled(err, uncertain) {
		return present(err)
	}
	seen := t.see(id)
	t.work.Go(func() { // whoever calls is counted, so that close is not yet done
		defer seen()
		t.retry(id, uncertain)
	})
	return present(err)
}

// present is the error of a deletion, but for one of what is not there.
func present(err error) error {
	if missing(err) {
		return nil
	}
	return err
}

func missing(err error) bool { return err != nil && AsError(err).Code == CodeNotFound }

// settled says whether there is nothing more to do: it is gone, or what answers will not delete it ever.
func settled(err error, uncertain bool) bool {
	if err == nil || missing(err) {
		return err == nil || !uncertain
	}
	status, answered := AsError(err).Details["status"].(int)
	return answered && status < 500 && status != http.StatusConflict && status != http.StatusTooManyRequests
}

func (t *temporaries) retry(id string, uncertain bool) {
	began := time.Now()
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		timer := time.NewTimer(wait)
		last := false
		select {
		case <-timer.C:
		case <-t.closing:
			timer.Stop()
			last = true
		}
		err := t.del(context.Background(), id)
		switch {
		case settled(err, uncertain && !last && time.Since(began) < lookFor):
			if err = present(err); err != nil {
				t.log.Warn("a temporary pipeline may not be deleted", "id", id, "error", err)
			}
			return
		case last || time.Since(began) > giveUp:
			t.log.Warn("a temporary pipeline is left behind; it will be swept", "id", id, "error", err)
			if last {
				t.mu.Lock()
				t.left++
				t.mu.Unlock()
			}
			return
		}
	}
}

// close tries what is left once more, and waits for it and for verifications that run until ctx ends.
func (t *temporaries) close(ctx context.Context) error {
	t.mu.Lock()
	if !t.closed {
		t.closed = true
		close(t.closing)
	}
	t.mu.Unlock()
	done := make(chan struct{})
	go func() {
		t.work.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return ended("deleting temporary pipelines", ctx.Err())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left > 0 {
		return &Error{Code: CodeManagerHTTP, Message: fmt.Sprintf("temporary pipelines could not be deleted, and are left to the next sweep: %d", t.left)}
	}
	return nil
}
