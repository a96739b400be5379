package runner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// openMemory begins to read the memory to go on from. The function that it returns waits for the end of that;
// l.from may not be used before.
func (l *Launch) openMemory() (read func() error, err error) {
	if l.origin == nil && l.events == nil {
		return l.checkAnswer, nil
	}
	var source resume.Source = l.events
	blob := l.blobs()
	if l.origin != nil {
		if l.fork = l.request.Resume == ""; !l.fork {
			journal, err := l.origin.Open()
			if err != nil {
				return nil, err
			}
			source = journal
			l.releases = append(l.releases, func() { _ = journal.Close() })
		}
	}
	done := make(chan error, 1)
	go func() {
		var err error
		if l.from, err = resume.Read(source, blob); err == nil {
			l.from.Earlier = l.earlier
		}
		done <- err
	}()
	return func() error {
		if err := <-done; err != nil {
			return err
		}
		return l.checkAnswer()
	}, nil
}

// earlier returns the memory of a run of this home, or nil. It is read once.
func (l *Launch) earlier(run string) *resume.Memory {
	if c, ok := l.read[run]; ok {
		return c
	}
	if l.read == nil {
		l.read = map[string]*resume.Memory{}
	}
	l.read[run] = nil
	rec, err := journal.Find(l.host.Home, run)
	if err != nil || rec.ID != run {
		return nil
	}
	file, err := rec.Open()
	if err != nil {
		return nil
	}
	l.releases = append(l.releases, func() { _ = file.Close() })
	if m, err := resume.Read(file, rec.Blob); err == nil {
		m.Earlier, l.read[run] = l.earlier, m
	}
	return l.read[run]
}

// blobs returns what loads the long values of the run to go on from.
func (l *Launch) blobs() event.Load {
	if l.origin != nil {
		return l.origin.Blob
	}
	return func(ref string) ([]byte, error) {
		if l.request.Events != "" && !l.request.EventsSpooled {
			if content, err := journal.BlobBeside(l.request.Events, ref); err == nil {
				return content, nil
			}
		}
		return nil, fault.New(fault.Execution, "The events refer to a long value that is not in this home")
	}
}

// findOrigin finds the run in this home to go on from, or returns nil: the newest of those that went on from the one that is
// named, so that asking twice does nothing twice. The run of an event file is used if the file is a prefix of its journal,
// which may have grown since.
func (l *Launch) findOrigin() (*journal.Reader, error) {
	r := l.request
	if r.Resume != "" {
		rec, err := journal.Find(l.host.Home, r.Resume)
		if err != nil {
			return nil, err
		}
		l.named = cmp.Or(r.Named, rec.ID)
		rec = rec.ResumePoint()
		r.Resume = rec.ID
		return rec, nil
	}
	if l.events == nil {
		return nil, nil
	}
	whole := func() io.Reader { return io.NewSectionReader(l.events, 0, l.whole) }
	first, _, err := event.NewReader(whole()).Next()
	if err != nil || first.Run == "" {
		return nil, nil //nolint:nilerr // an error is reported when the memory is read
	}
	rec, err := journal.Find(l.host.Home, first.Run)
	if err != nil {
		return nil, nil //nolint:nilerr // not a run of this home: its events are enough
	}
	journal, err := rec.Open()
	if err != nil {
		return nil, nil //nolint:nilerr // likewise
	}
	defer func() { _ = journal.Close() }()
	if beginsWith(journal, whole()) {
		l.named = rec.ID
		rec = rec.ResumePoint()
		r.Resume, l.events = rec.ID, nil
	}
	return rec, nil
}

// beginsWith reports whether the content of r begins with all of prefix.
func beginsWith(r, prefix io.Reader) bool {
	ours, theirs := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(prefix, ours)
		if _, err := io.ReadFull(r, theirs[:n]); err != nil || !bytes.Equal(ours[:n], theirs[:n]) {
			return false
		}
		if err != nil {
			return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		}
	}
}

// takingOver is how long holdOrigin waits for another process that is just going on from the same run.
const takingOver = 10 * time.Second

