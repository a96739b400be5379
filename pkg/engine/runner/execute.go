package runner

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/cache"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/run/reader"
)

// Observer is called while a run is executed. Each field may be nil.
type Observer struct {
	// Started is called with the id of the run when its first event is recorded, before anything runs. If it fails, nothing
	// runs and the run is removed.
	Started func(id string) error
	// Event is called with each line of the journal, in order, until it fails.
	Event func(line []byte) error
	// Failed is called with the error of Event, or why the journal could not be read to its end. It is set if Event is.
	Failed func(err error)
	// Recorded receives each line of the journal in one write, before the run goes on.
	Recorded io.Writer
}

// NotStartedError is the error of a run that has left no record.
type NotStartedError struct{ Err error }

func (e *NotStartedError) Error() string { return e.Err.Error() }

// Unwrap returns why the run did not start.
func (e *NotStartedError) Unwrap() error { return e.Err }

// Execute runs the launch to its end and returns the last event of the run. It returns an error if the run could not be
// recorded, in the home or in the checkpoint file: a NotStartedError if nothing was, else a fault that suggests how to go on.
// All descendants of this process are ended with the run, so a process must execute one run at a time. Execute returns
// when the processes of runs whose runner was killed have ended too.
func (l *Launch) Execute(ctx context.Context, o Observer) (*event.Event, error) {
	defer l.Release()
	process.AdoptOrphans()
	delayCollection()
	defer l.awaitAbandoned(ctx)
	w, claim, err := l.begin(o)
	if err != nil {
		return nil, &NotStartedError{err}
	}
	defer w.Close()
	defer claim.Release()
	var followers sync.WaitGroup
	if o.Event != nil {
		followers.Go(func() {
			if err := w.Follow(o.Event); err != nil {
				o.Failed(err)
			}
		})
	}
	last, err := l.run(ctx, w)
	w.EndFollowers()
	followers.Wait()
	if err != nil {
		if w.Remove() {
			return nil, &NotStartedError{err}
		}
		w.RecordFailure(err)
		f := *fault.From(err)
		return nil, f.Then(l.resumption(w.ID))
	}
	reader.Open(l.host.Home).Record(w.ID)
	tidy(l.host)
	if err := l.checkCopied(last); err != nil {
		return nil, err
	}
	return last, nil
}

// begin creates the directory of the run, which other processes see from its first event on. After an error it does not
// exist. The claim is held for the processes of the run.
func (l *Launch) begin(o Observer) (*journal.Writer, *process.Claim, error) {
	options := journal.Options{Definition: l.definition, Sync: l.request.Sync, Begun: func(id string) error {
		if o.Started != nil {
			if err := o.Started(id); err != nil {
				return err // the key is held until the run is removed, so that no other process attaches to it
			}
		}
		if l.key != nil { // from now on it leads to this run
			l.key.Release()
		}
		return nil
	}}
	if l.origin != nil && !l.fork {
		options.ResumedFrom = l.origin.ID
	}
	if o.Recorded != nil {
		options.Copy = o.Recorded
	}
	if l.file != nil {
		if err := l.file.Mend(); err != nil {
			return nil, nil, err
		}
		options.Copy = l.file
		if o.Recorded != nil {
			options.Copy = io.MultiWriter(o.Recorded, l.file)
		}
	}
	w, err := journal.Create(l.host.Home, options)
	if err != nil {
		return nil, nil, err
	}
	claim, err := process.NewClaim(claims(l.host.Home), mark(w.ID))
	if err != nil {
		w.Remove()
		w.Close()
		return nil, nil, fault.New(fault.Internal, "Cannot record the run as live: %v", fault.Reason(err)).
			Suggest("Check the space and the permissions of the home folder (PFLOW_HOME, by default ~/.pflow), and try again")
	}
	if l.key != nil {
		if err := l.key.Set(w.ID); err != nil {
			w.Remove()
			w.Close()
			claim.Release()
			return nil, nil, err
		}
	}
	return w, claim, nil
}

