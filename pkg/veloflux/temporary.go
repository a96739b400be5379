package veloflux

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/process"
)

// temporaryPrefix begins the id of a pipeline that is created to verify SQL.
const temporaryPrefix = "__veloflux_mcp_verify__"

// temporaryID is the id of a pipeline that is created to verify SQL. It names the process and the time, so that a sweep
// can tell a leftover from the pipeline of a live process.
type temporaryID struct {
	owner   process.Identity
	created time.Time
	random  string
}

func (t temporaryID) String() string {
	return fmt.Sprintf("%s%s_%d_%s_%s_%s", temporaryPrefix, t.owner.Machine, t.owner.PID, t.owner.Started,
		strconv.FormatInt(t.created.UnixMilli(), 10), t.random)
}

// parseTemporary parses the id of a temporary pipeline. ok is false for any other id.
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

// isPart reports whether a text is a valid part of a temporary id.
func isPart(part string) bool {
	return part != "" && strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// temporaries are the temporary pipelines of one runtime. Each is deleted at once or as soon as the Manager allows it.
type temporaries struct {
	del   func(ctx context.Context, id string) error
	log   *slog.Logger
	owner func() process.Identity
	mark  string // in all ids of this runtime; another runtime of the process has its own
	// lookFor is how long a pipeline is looked for that the Manager may still create.
	lookFor time.Duration

	mu      sync.Mutex
	live    map[string]int // the number of users of an id: its verification and its retried deletion
	left    []string       // the ids that were given up because the runtime is being closed
	closed  bool
	work    sync.WaitGroup // the work that Close waits for
	closing chan struct{}
}

func newTemporaries(del func(ctx context.Context, id string) error, log *slog.Logger) *temporaries {
	return &temporaries{
		del: del, log: log, owner: sync.OnceValue(process.Self), mark: strings.ToLower(rand.Text()), lookFor: lookFor,
		live: map[string]int{}, closing: make(chan struct{}),
	}
}

// begin runs work in the background; close waits for it. It returns false if the runtime has been closed.
func (t *temporaries) begin(work func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.work.Go(work)
	return true
}

// run runs a verification in the background with a new id. It returns false if the runtime has been closed.
func (t *temporaries) run(verification func(id string)) (began bool) {
	id := temporaryID{owner: t.owner(), created: time.Now(), random: t.mark + strings.ToLower(rand.Text()[:10])}.String()
	return t.begin(func() {
		defer t.hold(id)()
		verification(id)
	})
}

// hold records one more user of an id until the returned function is called.
func (t *temporaries) hold(id string) (done func()) {
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

// held reports whether an id belongs to this runtime, and whether it has a user.
func (t *temporaries) held(id temporaryID) (own, live bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.HasPrefix(id.random, t.mark), t.live[id.String()] > 0
}

// The deletion of a temporary pipeline is retried after pauses that grow from firstRetry to lastRetry, until giveUp. A
// pipeline that the Manager may still create is looked for until lookFor, at least every lookEvery. A later sweep deletes
// what is left then.
const (
	firstRetry = 200 * time.Millisecond
	lastRetry  = 30 * time.Second
	giveUp     = 10 * time.Minute
	lookFor    = 30 * time.Second
	lookEvery  = 6400 * time.Millisecond
)

// remove deletes a temporary pipeline, and reports whether it existed. If it cannot be deleted now, remove returns the
// reason, and retries in the background unless the Manager refused for good. uncertain means that the outcome of the create
// is unknown, so that the pipeline may still be created after the request to delete it.
func (t *temporaries) remove(ctx context.Context, id string, uncertain bool) (found bool, left error) {
	err := t.del(ctx, id)
	if !settled(err, uncertain) {
		seen := t.hold(id)
		t.work.Go(func() { // the caller runs under begin, so close is still waiting
			defer seen()
			t.retry(id, uncertain)
		})
	}
	return err == nil, ignoreNotFound(err)
}

// ignoreNotFound returns the error of a deletion, or nil if the pipeline does not exist.
func ignoreNotFound(err error) error {
	if isNotFound(err) {
		return nil
	}
	return err
}

func isNotFound(err error) bool { return err != nil && AsError(err).Code == CodeNotFound }

// settled reports whether a deletion need not be retried: the pipeline is gone, or the Manager will never delete it.
func settled(err error, uncertain bool) bool {
	if err == nil || isNotFound(err) {
		return err == nil || !uncertain
	}
	status, answered := AsError(err).Details["status"].(int)
	return answered && status < 500 && status != http.StatusConflict && status != http.StatusTooManyRequests
}

// retry retries the deletion of a pipeline until it is settled. Once the runtime is being closed it tries once more, except
// for a pipeline that is being looked for.
func (t *temporaries) retry(id string, uncertain bool) {
	began := time.Now()
	looking := func() bool { return uncertain && time.Since(began) < t.lookFor }
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		closing := t.closing
		if looking() {
			closing = nil
			wait = min(wait, lookEvery, t.lookFor-time.Since(began))
		}
		timer := time.NewTimer(wait)
		last := false
		select {
		case <-timer.C:
		case <-closing:
			timer.Stop()
			last = true
		}
		err := t.del(context.Background(), id)
		switch {
		case settled(err, looking()):
			if err = ignoreNotFound(err); err != nil {
				t.log.Warn("a temporary pipeline may not be deleted", "id", id, "error", err)
			}
			return
		case last || time.Since(began) > giveUp:
			t.log.Warn("a temporary pipeline is left behind; it will be swept", "id", id, "error", err)
			if last {
				t.mu.Lock()
				t.left = append(t.left, id)
				t.mu.Unlock()
			}
			return
		}
	}
}

// ids returns the pipelines that exist now, or may, in order.
func (t *temporaries) ids() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.live))
}

// close retries pending deletions once more, and waits for them, for running verifications, and for pipelines that are being
// looked for, until ctx ends.
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
		e := contextEnded("deleting temporary pipelines", ctx.Err())
		if ids := t.ids(); len(ids) > 0 {
			e.Message += ". These may be left behind: " + strings.Join(ids, ", ")
		}
		return e
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.left) > 0 {
		return &Error{Code: CodeManagerHTTP, Message: fmt.Sprintf("temporary pipelines that could not be deleted: %d (%s); the next sweep deletes them", len(t.left), strings.Join(t.left, ", "))}
	}
	return nil
}
