package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/engine/cache"
	"github.com/pflow-suite/pflow/pkg/engine/flow"
	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/trace"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/mcp/oauth"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/process/chain"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/check"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// Launch is a request that has been found able to run. It holds locks until Release or Execute.
type Launch struct {
	// Attach is the id of a run that already does, or has done, what is asked for. It is empty if the launch can be
	// executed. A launch with Attach holds no locks.
	Attach string

	host     *Host
	request  *Request
	env      []string
	settings *settings.Settings
	redactor *redact.Redactor
	// awaitAbandoned waits until the processes of runs whose runner was killed have ended.
	awaitAbandoned func(context.Context)
	// releases undo what the launch holds, the last one first.
	releases []func()

	// top is the checked workflow. load reads and checks one that a node names by a template.
	top  flow.Flow
	load func(from *flow.Flow, ref string) (*flow.Flow, error)
	// subs are the sub-workflows that have a literal name.
	subs []event.Workflow
	// definition is the workflow's file as the run stores it, without secrets.
	definition json.RawMessage
	inputs     map[string]json.RawMessage
	// origins says where the value of each input is from, as the first event of the run does.
	origins map[string]string
	// given names the secret inputs whose values were given to the run.
	given []string
	// marked is set if the inputs that the run to go on from has not stored have the marks that stand for their secrets, because no node
	// will run.
	marked bool
	dir    string
	suite  string

	// read has the memories of earlier runs that were asked for, by the ids of the runs; nil stands for one that is gone.
	read map[string]*resume.Memory

	// file is the checkpoint file, or nil.
	file *journal.EventFile
	// events are those to go on from that were given as a file, or nil. The first whole bytes of them are whole events.
	events *io.SectionReader
	whole  int64

	// key is held so that no other process starts a run for it. It may be nil.
	key *journal.Key
	// from is the memory to go on from, and origin the run of this home that it belongs to. Either may be nil.
	memory *resume.Memory
	origin *journal.Reader
	// named is the id of the run that was asked for, which the origin may have gone on from.
	named string
	// fork is set if the memory's events are not those of the origin's journal: then the new run does not supersede it.
	fork bool
}

