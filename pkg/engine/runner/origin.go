package runner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// openMemory begins to read the memory to go on from. The function that it returns waits for the end of that;
// l.memory may not be used before.
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
		if l.memory, err = resume.Read(source, blob); err == nil {
			l.memory.Earlier = l.earlier
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
	if l.memory == nil || len(l.memory.Started.Nodes) == 0 {
		return nil
	}
	r, had := l.request, l.memory.Started.Workflow
	known := func(id string) bool { _, ok := l.top.Workflow.Node(id); return ok }
	if !slices.ContainsFunc(l.memory.Started.Nodes, known) {
		f := fault.New(fault.Usage, "Run %s cannot go on: its workflow has no node in common with %s as it is now", l.memory.Run, r.Name)
		return r.suggestAnew(r.suggestAsItWas(f))
	}
	if had != nil && !r.Stored && !r.Current && !r.single && !r.owns(had, l.origin == nil || l.fork) {
		l.host.Warn("run %s is one of %s; it goes on as %s", l.memory.Run, cmp.Or(had.Path, had.Name), cmp.Or(r.Path, r.Name))
	}
	return nil
}

// reportChanges prints what of the workflow has changed since the run to go on from.
func reportChanges(l *Launch) {
	if l.memory == nil || l.request.Stored || l.memory.Started.Workflow == nil {
		return
	}
	compare := func(before event.Workflow, digest string, now json.RawMessage) []string {
		had, err := event.Plain(before.Definition, l.memory.Blob)
		if before.Digest == digest || err != nil || !gjson.ValidBytes(had) {
			return nil
		}
		return changesOf(gjson.ParseBytes(had), gjson.ParseBytes(now))
	}
	changes := compare(*l.memory.Started.Workflow, l.top.Digest, l.definition)
	now := map[subKey]event.Workflow{}
	for _, w := range l.subs {
		now[keyOf(w)] = w
	}
	for _, before := range l.memory.Started.Workflows {
		definition, _ := l.redactor.JSON(now[keyOf(before)].Definition)
		for _, change := range compare(before, now[keyOf(before)].Digest, definition) {
			changes = append(changes, change+" in "+before.Ref)
		}
	}
	if len(changes) > 0 {
		l.host.Warn("uses %s as it is now: %s since %s", l.request.Name, fault.Truncate(strings.Join(changes, ", "), 300), l.memory.Run)
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

// checkOwn returns a fault if a workflow of the home would go on from a run of another one. Nodes with the same ids would be
// taken over silently. first is the first event of the run.
//
// A run belongs to the workflow that it names. If there is no workflow of that name any more, because a draft was saved under
// another name, or if the run is one of a file, it belongs to each workflow that has one of its nodes. Files are not
// checked: a corrected copy of a workflow goes on from the run of the original.
func (r *Request) checkOwn(h *home.Home, first *event.Event) error {
	if r.Path != "" || r.Name == "-" || r.Stored || r.single || first == nil || first.Workflow == nil {
		return nil
	}
	w := first.Workflow
	if r.owns(w, false) {
		return nil
	}
	isName := w.Path == "" && w.Name != "-"
	if !isName || !exists(h, w.Name) {
		file, err := r.parse()
		if err != nil {
			return nil //nolint:nilerr // the check of the workflow reports it
		}
		if slices.ContainsFunc(first.Nodes, func(id string) bool { _, ok := file.Workflow.Node(id); return ok }) {
			return nil
		}
	}
	f := fault.New(fault.Usage, "Run %s is a run of %s, not of %s", first.Run, w.Name, r.Name)
	step := fault.Step{Do: fault.DoResume, Run: first.Run}
	if isName {
		step.Name = w.Name
	}
	return r.suggestAnew(f.Then(step))
}

// owns reports whether a run of w is one of the request's workflow: of the same name, or of the same file, with links resolved. Events from
// elsewhere, perhaps another machine, may be of a file of the same name.
func (r *Request) owns(w *event.Workflow, elsewhere bool) bool {
	switch {
	case w.Path == "" && r.Path == "":
		return w.Name == r.Name
	case w.Path == "":
		return false
	case r.Path == "":
		return filepath.Dir(w.Path) == r.Folder && isFileOf(w.Path, r.Name)
	case w.Path == r.Path || elsewhere && filepath.Base(w.Path) == filepath.Base(r.Path):
		return true
	}
	had, err := filepath.EvalSymlinks(w.Path)
	has, err2 := filepath.EvalSymlinks(r.Path)
	return err == nil && err2 == nil && had == has
}

// ownRun returns the run that the source names, if it is one of this home and of the source's workflow, else nil. The workflow need not
// exist any more.
func (s Source) ownRun(host *Host) *journal.Reader {
	path := ""
	if !s.NameOnly {
		path, _ = filepath.Abs(s.Workflow)
	}
	run := s.Resume
	if run == "last" {
		runs := reader.Open(host.Home)
		if run, _, _ = runs.Newest(s.Workflow, path); run == "" && path != "" {
			run, _, _ = runs.Newest(s.Workflow, "")
		}
	}
	rec, err := journal.Find(host.Home, run)
	if err != nil {
		return nil
	}
	for _, of := range []*journal.Reader{rec, rec.ResumePoint()} {
		first, _, err := of.FirstAndLast()
		if err != nil || first == nil || first.Workflow == nil {
			continue
		}
		if w := first.Workflow; w.Path == "" && w.Name == s.Workflow || w.Path != "" && w.Path == path {
			return rec
		}
	}
	return nil
}

// loadOwn makes a request for a workflow that cannot be read, or with Options.AsItWas, if the run that the source names is its own: a live
// run is followed, one whose workflow is gone goes on as it was. why is the fault of the workflow, or nil.
func (s Source) loadOwn(host *Host, o Options, why *fault.Fault) (*Request, error) {
	rec := s.ownRun(host)
	switch {
	case rec == nil && why != nil || s.Only != "" || s.From != "":
		return nil, why
	case rec == nil:
		return nil, fault.New(fault.Usage, "There is no run %s of %s to go on with as it was", s.Resume, s.Workflow).Then(fault.Step{Do: fault.DoAsItWas, Run: "RUN"})
	}
	status, _, err := rec.ResumePoint().Status()
	if err != nil {
		return nil, err
	}
	live := journal.IsLive(status)
	if why != nil && !live && why.Type != fault.NotFound {
		return nil, why.Then(fault.Step{Do: fault.DoAsItWas, Run: rec.ID})
	}
	o.AsItWas = o.AsItWas || live
	r, err := LoadRun(host, rec.ID, s.Inputs, o)
	if err == nil {
		r.DryRun, r.Follow, r.Once = s.DryRun, live && why != nil, why != nil
	}
	return r, err
}

// isFileOf reports whether the file of a workflow has its name.
func isFileOf(path, name string) bool {
	rest, ok := strings.CutPrefix(filepath.Base(path), name)
	return ok && strings.HasPrefix(rest, ".")
}

// exists reports whether a name is that of a saved workflow or a draft.
func exists(h *home.Home, name string) bool {
	_, err := library.Open(h).Find(name)
	f, ok := errors.AsType[*fault.Fault](err)
	return err == nil || ok && f.Type != fault.NotFound
}

// holdKey sets Attach if the run that was started for the request's key is live. Otherwise it holds the key, so that no
// other process starts one.
func (l *Launch) holdKey(ctx context.Context) error {
	r := l.request
	if r.Key == "" {
		return nil
	}
	key := journal.NewKey(l.host.Home, r.Key)
	if !r.DryRun {
		if err := key.Hold(ctx); err != nil {
			return err
		}
		l.key = key
		l.releases = append(l.releases, key.Release)
	}
	if live := key.Live(); live != nil {
		if r.Resume != "" && !r.DryRun {
			if waited, err := r.awaitEnd(ctx, live); err != nil || waited {
				return err
			}
		}
		r.keyed = true
		return l.attach(ctx, live, true)
	}
	return nil
}

// attach sets Attach. It returns a fault if the run was given other answers, or does not do what is asked for. Of a run that
// has ended the caller has compared that, unless the request follows it.
func (l *Launch) attach(ctx context.Context, rec *journal.Reader, live bool) error {
	if live || l.request.Follow {
		if err := l.request.checkSame(ctx, l.host.Home, rec); err != nil {
			return err
		}
	}
	if err := l.request.checkAnswered(rec, live); err != nil {
		return err
	}
	l.Attach = rec.ID
	return nil
}

// checkSame returns a fault if a run is one of another workflow or has other inputs. It waits for the first event of a
// run that has just begun.
func (r *Request) checkSame(ctx context.Context, h *home.Home, rec *journal.Reader) error {
	first, err := firstEvent(ctx, rec)
	if err != nil || first == nil || first.Workflow == nil {
		return err
	}
	w := first.Workflow
	if err := r.checkOwn(h, first); err != nil {
		return err
	}
	known := r.Path != "" && w.Name != "-"
	if known && w.Name != r.Name && (w.Path == "" || w.Path != r.Path) {
		return r.suggestAnew(fault.New(fault.Usage, "Run %s runs another workflow, %s", rec.ID, w.Name).
			Then(fault.Step{Do: fault.DoWait, Run: rec.ID, Name: w.Name}))
	}
	inputs, err := event.Plain(first.Inputs, rec.Blob)
	if err != nil {
		return nil //nolint:nilerr // they cannot be compared
	}
	for _, name := range slices.Sorted(maps.Keys(r.Inputs)) {
		has := gjson.GetBytes(inputs, gjson.Escape(name))
		if has.Exists() && !strings.Contains(has.Raw, redact.Mark) && !same(r.Inputs[name], has.Raw) {
			return r.suggestAnew(fault.New(fault.Usage, "Run %s has another value of its input %q", rec.ID, name).
				Suggest("Leave out the inputs").Then(fault.Step{Do: fault.DoWait, Run: rec.ID}))
		}
	}
	return nil
}

// suggestAnew adds to the fault of a run that is another one how to start a new run.
func (r *Request) suggestAnew(f *fault.Fault) *fault.Fault {
	if r.keyed {
		return f.Suggest("For a new run of %s, give another idempotency key", r.Name)
	}
	return f.Suggest("For a new run of %s, leave out the run to go on from", r.Name)
}

var errFirst = errors.New("the first event is read")

// firstEvent waits for the first event of a live run. It returns nil if the run ends without one.
func firstEvent(ctx context.Context, rec *journal.Reader) (first *event.Event, err error) {
	err = rec.Follow(ctx, func(line []byte) error {
		if first, _, err = event.NewReader(bytes.NewReader(line)).Next(); err != nil {
			return err
		}
		return errFirst
	})
	if errors.Is(err, errFirst) {
		err = nil
	}
	return first, err
}

// same reports whether a value that is given is the one that a run has.
func same(given workflow.Given, raw string) bool {
	has := json.RawMessage(raw)
	if given.IsText() {
		return template.AsText(has) == given.Text
	}
	return bytes.Equal(rawjson.Compact(given.JSON), rawjson.Compact(has)) || template.AsText(given.JSON) == template.AsText(has)
}

// loadAgain sets what a source asks to run again, and the run to go on from if the source names none: the workflow's last one.
func (r *Request) loadAgain(host *Host, s *Source) error {
	if s.Only == "" && s.From == "" {
		return nil
	}
	flag := "--only"
	if s.Only == "" {
		flag = "--from"
	}
	switch {
	case s.Only != "" && s.From != "":
		return fault.New(fault.Usage, "--only and --from cannot be combined").Suggest("--only runs one node, --from also the nodes that it leads to")
	case s.Checkpoint != nil:
		return fault.New(fault.Usage, "%s cannot be combined with --checkpoint, which goes on by itself", flag).Suggest("Name a run with --resume RUN")
	}
	r.Again, r.Only = &event.Again{Only: s.Only, From: s.From}, s.Only
	if s.Resume != "" {
		return nil
	}
	if r.Path == "" && r.Name == "-" {
		return fault.New(fault.Usage, "%s needs the run to take the other nodes from, for a workflow from standard input", flag).Suggest("Name it with --resume RUN")
	}
	newest, err := r.newestRun(host)
	if f := fault.From(err); f != nil && f.Type == fault.NotFound {
		return f.Suggest("Run all of it first, or name a run with --resume RUN")
	}
	if err != nil {
		return err
	}
	s.Resume = newest
	return nil
}

// newestRun returns the id of the workflow's last run. The fault of a file that has none names the run that it may have had elsewhere.
func (r *Request) newestRun(host *Host) (string, error) {
	newest, likely, err := reader.Open(host.Home).Newest(r.Name, r.Path)
	if err != nil || newest != "" {
		return newest, err
	}
	f := fault.New(fault.NotFound, "There is no run of %s", r.Name)
	named := cmp.Or(r.Path, r.Name)
	if likely == "" {
		return "", f.Suggest("To go on from a run of another workflow, name it").Then(fault.Command("Go on from it", "pflow-exec run %s --resume RUN", named))
	}
	was := "another file"
	if rec, err := journal.Find(host.Home, likely); err == nil {
		if first, _, err := rec.FirstAndLast(); err == nil && first != nil && first.Workflow != nil {
			was = first.Workflow.Path
		}
	}
	return "", f.Suggest("Perhaps run %s of %s is meant", likely, was).Then(fault.Command("Go on from it", "pflow-exec run %s --resume %s", named, likely))
}

// repeatAgain sets what a run that goes on from another must still do alone or again. last is the last of the runs that went on
// from the named one. If it was stopped before it had taken over what it goes on from, that is point, and what was asked of it is
// asked again. first is the first event of point.
func (r *Request) repeatAgain(last, point *journal.Reader, first *event.Event, retryFailed bool) error {
	if last.ID != point.ID {
		stopped, _, err := last.FirstAndLast()
		if err != nil {
			return err
		}
		if stopped != nil && stopped.Event == event.RunStarted && stopped.Again != nil {
			asked := *stopped.Again
			r.Again, r.Only = &asked, asked.Only
			if r.Source, err = last.Definition(); err != nil {
				return err
			}
			first.Workflow = stopped.Workflow
			r.Name, r.Path = stopped.Workflow.Name, stopped.Workflow.Path
		}
	} else if first.Again != nil {
		r.Only = first.Again.Only
	}
	if retryFailed {
		if r.Again == nil {
			r.Again = &event.Again{Only: r.Only}
		}
		r.Again.RetryFailed = true
	}
	return nil
}

// stillRunning returns the fault of a live run whose nodes cannot run again yet.
func stillRunning(rec *journal.Reader) error {
	return fault.New(fault.Conflict, "Run %s is still running, so its nodes cannot run again yet", rec.ID).
		Then(fault.Step{Do: fault.DoWait, Run: rec.ID}, fault.Step{Do: fault.DoCancel, Run: rec.ID})
}

// again is the part of Resolve that takes what is asked to run again out of the memory.
type again struct{ launch *Launch }

// take takes it out. If nothing has failed that could run again, it sets Attach to the run.
func (a *again) take() error {
	l := a.launch
	r := l.request
	if r.Again == nil {
		return nil
	}
	asked, err := l.memory.Forget(&l.top, *r.Again)
	if err != nil {
		return err
	}
	if asked == 0 && l.origin != nil && r.Stored && len(r.Inputs) == 0 {
		if status, _, err := l.origin.Status(); err == nil && status.Succeeded() {
			l.host.Warn("no item and no node of run %s has failed, so nothing runs again", l.origin.ID)
			l.Attach = l.origin.ID
		}
	}
	return nil
}

// checkReached returns a fault if the node from which the run would go on does not run, because of what the nodes before it have
// done.
func (a *again) checkReached(ctx context.Context) error {
	l := a.launch
	if l.request.Again == nil || l.request.Again.From == "" {
		return nil
	}
	id := l.request.Again.From
	preview, err := engine.DryRun(ctx, l.config(""))
	if err != nil {
		return l.redactor.Fault(fault.From(err))
	}
	if preview.Would[id] != engine.WouldSkip {
		return nil
	}
	f := fault.New(fault.Usage, "Node %s would not run: after what run %s has, no edge to it is taken", id, l.memory.Run).
		Suggest("To run it alone: --only %s", id)
	f.Node = id
	return f
}

// recorded returns what run_started says about what was asked to run again, or alone.
func (r *Request) recorded() *event.Again {
	all := event.Again{}
	if r.Again != nil {
		all = *r.Again
	}
	if all.Only = cmp.Or(all.Only, r.Only); all == (event.Again{}) {
		return nil
	}
	return &all
}

// once is the part of Resolve that finds out whether the run to go on from, which has ended, already does what is asked for.
type once struct{ *Launch }

// attach sets Attach to the run to go on from if Request.Once asks for it: if the run has succeeded or waits for an
// answer, the workflow and the inputs are those of the run, and no node would run.
func (l once) attach(ctx context.Context) error {
	if !l.repeats() || !l.sameInputs() {
		return nil
	}
	preview, err := engine.DryRun(ctx, l.config(""))
	if err != nil {
		return l.redactor.Fault(fault.From(err))
	}
	if wouldRun(preview) {
		return nil
	}
	return l.Launch.attach(ctx, l.origin, false)
}

// repeats reports whether the request is to be answered by the run to go on from, as far as the workflow and the end of
// that run say.
func (l once) repeats() bool {
	r := l.request
	if !r.Once || l.origin == nil || l.fork || r.Again != nil || l.memory.Started.Workflow.Digest != l.top.Digest {
		return false
	}
	status, _, err := l.origin.Status()
	return err == nil && (status.Succeeded() || status == event.Paused && !r.Current) // a person may answer who resumes it
}

// sameInputs reports whether the inputs are those of the run to go on from. It cannot tell secrets apart: the run has not
// recorded them.
func (l once) sameInputs() bool {
	plain, err := event.Plain(l.memory.Started.Inputs, l.memory.Blob)
	var had map[string]json.RawMessage
	if err != nil || json.Unmarshal(plain, &had) != nil || len(had) != len(l.inputs) {
		return false
	}
	for name, value := range l.inputs {
		before, ok := had[name]
		if !ok || !bytes.Contains(before, []byte(redact.Mark)) && !bytes.Equal(rawjson.Compact(before), rawjson.Compact(value)) {
			return false
		}
	}
	return true
}

// wouldRun reports whether a node would run before somebody answers a question.
func wouldRun(p *engine.Preview) bool {
	waits := map[string]bool{} // the nodes that ask, and those after them
	for _, id := range p.Order {
		switch would := p.Would[id]; {
		case would == engine.WouldAsk, would == engine.WouldRun && slices.ContainsFunc(p.After[id], func(before string) bool { return waits[before] }):
			waits[id] = true
		case would == engine.WouldRun, would == engine.WouldDeny:
			return true
		}
	}
	return false
}

// checkpointPath returns the absolute path of a checkpoint file, or a fault if the name cannot be one.
func checkpointPath(h *home.Home, name, resume string) (string, error) {
	switch {
	case resume != "":
		return "", fault.New(fault.Usage, "--checkpoint goes on from its file, so it cannot be combined with --resume").
			Suggest("Leave out one of the two")
	case name == "" || name == "-":
		return "", fault.New(fault.Usage, "--checkpoint needs the name of a file, got %q", name).
			Suggest("Standard output carries the events anyway; --resume - reads them from standard input")
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return "", fault.From(err)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if runs, err := filepath.EvalSymlinks(h.Path("runs")); err == nil && strings.HasPrefix(path, runs+string(filepath.Separator)) {
		return "", fault.New(fault.Usage, "The checkpoint file %s belongs to the runs of the home", name).
			Suggest("Name a file outside of it").Then(fault.Step{Do: fault.DoResume, Run: "RUN"})
	}
	return path, nil
}

// openEvents opens the file of the events to go on from, or the checkpoint file, which it locks.
func (l *Launch) openEvents(ctx context.Context) (err error) {
	r := l.request
	if r.Events != "" {
		if err := l.openStream(r.Events); err != nil {
			return err
		}
		if r.EventsSpooled {
			_ = os.Remove(r.Events)
		}
	}
	if r.Checkpoint == "" {
		return nil
	}
	if r.DryRun {
		l.file, err = journal.ReadEventFile(r.Checkpoint)
	} else {
		l.file, err = journal.OpenEventFile(ctx, r.Checkpoint, r.Sync)
	}
	if err != nil {
		return err
	}
	l.releases = append(l.releases, l.file.Close)
	if run := l.file.Run(); run != nil {
		l.events, l.whole = run, run.Size()
	}
	return nil
}

// openStream opens a file of events, of which it uses what is in it now.
func (l *Launch) openStream(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fault.New(fault.Usage, "Cannot read %s: %v", path, fault.Reason(err))
	}
	l.releases = append(l.releases, func() { _ = f.Close() })
	info, err := f.Stat()
	if err == nil {
		l.events = io.NewSectionReader(f, 0, info.Size())
		l.whole, err = wholeEvents(f, info.Size())
	}
	if err != nil {
		return fault.New(fault.Usage, "Cannot read %s: %v", path, fault.Reason(err))
	}
	return nil
}

// wholeEvents returns the length of the whole lines of a stream up to its last event. A program that fails writes an error
// behind it.
func wholeEvents(r io.ReaderAt, size int64) (int64, error) {
	for window := int64(64 << 10); ; window *= 4 {
		from := max(0, size-window)
		text := make([]byte, size-from)
		if _, err := r.ReadAt(text, from); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		for {
			end := bytes.LastIndexByte(text, '\n')
			last := bytes.LastIndexByte(text[:max(end, 0)], '\n') + 1
			if end < 0 || last == 0 && from > 0 {
				break // the window does not have a whole line more
			}
			if gjson.GetBytes(text[last:end], "seq").Exists() {
				return from + int64(end) + 1, nil
			}
			text = text[:last]
		}
		if from == 0 || window >= maxTail {
			return 0, nil
		}
	}
}

// maxTail is how far from the end of a stream wholeEvents looks for an event: further than a line may be long.
const maxTail = 64 << 20

// checkCopied returns a fault if the checkpoint file does not have all events of the run.
func (l *Launch) checkCopied(last *event.Event) error {
	if l.file == nil || l.file.Err() == nil {
		return nil
	}
	return fault.New(fault.Internal, "The run ended as %s, but its events could not be written to %s: %v", last.Status, l.file.Path(), fault.Reason(l.file.Err())).
		Suggest("The same command goes on from there in this home").Then(fault.Step{Do: fault.DoEvents, Run: last.Run})
}
