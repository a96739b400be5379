package runpage

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/feed"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const (
	eventsPattern = "/api/runs/{run}/events"
	// allRuns stands for a run in the address of the stream of all runs.
	allRuns = "all"
	// heartbeat is how often a stream has a comment, so that proxies keep it open.
	heartbeat = 15 * time.Second
	// lookAgain is when a run is looked for that is not yet known to go on.
	lookAgain = 2 * time.Second
	// writeTime is how long a client may take to read a piece of a stream.
	writeTime = 30 * time.Second
	// maxPast is the most bytes of past events that one stream brings, because they are held until a slow client has read them. Its client
	// asks for the rest with the id of the last.
	maxPast = 256 << 10
	// retry and retryPast are the milliseconds after which a client asks again: in general, and for the rest of the past.
	retry, retryPast = 1000, 20
	// maxReaders is the number of commands that read past events at the same time while others wait.
	maxReaders = 4
)

// events streams the events of a run from its beginning, or after the one in Last-Event-ID, to its end. Their ids are those of the journal.
// A stream of all runs has their beginnings and ends, and what happens to some, from now on, without ids.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	protect(w)
	reach, err := h.Reach(r)
	if err != nil {
		refuseStream(w, err)
		return
	}
	after := int64(0)
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		if after, err = strconv.ParseInt(id, 10, 64); err != nil || after < 0 {
			refuseStream(w, fault.New(fault.Usage, "Last-Event-ID must be the id of an event, a number"))
			return
		}
	}
	run := r.PathValue("run")
	switch {
	case run == allRuns:
		h.streamAll(w, r, reach)
	case run == "last" || !isRun(run):
		refuseStream(w, noRun(run))
	default:
		h.streamRun(w, r, reach, run, after)
	}
}

// streamRun streams a run after an event.
func (h *Handler) streamRun(w http.ResponseWriter, r *http.Request, reach *Reach, run string, after int64) {
	f, k := h.Feed.Attach(run)
	defer f.Leave()
	var past []feed.Line
	complete := true
	if !k.Whole {
		var err error
		if past, complete, err = h.past(r.Context(), run, after); err != nil {
			refuseStream(w, err)
			return
		}
		if len(past) > 0 {
			k.Workflow = past[0].Beginning()
		}
	}
	if !k.Live && complete && !ended(past) {
		status, workflow, err := h.standing(r.Context(), run)
		if err != nil {
			refuseStream(w, err)
			return
		}
		if k.Workflow = workflow; status == interrupted {
			past = append(past, interruption(run))
		}
	}
	if !reach.sees(k.Workflow) {
		refuseStream(w, noRun(run))
		return
	}
	if ended(past) && lastSeq(past) <= after {
		w.WriteHeader(http.StatusNoContent) // a browser then asks no more
		return
	}
	out := &stream{w: w, connection: http.NewResponseController(w), after: after}
	out.begin()
	out.past(past, complete)
	if complete && !ended(past) {
		h.follow(r.Context(), out, f, run)
	}
}

// ended reports whether the last of some lines is the end of the run.
func ended(lines []feed.Line) bool { return len(lines) > 0 && lines[len(lines)-1].Ends() }

// lastSeq returns the greatest seq of lines.
func lastSeq(lines []feed.Line) (seq int64) {
	for _, l := range lines {
		seq = max(seq, l.Seq)
	}
	return seq
}

// follow writes what a follower receives until the run ends, the client goes away, or the pages are closed.
func (h *Handler) follow(ctx context.Context, out *stream, f *feed.Follower, run string) {
	look, beats := time.NewTimer(lookAgain), time.NewTicker(heartbeat)
	defer look.Stop()
	defer beats.Stop()
	for {
		lines, lost := f.Take()
		if lost {
			return
		}
		for _, l := range lines {
			if out.event(l); l.Ends() {
				out.flush()
				return
			}
		}
		if out.flush(); out.failed {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-h.closed:
			return
		case <-f.More():
		case <-beats.C:
			out.comment("heartbeat")
			look.Reset(0)
		case <-look.C:
			if h.Feed.IsLive(run) {
				continue
			}
			if status, _, err := h.standing(ctx, run); err != nil || status != "running" && status != "queued" {
				h.finish(ctx, out, run, status)
				return
			}
		}
	}
}

// finish writes the rest of a run that ended before the feed brought its events.
func (h *Handler) finish(ctx context.Context, out *stream, run, status string) {
	rest, complete, err := h.past(ctx, run, out.after)
	if err != nil {
		return // the client asks again
	}
	if complete && status == interrupted && !ended(rest) {
		rest = append(rest, interruption(run))
	}
	out.past(rest, complete)
}