// Resolve checks everything that can be checked before a run: the workflow, its inputs, and the run to go on from. It
// takes the locks that the run needs, ends processes that killed runs have left, and writes nothing else. The caller ends
// the launch with Release or Execute.
func Resolve(ctx context.Context, host *Host, r *Request) (*Launch, error) {
	l := &Launch{host: host, request: r, env: append(slices.Clip(host.Env), r.Env...), awaitAbandoned: func(context.Context) {}}
	if !r.DryRun {
		l.awaitAbandoned = endAbandoned(host.Home)
	}
	err := l.resolve(ctx)
	if err != nil || l.Attach != "" {
		l.Release()
		l.awaitAbandoned(ctx)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (l *Launch) resolve(ctx context.Context) (err error) {
	r := l.request
	if err := l.openEvents(ctx); err != nil {
		return err
	}
	if err := l.holdKey(ctx); err != nil || l.Attach != "" {
		return err
	}
	if err := l.holdOrigin(ctx); err != nil || l.Attach != "" {
		return err
	}
	if l.settings, err = settings.Load(l.host.Home); err != nil {
		return err
	}
	l.redactor = redact.For(l.settings.Env, l.env)
	l.addServerSecrets()
	read, err := l.openMemory()
	if err != nil {
		return err
	}
	checkErr := l.check()
	if err := read(); err != nil {
		return err
	}
	if checkErr != nil {
		return l.redactor.Fault(r.suggestAsItWas(fault.From(checkErr)))
	}
	if err := checkSame(l); err != nil {
		return err
	}
	if err := l.checkAnswers(); err != nil {
		return err
	}
	rerun := &again{launch: l}
	if err := rerun.take(); err != nil || l.Attach != "" {
		return err
	}
	missing := l.resolveInputs()
	if err := missing; err != nil {
		if len(r.Inputs) == 0 && (once{l}).repeats() && !(once{l}).answersOpen() { // its secret inputs are not given again, and not needed
			return l.attach(ctx, l.origin, false)
		}
		if l.marked = denies(l); !l.marked || l.resolveInputs() != nil {
			return l.redactor.Fault(fault.From(err))
		}
	}
	if err := l.resolveDir(); err != nil {
		return err
	}
	l.definition, _ = l.redactor.JSON(l.request.file.JSON()) // when all secrets are known
	reportChanges(l)
	if l.suite, err = l.host.Suite(); err != nil {
		return err
	}
	if err := rerun.checkReached(ctx); err != nil {
		return err
	}
	if l.marked {
		if denied, err := engine.DeniedAtOnce(ctx, l.config("")); err != nil || !denied {
			return l.redactor.Fault(fault.From(missing))
		}
	}
	same := once{l}
	if err := same.checkTaken(ctx); err != nil {
		return err
	}
	if err := same.attach(ctx); err != nil || l.Attach != "" {
		return err
	}
	return l.checkAround()
}

// Release lets go of everything that the launch holds. It may be called more than once.
func (l *Launch) Release() {
	for _, release := range slices.Backward(l.releases) {
		release()
	}
	l.releases = nil
}

// Workflow returns the checked workflow.
func (l *Launch) Workflow() *workflow.Workflow { return l.top.Workflow }

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

// subKey identifies a sub-workflow in a run: what a node names, in a workflow whose paths start from a folder.
type subKey struct{ from, ref string }

func keyOf(w event.Workflow) subKey { return subKey{w.From, w.Ref} }

// subsOf returns the workflows that the nodes of a workflow run, and those inside them, each once: those that have a literal name.
func subsOf(top *flow.Flow) []event.Workflow {
	var all []event.Workflow
	seen := map[subKey]bool{}
	var visit func(s *flow.Flow)
	visit = func(s *flow.Flow) {
		for _, id := range slices.Sorted(maps.Keys(s.Subs)) {
			inner := s.Subs[id]
			node, ok := s.Workflow.Node(id)
			if !ok || inner.File == nil || s.File == nil {
				continue
			}
			if named, ok := workflow.SubOf(node.Params); ok && named.Inline == nil {
				w := event.Workflow{Name: inner.Name, Digest: inner.Digest, Definition: inner.File.JSON(), Ref: named.Ref, From: s.File.Dir, Dir: inner.File.Dir}
				if seen[keyOf(w)] {
					continue
				}
				seen[keyOf(w)] = true
				all = append(all, w)
			}
			visit(inner)
		}
	}
	visit(top)
	return all
}

// opener returns how to open the sub-workflows of the request: as the run to go on from has recorded them, if the request takes its
// workflow from there, and else as they are now.
func (l *Launch) opener(lib *library.Library) (check.Load, error) {
	if !l.request.Stored || l.origin == nil && l.events == nil {
		return lib.OpenSub, nil
	}
	var events io.Reader
	if l.origin == nil {
		events = io.NewSectionReader(l.events, 0, l.whole)
	} else {
		file, err := l.origin.Open()
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		events = file
	}
	recorded, run, err := recordedSubs(events)
	if err != nil {
		return nil, err
	}
	load := l.blobs()
	return func(from *workflow.File, ref string) (*workflow.File, error) {
		w, ok := recorded[subKey{from.Dir, ref}]
		if !ok {
			return lib.OpenSub(from, ref)
		}
		definition, err := event.Plain(w.Definition, load)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(definition, []byte(redact.Mark)) {
			now := event.Workflow{Name: ref}
			if strings.Contains(ref, "/") || filepath.Ext(ref) != "" {
				now.Path = filepath.Join(from.Dir, ref)
			}
			if filepath.IsAbs(ref) {
				now.Path = ref
			}
			if definition, err = restoreLiterals(l.host, run, definition, now); err != nil {
				return nil, err
			}
		}
		file, err := workflow.Parse(strings.TrimSuffix(w.Name, ".md"), definition)
		if err == nil {
			file.Dir = w.Dir
		}
		return file, err
	}, nil
}

// recordedSubs returns the sub-workflows that the events of a run have, and the run: those with a literal name from when it began, the
// others from when they started.
func recordedSubs(stream io.Reader) (recorded map[subKey]event.Workflow, run string, err error) {
	recorded = map[subKey]event.Workflow{}
	definitions := map[string]event.Workflow{} // of several with one digest, the first has the definition
	for events := event.NewReader(stream); ; {
		e, _, err := events.Next()
		if errors.Is(err, io.EOF) {
			return recorded, run, nil
		}
		if err != nil {
			return nil, run, err
		}
		run = e.Run
		all := e.Workflows
		if e.Workflow != nil && e.Workflow.Ref != "" {
			all = append(all, *e.Workflow)
		}
		for _, w := range all {
			if len(w.Definition) > 0 {
				definitions[w.Digest] = w
			}
			if first, ok := definitions[w.Digest]; ok {
				w.Definition = first.Definition
				recorded[keyOf(w)] = w
			}
		}
	}
}

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
			f := fault.New(fault.Usage, "Input %q is secret, so run %s has not stored it", name, l.memory.Run).
				Suggest("Give it again, or set it in the environment or the settings").Then(fault.Step{Do: fault.DoResume, Run: l.memory.Run, Inputs: lost})
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
	if l.memory == nil || l.memory.Started.Inputs == nil {
		return nil, nil
	}
	plain, err := event.Plain(l.memory.Started.Inputs, l.memory.Blob)
	if err != nil {
		return nil, err
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(plain, &values); err != nil {
		return nil, fault.New(fault.Protocol, "The inputs of run %s cannot be read", l.memory.Run)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := values[name]
		in, declared := l.top.Workflow.Inputs[name]
		_, already := given[name]
		switch {
		case !declared || already || string(v) == "null" || !l.request.Stored && readAnew(l, name, v):
		case bytes.Contains(v, []byte(redact.Mark)) && in.Default != nil && !slices.Contains(l.memory.Started.Given, name): // the workflow's file has it
		case bytes.Contains(v, []byte(redact.Mark)) && l.marked:
			given[name], l.given = workflow.Given{JSON: v}, append(l.given, name)
		case bytes.Contains(v, []byte(redact.Mark)):
			lost = append(lost, name)
		default:
			given[name] = workflow.Given{JSON: v}
			l.origins[name] = l.memory.Started.Origins[name]
		}
	}
	return lost, nil
}

// readAnew reports whether the value of an input in the run to go on from is one of the settings or the workflow's default. An older run
// has not recorded that: then a value that equals the default is one.
func readAnew(l *Launch, name string, value json.RawMessage) bool {
	started := l.memory.Started
	if started.Origins != nil {
		return slices.Contains([]string{"default", "settings", "vars"}, started.Origins[name])
	}
	if started.Workflow == nil {
		return false
	}
	definition, err := event.Plain(started.Workflow.Definition, l.memory.Blob)
	if err != nil {
		return false
	}
	fallback := gjson.GetBytes(definition, "inputs."+gjson.Escape(name)+".default")
	return fallback.Exists() && rawjson.Equal([]byte(fallback.Raw), value)
}

// resolveDir sets the run's folder: the one asked for, else that of the run to go on from, else this process's.
func (l *Launch) resolveDir() error {
	l.dir = l.request.Dir
	if l.memory == nil || l.request.DirGiven || l.memory.Started.Cwd == "" {
		return nil
	}
	l.dir = l.memory.Started.Cwd
	if info, err := os.Stat(l.dir); err != nil || !info.IsDir() {
		return fault.New(fault.Usage, "The folder of run %s no longer exists", l.memory.Run).Suggest("Start a new run, or choose another folder for this one").Then(fault.Command("Choose another folder", "pflow-exec resume %s -C DIR", l.memory.Run))
	}
	return nil
}

// budgetOf returns what the run and those that it continues may spend, or nil. What is asked for wins over what was asked for in
// the run that it continues, and that over what the workflow says.
func budgetOf(l *Launch) *event.Budget {
	b := &event.Budget{}
	if own := l.top.Workflow.Budget; own != nil {
		b.Spending = event.Spending{USD: own.USD, Tokens: int64(own.Tokens), Minutes: own.Minutes}
	}
	if l.memory != nil && l.memory.Started.Budget != nil {
		had := *l.memory.Started.Budget
		give(b, had.Spending, func(field string) bool { return slices.Contains(had.Given, field) })
	}
	give(b, l.request.Budget, func(string) bool { return true })
	if b.IsZero() {
		return nil
	}
	return b
}

// give sets the fields of a budget that are given.
func give(b *event.Budget, to event.Spending, given func(field string) bool) {
	for _, f := range []struct {
		name string
		set  bool
		copy func()
	}{
		{event.USD, to.USD > 0, func() { b.USD = to.USD }},
		{event.Tokens, to.Tokens > 0, func() { b.Tokens = to.Tokens }},
		{event.Minutes, to.Minutes > 0, func() { b.Minutes = to.Minutes }},
	} {
		if !f.set || !given(f.name) {
			continue
		}
		if f.copy(); !slices.Contains(b.Given, f.name) {
			b.Given = append(b.Given, f.name)
		}
	}
}

// runnersOf returns the command lines of the runners that the run can use, by their names.
func runnersOf(l *Launch) map[string]string {
	all := settings.WithLocal(l.settings.Runners)
	maps.Copy(all, l.request.Runners)
	return all
}

// runnerTypes are the registered types, and the runners of a run.
type runnerTypes struct {
	*registry.Registry
	launch *Launch
}

// Runners lists the names of the runners.
func (r runnerTypes) Runners() ([]string, error) {
	return slices.Sorted(maps.Keys(runnersOf(r.launch))), nil
}

// checkAround returns a fault if the run would be inside a run of its own workflow, or inside too many runs. Through servers and commands a
// workflow can run itself without a check of its text showing it. Runs that have ended count: a start that does not wait would go on
// for ever. Of a run that this home does not have, only that it is there is known.
func (l *Launch) checkAround() error {
	around := chain.Of(l.host.Env)
	if len(around) > chain.Max {
		return fault.New(fault.Validation, "The workflow %q would run inside %d other runs: runs nest at most %d deep", l.request.Name, len(around), chain.Max).
			Detail(chain.Detail, around).Suggest("Nest fewer runs, or repeat a workflow with a loop or a batch")
	}
	names := make([]string, len(around), len(around)+1)
	circle := -1
	for i, id := range around {
		names[i] = id
		w := l.workflowOf(id)
		if w == nil {
			continue
		}
		if names[i] = w.Name; circle < 0 && w.Digest == l.top.Digest && l.request.owns(w, false) {
			circle = i
		}
	}
	if circle < 0 {
		return nil
	}
	return fault.New(fault.Validation, "Circular workflows: %s (each runs the next)", strings.Join(append(names[circle:], l.request.Name), " → ")).
		Detail(chain.Detail, around[circle:]).
		Suggest("A workflow cannot run itself, directly or through others, a server or a command: use a loop or a batch to repeat")
}

// workflowOf returns the workflow of a run of this home, or nil.
func (l *Launch) workflowOf(id string) *event.Workflow {
	if !journal.Exists(l.host.Home, id) {
		return nil
	}
	first, _, err := journal.At(l.host.Home, id).FirstAndLast()
	if err != nil || first == nil {
		return nil
	}
	return first.Workflow
}

// config returns the launch as the engine takes it, without what depends on the run's journal. run is the id of the run, or
// empty if nothing is executed.
func (l *Launch) config(run string) engine.Config {
	r := l.request
	span := trace.Begin(process.Getenv(l.env, trace.Variable))
	env := l.env
	if span.Parent == "" { // a new trace: the state is about another one
		env = process.Environment(env, trace.State)
	}
	env = append(slices.Clip(env), trace.Variable+"="+span.String()) // servers belong to the run, not to a node
	if run != "" {
		env = append(env, chain.Variable+"="+chain.Text(append(chain.Of(l.host.Env), run)))
	}
	kept := cache.Open(l.host.Home)
	kept.WriteOnly = r.NoCache
	return engine.Config{
		Flow:      l.top,
		Load:      l.load,
		Started:   event.Workflow{Name: r.Name, Path: r.Path, Digest: l.top.Digest, Definition: l.definition, Source: r.source()},
		Workflows: l.subs,
		RunID:     run,
		Inputs:    l.inputs, Given: l.given, Origins: l.origins, Marked: l.marked,
		Redactor: l.redactor,
		Host:     node.Host{Dir: l.dir, Env: env, Suite: l.suite, Servers: mcpclient.NewPool(l.reach(run, env))},
		Span:     span,
		Ask:      l.host.Ask,
		Answer:   r.answer(), Answers: r.Answers, ByPerson: l.settings.ApprovalByPerson,
		Cache: kept,
		Jobs:  r.Jobs, KeepGoing: r.KeepGoing, NoCache: r.NoCache, StopOnFailure: stopsOnFailure(l), Timeout: r.Timeout, Budget: budgetOf(l), Runners: runnersOf(l),
		Memory: l.memory, Only: r.Only, Again: r.recorded(),
		Log: l.host.Log,
	}
}

// addServerSecrets makes the secrets in the configuration of the MCP servers, and those of the logins to them, known before the first node runs, which may print
// what a server is given. A configuration that cannot be read is reported when a node needs it.
func (l *Launch) addServerSecrets() {
	oauth.AddSecrets(l.host.Home, l.redactor)
	servers, err := mcpclient.LoadServers(l.host.Home)
	if err != nil {
		return
	}
	resolver := &mcpclient.Resolver{Env: l.env, Settings: l.settings.Env, Redactor: l.redactor}
	for _, server := range servers {
		resolver.AddSecrets(server)
	}
}

// reach returns how the run's MCP servers are reached. Their configuration is read when the first of them is needed.
func (l *Launch) reach(run string, env []string) func(server string) (mcpclient.Spec, error) {
	resolver := &mcpclient.Resolver{Env: env, Settings: l.settings.Env, Mark: mark(run), Dir: l.dir, Home: l.host.Home, Redactor: l.redactor, Log: l.host.Log, Warn: l.host.Warn}
	return func(name string) (mcpclient.Spec, error) {
		servers, err := mcpclient.LoadServers(l.host.Home)
		if err != nil {
			return mcpclient.Spec{}, err
		}
		server, err := servers.Get(name)
		if err != nil {
			return mcpclient.Spec{}, err
		}
		return resolver.Spec(name, server), nil
	}
}

// stopsOnFailure reports whether a failure stops running nodes: a flag says so, or else the workflow.
func stopsOnFailure(l *Launch) bool {
	r, runtime := l.request, l.top.Workflow.Runtime
	if r.OnFailure == "" && !r.KeepGoing && runtime != nil {
		return runtime.OnFailure == workflow.StopOnFailure
	}
	return r.OnFailure == workflow.StopOnFailure
}

// DryRun is the document of what a run would do.
type DryRun struct {
	Success  bool   `json:"success"`
	DryRun   bool   `json:"dry_run"`
	Workflow string `json:"workflow"`
	// Inputs are those of the workflow, without secrets.
	Inputs json.RawMessage `json:"inputs"`
	// Nodes are in an order in which they could run one by one.
	Nodes []DryRunNode `json:"nodes"`
	// Attach is the run that would be attached to in place of starting one.
	Attach      string `json:"attach,omitempty"`
	ResumedFrom string `json:"resumed_from,omitempty"`
}

// DryRunNode is what a run would do about a node.
type DryRunNode struct {
	Node  string        `json:"node"`
	Type  string        `json:"type"`
	MCP   *event.MCP    `json:"mcp,omitempty"`
	Would engine.Intent `json:"would"`
	// Because is why a node would run, if a run is resumed. Why says more of some.
	Because string `json:"because,omitempty"`
	Why     string `json:"why,omitempty"`
	// After are the nodes that it waits for.
	After []string `json:"after"`
}

// DryRun returns what Execute would do.
func (l *Launch) DryRun(ctx context.Context) (*DryRun, error) {
	d := &DryRun{Success: true, DryRun: true, Workflow: l.request.Name, Inputs: json.RawMessage("{}"), Nodes: []DryRunNode{}, Attach: l.Attach}
	if l.Attach != "" {
		return d, nil
	}
	inputs, err := rawjson.Marshal(l.inputs)
	if err != nil {
		return nil, fault.From(err)
	}
	d.Inputs, _ = l.redactor.JSON(inputs)
	if l.memory != nil {
		d.ResumedFrom = l.memory.Run
	}
	preview, err := engine.DryRun(ctx, l.config(""))
	if err != nil {
		return nil, l.redactor.Fault(fault.From(err))
	}
	for _, id := range preview.Order {
		node := DryRunNode{Node: id, Type: preview.Nodes[id].Type, Would: preview.Would[id], Because: preview.Because[id], Why: l.redactor.Text(preview.Why[id]), After: append([]string{}, preview.After[id]...)}
		if m := preview.Kinds[id].MCP; m != nil {
			node.MCP = &event.MCP{Server: m.Server, Tool: m.Tool}
		}
		d.Nodes = append(d.Nodes, node)
	}
	return d, nil
}