// run has the engine execute the workflow. Then it ends the processes that nodes and servers have left running.
func (l *Launch) run(ctx context.Context, w *journal.Writer) (*event.Event, error) {
	c := l.config(w.ID)
	c.Journal, c.Resume = w, l.resumption(w.ID)
	if l.origin != nil {
		c.Adopt = func(ref event.Reference) (bool, error) { return w.Adopt(ref, l.origin) }
		if !l.fork {
			c.Reused = func() error { return w.MarkSuperseded(l.origin) }
		}
	}
	strays := process.Strays{Mark: mark(w.ID), Grace: process.DefaultGrace}
	c.Stopped = func() {
		c.Host.Servers.Close()
		strays.End()
	}
	stopping, timedOut := context.WithCancel(ctx)
	defer timedOut()
	ended := context.AfterFunc(stopping, strays.Terminate)
	place := &admission{launch: l, journal: w}
	defer place.release()
	c.Admit = func(ctx context.Context) error {
		if err := place.take(ctx); err != nil {
			return err
		}
		if c.Timeout > 0 {
			timer := time.AfterFunc(c.Timeout, timedOut)
			context.AfterFunc(stopping, func() { timer.Stop() })
		}
		return nil
	}
	last, err := engine.Run(ctx, c)
	c.Host.Servers.Close()
	ended()
	strays.EndRemaining()
	return last, err
}

// admission is the place of a run among those that are executed at the same time, see settings.Settings.MaxRuns.
type admission struct {
	launch  *Launch
	journal *journal.Writer
	// free lets go of the place, or is nil. The kernel does so too when the process ends.
	free func()
}

// take waits until the run has a place. While it waits, the last event of its journal is run_queued. A run without a limit needs
// no place, and neither does one that a node of a live run has started: it is a part of that.
func (a *admission) take(ctx context.Context) error {
	l := a.launch
	if l.settings.MaxRuns <= 0 || a.isInside() {
		return nil
	}
	most := maxRuns{home: l.host.Home, most: l.settings.MaxRuns}
	most.changed()
	waited := false
	free, err := journal.TakePlace(ctx, l.host.Home, most.now, func() error {
		waited = true
		return a.journal.Append(&event.Event{Event: event.RunQueued, MaxRuns: most.most})
	})
	if err != nil {
		return err
	}
	a.free = free
	if waited {
		return a.journal.Append(&event.Event{Event: event.RunAdmitted})
	}
	return nil
}

// release lets go of the place.
func (a *admission) release() {
	if a.free != nil {
		a.free()
	}
}

// isInside reports whether a node of a live run of the home has started this process.
func (a *admission) isInside() bool {
	l := a.launch
	id := process.Getenv(l.host.Env, engine.RunVariable)
	return journal.Exists(l.host.Home, id) && journal.At(l.host.Home, id).Held()
}

// maxRuns is the limit on concurrent runs, which may change while a run waits.
type maxRuns struct {
	home *home.Home
	most int
	// size and modified are those of the settings that most is from.
	size     int64
	modified time.Time
}

// now returns the limit in the settings. Settings that cannot be read keep the limit of before.
func (m *maxRuns) now() int {
	if m.changed() {
		if set, err := settings.Load(m.home); err == nil {
			m.most = set.MaxRuns
		}
	}
	return m.most
}

// changed reports whether the file of the settings is another one than at the last call.
func (m *maxRuns) changed() bool {
	var size int64
	var modified time.Time
	if info, err := os.Stat(m.home.Path(settings.File)); err == nil {
		size, modified = info.Size(), info.ModTime()
	}
	same := size == m.size && modified.Equal(m.modified)
	m.size, m.modified = size, modified
	return !same
}

// outlasts reports whether the process that holds a run cannot take what the request asks for, because the run has ended
// and only its servers and processes are being stopped, or because it asked a question that the request answers. Then the
// request goes on from the run when the process has let go of it.
func (r *Request) outlasts(rec *journal.Reader) (ending bool, asked string, err error) {
	if _, last, err := rec.FirstAndLast(); err != nil || last != nil && last.IsTerminal() {
		return err == nil, "", err
	}
	if r.Answer == "" && len(r.Answers) == 0 {
		return false, "", nil
	}
	run, err := memoryOf(rec)
	if err != nil {
		return false, "", nil //nolint:nilerr // a damaged run has no questions
	}
	for _, node := range run.Open() {
		_, answered := r.Answers[node]
		if answered || run.Accepts(node, r.Answer) {
			return false, node, nil
		}
	}
	return false, "", nil
}

