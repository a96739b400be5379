package runner

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/run/reader"
)

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

// owns reports whether a run of w is one of the request's workflow: of the same name, or of the same file, after links too. Events from
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

// followed reports whether the source names a run and its workflow, and the result of the run is all that can be wanted. That
// is so while the run is live, even if the workflow's file is about to be corrected. After its end the file must be gone, perhaps
// because it was saved under another name, and the run have succeeded, or be paused and not answered.
func (s Source) followed(host *Host, o Options) bool {
	if s.Resume == "" || s.Only != "" || s.From != "" {
		return false
	}
	rec, err := journal.Find(host.Home, s.run(host))
	if err != nil {
		return false
	}
	last := rec.ResumePoint()
	status, _, err := last.Status()
	if err != nil || !runs(rec, s.Workflow) && !runs(last, s.Workflow) {
		return false
	}
	done := status.Succeeded() || status == event.Paused && o.Answer == "" && len(o.Answers) == 0
	return journal.IsLive(status) || done && !exists(host.Home, s.Workflow)
}

// run returns the run to go on from of a workflow that is known by its name: for "last", the id of its newest one.
func (s Source) run(host *Host) string {
	if s.Resume != "last" {
		return s.Resume
	}
	newest, _, _ := reader.Open(host.Home).Newest(s.Workflow, "") // "" names no run
	return newest
}

// runs reports whether a run is one of the workflow of the home that has a name.
func runs(rec *journal.Reader, name string) bool {
	first, _, err := rec.FirstAndLast()
	return err == nil && first != nil && first.Workflow != nil && first.Workflow.Path == "" && first.Workflow.Name == name
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
