package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// checkpoint takes hold of the run that the request goes on from and begins to read it; read waits until that is done.
func (p *prepared) checkpoint(app *cli.App, h *home.Home, r *request) (read func() error, err error) {
	rec, err := resumed(h, r)
	if err != nil || rec == nil && r.Events == nil {
		return func() error { return nil }, err
	}
	var source engine.Source = bytes.NewReader(r.Events)
	blob := func(string) ([]byte, error) {
		return nil, fault.New(fault.Execution, "The long values of a run from elsewhere are not here")
	}
	if rec != nil {
		if rec, err = p.hold(app, r, rec); err != nil || p.attach != nil {
			return nil, err
		}
		blob = rec.Blob
		if p.fork = r.Resume == ""; !p.fork {
			journal, err := rec.Open()
			if err != nil {
				return nil, err
			}
			source = journal
			p.releasing(func() { _ = journal.Close() })
		}
	}
	done := make(chan error, 1)
	go func() {
		var err error
		p.From, err = engine.ReadCheckpoint(source, blob)
		done <- err
	}()
	return func() error {
		if err := <-done; err != nil {
			return err
		}
		return p.answerable(r.Answer)
	}, nil
}

// hold takes hold of the run that the request goes on from, or finds that it is live. When others were faster, that is
// the run that they made of it.
func (p *prepared) hold(app *cli.App, r *request, rec *journal.Reader) (*journal.Reader, error) {
	for {
		release, err := func() {}, error(nil)
		if !r.DryRun { // which needs no hold on what it leaves as it is
			release, err = rec.Hold(app.Context)
		}
		if (err != nil || r.DryRun) && rec.Held() {
			p.attach = rec
			return nil, r.same(rec)
		}
		if err != nil {
			return nil, err
		}
		newest := rec.ResumePoint()
		if r.Resume == "" || newest.ID == rec.ID {
			p.releasing(release)
			if p.resumed = rec; !r.DryRun {
				process.EndMarked(process.DefaultGrace, engine.RunVariable+"="+rec.ID) // what a runner that was killed left running
			}
			return rec, nil
		}
		release()
		rec, r.Resume = newest, newest.ID
		if status, _, err := rec.Status(); err == nil && status.Succeeded() && r.Again {
			p.attach = rec
			return nil, nil
		}
	}
}

// same refuses to attach a request to a live run that does something else: one of another workflow, or with other inputs.
func (r *request) same(rec *journal.Reader) error {
	first, _, err := rec.FirstAndLast()
	if err != nil || first == nil || first.Workflow == nil {
		return nil //nolint:nilerr // it has not said yet what it does
	}
	w := first.Workflow
	known := r.Name != "-" && w.Name != "-"
	if known && w.Name != r.Name && (w.Path == "" || w.Path != r.Path) {
		return fault.New(fault.Usage, "Run %s is still running, and it is one of another workflow, %s", rec.ID, w.Name).
			Suggest("pflow-exec wait %s answers when it has ended", rec.ID)
	}
	inputs, err := event.Plain(first.Inputs, rec.Blob)
	if err != nil {
		return nil //nolint:nilerr // then nobody can tell
	}
	for _, name := range slices.Sorted(maps.Keys(r.Inputs)) {
		has := gjson.GetBytes(inputs, gjson.Escape(name))
		if given := r.Inputs[name]; has.Exists() && !strings.Contains(has.Raw, redact.Mark) && !given.is(has.Raw) {
			return fault.New(fault.Usage, "Run %s is still running, and its input %q is another one", rec.ID, name).
				Suggest("pflow-exec wait %s answers when it has ended", rec.ID)
		}
	}
	return nil
}

// is says whether a value that was given is the one that a run has.
func (g given) is(raw string) bool {
	if g.JSON == nil {
		return template.AsText(json.RawMessage(raw)) == g.Text
	}
	return bytes.Equal(rawjson.Compact(g.JSON), rawjson.Compact(json.RawMessage(raw))) || template.AsText(g.JSON) == template.AsText(json.RawMessage(raw))
}

// answerable refuses an answer that fits none of the questions that the run resumed left open.
func (p *prepared) answerable(answer string) error {
	if answer == "" {
		return nil
	}
	var open []string
	for _, node := range slices.Sorted(maps.Keys(p.From.Open)) {
		if !p.From.Open[node] {
			continue
		}
		choices := p.From.Choices[node]
		if slices.Contains(choices, answer) {
			return nil
		}
		open = append(open, fmt.Sprintf("node %s can be answered %s", node, strings.Join(choices, ", ")))
	}
	if len(open) == 0 {
		return fault.New(fault.Usage, "Run %s asks nothing that is to be answered", p.From.Run).Suggest("Leave out --approve")
	}
	return fault.New(fault.Usage, "%q answers nothing that run %s asks", answer, p.From.Run).Suggest("%s", strings.Join(open, "; "))
}

// resumed finds the run in this home that a request goes on from, or nil: the newest of those that went on from the one
// that was named, so that to say the same twice does nothing twice. The run of an event file is used where the file is a
// beginning of its journal, which may hold more by now.
func resumed(h *home.Home, r *request) (*journal.Reader, error) {
	if r.Resume != "" {
		rec, err := journal.Find(h, r.Resume)
		if err != nil {
			return nil, err
		}
		rec = rec.ResumePoint()
		r.Resume = rec.ID
		return rec, nil
	}
	if r.Events == nil {
		return nil, nil
	}
	id := gjson.GetBytes(firstLine(r.Events), "run").Str
	rec, err := journal.Find(h, id)
	if id == "" || err != nil {
		return nil, nil //nolint:nilerr // a run from elsewhere: its events are all there is
	}
	journal, err := rec.Open()
	if err != nil {
		return nil, nil //nolint:nilerr // likewise
	}
	defer func() { _ = journal.Close() }()
	whole := events(r.Events)
	begin := make([]byte, len(whole))
	if _, err := io.ReadFull(journal, begin); err == nil && bytes.Equal(begin, whole) {
		rec = rec.ResumePoint()
		r.Resume, r.Events = rec.ID, nil
	}
	return rec, nil
}

// events are the whole lines of a stream, without what a program that could not go on said behind them.
func events(stream []byte) []byte {
	for {
		end := bytes.LastIndexByte(stream, '\n')
		last := bytes.LastIndexByte(stream[:max(end, 0)], '\n') + 1
		if end < 0 || gjson.GetBytes(stream[last:end], "seq").Exists() {
			return stream[:end+1]
		}
		stream = stream[:last]
	}
}

func firstLine(b []byte) []byte {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return line
}