// awaitEnd waits until the process that holds a run has let go of it, if the request outlasts that process. It returns false
// at once if the request does not. It returns a conflict after some time.
func (r *Request) awaitEnd(ctx context.Context, rec *journal.Reader) (waited bool, err error) {
	ending, asked, err := r.outlasts(rec)
	if err != nil || !ending && asked == "" {
		return false, err
	}
	soon, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	err = rec.AwaitRelease(soon)
	if !errors.Is(err, errPatience) {
		return true, err
	}
	f := fault.New(fault.Conflict, "Run %s has ended, but its process has not within %s", rec.ID, patience)
	if ending, _, _ := r.outlasts(rec); !ending {
		f = fault.New(fault.Conflict, "Run %s waits for an answer to node %s, but takes none while its other nodes run", rec.ID, asked)
		f.Node = asked
	}
	return true, f.Suggest("Try again when it has ended").Then(fault.Step{Do: fault.DoWait, Run: rec.ID})
}

// checkFollowed returns a fault if the request has an answer for a run that it was to follow, and which cannot take it.
func (r *Request) checkFollowed(rec *journal.Reader) error {
	if r.Answer == "" && len(r.Answers) == 0 {
		return nil
	}
	ending, asked, err := r.outlasts(rec)
	if err != nil || !ending && asked == "" {
		return err
	}
	return fault.New(fault.Conflict, "Run %s has just asked or ended, so the answer has not reached it", rec.ID).Suggest("Answer again")
}

// memoryOf reads what a run has recorded so far.
func memoryOf(rec *journal.Reader) (*resume.Memory, error) {
	file, err := rec.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, fault.From(err)
	}
	return resume.Read(io.NewSectionReader(file, 0, info.Size()), rec.Blob)
}

// mark returns the variable, NAME=VALUE, that the processes of a run have in their environment.
func mark(run string) string { return engine.RunVariable + "=" + run }

// claims returns the folder with the claims of live runs and of live pflow-sync commands.
func claims(h *home.Home) string { return h.Path(home.Live) }

// endAbandoned ends the processes of killed programs that have left a claim, beside the caller. wait returns when they have
// ended, or when ctx is done: then the next run goes on with it.
func endAbandoned(h *home.Home) (wait func(ctx context.Context)) {
	return process.EndAbandoned(claims(h), process.DefaultGrace)
}

// endStrays ends the processes of a run whose runner was killed.
func endStrays(run string) { process.EndMarked(process.DefaultGrace, mark(run)) }

// endAllStrays ends the processes of all runs whose runner was killed, and of killed pflow-sync commands.
func endAllStrays(h *home.Home) {
	endAbandoned(h)(context.Background())
	for _, id := range process.EnvironmentValues(engine.RunVariable) {
		rec, err := journal.Find(h, id)
		if err != nil || rec.ID != id {
			continue
		}
		if status, _, err := rec.Status(); err == nil && status == journal.Interrupted {
			endStrays(id)
		}
	}
}

// patience is how long Cancel waits: longer than it takes to end processes by SIGTERM and then SIGKILL.
const patience = 3 * process.DefaultGrace

var errPatience = errors.New("the run took too long to stop")

// Cancel cancels a live run, waits until it has stopped, and returns its id and status. For a run that is not live it
// returns them at once, and it ends the processes that a killed run has left.
func Cancel(ctx context.Context, h *home.Home, run string) (id string, status event.Status, err error) {
	rec, err := journal.Find(h, run)
	if err != nil {
		return "", "", err
	}
	if _, err := rec.Cancel(); err != nil {
		return "", "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	if err := rec.Follow(ctx, func([]byte) error { return nil }); err != nil && !errors.Is(err, errPatience) {
		return "", "", err
	}
	status, _, err = rec.Status()
	if err != nil {
		return "", "", err
	}
	if journal.IsLive(status) {
		return "", "", fault.New(fault.Conflict, "Run %s has not stopped within %s", rec.ID, patience).
			Then(fault.Step{Do: fault.DoStatus, Run: rec.ID}, fault.Step{Do: fault.DoWait, Run: rec.ID})
	}
	if status == journal.Interrupted {
		endStrays(rec.ID)
	}
	return rec.ID, status, nil
}

