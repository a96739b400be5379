package suitetools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// silence is how long the node of a silentRun says nothing.
const silence = 6 * time.Hour

// silentRun is a pflow-exec that runs one workflow, whose only node is silent, by the clock of the test.
type silentRun struct {
	*testing.T
	mu      sync.Mutex
	began   time.Time
	started int // runs
	calls   int // commands that start a run, or find it
}

func (s *silentRun) front() *Front {
	return &Front{Suite: &suite.Programs{Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Execute: s.execute}, Toolsets: []string{"core", "runs"}}
}

// left returns how long the run goes on.
func (s *silentRun) left() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Until(s.began.Add(silence))
}

func (s *silentRun) execute(ctx context.Context, c suite.Command) (*suite.Outcome, error) {
	line := strings.Join(c.Args, " ")
	switch {
	case slices.Contains(c.Args, "start"):
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.calls++; !strings.Contains(line, "--resume=r1") {
			s.started++
			s.began = time.Now()
		}
		return &suite.Outcome{Output: []byte(`{"run_id":"r1"}`)}, nil
	case slices.Contains(c.Args, "wait"):
		patience := silence * 2
		for _, arg := range c.Args {
			if text, ok := strings.CutPrefix(arg, "--for="); ok {
				patience, _ = time.ParseDuration(text + "s")
			}
		}
		select {
		case <-time.After(min(patience, max(0, s.left()))):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if s.left() > 0 {
			return &suite.Outcome{Output: []byte(`{"success":true,"run_id":"r1","status":"running","outputs":{},"next":"The run goes on"}`)}, nil
		}
		return &suite.Outcome{Output: []byte(`{"success":true,"run_id":"r1","status":"completed","outputs":{"n":1}}`)}, nil
	case slices.Contains(c.Args, "events"):
		c.OnLine([]byte(`{"event":"run_started","nodes":["think"]}`))
		c.OnLine([]byte(`{"event":"node_started","node":"think"}`))
		select {
		case <-time.After(max(0, s.left())):
			c.OnLine([]byte(`{"event":"node_completed","node":"think"}`))
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		return &suite.Outcome{}, nil
	}
	s.Errorf("it calls %s", line)
	return nil, errors.New("not a command of a run that goes on")
}

// timers are how long a client waits for the first answer to a call, and for more after that. It takes a report of progress for an
// answer if it asks for progress.
type timers struct {
	first, idle time.Duration
	progress    bool
}

// call has a client make a call, which it cancels when it has waited too long. It returns nil then.
func (c timers) call(t *testing.T, f *Front, a *executeArguments, wait func(ctx context.Context, w *awaiting) *mcpserver.Result) json.RawMessage {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	timer := time.AfterFunc(c.first, func() { cancel(&mcpserver.Ended{By: mcpserver.Gone, Err: errors.New("Request timed out")}) })
	defer timer.Stop()
	w := newAwaiting(f, &mcpserver.Call{Tool: "execute"}, a, f.stopped)
	defer w.end()
	if c.progress {
		w.shown = newProgress(func(float64, float64, string) { timer.Reset(c.idle) })
	}
	r := wait(ctx, w)
	if ctx.Err() != nil {
		return nil
	}
	return r.Structured
}

// A node that is silent for six hours, under the timers of clients: a call that reports progress lives, any other hands over to a
// handle in time, and there is one run.
func TestASilentRunOutlivesTheTimersOfClients(t *testing.T) {
	for name, c := range map[string]struct {
		timers
		endless bool
		calls   int // at least
		lost    int // calls that the client gives up
	}{
		"Claude Code over stdio":              {timers{30 * time.Minute, 30 * time.Minute, true}, true, 1, 0},
		"Claude Code over HTTP":               {timers{time.Minute, 5 * time.Minute, true}, true, 1, 0},
		"60 s a report":                       {timers{time.Minute, time.Minute, true}, true, 1, 0},
		"60 s a call, by handles":             {timers{time.Minute, time.Minute, false}, false, int(silence / defaultWait), 0},
		"60 s a call, and a tool that waits":  {timers{time.Minute, time.Minute, false}, true, int(silence / defaultWait), 1},
		"30 min a call, by handles":           {timers{30 * time.Minute, 30 * time.Minute, false}, false, int(silence / defaultWait), 0},
		"60 s a report, by handles all along": {timers{time.Minute, time.Minute, true}, false, int(silence / defaultWait), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &silentRun{T: t}
				f := s.front()
				start := func(a *executeArguments) func(context.Context, *awaiting) *mcpserver.Result {
					return func(ctx context.Context, w *awaiting) *mcpserver.Result {
						run, failed := startRun(ctx, f, a)
						if failed != nil {
							t.Fatal(string(failed.Structured))
						}
						_, r := w.answer(ctx, run)
						return r
					}
				}
				began, calls, lost := time.Now(), 1, 0
				a := &executeArguments{Name: "w", endless: c.endless}
				answer := c.call(t, f, a, start(a))
				for gjson.GetBytes(answer, "status").Str != "completed" {
					if calls++; answer == nil {
						lost++
					}
					if calls > 1000 || s.left() <= 0 && lost > 1 {
						t.Fatalf("%d calls, %d lost: %s", calls, lost, answer)
					}
					a := &executeArguments{Name: "w", Resume: "r1"}
					answer = c.call(t, f, a, start(a))
				}
				if took := time.Since(began); took < silence || took > silence+time.Minute || s.started != 1 || s.calls != calls || calls < c.calls || lost != c.lost {
					t.Errorf("after %s: %d calls (%d commands), %d lost, %d runs", took, calls, s.calls, lost, s.started)
				}
			})
		})
	}
}

// While a call waits for six silent hours, at most 20 seconds lie between two reports, each higher than the one before.
func TestTheHeartbeatOfASilentRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &silentRun{T: t}
		f := s.front()
		r := &reports{T: t}
		last, longest := time.Now(), time.Duration(0)
		w := newAwaiting(f, &mcpserver.Call{Tool: "execute"}, &executeArguments{Name: "w", endless: true}, f.stopped)
		w.shown = newProgress(func(done, total float64, message string) {
			r.add(done, total, message)
			longest, last = max(longest, time.Since(last)), time.Now()
		})
		run, _ := startRun(t.Context(), f, w.arguments)
		_, answer := w.answer(t.Context(), run)
		w.end()
		// The last heartbeat may come at the time of the end, before or after it.
		if n := len(r.now()); gjson.GetBytes(answer.Structured, "status").Str != "completed" || longest > heartbeat || n < int(silence/heartbeat)-1 || r.messages()[n-3] != "running think" {
			t.Errorf("%d reports, at most %s apart: %s", n, longest, fmt.Sprint(r.messages()[max(0, n-3):]))
		}
	})
}
