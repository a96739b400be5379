package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const (
	// The pauses between two calls of status grow from firstPause to maxPause.
	firstPause = 200 * time.Millisecond
	maxPause   = 10 * time.Second
	// maxSilent is how many calls of status may fail one after another.
	maxSilent = 5
	// startGrace is how long a command run that is about to print the id of an execution is waited for before that is cancelled, and
	// cancelLimit is how long the command cancel may take. Together they are shorter than the grace after which a runner kills its nodes.
	startGrace  = time.Second
	cancelLimit = 3 * time.Second
)

// execution is one execution of a workflow.
type execution struct {
	source *Source
	host   Host
	id     string
	// started is closed when execution is known, or never will be. It is the id that the source has given the execution, a text or a
	// number; nil if it has given no id.
	started   chan struct{}
	execution json.RawMessage
}

// Execute executes a workflow and returns its result, and the id that the source has given the execution, which is "" if it gave
// none. If ctx ends before, Execute cancels the execution, if the source can, and ends the command; the error is then the
// cause of ctx. Any other error is a fault.
func (s *Source) Execute(ctx context.Context, h Host, id string, arguments json.RawMessage) (result json.RawMessage, executionID string, err error) {
	if h.Progress == nil {
		h.Progress = func(float64, float64, string) {}
	}
	if h.Sleep == nil {
		h.Sleep = sleep
	}
	x := &execution{source: s, host: h, id: id, started: make(chan struct{})}
	work, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		result, err = x.work(work, arguments)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		x.cancel(context.WithoutCancel(ctx), done)
		end(context.Cause(ctx))
		<-done
		err = context.Cause(ctx)
	}
	return result, x.text(), err
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// work runs the command run, and then the command status until the execution has ended.
func (x *execution) work(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
	what := fmt.Sprintf("run of source %s", x.source.Name)
	if x.source.Status == nil {
		x.host.Progress(0, 0, fmt.Sprintf("progress is not supported: the source %s has no command status", x.source.Name))
	}
	request, err := rawjson.Marshal(map[string]any{"id": x.id, "arguments": arguments})
	if err != nil {
		return nil, fault.New(fault.Usage, "The arguments are not JSON: %v", err)
	}
	var document json.RawMessage
	e, err := x.host.run(ctx, x.source.Run, request)
	if err == nil {
		document, err = e.document(what)
	}
	if x.source.Status != nil && err == nil {
		id := gjson.GetBytes(document, "execution_id")
		if id.Type == gjson.String && id.Str != "" || id.Type == gjson.Number {
			x.execution = json.RawMessage(id.Raw)
		} else {
			err = fault.New(fault.Protocol, "The command %s printed no execution_id: %s", what, Harmless(fault.Truncate(string(document), maxEcho))).
				Suggest(`With a command status it must print {"execution_id": …}`)
		}
	}
	close(x.started)
	if x.source.Status == nil || err != nil {
		return document, err
	}
	return x.follow(ctx)
}

// follow asks for the status until the execution has ended.
func (x *execution) follow(ctx context.Context) (json.RawMessage, error) {
	what := fmt.Sprintf("status of source %s", x.source.Name)
	silent, shown := 0, reported{} // what has been shown is not shown again
	for pause := firstPause; ; pause = min(pause*3/2, maxPause) {
		x.host.Sleep(ctx, pause)
		s, err := x.status(ctx, what)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			if silent++; silent >= maxSilent {
				return nil, fault.From(err).Detail("execution_id", x.text()).Suggest("The execution %s may go on: its status is not known", fault.Truncate(Harmless(x.text()), maxEcho))
			}
			continue
		}
		silent = 0
		switch strings.ToLower(s.Status) {
		case "completed":
			if s.Result == nil {
				s.Result = json.RawMessage("null")
			}
			return s.Result, nil
		case "failed", "cancelled":
			return nil, x.failure(s)
		}
		if now := s.reported(); now != shown {
			shown = now
			x.host.Progress(now.done, now.total, now.message)
		}
	}
}

// reported is how far an execution is, as its host shows it.
type reported struct {
	done, total float64
	message     string
}