// Go collects garbage for the first time when the heap reaches 4 MiB times the percentage of GOGC: 4 MiB by default.
const (
	defaultGCPercent = 100
	firstGCPercent   = 400
)

// delayCollection puts off the first garbage collection until the heap has 16 MiB, which a short run does not reach. Its
// few processors are for the nodes' processes. After that collection the default applies again, so that the memory of a
// long run does not grow. It respects a GOGC that the user sets.
func delayCollection() {
	if before := debug.SetGCPercent(firstGCPercent); before != defaultGCPercent {
		debug.SetGCPercent(before)
		return
	}
	collected := new([32]byte) // too large for the allocator of tiny objects, which would keep it alive
	runtime.AddCleanup(collected, func(percent int) { debug.SetGCPercent(percent) }, defaultGCPercent)
}

// Limits say which runs to keep. A run that is live or being resumed is always kept.
type Limits = journal.Limits

// DefaultLimits returns the limits that Execute applies once a day.
func DefaultLimits() Limits {
	return Limits{OlderThan: journal.DefaultAge, Keep: journal.DefaultKeep}
}

// Collected is the result of Collect.
type Collected = journal.Collected

// Collect removes the runs that exceed the limits, and the entries of the cache that exceed their age. It ends the
// processes of runs whose runner was killed.
func Collect(h *home.Home, limits Limits) (*Collected, error) {
	if !limits.DryRun {
		endAllStrays(h)
	}
	got, err := removeRuns(h, limits)
	if err == nil && !limits.DryRun && limits.OlderThan >= 0 {
		cache.Open(h).Collect(limits.OlderThan)
	}
	return got, err
}

// Verified is what Verify has looked at, and what is damaged.
type Verified struct {
	reader.Verified
	Cache int `json:"cache_entries"`
}

// Verify checks what runs have stored, as reader.Runs.Verify does, and without refs the cache.
func Verify(ctx context.Context, h *home.Home, refs []string) (*Verified, error) {
	got, err := reader.Open(h).Verify(ctx, refs)
	if err != nil {
		return nil, err
	}
	v := &Verified{Verified: *got}
	if len(refs) == 0 {
		entries, unusable := cache.Open(h).Verify()
		v.Cache = entries
		for _, name := range unusable {
			v.Defects = append(v.Defects, journal.Defect{File: filepath.Join("cache", name), Problem: "The entry cannot be used; the node that it is of runs again"})
		}
	}
	return v, nil
}

// removeRuns removes runs. Their figures stay in the statistics.
func removeRuns(h *home.Home, limits Limits) (*Collected, error) {
	runs := reader.Open(h)
	removed := func([]string) error { return nil }
	limits.Before = func(ids []string) { removed = runs.Keep(ids) }
	got, err := journal.Collect(h, limits, time.Now())
	if err != nil || limits.DryRun {
		return got, err
	}
	if err := removed(got.Removed); err != nil && got.Failed == nil {
		got.Failed = err
	}
	_ = runs.Settle() // the index can be brought up to date later
	return got, nil
}

// tidy removes what exceeds the default limits, once a day.
func tidy(host *Host) {
	if !journal.CollectionDue(host.Home, time.Now()) {
		return
	}
	got, err := removeRuns(host.Home, DefaultLimits())
	if err == nil {
		err = got.Failed
	}
	if err != nil {
		host.Log.Warn("old runs were not removed", "error", err)
	}
	cache.Open(host.Home).Collect(journal.DefaultAge)
}

