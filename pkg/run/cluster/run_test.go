package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/cluster/payload"
)

const (
	begun    = `{"v":1,"seq":1,"event":"run_started","run":"r01own","nodes":["a"]}`
	reused   = `{"v":1,"seq":2,"event":"node_reused","run":"r01own","node":"a"}`
	finished = `{"v":1,"seq":3,"event":"run_finished","run":"r01own","status":"completed"}`
)

// newJob returns a run of a workflow whose content is given.
func newJob(t *testing.T, w *Worker, c Content) Job {
	t.Helper()
	raw, err := rawjson.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := w.store.Pack("content", raw)
	if err != nil {
		t.Fatal(err)
	}
	return Job{V: Version, Run: "r01first", Nodes: []string{"a"}, Content: packed, Dir: "/"}
}

// executeRun executes a run in an activity of the SDK's test environment.
func executeRun(t *testing.T, w *Worker, job Job, set func(*testsuite.TestActivityEnvironment)) (end JobEnd, err error) {
	t.Helper()
	w.Env = append(w.Env, "PFLOW_HOME="+t.TempDir())
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet())
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(10 * time.Minute)
	if set != nil {
		set(env)
	}
	env.RegisterActivityWithOptions(w.run, activity.RegisterOptions{Name: runActivityName})
	value, err := env.ExecuteActivity(runActivityName, job)
	if err != nil {
		return end, err
	}
	return end, value.Get(&end)
}

