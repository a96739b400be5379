package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/cluster/payload"
	"github.com/pflow-suite/pflow/pkg/run/reader"
)

const (
	// maxContent is the most bytes of a workflow with its inputs.
	maxContent = 256 << 20
	// look is the time between two looks at whether a run has new events for a heartbeat, runBeat that between two heartbeats without any.
	look    = 250 * time.Millisecond
	runBeat = 3 * time.Second
	// runGrace is how long pflow-exec may take to end a run.
	runGrace = 12 * time.Second
)

// interrupted is the type of the error after which a run goes on, here or on another worker.
const interrupted = "pflow-interrupted"

// run is the activity of a run: it starts pflow-exec run, and its heartbeats have the events.
func (w *Worker) run(ctx context.Context, job Job) (end JobEnd, err error) {
	if err := checkVersion(job.V); err != nil {
		return end, err
	}
	prior, err := w.priorEvents(ctx, &job)
	if err != nil {
		return end, err
	}
	h, err := home.Open(process.Getenv(w.Env, "PFLOW_HOME"), process.Getenv(w.Env, "HOME"))
	if err != nil {
		return end, permanent(err)
	}
	runs := reader.Open(h)
	scratch, err := runs.Scratch()
	if err != nil {
		return end, permanent(err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	workflow, args, err := w.arguments(job, prior, scratch)
	if err != nil {
		return end, permanent(err)
	}
	own, stop := context.WithCancelCause(context.WithoutCancel(ctx)) // the heartbeats end it
	defer stop(nil)
	w.endWithDrain(own, stop)
	t := &trail{
		tape: w.store.NewLog(job.Run), store: w.store, name: job.Run, stored: map[string]bool{}, prior: prior, blob: blobsOf(runs), settled: make(chan struct{}, 1),
		begun: func() { removeBut(scratch, "blobs") }, stop: func(err error) { stop(err) },
	}
	defer t.tape.Close()
	beating := heart{send: w.heartbeat, details: t.heartbeat, stop: stop}
	if t.tape.Log() == "" {
		beating.soon = t.settled
	} else {
		pipe, path, err := confirmations(scratch)
		if err != nil {
			return end, permanent(err)
		}
		defer func() { _ = pipe.Close() }()
		t.confirm, args = pipe, slices.Insert(args, 1, "--confirm", path)
		beating.first(ctx) // whoever goes on from here must know the log
	}
	stopBeats := beating.run(ctx, look)
	stderr := process.NewTail(4 << 10)
	exit, err := process.Run(own, process.Command{
		Path: w.program("pflow-exec"), Args: args, Env: w.Env, Stdin: bytes.NewReader(workflow), Stdout: t, Stderr: stderr, Grace: runGrace,
	})
	cause := context.Cause(own)
	cancelled := errors.Is(cause, errCancelled)
	goesOn := t.failed == nil && (cause != nil && !cancelled || t.last == nil)
	stopBeats(goesOn)
	end.Exit = exit.Code
	end.Events, _ = t.checkpoint()
	switch {
	case t.failed != nil:
		return end, permanent(t.failed)
	case cancelled && t.last == nil:
		end.Status = event.Cancelled
		return end, nil
	case goesOn:
		if t.last == nil && err == nil && exit.Signal == "" && exit.Code == 2 {
			return end, permanent(fault.New(fault.Usage, "pflow-exec refused the run: %s", stderr.String()))
		}
		return end, temporal.NewApplicationErrorWithOptions(fmt.Sprintf("The run was interrupted on its worker: %s", stderr.String()), interrupted,
			temporal.ApplicationErrorOptions{NextRetryDelay: look})
	case t.last.Event == event.RunRefused:
		return JobEnd{Exit: exit.Code, Refused: t.last.Error}, nil
	}
	end.Status = t.last.Status
	return end, nil
}

// confirmations makes a pipe with which pflow-exec learns which events are in the log.
func confirmations(dir string) (pipe *os.File, path string, err error) {
	path = filepath.Join(dir, "confirmed")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, "", fault.From(err)
	}
	pipe, err = os.OpenFile(path, os.O_RDWR, 0) // to read too, so that it need not wait for the program
	if err != nil {
		return nil, "", fault.From(err)
	}
	return pipe, path, nil
}

// priorEvents returns the events to go on from: those that the last worker has left, or those of the run so far, or of the one that it
// goes on from.
func (w *Worker) priorEvents(ctx context.Context, job *Job) (payload.Packed, error) {
	if !activity.HasHeartbeatDetails(ctx) {
		return job.Events, nil
	}
	var last standing
	if err := activity.GetHeartbeatDetails(ctx, &last); err != nil {
		return payload.Packed{}, permanent(err)
	}
	events, err := last.events(w.store)
	if err != nil || events.Empty() {
		return job.Events, err
	}
	job.Resumes = false
	return events, nil
}

// blobsOf returns what loads the long values of runs.
func blobsOf(runs *reader.Runs) func(run string) event.Load {
	var last *reader.Run
	return func(id string) event.Load {
		return func(digest string) (_ []byte, err error) {
			if last == nil || last.ID() != id {
				if last, err = runs.Find(id); err != nil {
					return nil, err
				}
			}
			return last.Blob(digest)
		}
	}
}

// arguments writes what pflow-exec run reads into a folder, and returns the workflow and the arguments.
func (w *Worker) arguments(job Job, prior payload.Packed, dir string) (workflow []byte, args []string, err error) {
	raw, err := w.store.Unpack(job.Content, maxContent)
	if err != nil {
		return nil, nil, err
	}
	var c Content
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, nil, fault.New(fault.Protocol, "The content of the run cannot be read: %v", err)
	}
	events := filepath.Join(dir, "events.ndjson")
	if err := w.writeEvents(job, prior, events); err != nil {
		return nil, nil, fault.From(err)
	}
	args = append([]string{"run", "-", "--format", "ndjson", "--resume", events, "--dir", job.Dir}, job.Flags...)
	if !job.Resumes { // another worker, or an answer, goes on with what the run began with
		args = append(args, "--as-it-was")
	}
	if len(c.Values) > 0 {
		values := map[string]json.RawMessage{}
		for name, value := range c.Values {
			values[name] = value
		}
		raw, err := rawjson.Marshal(values)
		path := filepath.Join(dir, "inputs.json")
		if err = errors.Join(err, os.WriteFile(path, raw, 0o600)); err != nil {
			return nil, nil, fault.From(err)
		}
		args = append(args, "--inputs", path)
	}
	if len(c.EnvFile) > 0 {
		path := filepath.Join(dir, "env")
		if err := os.WriteFile(path, c.EnvFile, 0o600); err != nil {
			return nil, nil, fault.From(err)
		}
		args = append(args, "--env-file", path)
	}
	for _, a := range job.Answers {
		args = append(args, "--approve", a)
	}
	if job.Person {
		args = append(args, "--by-person")
	}
	args = append(args, "--")
	for i, name := range slices.Sorted(maps.Keys(c.Texts)) {
		path := filepath.Join(dir, fmt.Sprintf("input-%d", i))
		if err := os.WriteFile(path, []byte(c.Texts[name]), 0o600); err != nil {
			return nil, nil, fault.From(err)
		}
		args = append(args, name+"=@"+path)
	}
	return c.Workflow, args, nil
}

