package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/mattn/go-isatty"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/cache"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/trace"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/check"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// prepared is a request that has been found able to run.
type prepared struct {
	engine.Config
	// stored is the workflow file as the run keeps it, without secrets.
	stored []byte
	// release lets go of the run that this one goes on from.
	release func()
	// resumed is the run that this one goes on from, when it is in this home.
	resumed *journal.Reader
	// fork says that it does so from events that are not those of that run's journal: then that run has no part in it.
	fork bool
	// key is the hold on the request's idempotency key.
	key *journal.Key
	// untouched is memory that is never used, so that it costs nothing: see untouchedSize.
	untouched []byte
	// attach is a run that is live already: it is followed and nothing is started.
	attach *journal.Reader
}

// What the run of a long workflow takes and never uses: the garbage collector counts it, and runs less often while there is
// little else. To take it begins a collection, which the run of a short one does not come to.
const (
	untouchedSize = 16 << 20
	longSource    = 2 << 10
)

// prepare checks all that can be checked before anything runs. Nothing is written.
func prepare(app *cli.App, h *home.Home, r *request) (*prepared, error) {
	p := &prepared{release: func() {}}
	if len(r.Source) >= longSource {
		p.untouched = make([]byte, untouchedSize)
	}
	app.Env = append(slices.Clip(app.Env), r.Env...)
	if err := p.idempotent(app, h, r); err != nil || p.attach != nil {
		return p, err
	}
	set, err := settings.Load(h)
	if err != nil {
		return p, err
	}
	p.Redactor = redactor(app.Env, set)
	read, err := p.checkpoint(app, h, r)
	if err != nil || p.attach != nil {
		return p, err
	}
	file := r.file
	if file == nil {
		file, err = workflow.Parse(r.File, r.Source)
	}
	if err == nil {
		err = p.check(app, h, r, file, set)
	}
	if err := read(); err != nil {
		return p, err
	}
	if err != nil {
		return p, p.Redactor.Fault(fault.From(err))
	}
	if p.From != nil && !slices.ContainsFunc(p.From.Started.Nodes, func(id string) bool { _, ok := p.Workflow.Node(id); return ok }) {
		app.Warn("run %s, of %s, has no node in common with %s: nothing of it is used", p.From.Run, p.From.Started.Workflow.Name, r.Name)
	}
	p.Ask = newAsker(app)
	kept := cache.Open(h)
	kept.WriteOnly = r.NoCache
	p.Cache = kept
	p.Jobs, p.KeepGoing, p.Timeout, p.Log, p.Answer = r.Jobs, r.KeepGoing, r.Timeout, app.Log, r.Answer
	if err := p.inputs(app, r, set); err != nil {
		return p, p.Redactor.Fault(fault.From(err))
	}
	if err := p.directory(r); err != nil {
		return p, err
	}
	p.stored, _ = p.Redactor.JSON(file.JSON())
	p.Started = event.Workflow{Name: r.Name, Path: r.Path, Digest: p.Digest, Definition: p.stored}
	p.Span = trace.Begin(process.Getenv(app.Env, trace.Variable))
	env := app.Env
	if p.Span.Parent == "" { // then what others say of the trace is about another one
		env = process.Environment(env, trace.State)
	}
	p.Host.Env = append(slices.Clip(env), trace.Variable+"="+p.Span.String()) // for the servers, which are there for all nodes
	if p.Host.Suite, err = app.Suite(); err != nil {
		return p, err
	}
	p.Host.Servers = mcpclient.NewPool(p.servers(app, h, set))
	return p, nil
}

// idempotent finds the live run that was started for the request's key, or makes sure that nobody else starts one.
func (p *prepared) idempotent(app *cli.App, h *home.Home, r *request) error {
	if r.Key == "" {
		return nil
	}
	key := journal.KeyOf(h, r.Key)
	if !r.DryRun {
		if err := key.Hold(app.Context); err != nil {
			return err
		}
		p.key = key
		p.releasing(key.Release)
	}
	live := key.Live()
	if live == nil {
		return nil
	}
	if err := r.same(live); err != nil {
		return err
	}
	p.attach = live
	return nil
}

