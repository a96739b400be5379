package suitetools

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// callExecute runs a workflow. It starts the run apart from this process, and waits for its end while it reports progress.
// The run outlives the call, the client and the server: only a client that cancels the call ends it.
func (f *Front) callExecute(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
	began := time.Now()
	var shown *progress
	if call.WantsProgress() {
		shown = newProgress(call.Progress)
		defer shown.end()
	}
	a, refused := decode[executeArguments](call)
	if refused != nil {
		return refused
	}
	started := f.answer(ctx, a.start())
	if started.IsError {
		return started
	}
	run := gjson.GetBytes(started.Structured, "run_id").Str
	if run == "" {
		return failure(fault.New(fault.Protocol, "pflow-exec start printed no run_id"))
	}
	stop := func(bool) {}
	if shown != nil {
		stop = f.follow(ctx, run, shown)
	}
	r := f.answer(ctx, a.wait(run, time.Since(began)))
	end := gjson.GetManyBytes(r.Structured, "run_id", "status", "error")
	stop(end[1].Exists() && end[1].Str != "running")
	switch {
	case ctx.Err() != nil: // also if the run has ended meanwhile: then nothing is left to cancel
		return f.stopped(ctx, run)
	case end[0].Str == "": // the end of the run is not known
		lost := fault.New(fault.Unavailable, "Run %s cannot be waited for", run)
		_ = json.Unmarshal([]byte(end[2].Raw), lost)
		return failure(lost.Detail("run_id", run))
	}
	if r.Links = links(r.Structured); len(r.Links) > maxLinks && !a.all() {
		r.Links = r.Links[:maxLinks]
	}
	return r
}

// maxLinks is how many links an answer of a limited size has. Its outputs have the URIs of all.
const maxLinks = 10

// follow reports the progress of a run until it ends or stop is called. If the run has ended, stop waits until all of its
// progress is reported.
func (f *Front) follow(ctx context.Context, run string, shown *progress) (stop func(ended bool)) {
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		_, err := f.Suite.run(ctx, command{program: "pflow-exec", args: []string{"--quiet", "events", "--follow", "--", run}, long: true, onLine: shown.apply})
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
	why := "The client went away"
	switch mcpserver.WhyEnded(ctx) {
	case mcpserver.Cancelled:
		ctx = context.WithoutCancel(ctx)
		if r := f.answer(ctx, command{program: "pflow-exec", args: []string{"cancel", "--format", "json", "--", run}}); r.IsError {
			return r
		}
		return f.answer(ctx, command{program: "pflow-exec", args: []string{"wait", "--format", "json", "--", run}})
	case mcpserver.Stopping:
		why = "The server is stopping"
	}
	return failure(fault.New(fault.Unavailable, "%s; run %s goes on", why, run).
		Suggest("Call execute with resume %q to get its result", run).Detail("run_id", run))
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
