package cluster

import (
	"errors"
	"sync/atomic"
	"testing"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"github.com/pflow-suite/pflow/pkg/event"
)

func TestARunOutlivesHeartbeatsThatFail(t *testing.T) {
	w := newWorker(t, `printf '%s\n' '`+begun+`'; while [ ! -e "$STOP" ]; do sleep 0.02; done; printf '%s\n' '`+finished+`'`)
	stop := stopFile(t, w)
	var sent atomic.Int32
	w.heartbeat = heard(func(any) error {
		if sent.Add(1) < 4 {
			return serviceerror.NewUnavailable("the cluster starts again")
		}
		stop()
		return nil
	})
	if end, err := executeRun(t, w, newJob(t, w, Content{}), nil); err != nil || end.Status != event.Completed {
		t.Errorf("%v, %v", end, err)
	}
}

func TestARunThatTheClusterGaveToAnotherWorkerIsInterrupted(t *testing.T) {
	w := newWorker(t, `trap 'echo "$LAST"; exit 143' TERM; printf '%s\n' '`+begun+`'; sleep 60 & wait`)
	w.Env = append(w.Env, "LAST="+cancelledEvent)
	w.heartbeat = heard(func(any) error { return serviceerror.NewNotFound("another attempt has begun") })
	_, err := executeRun(t, w, newJob(t, w, Content{}), nil)
	if app, ok := errors.AsType[*temporal.ApplicationError](err); !ok || app.NonRetryable() || app.Type() != interrupted {
		t.Errorf("got %v", err)
	}
}

func TestACancelledRunEndsCancelled(t *testing.T) {
	for name, script := range map[string]string{
		"with its last event": `trap 'echo "$LAST"; exit 143' TERM; printf '%s\n' '` + begun + `'; sleep 60 & wait`,
		"before its first":    `sleep 60`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorker(t, script)
			w.Env = append(w.Env, "LAST="+cancelledEvent)
			w.heartbeat = heard(func(any) error { return temporal.NewCanceledError() })
			if end, err := executeRun(t, w, newJob(t, w, Content{}), nil); err != nil || end.Status != event.Cancelled {
				t.Errorf("%v, %v", end, err)
			}
		})
	}
}

// cancelledEvent is the last event of a run that was cancelled.
const cancelledEvent = `{"v":1,"seq":2,"event":"run_finished","run":"r01own","status":"cancelled"}`

func TestHeartbeatsDoNotWaitForALongLine(t *testing.T) {
	w := newWorker(t, "")
	prior, err := w.store.Pack("prior", []byte(begun+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	tr := &trail{tape: w.store.NewTape("r01"), prior: prior}
	tr.mu.Lock() // as Write does while it compresses
	defer tr.mu.Unlock()
	if details, due := tr.heartbeat(); !due || details.(standing).Empty() {
		t.Errorf("got %v, %v", details, due)
	}
}