// releasing adds to what is let go of in the end.
func (p *prepared) releasing(release func()) {
	before := p.release
	p.release = func() {
		release()
		before()
	}
}

// check checks the workflow and all that it runs, and makes them ready for the engine.
func (p *prepared) check(app *cli.App, h *home.Home, r *request, file *workflow.File, set *settings.Settings) error {
	types, lib := registry.Open(h), library.Open(h)
	load := func(ref string) (*workflow.File, error) {
		sub, _, err := lib.Open(r.resolve(ref), ref == "-", app.ReadArgument) // standard input is not for it
		return sub, err
	}
	p.defaults(file.Workflow)
	p.Redactor.JSON(file.JSON()) // what is written under secret names is known before an error could show it
	report := check.Workflow(file, types, load)
	if f := report.Fault(r.Name); f != nil {
		return p.Redactor.Fault(f)
	}
	p.advise(app, report)
	p.Sub = *p.sub(r.Name, report, set)
	p.Load = func(ref string) (*engine.Sub, error) {
		sub, err := load(ref)
		if err != nil {
			return nil, err
		}
		report := check.Workflow(sub, types, load)
		if f := report.Fault(ref); f != nil {
			return nil, f
		}
		return p.sub(ref, report, set), nil
	}
	return nil
}

// advise passes on the warnings of a check to a person who is there; what runs again and again unseen says nothing new.
func (p *prepared) advise(app *cli.App, report *check.Report) {
	for _, w := range report.Warnings {
		w = p.Redactor.Fault(w)
		if isatty.IsTerminal(app.Stderr.Fd()) {
			app.Warn("%s%s", w.Where(), w.Message)
			continue
		}
		app.Log.Info(w.Message, "place", w.Where())
	}
}

// defaults makes the defaults of secret inputs secrets.
func (p *prepared) defaults(w *workflow.Workflow) {
	for name, in := range w.Inputs {
		if in.Secret || redact.SecretName(name) {
			p.Redactor.AddJSON(name, in.Default)
		}
	}
}

// sub is a checked workflow as the engine runs it. Its digest is that of the definition without secrets.
func (p *prepared) sub(name string, report *check.Report, set *settings.Settings) *engine.Sub {
	p.defaults(report.File.Workflow)
	definition, _ := p.Redactor.JSON(report.File.JSON())
	s := &engine.Sub{Name: name, Workflow: report.File.Workflow, File: report.File, Kinds: report.Kinds, Digest: event.Digest(definition), Subs: map[string]*engine.Sub{}}
	if s.Workflow.TemplateResolutionMode == "" {
		s.Workflow.TemplateResolutionMode = set.TemplateResolutionMode
	}
	for id, sub := range report.Subs {
		s.Subs[id] = p.sub(sub.File.Name, sub, set)
	}
	return s
}

// shortest is the fewest bytes of an environment variable that is taken for a secret by its name: a shorter one, such as
// a flag, would be found in places that have nothing to do with it.
const shortest = 6

// redactor knows the secrets that there are before anything is read: the settings' values, and the environment's by
// their names.
func redactor(env []string, set *settings.Settings) *redact.Redactor {
	r := redact.New()
	for name, value := range set.Env {
		r.Add(name, value)
	}
	for _, kv := range env {
		if name, value, _ := strings.Cut(kv, "="); len(value) >= shortest && redact.SecretName(name) {
			r.Add(name, value)
		}
	}
	return r
}