// writeEvents writes the events to go on from into a file: those of a run, or a beginning that gives the run its id.
func (w *Worker) writeEvents(job Job, prior payload.Packed, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if prior.Empty() {
		first := &event.Event{
			V: event.Version, Seq: 1, Event: event.RunStarted, Run: job.Run, Time: time.Now().UTC(), Workflow: &event.Workflow{Name: "-"}, Nodes: job.Nodes,
			KeyVersion: event.KeyVersion,
		}
		line, err := first.Line()
		if err == nil {
			_, err = f.Write(line)
		}
		return errors.Join(err, f.Close())
	}
	r, err := openRecord(w.store, prior)
	if err == nil {
		if _, err = io.Copy(f, r); err == nil {
			err = r.writeValues(filepath.Join(filepath.Dir(path), "blobs"))
		}
		err = errors.Join(err, r.Close())
	}
	return errors.Join(err, f.Close())
}

// writeValues writes the values that are stored for themselves into a folder, where pflow-exec finds them beside the events.
func (r *record) writeValues(dir string) error {
	if len(r.values) == 0 {
		return nil
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for digest := range r.values {
		content, err := r.load(digest)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(strings.TrimPrefix(digest, "sha256:"))), content, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeBut removes what is in a folder, except what has that name: the run reads it later.
func removeBut(dir, kept string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != kept {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}
