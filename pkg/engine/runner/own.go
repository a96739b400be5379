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