// past returns the events of a run in its journal: the first one, those after a seq, and the last one. It reports false if more follow.
func (h *Handler) past(ctx context.Context, run string, after int64) (lines []feed.Line, complete bool, err error) {
	select {
	case h.readers <- struct{}{}:
		defer func() { <-h.readers }()
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	ctx, enough := context.WithCancelCause(ctx)
	defer enough(nil)
	size, refused := 0, []byte(nil)
	err = h.Programs.Lines(ctx, func(text []byte) {
		if size > maxPast {
			return
		}
		l := feed.ParseLine(text)
		if l.Kind == "" {
			refused = l.JSON
			return
		}
		if l.Seq <= after && len(lines) > 0 && !l.Ends() {
			return
		}
		if size += len(text); size > maxPast && len(lines) > 0 {
			enough(errEnough)
			return
		}
		lines = append(lines, l)
	}, "pflow-exec", "events", "--format=ndjson", "--", run)
	switch {
	case refused != nil && unnamed(suite.Unread(refused, "pflow-exec", &suite.Outcome{})), len(lines) > 0 && lines[0].Run != run:
		return nil, false, noRun(run)
	case errors.Is(err, errEnough) || size > maxPast:
		return lines, false, nil
	case err != nil:
		return nil, false, err
	}
	return lines, true, nil
}

var errEnough = errors.New("enough events were read")

// interrupted is the status of a run that no process executes any more, although it has no last event.
const interrupted = "interrupted"

// standing returns the status of a run and the name of its workflow.
func (h *Handler) standing(ctx context.Context, run string) (status, workflow string, err error) {
	printed, err := h.Programs.Print(ctx, maxList, "pflow-exec", "status", "--format=json", "--max-bytes=65536", "--", run)
	if unnamed(err) {
		return "", "", noRun(run)
	}
	if err != nil {
		return "", "", err
	}
	v := gjson.GetManyBytes(printed, "run_id", "status", "workflow")
	if v[0].Str != run {
		return "", "", noRun(run)
	}
	return v[1].Str, v[2].Str, nil
}

// interruption is the line with which the stream of an interrupted run ends, as that of pflow-exec watch does.
func interruption(run string) feed.Line {
	return feed.Line{Run: run, Kind: "run_interrupted", JSON: []byte(`{"v":1,"event":"run_interrupted","run":"` + run + `"}`)}
}

// stream is a stream of events to a client. After a write has failed it writes nothing.
type stream struct {
	w          http.ResponseWriter
	connection *http.ResponseController
	// after is the seq of the last event that was sent.
	after  int64
	failed bool
}

// begin sends the header.
func (s *stream) begin() {
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
	s.askAgain(retry)
}

// askAgain tells the client when to ask again once the stream has ended.
func (s *stream) askAgain(milliseconds int) { s.write("retry: %d\n\n", milliseconds) }

func (s *stream) write(format string, args ...any) {
	if s.failed {
		return
	}
	_ = s.connection.SetWriteDeadline(time.Now().Add(writeTime))
	_, err := fmt.Fprintf(s.w, format, args...)
	s.failed = err != nil
}

func (s *stream) flush() {
	if !s.failed {
		s.failed = s.connection.Flush() != nil
	}
}

func (s *stream) comment(text string) { s.write(": %s\n\n", text) }

// event sends an event unless the client has it.
func (s *stream) event(l feed.Line) {
	switch {
	case l.Seq == 0:
		s.write("data: %s\n\n", l.JSON)
	case l.Seq > s.after:
		s.after = l.Seq
		s.write("id: %d\ndata: %s\n\n", l.Seq, l.JSON)
	}
}

// past sends events of the past, and tells the client to ask for the rest if they are not complete.
func (s *stream) past(lines []feed.Line, complete bool) {
	for _, l := range lines {
		s.event(l)
	}
	if !complete {
		s.askAgain(retryPast)
	}
	s.flush()
}

// refuseStream answers a request for a stream with what is wrong.
func refuseStream(w http.ResponseWriter, err error) {
	status, message := http.StatusInternalServerError, ""
	if d := denied(err); d != nil {
		status, message = d.Status, d.Message
		if d.Challenge != "" {
			w.Header().Set("WWW-Authenticate", d.Challenge)
		}
	} else {
		p := failed(err)
		status, message = p.Status, fault.From(err).Message
	}
	document, _ := rawjson.Marshal(map[string]string{"error": message}) // which cannot fail: it is text
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(document) // that the client is gone needs no report
}
