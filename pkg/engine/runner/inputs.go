package runner

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// resolveInputs finds a value for every input and adds those that are secret to the redactor.
func (l *Launch) resolveInputs() error {
	w := l.top.Workflow
	given := l.request.given(w)
	l.given, l.origins = nil, map[string]string{}
	for name, in := range w.Inputs {
		if g, ok := given[name]; ok && (in.Secret || redact.SecretName(name)) { // before an error can show it
			l.given = append(l.given, name)
			if g.IsText() {
				l.redactor.Add(name, g.Text)
			}
			l.redactor.AddJSON(name, g.JSON)
		}
	}
	lost, err := l.addRecorded(given)
	if err != nil {
		return err
	}
	slices.Sort(l.given)
	from := workflow.Supply{
		Environment: func(name string) (string, bool) { return process.LookupEnv(l.env, name) },
		Settings:    func(name string) (string, bool) { v, ok := l.settings.Env[name]; return v, ok },
		Vars:        func(name string) (string, bool) { v, ok := l.settings.Vars[name]; return v, ok },
	}
	for _, name := range lost {
		supplied := slices.ContainsFunc([]func(string) (string, bool){from.Environment, from.Settings, from.Vars}, func(lookup func(string) (string, bool)) bool {
			_, ok := lookup(name)
			return ok
		})
		if !supplied {
			f := fault.New(fault.Usage, "Input %q is secret, so run %s has not stored it", name, l.from.Run).
				Suggest("Give it again, or set it in the environment or the settings").Then(fault.Step{Do: fault.DoResume, Run: l.from.Run, Inputs: lost})
			f.Missing = []string{name}
			return f
		}
	}
	values, err := w.Resolve(given, from)
	if err != nil {
		return l.nameNode(fault.From(err))
	}
	l.inputs = make(map[string]json.RawMessage, len(values))
	for name, v := range values {
		in, marked := w.Inputs[name], l.marked && bytes.Contains(v.JSON, []byte(redact.Mark))
		if !marked && (in.Secret || v.Origin == "settings" || redact.SecretName(name)) {
			l.redactor.AddJSON(name, v.JSON)
		}
		l.redactor.AddCredentialsOf(v.JSON)
		if l.inputs[name], err = event.Plain(event.Escape(v.JSON), nil); err != nil { // the bytes that a resume reads
			return err
		}
		if l.origins[name] == "" { // else the run to go on from says it
			l.origins[name] = v.Origin
		}
	}
	return nil
}

// nameNode adds to a fault of missing inputs the first node that needs one of them.
func (l *Launch) nameNode(f *fault.Fault) *fault.Fault {
	for _, n := range l.top.Workflow.Nodes {
		uses, _ := plan.Uses(&n)
		if slices.ContainsFunc(uses, func(u template.Use) bool { return slices.Contains(f.Missing, u.Ref.Root) }) {
			f.Node = n.ID
			break
		}
	}
	return f
}

// addRecorded adds the values of the run to go on from for inputs that have no other, if they were given to it or came from the
// environment. Those of its settings and the workflow's defaults are read anew, unless the run goes on as it was. addRecorded returns the
// names of those that the run did not keep because they are secret.
func (l *Launch) addRecorded(given map[string]workflow.Given) (lost []string, err error) {
	if l.from == nil || l.from.Started.Inputs == nil {
		return nil, nil
	}
	plain, err := event.Plain(l.from.Started.Inputs, l.from.Blob)
	if err != nil {
		return nil, err
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(plain, &values); err != nil {
		return nil, fault.New(fault.Protocol, "The inputs of run %s cannot be read", l.from.Run)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := values[name]
		in, declared := l.top.Workflow.Inputs[name]
		_, already := given[name]
		switch {
		case !declared || already || string(v) == "null" || !l.request.Stored && readAnew(l, name, v):
		case bytes.Contains(v, []byte(redact.Mark)) && in.Default != nil && !slices.Contains(l.from.Started.Given, name): // the workflow's file has it
		case bytes.Contains(v, []byte(redact.Mark)) && l.marked:
			given[name], l.given = workflow.Given{JSON: v}, append(l.given, name)
		case bytes.Contains(v, []byte(redact.Mark)):
			lost = append(lost, name)
		default:
			given[name] = workflow.Given{JSON: v}
			l.origins[name] = l.from.Started.Origins[name]
		}
	}
	return lost, nil
}

// readAnew reports whether the value of an input in the run to go on from is one of the settings or the workflow's default. An older run
// has not recorded that: then a value that equals the default is one.
func readAnew(l *Launch, name string, value json.RawMessage) bool {
	started := l.from.Started
	if started.Origins != nil {
		return slices.Contains([]string{"default", "settings", "vars"}, started.Origins[name])
	}
	if started.Workflow == nil {
		return false
	}
	definition, err := event.Plain(started.Workflow.Definition, l.from.Blob)
	if err != nil {
		return false
	}
	fallback := gjson.GetBytes(definition, "inputs."+gjson.Escape(name)+".default")
	return fallback.Exists() && rawjson.Equal([]byte(fallback.Raw), value)
}

// resolveDir sets the run's folder: the one asked for, else that of the run to go on from, else this process's.
func (l *Launch) resolveDir() error {
	l.dir = l.request.Dir
	if l.from == nil || l.request.DirGiven || l.from.Started.Cwd == "" {
		return nil
	}
	l.dir = l.from.Started.Cwd
	if info, err := os.Stat(l.dir); err != nil || !info.IsDir() {
		return fault.New(fault.Usage, "The folder of run %s no longer exists", l.from.Run).Suggest("Start a new run, or choose another folder for this one").Then(fault.Command("Choose another folder", "pflow-exec resume %s -C DIR", l.from.Run))
	}
	return nil
}