// unpacked returns packed data as text.
func unpacked(t *testing.T, w *Worker, p payload.Packed) string {
	t.Helper()
	b, err := w.store.Unpack(p, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestARunGetsItsContent(t *testing.T) {
	seen := t.TempDir()
	w := newWorker(t, `cat > "$SEEN/workflow"
for a; do case $a in */events.ndjson) cp "$a" "$SEEN/events" ;; */inputs.json) cp "$a" "$SEEN/inputs" ;; text=@*) cp "${a#text=@}" "$SEEN/text" ;; esac; done
printf '%s\n' "$@" | sed 's,/.*/,,' > "$SEEN/args"
printf '%s\n' '`+begun+`' '`+finished+`'`)
	w.Env = append(w.Env, "SEEN="+seen)
	job := newJob(t, w, Content{Workflow: []byte(`{"nodes":[]}`), Values: map[string][]byte{"n": []byte("5")}, Texts: map[string]string{"text": "a\nb"}})
	job.Flags, job.Answers = []string{"--jobs", "2"}, []string{"yes"}
	end, err := executeRun(t, w, job, nil)
	if err != nil || end.Status != event.Completed || unpacked(t, w, end.Events) != begun+"\n"+finished+"\n" {
		t.Fatalf("%v, %v", end, err)
	}
	got := map[string]string{}
	for _, name := range []string{"workflow", "inputs", "text", "args"} {
		b, err := os.ReadFile(filepath.Join(seen, name))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = string(b)
	}
	want := map[string]string{
		"workflow": `{"nodes":[]}`, "inputs": `{"n":5}`, "text": "a\nb",
		"args": "run\n-\n--format\nndjson\n--resume\nevents.ndjson\n--dir\n/\n--jobs\n2\n--as-it-was\n--inputs\ninputs.json\n--approve\nyes\n--\ntext=@input-0\n",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	b, err := os.ReadFile(filepath.Join(seen, "events"))
	if e := gjson.ParseBytes(b); err != nil || e.Get("run").Str != "r01first" || e.Get("event").Str != "run_started" || e.Get("nodes.0").Str != "a" {
		t.Errorf("a new run goes on from %s, %v", b, err)
	}
}

func TestARunGoesOnFromTheLastHeartbeat(t *testing.T) {
	w := newWorker(t, `for a; do case $a in */events.ndjson) cp "$a" "$SEEN" ;; esac; done; printf '%s\n' '`+begun+`' '`+reused+`'; kill -9 $$`)
	seen := filepath.Join(t.TempDir(), "events")
	w.Env = append(w.Env, "SEEN="+seen)
	prior, err := w.store.Pack("prior", []byte(begun+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	var last standing
	w.heartbeat = heard(func(details any) error {
		last, _ = details.(standing)
		return nil
	})
	_, err = executeRun(t, w, newJob(t, w, Content{}), func(env *testsuite.TestActivityEnvironment) { env.SetHeartbeatDetails(prior) })
	if b, readErr := os.ReadFile(seen); readErr != nil || string(b) != begun+"\n" {
		t.Errorf("it went on from %q, %v", b, readErr)
	}
	if app, ok := errors.AsType[*temporal.ApplicationError](err); !ok || app.NonRetryable() || app.Type() != interrupted {
		t.Errorf("got %v", err)
	}
	if got := unpacked(t, w, last.Packed); got != begun+"\n" {
		t.Errorf("a run that has only taken over nodes has the checkpoint %q", got)
	}
}

// With a shared folder, what has finished is not lost although no heartbeat comes through after the first.
func TestARunGoesOnFromItsLog(t *testing.T) {
	const done = `{"v":1,"seq":3,"event":"node_completed","run":"r01own","node":"b"}`
	for name, c := range map[string]struct{ prints, want string }{
		"what it has finished":       {begun + "\n" + reused + "\n" + done + "\n", begun + "\n" + reused + "\n" + done + "\n"},
		"what an earlier one had":    {begun + "\n" + reused + "\n", begun + "\n"},
		"before it has said a thing": {"", begun + "\n"},
	} {
		for _, key := range []string{"", strings.Repeat("0f", 32)} {
			t.Run(name+" "+key, func(t *testing.T) {
				w := newWorker(t, `printf %s "$PRINTS"; kill -9 $$`)
				w.Env = append(w.Env, "PRINTS="+c.prints)
				w.store.Dir = t.TempDir()
				if key != "" {
					codec, err := payload.ParseKey(key)
					if err != nil {
						t.Fatal(err)
					}
					w.store.Codec = codec
				}
				prior, err := w.store.Pack("prior", []byte(begun+"\n"))
				if err != nil {
					t.Fatal(err)
				}
				var first *standing
				w.heartbeat = heard(func(details any) error {
					if first != nil {
						return serviceerror.NewUnavailable("the network is cut")
					}
					first = new(details.(standing))
					return nil
				})
				_, err = executeRun(t, w, newJob(t, w, Content{}), func(env *testsuite.TestActivityEnvironment) { env.SetHeartbeatDetails(standing{Packed: prior}) })
				if app, ok := errors.AsType[*temporal.ApplicationError](err); !ok || app.Type() != interrupted || first == nil || first.Log == "" {
					t.Fatalf("got %v after %v", err, first)
				}
				events, err := first.events(w.store)
				if got := unpacked(t, w, events); err != nil || got != c.want {
					t.Errorf("the next worker goes on from %q, %v", got, err)
				}
			})
		}
	}
}

func TestEventsAreConfirmedWhenTheyAreInTheLogOrNotNeededThere(t *testing.T) {
	w := newWorker(t, `while [ "$1" != --confirm ]; do shift; done; exec 9< "$2"
for line in "$FIRST" "$SECOND" "$THIRD"; do printf '%s\n' "$line"; read -r n <&9; echo "$n" $(ls "$BLOBS" | wc -l) >> "$SEEN"; done`)
	w.store.Dir = t.TempDir()
	seen := filepath.Join(t.TempDir(), "seen")
	w.Env = append(w.Env, "FIRST="+begun, "SECOND="+reused, "THIRD="+finished, "SEEN="+seen, "BLOBS="+w.store.Dir)
	prior, err := w.store.Pack("prior", []byte(begun+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if end, err := executeRun(t, w, newJob(t, w, Content{}), func(env *testsuite.TestActivityEnvironment) { env.SetHeartbeatDetails(standing{Packed: prior}) }); err != nil || end.Status != event.Completed {
		t.Fatalf("%v, %v", end, err)
	}
	if b, err := os.ReadFile(seen); err != nil || string(b) != "1 0\n2 0\n3 1\n" {
		t.Errorf("confirmed, with so many files: %q, %v", b, err)
	}
}

func TestARunDoesNotBeginBeforeTheClusterKnowsItsLog(t *testing.T) {
	w := newWorker(t, `cat "$HEARD" > "$SEEN"; printf '%s\n' '`+begun+`' '`+finished+`'`)
	w.store.Dir = t.TempDir()
	heardFile, seen := filepath.Join(t.TempDir(), "heard"), filepath.Join(t.TempDir(), "seen")
	w.Env = append(w.Env, "HEARD="+heardFile, "SEEN="+seen)
	sent := 0
	w.heartbeat = heard(func(any) error {
		if sent++; sent < 3 {
			return serviceerror.NewUnavailable("the cluster starts again")
		}
		return os.WriteFile(heardFile, []byte("yes"), 0o600)
	})
	if end, err := executeRun(t, w, newJob(t, w, Content{}), nil); err != nil || end.Status != event.Completed {
		t.Fatalf("%v, %v", end, err)
	}
	if b, err := os.ReadFile(seen); err != nil || string(b) != "yes" {
		t.Errorf("when it began, the cluster had heard %q, %v", b, err)
	}
}

func TestARunThatIsRefused(t *testing.T) {
	w := newWorker(t, `echo '{"v":1,"seq":1,"event":"run_refused","run":"","error":{"type":"template_error","message":"why"}}'; exit 2`)
	end, err := executeRun(t, w, newJob(t, w, Content{}), nil)
	if err != nil || end.Refused == nil || end.Refused.Type != fault.Template {
		t.Errorf("%v, %v", end, err)
	}
	w = newWorker(t, "echo unknown flag >&2; exit 2")
	if _, err := executeRun(t, w, newJob(t, w, Content{}), nil); err == nil || faultOf(err, "the run").Type != fault.Usage {
		t.Errorf("without an event: %v", err)
	}
}

func TestEventsBeyondTheLimitStopTheRun(t *testing.T) {
	w := newWorker(t, `echo '`+begun+`'; printf '{"v":1,"seq":2,"event":"node_completed","run":"r01own","outputs":{"x":"%s"}}\n' "$(head -c 3000000 /dev/urandom | base64 -w0)"; sleep 60`)
	if _, err := executeRun(t, w, newJob(t, w, Content{}), nil); err == nil || faultOf(err, "the run").Type != fault.TooLarge {
		t.Errorf("got %v", err)
	}
}

func TestTheWorkflowOfARunWaitsForAnAnswer(t *testing.T) {
	var jobs []Job
	env := newWorkflow(t, map[string]any{runActivityName: func(_ context.Context, job Job) (JobEnd, error) {
		jobs = append(jobs, job)
		switch {
		case len(jobs) == 1:
			return JobEnd{Status: event.Paused, Events: payload.Packed{Zip: []byte("1")}}, nil
		case job.Answers[0] == "perhaps":
			return JobEnd{Refused: fault.New(fault.Usage, "no choice")}, nil
		}
		return JobEnd{Status: event.Completed}, nil
	}})
	for i, answer := range []string{"perhaps", "yes"} {
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(approveSignal, []string{answer}) }, time.Duration(i+1)*100*time.Hour)
	}
	env.ExecuteWorkflow(runWorkflow, Job{V: Version})
	var status event.Status
	if err := env.GetWorkflowResult(&status); err != nil || status != event.Completed || len(jobs) != 3 {
		t.Fatalf("%s, %v, %d executions", status, err, len(jobs))
	}
	for _, job := range jobs[1:] {
		if string(job.Events.Zip) != "1" {
			t.Errorf("it goes on from %q", job.Events.Zip)
		}
	}
}

func TestTheWorkflowOfARunFails(t *testing.T) {
	for name, c := range map[string]struct {
		end  JobEnd
		job  Job
		want string
	}{
		"if the run has":        {JobEnd{Status: event.Failed}, Job{V: Version}, "pflow-run-failed"},
		"if it is refused":      {JobEnd{Refused: fault.New(fault.Usage, "why")}, Job{V: Version}, faultType},
		"of a newer version":    {JobEnd{Status: event.Completed}, Job{V: Version + 1}, faultType},
		"if a person denies it": {JobEnd{Status: event.Denied}, Job{V: Version}, "pflow-run-denied"},
	} {
		t.Run(name, func(t *testing.T) {
			env := newWorkflow(t, map[string]any{runActivityName: func(context.Context, Job) (JobEnd, error) { return c.end, nil }})
			env.ExecuteWorkflow(runWorkflow, c.job)
			if app, ok := errors.AsType[*temporal.ApplicationError](env.GetWorkflowError()); !ok || app.Type() != c.want {
				t.Errorf("got %v", env.GetWorkflowError())
			}
		})
	}
}

func TestAPausedRunIsCancelled(t *testing.T) {
	env := newWorkflow(t, map[string]any{runActivityName: func(context.Context, Job) (JobEnd, error) { return JobEnd{Status: event.Paused}, nil }})
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
	env.ExecuteWorkflow(runWorkflow, Job{V: Version})
	if err := env.GetWorkflowError(); !temporal.IsCanceledError(err) {
		t.Errorf("got %v", err)
	}
}