// reported returns how far the execution is.
func (s *status) reported() reported {
	done, total, message := s.progress()
	return reported{done, total, message}
}

// status is what the command status prints.
type status struct {
	Status   string          `json:"status"`
	Progress json.RawMessage `json:"progress"`
	Result   json.RawMessage `json:"result"`
	Error    json.RawMessage `json:"error"`
}

// status runs the command status once.
func (x *execution) status(ctx context.Context, what string) (*status, error) {
	e, err := x.host.short(ctx, what, x.source.Status, x.document(), commandLimit)
	if err != nil {
		return nil, err
	}
	document, err := e.document(what)
	if err != nil {
		return nil, err
	}
	s := &status{}
	if json.Unmarshal(document, s) != nil || s.Status == "" {
		return nil, fault.New(fault.Protocol, "The command %s printed no status: %s", what, Harmless(fault.Truncate(string(document), maxEcho))).
			Suggest(`It must print {"status": "completed", "failed", "cancelled" or another text, "progress", "result", "error"}`)
	}
	return s, nil
}

// progress returns how far an execution is: a number up to 1 is a part of 1, one up to 100 a percentage. An object may have done, total
// and message.
func (s *status) progress() (done, total float64, message string) {
	p := gjson.ParseBytes(s.Progress)
	said := func(text string) string {
		return fault.Truncate(Harmless(strings.ToLower(s.Status)+strings.TrimRight(": "+text, ": ")), maxStderr)
	}
	switch {
	case p.Type == gjson.Number && p.Num >= 0 && p.Num <= 1:
		return p.Num, 1, said(p.Raw)
	case p.Type == gjson.Number && p.Num > 1 && p.Num <= 100:
		return p.Num, 100, said(p.Raw + "%")
	case p.IsObject():
		done, total = max(0, p.Get("done").Num), max(0, p.Get("total").Num)
		if done > total {
			total = 0
		}
		return done, total, said(cmp.Or(p.Get("message").String(), string(rawjson.Compact(s.Progress))))
	}
	return 0, 0, said(p.String())
}

// failure returns the fault of an execution that has failed or was cancelled.
func (x *execution) failure(s *status) *fault.Fault {
	f := fault.New(fault.Execution, "The source %s reports that the execution has the status %s", x.source.Name, strings.ToLower(s.Status))
	reason := gjson.ParseBytes(s.Error)
	if text := cmp.Or(reason.Get("message").String(), reason.String()); text != "" {
		f.Message += ": " + Harmless(fault.Truncate(text, maxStderr))
	}
	return f.Detail("execution_id", x.text()).Detail("status", strings.ToLower(s.Status))
}

// cancel runs the command cancel, if the source has one. An execution whose id is about to be known is waited for. Done is closed when the work has ended.
func (x *execution) cancel(ctx context.Context, done <-chan struct{}) {
	if x.source.Cancel == nil {
		return
	}
	if x.source.Status != nil {
		select {
		case <-x.started:
		case <-time.After(startGrace):
			return // there is no id to cancel by
		}
	}
	select {
	case <-done:
		return // nothing is left to cancel
	default:
	}
	what := fmt.Sprintf("cancel of source %s", x.source.Name)
	e, err := x.host.short(ctx, what, x.source.Cancel, x.document(), cancelLimit)
	if f := (*fault.Fault)(nil); err == nil {
		if f = e.failed(what); f != nil {
			err = f
		}
	}
	if err != nil && x.host.Stderr != nil {
		_, _ = fmt.Fprintln(x.host.Stderr, err)
	}
}

// document is what the commands status and cancel read.
func (x *execution) document() []byte {
	document := map[string]any{"id": x.id}
	select {
	case <-x.started:
		if x.execution != nil {
			document["execution_id"] = x.execution
		}
	default:
	}
	raw, _ := rawjson.Marshal(document) // a text and a text or a number
	return raw
}

// text returns the id of the execution as text.
func (x *execution) text() string {
	select {
	case <-x.started:
		return gjson.ParseBytes(bytes.TrimSpace(x.execution)).String()
	default:
		return ""
	}
}
