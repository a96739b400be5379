package suitetools

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// callExecute answers a call of execute.
func (f *Front) callExecute(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
	a, refused := decode[executeArguments](call)
	if refused != nil {
		return refused
	}
	return runWorkflow(ctx, f, call, &a)
}

// runWorkflow runs a workflow. It starts the run apart from this process, and waits for its end while it reports progress.
// The run outlives the call, the client and the server: only a client that cancels the call ends it.
func runWorkflow(ctx context.Context, f *Front, call *mcpserver.Call, a *executeArguments) *mcpserver.Result {
	if a.task = call.TakesTask(); a.task {
		a.shorten(taskPatience)
	}
	a.caller = suite.CallerOf(call)
	a.attribute(call)
	w := newAwaiting(f, call, a, f.stopped)
	defer w.end()
	var run string
	var result *mcpserver.Result
	if call.State != "" {
		run, result = w.replied(ctx)
	} else if w.onlyAsks(ctx) {
		run, result = w.answer(ctx, a.Resume)
	} else if run, result = startRun(ctx, f, a); result == nil {
		run, result = w.answer(ctx, run)
	}
	if a.task && run != "" {
		return tasks{f}.begin(ctx, call, a, run, result)
	}
	return result
}

// startRun starts a run, or finds the one that already does what is asked for, and returns its id or a failed result.
func startRun(ctx context.Context, f *Front, a *executeArguments) (run string, failed *mcpserver.Result) {
	started := f.answer(ctx, a.start())
	if started.IsError {
		return "", started
	}
	if run = gjson.GetBytes(started.Structured, "run_id").Str; run == "" {
		return "", suite.Failure(fault.New(fault.Protocol, "pflow-exec start printed no run_id"))
	}
	return run, nil
}

// awaitRun waits for the end of a run while it reports progress. A client that cancels the call does not end the run.
func awaitRun(ctx context.Context, f *Front, call *mcpserver.Call, a *executeArguments, run string) *mcpserver.Result {
	w := newAwaiting(f, call, a, f.left)
	defer w.end()
	var result *mcpserver.Result
	if call.State != "" {
		_, result = w.replied(ctx)
	} else {
		_, result = w.answer(ctx, run)
	}
	return result
}

// awaiting is a call that waits for the end of a run.
type awaiting struct {
	front     *Front
	call      *mcpserver.Call
	arguments *executeArguments
	began     time.Time
	asking    time.Duration // how long people took for their answers
	dismissed bool          // a question was dismissed, so no more are asked
	shown     *progress     // nil if the client did not ask for progress
	// stopped answers the call if its context ends before.
	stopped func(ctx context.Context, run string) *mcpserver.Result
}

// newAwaiting begins a call, and its progress if the client asked for it. end must be called.
func newAwaiting(f *Front, call *mcpserver.Call, a *executeArguments, stopped func(context.Context, string) *mcpserver.Result) *awaiting {
	w := &awaiting{front: f, call: call, arguments: a, began: time.Now(), stopped: stopped}
	if call.WantsProgress() && !a.task { // a task has its message instead
		w.shown = newProgress(call.Progress)
	}
	return w
}

// end ends the progress.
func (w *awaiting) end() {
	if w.shown != nil {
		w.shown.end()
	}
}

// answer waits for the end of the run and returns it. What a paused run asks, it asks the person in front of the client if possible,
// and then waits for the run that goes on with the answer; last is the run that it has waited for at last.
func (w *awaiting) answer(ctx context.Context, run string) (last string, result *mcpserver.Result) {
	for {
		next, result := w.ask(ctx, run, w.wait(ctx, run))
		if next == "" {
			return run, result
		}
		run = next
	}
}

// wait waits for the end of the run and returns it.
func (w *awaiting) wait(ctx context.Context, run string) *mcpserver.Result {
	f := w.front
	stop := func(bool) {}
	if see := w.observer(ctx, run); see != nil {
		stop = f.follow(ctx, run, see)
	}
	r := f.answer(ctx, w.arguments.wait(run, time.Since(w.began)-w.asking))
	end := gjson.GetManyBytes(r.Structured, "run_id", "status", "error")
	stop(end[1].Exists() && !live(end[1].Str))
	switch {
	case ctx.Err() != nil: // also if the run has ended meanwhile: then nothing is left to cancel
		return w.stopped(ctx, run)
	case end[0].Str == "": // the end of the run is not known
		lost := fault.New(fault.Unavailable, "Run %s cannot be waited for", run)
		_ = json.Unmarshal([]byte(end[2].Raw), lost)
		return suite.Failure(lost.Detail("run_id", run))
	}
	w.logFailure(end[0].Str, r.Structured)
	if r.Links = links(r.Structured); len(r.Links) > maxLinks && !w.arguments.all() {
		r.Links = r.Links[:maxLinks]
	}
	return r
}

// live reports whether a run with the status has not ended.
func live(status string) bool { return status == "running" || status == "queued" }

// maxLinks is how many links an answer of a limited size has. Its outputs have the URIs of all.
const maxLinks = 10

// follow calls see with each event of a run, until it ends or stop is called. If the run has ended, stop waits until all of its
// events have been seen.
func (f *Front) follow(ctx context.Context, run string, see func(line []byte)) (stop func(ended bool)) {
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		_, err := f.Suite.Run(ctx, suite.Command{Program: "pflow-exec", Args: []string{"--quiet", "events", "--follow", "--", run}, Long: true, OnLine: see})
		if err != nil && ctx.Err() == nil {
			f.Suite.Log.Warn("the progress of a run cannot be reported", "run", run, "error", err)
		}
	})
	return func(ended bool) {
		if !ended {
			cancel()
		}
		following.Wait()
		cancel()
	}
}

// stopped answers a call whose context ended. If the client cancelled the call, that cancels the run. If the client went
// away or the server stops, the run goes on.
func (f *Front) stopped(ctx context.Context, run string) *mcpserver.Result {
	if mcpserver.WhyEnded(ctx) != mcpserver.Cancelled {
		return f.left(ctx, run)
	}
	ctx = context.WithoutCancel(ctx)
	if r := f.answer(ctx, suite.Command{Program: "pflow-exec", Args: []string{"cancel", "--format", "json", "--", run}}); r.IsError {
		return r
	}
	return f.answer(ctx, suite.Command{Program: "pflow-exec", Args: []string{"wait", "--format", "json", "--", run}})
}

// left answers a call whose context ended while its run goes on.
func (f *Front) left(ctx context.Context, run string) *mcpserver.Result {
	why := "The call was cancelled"
	switch mcpserver.WhyEnded(ctx) {
	case mcpserver.Gone:
		why = "The client went away"
	case mcpserver.Stopping:
		why = "The server is stopping"
	}
	return f.failure(fault.New(fault.Unavailable, "%s; run %s goes on", why, run).Then(fault.Step{Do: fault.DoWait, Run: run}).Detail("run_id", run))
}

// links returns the resources that replace the long texts of a result.
func links(document json.RawMessage) []mcpserver.Link {
	var found []mcpserver.Link
	var visit func(v gjson.Result)
	visit = func(v gjson.Result) {
		if uri := v.Get("uri"); v.IsObject() && v.Get("$blob").Exists() && uri.Str != "" {
			found = append(found, mcpserver.Link{URI: uri.Str, Name: v.Get("output").Str, MIMEType: v.Get("mime").Str, Size: v.Get("bytes").Int()})
			return
		}
		if v.IsObject() || v.IsArray() {
			v.ForEach(func(_, item gjson.Result) bool { visit(item); return true })
		}
	}
	visit(gjson.GetBytes(document, "outputs"))
	return found
}
