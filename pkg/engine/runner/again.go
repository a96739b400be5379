package runner

import (
	"cmp"
	"context"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/run/reader"
)

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
	asked, err := l.from.Forget(&l.top, *r.Again)
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
	f := fault.New(fault.Usage, "Node %s would not run: after what run %s has, no edge to it is taken", id, l.from.Run).
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
