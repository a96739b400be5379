package veloflux

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/proc"
)

// temporaryPrefix opens the id of a pipeline that is made to verify SQL.
const temporaryPrefix = "__veloflux_mcp_verify__"

// temporaryID names a pipeline that is made to verify SQL: whose it is and how old, so that it can be told from another
// live process's when it is found later.
type temporaryID struct {
	owner   proc.Owner
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
	t = temporaryID{owner: proc.Owner{Machine: parts[0], PID: pid, Started: parts[2]}, created: time.UnixMilli(created), random: parts[4]}
	return t, pidErr == nil && createdErr == nil && t.String() == id
}

// temporaries are the temporary pipelines of one runtime: each is deleted, at once or as soon as the Manager allows.
type temporaries struct {
	manager *Manager
	log     *slog.Logger
	owner   func() proc.Owner

	mu      sync.Mutex
	closed  bool
	work    sync.WaitGroup // verifications that run, and deletions that are tried again
	closing chan struct{}
}

func newTemporaries(manager *Manager, log *slog.Logger) *temporaries {
	return &temporaries{manager: manager, log: log, owner: sync.OnceValue(proc.Self), closing: make(chan struct{})}
}

// while runs a verification under an id of its own; false when the runtime has been closed.
func (t *temporaries) while(verification func(id string)) (began bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	id := temporaryID{owner: t.owner(), created: time.Now(), random: strings.ToLower(rand.Text())}
	t.work.Go(func() { verification(id.String()) })
	return true
}

// remove deletes a temporary pipeline, whatever became of its create. When that cannot be done now it is tried again, and
// the reason is returned. Of a create that is uncertain, the Manager may make the pipeline after it was asked to delete it.
func (t *temporaries) remove(ctx context.Context, id string, uncertain bool) error {
	err := t.manager.DeletePipeline(ctx, id)
	missing := err != nil && asError(err).Code == CodeNotFound
	if err == nil || missing && !uncertain {
		return nil
	}
	t.work.Go(func() { t.retry(id, uncertain) }) // the caller is counted, so that nobody waits for none yet
	if missing {
		return nil
	}
	return err
}

// How long the deletion of a temporary pipeline is tried again, and how long one that the Manager may yet make is looked
// for. What is left then is swept later.
const (
	firstRetry = 200 * time.Millisecond
	lastRetry  = 30 * time.Second
	giveUp     = 10 * time.Minute
	lookFor    = 30 * time.Second
)

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
		err := t.manager.DeletePipeline(context.Background(), id)
		switch missing := err != nil && asError(err).Code == CodeNotFound; {
		case err == nil, missing && (last || !uncertain || time.Since(began) > lookFor):
			return
		case last || time.Since(began) > giveUp:
			t.log.Warn("a temporary pipeline is left behind", "id", id, "error", err)
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
		return nil
	case <-ctx.Done():
		return ended("deleting temporary pipelines", ctx.Err())
	}
}