// holdOrigin finds and locks the run to go on from, or sets Attach if that is live. If another process goes on from it at
// the same time, it waits for the run that the process makes, and sets Attach to that. If another process went on from it
// before, the run that it made takes its place. If the run has ended and its process has not, it waits for that.
func (l *Launch) holdOrigin(ctx context.Context) error {
	r := l.request
	rec, err := l.findOrigin()
	if rec == nil || err != nil {
		return err
	}
	if r.Follow {
		if err := r.checkFollowed(rec); err != nil {
			return err
		}
		return l.attach(ctx, rec, rec.Held())
	}
	for began := time.Now(); ; {
		if first, _, err := rec.FirstAndLast(); err != nil {
			return err
		} else if err := r.checkOwn(l.host.Home, first); err != nil {
			return err
		}
		status, _, err := rec.Status()
		if err != nil {
			return err
		}
		if r.Stored && status.Succeeded() && r.repeats() {
			return l.attach(ctx, rec, false)
		}
		live := journal.IsLive(status)
		if !r.DryRun {
			if live = rec.Held(); live {
				if waited, err := r.awaitEnd(ctx, rec); err != nil {
					return err
				} else if waited {
					continue
				}
			}
		}
		if live && r.Again != nil {
			return stillRunning(rec)
		}
		if live {
			return l.attach(ctx, rec, true)
		}
		release := func() {}
		if !r.DryRun { // which leaves the run as it is
			release, err = rec.Hold(ctx)
		}
		newest := rec.ResumePoint()
		if f, ok := errors.AsType[*fault.Fault](err); ok && f.Type == fault.Conflict && r.Resume != "" && r.Again == nil && time.Since(began) < takingOver {
			if newest.ID != rec.ID {
				return l.attach(ctx, newest, true)
			}
			if queued := rec.QueuedSuccessor(l.host.Home); queued != nil {
				return l.attach(ctx, queued, true)
			}
			continue
		}
		if err != nil {
			return err
		}
		if r.Resume == "" || newest.ID == rec.ID {
			l.releases = append(l.releases, release)
			if l.origin = rec; !r.DryRun {
				endStrays(rec.ID)
			}
			return nil
		}
		release()
		rec, r.Resume = newest, newest.ID
	}
}

// checkSame returns a fault if the workflow is another one than that of the run to go on from: it has none of its nodes. If it has one
// and the run is one of another file or name, a warning names both.
func checkSame(l *Launch) error {
	if l.from == nil || len(l.from.Started.Nodes) == 0 {
		return nil
	}
	r, had := l.request, l.from.Started.Workflow
	known := func(id string) bool { _, ok := l.top.Workflow.Node(id); return ok }
	if !slices.ContainsFunc(l.from.Started.Nodes, known) {
		f := fault.New(fault.Usage, "Run %s cannot go on: its workflow has no node in common with %s as it is now", l.from.Run, r.Name)
		return r.suggestAnew(r.suggestAsItWas(f))
	}
	if had != nil && !r.Stored && !r.Current && !r.single && !r.owns(had, l.origin == nil || l.fork) {
		l.host.Warn("run %s is one of %s; it goes on as %s", l.from.Run, cmp.Or(had.Path, had.Name), cmp.Or(r.Path, r.Name))
	}
	return nil
}

// reportChanges prints what of the workflow has changed since the run to go on from.
func reportChanges(l *Launch) {
	if l.from == nil || l.request.Stored || l.from.Started.Workflow == nil {
		return
	}
	compare := func(before event.Workflow, digest string, now json.RawMessage) []string {
		had, err := event.Plain(before.Definition, l.from.Blob)
		if before.Digest == digest || err != nil || !gjson.ValidBytes(had) {
			return nil
		}
		return changesOf(gjson.ParseBytes(had), gjson.ParseBytes(now))
	}
	changes := compare(*l.from.Started.Workflow, l.top.Digest, l.definition)
	now := map[subKey]event.Workflow{}
	for _, w := range l.subs {
		now[keyOf(w)] = w
	}
	for _, before := range l.from.Started.Workflows {
		definition, _ := l.redactor.JSON(now[keyOf(before)].Definition)
		for _, change := range compare(before, now[keyOf(before)].Digest, definition) {
			changes = append(changes, change+" in "+before.Ref)
		}
	}
	if len(changes) > 0 {
		l.host.Warn("uses %s as it is now: %s since %s", l.request.Name, fault.Truncate(strings.Join(changes, ", "), 300), l.from.Run)
	}
}

// changesOf says what differs in two definitions of a workflow: each node, and other fields by their names. Notes for people do not
// count.
func changesOf(had, has gjson.Result) []string {
	return append(changesIn("node ", nodesByID(had), nodesByID(has)), changesIn("", fieldsOf(had), fieldsOf(has))...)
}

// changesIn says what differs in two sets of named values of the given kind, by their names.
func changesIn(kind string, before, now map[string]gjson.Result) (changes []string) {
	all := maps.Clone(before)
	maps.Copy(all, now)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		had, has := before[name], now[name]
		switch {
		case !had.Exists():
			changes = append(changes, kind+name+" is new")
		case !has.Exists():
			changes = append(changes, kind+name+" is gone")
		case !rawjson.Equal(had.Raw, has.Raw):
			changes = append(changes, kind+name+" has changed")
		}
	}
	return changes
}

func nodesByID(definition gjson.Result) map[string]gjson.Result {
	nodes := map[string]gjson.Result{}
	for _, n := range definition.Get("nodes").Array() {
		nodes[n.Get("id").Str] = n
	}
	return nodes
}

func fieldsOf(definition gjson.Result) map[string]gjson.Result {
	fields := definition.Map()
	for _, other := range []string{"nodes", "name", "description", "metadata", "start_node"} {
		delete(fields, other)
	}
	return fields
}