// inputs gives every input its value and tells the redactor which are secrets.
func (p *prepared) inputs(app *cli.App, r *request, set *settings.Settings) error {
	given := r.given(p.Workflow)
	for name, in := range p.Workflow.Inputs {
		if g, ok := given[name]; ok && (in.Secret || redact.SecretName(name)) { // known before an error could show it
			if g.IsText() {
				p.Redactor.Add(name, g.Text)
			}
			p.Redactor.AddJSON(name, g.JSON)
		}
	}
	lost, err := p.recorded(given)
	if err != nil {
		return err
	}
	from := workflow.Supply{
		Environment: func(name string) (string, bool) { return process.LookupEnv(app.Env, name) },
		Settings:    func(name string) (string, bool) { v, ok := set.Env[name]; return v, ok },
	}
	for _, name := range lost {
		if _, ok := from.Environment(name); ok {
			continue
		}
		if _, ok := from.Settings(name); !ok {
			f := fault.New(fault.Usage, "Input %q is a secret, which run %s did not keep", name, p.From.Run).
				Suggest("Give it again: %s=VALUE, or in the environment or the settings", name)
			f.Missing = []string{name}
			return f
		}
	}
	values, err := p.Workflow.Resolve(given, from)
	if err != nil {
		return p.needing(fault.From(err))
	}
	p.Inputs = make(map[string]json.RawMessage, len(values))
	for name, v := range values {
		if in := p.Workflow.Inputs[name]; in.Secret || v.Origin == "settings" || redact.SecretName(name) {
			p.Redactor.AddJSON(name, v.JSON)
		}
		p.Inputs[name] = v.JSON
	}
	return nil
}

// needing names in a fault of missing inputs the first node that needs one.
func (p *prepared) needing(f *fault.Fault) *fault.Fault {
	for _, n := range p.Workflow.Nodes {
		uses, _ := plan.Uses(&n)
		if slices.ContainsFunc(uses, func(u template.Use) bool { return slices.Contains(f.Missing, u.Ref.Root) }) {
			f.Node = n.ID
			break
		}
	}
	return f
}

// recorded adds the values that the run resumed had, where no other is given. lost are those it did not keep.
func (p *prepared) recorded(given map[string]workflow.Given) (lost []string, err error) {
	if p.From == nil || p.From.Started.Inputs == nil {
		return nil, nil
	}
	plain, err := event.Plain(p.From.Started.Inputs, p.From.Blob)
	if err != nil {
		return nil, err
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(plain, &values); err != nil {
		return nil, fault.New(fault.Protocol, "The inputs of run %s cannot be read", p.From.Run)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := values[name]
		_, declared := p.Workflow.Inputs[name]
		_, already := given[name]
		switch {
		case !declared || already || string(v) == "null":
		case bytes.Contains(v, []byte(redact.Mark)) && p.Workflow.Inputs[name].Default != nil: // it comes from the file again
		case bytes.Contains(v, []byte(redact.Mark)):
			lost = append(lost, name)
		default:
			given[name] = workflow.Given{JSON: v}
		}
	}
	return lost, nil
}

// directory sets the run's folder: the one asked for, else that of the run resumed, else this process's.
func (p *prepared) directory(r *request) error {
	p.Host.Dir = r.Dir
	if p.From == nil || r.DirGiven || p.From.Started.Cwd == "" {
		return nil
	}
	p.Host.Dir = p.From.Started.Cwd
	if info, err := os.Stat(p.Host.Dir); err != nil || !info.IsDir() {
		return fault.New(fault.Usage, "The folder that run %s ran in is gone", p.From.Run).Suggest("Give another with -C DIR")
	}
	return nil
}

// servers says how the run's MCP servers are reached. Their configuration is read when the first of them is needed.
func (p *prepared) servers(app *cli.App, h *home.Home, set *settings.Settings) func(name string) (mcpclient.Spec, error) {
	reach := &mcpclient.Reach{Env: p.Host.Env, Settings: set.Env, Dir: p.Host.Dir, Redactor: p.Redactor, Log: app.Log, Warn: app.Warn}
	return func(name string) (mcpclient.Spec, error) {
		servers, err := mcpclient.LoadServers(h)
		if err != nil {
			return mcpclient.Spec{}, err
		}
		server, err := servers.Get(name)
		if err != nil {
			return mcpclient.Spec{}, err
		}
		return reach.Spec(name, server), nil
	}
}