// resumption returns the step that goes on from the run. Secrets that the run cannot store have to be given again: those in a workflow
// from standard input, and those given as inputs.
func (l *Launch) resumption(id string) fault.Step {
	r := l.request
	return fault.Step{Do: fault.DoResume, Run: id, Inputs: l.given, Workflow: r.Name == "-" && r.Path == "" && bytes.Contains(l.definition, []byte(redact.Mark))}
}

// Acknowledgement is the line with which a detached process answers Detach: the id of the run, or why none has started.
type Acknowledgement struct {
	RunID string       `json:"run_id,omitempty"`
	Error *fault.Fault `json:"error,omitempty"`
}

// marks returns the variables that make a process part of the run, or of the pflow-sync command, that started it.
func marks() []string { return append(slices.Clip(engine.Variables), mcpclient.SyncVariable) }

// IsPart reports whether this process is part of a run, or of a pflow-sync command, and ends with it.
func IsPart(host *Host) bool {
	return slices.ContainsFunc(marks(), func(name string) bool { _, set := process.LookupEnv(host.Env, name); return set })
}

// Detach starts this program again, in a session of its own, with arguments that make it call ReadRequest and Serve. The
// acknowledgement has the id of the run that is executed there, or of a run to attach to. An error means that the process
// did not answer.
func Detach(host *Host, r *Request, args ...string) (*Acknowledgement, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fault.New(fault.Internal, "Cannot find the file of this program: %v", err)
	}
	child, err := process.Start(process.Command{
		Path: self, Args: args, Session: true,
		Env: process.Environment(host.Env, marks()...), // it is not part of a run that starts it
	})
	if err != nil {
		return nil, err
	}
	defer child.Release()
	request, err := rawjson.Marshal(r)
	if err == nil {
		_, err = child.Stdin.Write(request)
	}
	if err != nil {
		return nil, fault.New(fault.Internal, "Cannot send the request to the process that executes it: %v", err)
	}
	_ = child.Stdin.Close()
	line, err := bufio.NewReader(child.Stdout).ReadBytes('\n')
	var ack Acknowledgement
	if err != nil || json.Unmarshal(line, &ack) != nil {
		return nil, fault.New(fault.Internal, "The process that executes the run ended before the run began")
	}
	return &ack, nil
}

// maxRequest is the most bytes of a request. It is more than all documents that a request can hold, as JSON.
const maxRequest = 1 << 30

// ReadRequest reads the request that Detach has sent. It waits until ctx ends.
func ReadRequest(ctx context.Context, in io.ReadCloser) (*Request, error) {
	var r Request
	err := json.NewDecoder(input.Limit(input.Reader(ctx, in), "The request on standard input", maxRequest)).Decode(&r)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return nil, f
	}
	if err != nil {
		return nil, fault.New(fault.Usage, "detached is an internal command: start calls it with a request on standard input")
	}
	_ = in.Close()
	return &r, nil
}

// Acknowledge writes the acknowledgement and closes out, so that the process that called Detach can end.
func Acknowledge(out io.WriteCloser, ack Acknowledgement) error {
	line, err := rawjson.Marshal(ack)
	if err != nil {
		return fault.From(err)
	}
	if _, err := out.Write(append(line, '\n')); err != nil {
		return fault.New(fault.Internal, "Cannot report the start of the run: %v", fault.Reason(err))
	}
	return out.Close()
}

// Serve resolves and executes a request in this process. It calls answer once, before anything runs: with the id of the run, or with
// why none has started. If answer fails, nothing runs. It returns the last event, or nil if nothing was executed.
func Serve(ctx context.Context, host *Host, r *Request, answer func(Acknowledgement) error) (*event.Event, error) {
	l, err := Resolve(ctx, host, r)
	if err != nil {
		return nil, answer(Acknowledgement{Error: fault.From(err)})
	}
	if l.Attach != "" {
		return nil, answer(Acknowledgement{RunID: l.Attach})
	}
	answered := false
	last, err := l.Execute(ctx, Observer{Started: func(id string) error {
		answered = true
		return answer(Acknowledgement{RunID: id})
	}})
	if err != nil && !answered {
		return nil, answer(Acknowledgement{Error: fault.From(err)})
	}
	return last, err
}
