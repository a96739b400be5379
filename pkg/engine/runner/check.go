package runner

import (
	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/engine/flow"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/check"
)

// check checks the workflow and all workflows that it runs, and sets top and load.
func (l *Launch) check() error {
	file := l.request.file
	if file == nil {
		var err error
		if file, err = l.request.parse(); err != nil {
			return err
		}
		l.request.file = file
	}
	types, lib := runnerTypes{registry.Open(l.host.Home), l}, library.Open(l.host.Home)
	l.addDefaults(file.Workflow)
	l.redactor.JSON(file.JSON()) // adds values with secret names before an error can show them
	open, err := l.opener(lib)
	if err != nil {
		return err
	}
	report := check.Workflow(file, types, open)
	if f := report.Fault(l.request.Name); f != nil && l.request.single {
		return withoutPlaces(f)
	} else if f != nil {
		return f
	}
	for _, w := range report.Warnings {
		l.host.Advise(l.redactor.Fault(w))
	}
	if l.top = *l.sub(l.request.Name, report); l.request.single {
		l.top.File = nil
	}
	l.subs = subsOf(&l.top)
	l.load = func(from *flow.Flow, ref string) (*flow.Flow, error) {
		sub, err := open(from.File, ref)
		if err != nil {
			return nil, err
		}
		report := check.Workflow(sub, types, open)
		if f := report.Fault(ref); f != nil {
			return nil, f
		}
		return l.sub(ref, report), nil
	}
	return nil
}

// sub returns a checked workflow as the engine runs it. Its digest is that of the definition without secrets.
func (l *Launch) sub(name string, report *check.Report) *flow.Flow {
	l.addDefaults(report.File.Workflow)
	l.redactor.AddCredentialsOf(report.File.JSON())
	definition, _ := l.redactor.JSON(report.File.JSON())
	s := &flow.Flow{Name: name, Workflow: report.File.Workflow, File: report.File, Kinds: report.Kinds, Digest: event.Digest(definition), Subs: map[string]*flow.Flow{}}
	if s.Workflow.TemplateResolutionMode == "" {
		s.Workflow.TemplateResolutionMode = l.settings.TemplateResolutionMode
	}
	if r := s.Workflow.Runtime; (r == nil || r.MaxOutput == 0) && l.settings.MaxOutput > 0 {
		limited := workflow.Runtime{}
		if r != nil {
			limited = *r
		}
		limited.MaxOutput = l.settings.MaxOutput
		s.Workflow.Runtime = &limited
	}
	for id, sub := range report.Subs {
		s.Subs[id] = l.sub(sub.File.Name, sub)
	}
	return s
}

// addDefaults makes the defaults of secret inputs secrets.
func (l *Launch) addDefaults(w *workflow.Workflow) {
	for name, in := range w.Inputs {
		if in.Secret || redact.SecretName(name) {
			l.redactor.AddJSON(name, in.Default)
		}
	}
}
