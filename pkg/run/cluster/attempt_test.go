package cluster

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"github.com/pflow-suite/pflow/internal/fakeprograms"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/cluster/payload"
)

// quiet returns a logger of the SDK that writes nothing.
func quiet() log.Logger { return log.NewStructuredLogger(slog.New(slog.DiscardHandler)) }

// newWorker returns a worker whose pflow-exec is a shell script.
func newWorker(t *testing.T, script string) *Worker {
	t.Helper()
	dir := t.TempDir()
	fakeprograms.Write(t, filepath.Join(dir, "pflow-exec"), "#!/bin/sh\n"+script)
	return &Worker{Suite: dir, Env: os.Environ(), store: &payload.Store{}, log: slog.New(slog.DiscardHandler), heartbeat: heard(func(any) error { return nil })}
}

// heard returns a function that takes heartbeats.
func heard(take func(details any) error) func(context.Context, []byte, ...any) error {
	return func(_ context.Context, _ []byte, details ...any) error { return take(details[0]) }
}

// stopFile names a file for the script of a worker in $STOP. The function that it returns makes the file.
func stopFile(t *testing.T, w *Worker) (stop func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stop")
	w.Env = append(w.Env, "STOP="+path)
	return func() { _ = os.WriteFile(path, nil, 0o600) }
}

// request packs the document of an attempt.
func request(t *testing.T, w *Worker, document string) Attempt {
	t.Helper()
	p, err := w.store.Pack("request", []byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return Attempt{V: Version, Request: p, LeaseMS: 60_000}
}

// executeAttempt executes an attempt in an activity of the SDK's test environment.
func executeAttempt(t *testing.T, w *Worker, a Attempt, set func(*testsuite.TestActivityEnvironment)) (AttemptEnd, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet())
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(10 * time.Minute)
	if set != nil {
		set(env)
	}
	env.RegisterActivityWithOptions(w.attempt, activity.RegisterOptions{Name: attemptActivityName})
	value, err := env.ExecuteActivity(attemptActivityName, a)
	if err != nil {
		return AttemptEnd{}, err
	}
	var end AttemptEnd
	return end, errors.Join(value.Get(&end), errIfEmpty(end))
}

func errIfEmpty(end AttemptEnd) error {
	if end.Lines.Empty() {
		return errors.New("the attempt has no lines")
	}
	return nil
}

func linesOf(t *testing.T, w *Worker, end AttemptEnd) string {
	t.Helper()
	b, err := w.store.Unpack(end.Lines, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAnAttemptKeepsWhatTheProgramPrints(t *testing.T) {
	w := newWorker(t, `read -r request
echo '{"progress":{"done":1}}'; echo '{"progress":{"llm_usage":{"model":"m"}}}'; echo '{"log":{"stream":"stdout","text":"said"}}'; echo "$request"; exit 1`)
	end, err := executeAttempt(t, w, request(t, w, `{"v":1,"type":"shell","params":{}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(linesOf(t, w, end)), "\n")
	if end.Exit != 1 || len(lines) != 3 || !strings.Contains(lines[0], "llm_usage") || gjson.Get(lines[1], "log.text").Str != "said" {
		t.Errorf("exit status %d, %q", end.Exit, lines)
	}
	if r := gjson.Parse(lines[2]); !r.Get("held").Bool() || r.Get("type").Str != "shell" {
		t.Errorf("the program has read %s", lines[2])
	}
}

func TestProgressIsInTheHeartbeats(t *testing.T) {
	w := newWorker(t, `echo '{"progress":{"done":7}}'; while [ ! -e "$STOP" ]; do sleep 0.02; done; echo '{"$action":"default"}'`)
	stop := stopFile(t, w)
	var seen []string
	w.heartbeat = heard(func(details any) error {
		if progress, _ := details.([]byte); len(progress) > 0 {
			seen = append(seen, string(progress))
			stop()
		}
		return nil
	})
	_, err := executeAttempt(t, w, request(t, w, `{"v":1}`), nil)
	if err != nil || len(seen) == 0 || seen[0] != `{"progress":{"done":7}}` {
		t.Errorf("%q, %v", seen, err)
	}
}

func TestAnAttemptFails(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		attempt func(*Attempt)
		want    fault.Type
	}{
		"of a newer version":              {"exit 0", func(a *Attempt) { a.V++ }, fault.Protocol},
		"with a document that is no JSON": {"exit 0", func(a *Attempt) { a.Request, _ = (&payload.Store{}).Pack("x", []byte("{")) }, fault.Protocol},
		"whose program says nothing":      {"echo broken >&2; exit 2", func(*Attempt) {}, fault.Unavailable},
		"whose program is killed":         {"kill -9 $$", func(*Attempt) {}, fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorker(t, c.script)
			a := request(t, w, `{"v":1}`)
			c.attempt(&a)
			_, err := executeAttempt(t, w, a, nil)
			if err == nil || faultOf(err, "the attempt").Type != c.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOutputBeyondTheLimitIsTheFailureOfTheNode(t *testing.T) {
	w := newWorker(t, "head -c 3000000 /dev/urandom | base64; sleep 60")
	end, err := executeAttempt(t, w, request(t, w, `{"v":1}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if reply := gjson.Parse(linesOf(t, w, end)); reply.Get("$fault.type").Str != string(fault.TooLarge) || reply.Get("$action").Str != "error" {
		t.Errorf("the reply is %s", reply.Raw)
	}
}

func TestADrainedWorkerEndsItsAttempts(t *testing.T) {
	w := newWorker(t, "sleep 60 & wait")
	stopping := make(chan struct{})
	close(stopping)
	_, err := executeAttempt(t, w, request(t, w, `{"v":1}`), func(env *testsuite.TestActivityEnvironment) { env.SetWorkerStopChannel(stopping) })
	if err == nil || faultOf(err, "the attempt").Type != fault.Unavailable {
		t.Errorf("got %v", err)
	}
}

// anything is the argument of OnActivity that stands for any: a constant of the package mock of testify.
const anything = "mock.Anything"

// newWorkflow returns an environment in which activities do what the test says. Its clock is virtual.
func newWorkflow(t *testing.T, activities map[string]any) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet())
	env := suite.NewTestWorkflowEnvironment()
	for name, do := range activities {
		env.RegisterActivityWithOptions(do, activity.RegisterOptions{Name: name})
	}
	return env
}

func TestTheWorkflowOfAnAttemptReturnsItsEnd(t *testing.T) {
	var calls int
	env := newWorkflow(t, map[string]any{attemptActivityName: func(context.Context, Attempt) (AttemptEnd, error) {
		calls++
		return AttemptEnd{Exit: 3}, nil
	}})
	env.ExecuteWorkflow(attemptWorkflow, Attempt{V: Version, LeaseMS: 1000})
	var end AttemptEnd
	if err := env.GetWorkflowResult(&end); err != nil || end.Exit != 3 || calls != 1 {
		t.Errorf("%v, %v, %d calls", end, err, calls)
	}
}

func TestAnAttemptIsNotRepeated(t *testing.T) {
	var calls int
	env := newWorkflow(t, map[string]any{attemptActivityName: func(context.Context, Attempt) (AttemptEnd, error) {
		calls++
		return AttemptEnd{}, errors.New("lost")
	}})
	env.ExecuteWorkflow(attemptWorkflow, Attempt{V: Version, LeaseMS: 1000})
	if err := env.GetWorkflowError(); err == nil || calls != 1 {
		t.Errorf("%v, %d calls", err, calls)
	}
}

func TestTheWorkflowRefusesANewerVersion(t *testing.T) {
	env := newWorkflow(t, nil)
	env.ExecuteWorkflow(attemptWorkflow, Attempt{V: Version + 1})
	if err := env.GetWorkflowError(); err == nil || faultOf(err, "the attempt").Type != fault.Protocol {
		t.Errorf("got %v", err)
	}
}

func TestAnAttemptWithoutASenderIsCancelled(t *testing.T) {
	for name, signals := range map[string]int{"without a signal": 0, "after three signals": 3} {
		t.Run(name, func(t *testing.T) {
			env := newWorkflow(t, map[string]any{attemptActivityName: func(context.Context, Attempt) (AttemptEnd, error) { return AttemptEnd{}, nil }})
			env.OnActivity(attemptActivityName, anything, anything).After(24*time.Hour).Return(AttemptEnd{}, nil)
			began := env.Now()
			for i := range signals {
				env.RegisterDelayedCallback(func() { env.SignalWorkflow(aliveSignal, int64(60_000)) }, time.Duration(i+1)*50*time.Second)
			}
			var cancelled time.Duration
			env.SetOnActivityCanceledListener(func(*activity.Info) { cancelled = env.Now().Sub(began) })
			env.ExecuteWorkflow(attemptWorkflow, Attempt{V: Version, LeaseMS: 60_000})
			if want := time.Minute + time.Duration(signals)*50*time.Second; cancelled != want {
				t.Errorf("cancelled after %v, want %v", cancelled, want)
			}
		})
	}
}

func TestLeasesGrowSlowerThanAHistoryMay(t *testing.T) {
	signals, age := 0, time.Duration(0)
	for age < longest {
		next, lasts := lease(age)
		if lasts < 2*next {
			t.Fatalf("at %v the lease of %v ends soon after the next signal, %v", age, lasts, next)
		}
		age += next
		signals++
	}
	if signals > 1000 {
		t.Errorf("an attempt of a year needs %d signals", signals)
	}
}

func TestCheckSecrets(t *testing.T) {
	key, err := payload.ParseKey(strings.Repeat("0f", 32))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		document string
		values   map[string]string
		env      []string
		secret   bool
	}{
		{`{"params":{"command":"echo"},"env":{"HOME":"/x"}}`, nil, []string{"HOME=/x"}, false},
		{`{"params":{"command":"echo hunter22"}}`, map[string]string{"pin": "hunter22"}, nil, true},
		{`{"params":{},"env":{"API_TOKEN":"hunter22"}}`, nil, []string{"API_TOKEN=hunter22"}, true},
		{`{"params":{"password":"hunter22"}}`, nil, nil, true},
	} {
		if err := CheckSecrets(nil, []byte(c.document), c.values, c.env); (err != nil) != c.secret {
			t.Errorf("%s: %v", c.document, err)
		}
		if err := CheckSecrets(key, []byte(c.document), c.values, c.env); err != nil {
			t.Errorf("%s with a key: %v", c.document, err)
		}
	}
}
