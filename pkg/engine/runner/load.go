package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/mcp/source"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Source names what to run.
type Source struct {
	// Workflow is a path, the name of a saved workflow or a draft, SOURCE:ID for a workflow of a source, or "-" for standard input. With
	// NameOnly it is a name.
	Workflow string
	NameOnly bool
	Inputs   Inputs
	// Resume names the run to go on from: by its id, "last" for the newest run of the workflow, by a file with its events, or "-" for
	// events on standard input. It is empty for a new run.
	Resume string
	// Only is the path of the only node to run, on what the run to go on from has. From is the path of a node that runs again, with
	// all nodes that it leads to. At most one of them is not empty. Without Resume the run to go on from is the last one of the
	// workflow.
	Only, From string
	// Checkpoint names a file with events to go on from, to which those of the new run are appended, or is nil. The file may be
	// empty or missing.
	Checkpoint *string
	// Key is an idempotency key, or nil.
	Key *string
	// DryRun asks what would run, see Launch.DryRun.
	DryRun bool
}

// Inputs name the values of a workflow's inputs.
type Inputs struct {
	// File names a file that holds one JSON object, or "-" for standard input. It may be empty.
	File string
	// Values win over those of the file.
	Values map[string]workflow.Given
}

// Options say how to run.
type Options struct {
	// Jobs is how many nodes run at the same time; 0 is one for each processor.
	Jobs int
	// Timeout stops the run when it is over; 0 is no limit.
	Timeout time.Duration
	// Budget replaces fields of the workflow's budget; a field that is 0 does not.
	Budget event.Spending
	// Runners are the command lines of runners, by their names. They win over those of the settings.
	Runners   map[string]string
	KeepGoing bool
	// OnFailure is workflow.FinishOnFailure, workflow.StopOnFailure, or empty for what the workflow says.
	OnFailure string
	NoCache   bool
	Sync      bool
	// Dir is the folder to run in; empty for this process's, or that of the run to go on from.
	Dir string
	// EnvFile names a file of KEY=VALUE lines for the environment, or "-" for standard input. It may be empty.
	EnvFile string
	// Answer answers the open questions of the run to go on from. It may be empty.
	Answer string
	// By is who gave it, or empty for the flag. Person is set if a person did.
	By     string
	Person bool
	// Answers answers questions beforehand, by the paths of their nodes.
	Answers map[string]engine.Answer
	// Proposals are answers that are only checked.
	Proposals map[string]engine.Answer
	// RetryFailed runs failed items and handled failures of the run to go on from again. It is for LoadRun.
	RetryFailed bool
	// AsItWas goes on with what the run began with, its workflow and the values of its inputs.
	AsItWas bool
}

// Load reads everything that a source and its options name.
func Load(host *Host, s Source, o Options) (*Request, error) {
	r, err := o.request(host)
	if err != nil {
		return nil, err
	}
	r.DryRun = s.DryRun
	if s.Key != nil {
		if err := journal.CheckKey(*s.Key); err != nil {
			return nil, err
		}
		r.Key = *s.Key
	}
	if s.Checkpoint != nil {
		if r.Checkpoint, err = checkpointPath(host.Home, *s.Checkpoint, s.Resume); err != nil {
			return nil, err
		}
	}
	if o.AsItWas && !isEvents(s.Resume) {
		if s.Resume == "" || s.Only != "" || s.From != "" || s.Checkpoint != nil {
			return nil, fault.New(fault.Usage, "--as-it-was goes on from a run, and from all of it").Suggest("Name the run with --resume RUN, without --only, --from and --checkpoint")
		}
		return s.loadOwn(host, o, nil)
	}
	if err := r.loadWorkflow(host, s); err != nil {
		if s.Resume == "" {
			return nil, err
		}
		return s.loadOwn(host, o, fault.From(err))
	}
	if r.Inputs, err = s.Inputs.load(host); err != nil {
		return nil, err
	}
	if err := r.loadAgain(host, &s); err != nil {
		return nil, err
	}
	if err := r.loadOrigin(host, s.Resume); err != nil {
		return nil, err
	}
	r.Stored = o.AsItWas // the workflow that is given is the one that the events are of
	if r.Stdin, err = pipedInput(host, r.file.Workflow, r.Inputs); err != nil && r.EventsSpooled {
		_ = os.Remove(r.Events)
	}
	return r, err
}

// LoadRun makes a request that goes on from a run with its workflow as it is now: that of the file or name that the run began with. If
// that is gone or the workflow came through a pipe, and with Options.AsItWas, it is the workflow that the run has stored; secrets that are
// written in the workflow are read from its file again. The run is named by its id, a prefix of the id that no other run has, or "last".
func LoadRun(host *Host, run string, in Inputs, o Options) (*Request, error) {
	rec, err := journal.Find(host.Home, run)
	if err != nil {
		return nil, err
	}
	named := rec
	rec = rec.ResumePoint()
	r, err := o.request(host)
	if err != nil {
		return nil, err
	}
	r.Named = named.ID
	if r.Inputs, err = in.load(host); err != nil {
		return nil, err
	}
	if r.Source, err = rec.Definition(); err != nil {
		return nil, err
	}
	first, _, err := rec.FirstAndLast()
	if err != nil {
		return nil, err
	}
	r.Name, r.File, r.Resume = "workflow.json", "workflow.json", rec.ID
	r.Folder = r.Dir
	if first == nil || first.Event != event.RunStarted || first.Workflow == nil {
		r.Stored = true
		return r, nil
	}
	r.Name, r.Path = first.Workflow.Name, first.Workflow.Path
	r.Saved, r.Draft = first.Workflow.Source == event.SourceLibrary, first.Workflow.Source == event.SourceDraft // as the statistics count it
	if err := r.repeatAgain(named.LastSuccessor(), rec, first, o.RetryFailed); err != nil {
		return nil, err
	}
	if !o.AsItWas {
		s := Source{Workflow: r.Path}
		if r.Path == "" {
			s = Source{Workflow: r.Name, NameOnly: true}
		}
		if gone := s.gone(host); gone == "" {
			return r, r.loadCurrent(host, s)
		} else if !named.Held() {
			host.Warn("run %s goes on with the workflow that it began with: %s", rec.ID, gone)
		}
	}
	r.Stored = true
	r.Folder = r.folder(host, first)
	if bytes.Contains(r.Source, []byte(redact.Mark)) {
		r.Source, err = restoreLiterals(host, rec.ID, r.Source, *first.Workflow)
	}
	return r, err
}

// gone returns why the workflow of a run cannot be read again, or "".
func (s Source) gone(host *Host) string {
	if !s.NameOnly {
		if _, err := os.Stat(s.Workflow); errors.Is(err, fs.ErrNotExist) {
			return "the file " + s.Workflow + " no longer exists"
		}
		return ""
	}
	if s.Workflow == "-" {
		return "it came from standard input"
	}
	if from, _, ok := source.Split(s.Workflow); ok {
		if _, err := source.Find(host.Home, from); err != nil && fault.From(err).Type == fault.NotFound {
			return "there is no source " + from + " any more"
		}
		return ""
	}
	if exists(host.Home, s.Workflow) {
		return ""
	}
	return "no workflow is named " + s.Workflow + " any more"
}

// loadCurrent replaces the workflow of the run to go on from by what its file or name has now.
func (r *Request) loadCurrent(host *Host, s Source) error {
	name := r.Name
	r.Saved, r.Draft, r.Current, r.Once = false, false, true, true
	if err := r.loadWorkflow(host, s); err != nil {
		return r.suggestAsItWas(fault.From(err))
	}
	r.Name = name
	return nil
}

// suggestAsItWas adds to the fault of a workflow that a run cannot go on with how to go on without it.
func (r *Request) suggestAsItWas(f *fault.Fault) *fault.Fault {
	if r.Resume == "" || r.Stored {
		return f
	}
	return f.Then(fault.Step{Do: fault.DoAsItWas, Run: r.Resume})
}

// folder returns the folder that the paths in the workflow of a run start from.
func (r *Request) folder(host *Host, first *event.Event) string {
	if first.Workflow.Path != "" {
		return filepath.Dir(first.Workflow.Path)
	}
	if entry, err := library.Open(host.Home).Find(first.Workflow.Name); err == nil {
		return entry.Dir()
	}
	if r.DirGiven || first.Cwd == "" {
		return r.Dir
	}
	return first.Cwd
}

// request returns a request with the options in it.
func (o Options) request(host *Host) (*Request, error) {
	r := &Request{
		Jobs: o.Jobs, Timeout: o.Timeout, Budget: o.Budget, Runners: o.Runners, KeepGoing: o.KeepGoing, OnFailure: o.OnFailure, Sync: o.Sync, NoCache: o.NoCache, Answer: o.Answer, By: o.By, Person: o.Person, Answers: o.Answers, Proposals: o.Proposals, DirGiven: o.Dir != "",
	}
	if r.Jobs == 0 {
		r.Jobs = runtime.GOMAXPROCS(0)
	}
	var err error
	if r.Env, err = readEnvFile(host, o.EnvFile); err != nil {
		return nil, err
	}
	if r.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, fault.From(err)
	}
	if info, err := os.Stat(r.Dir); err != nil || !info.IsDir() {
		return nil, fault.New(fault.Usage, "The folder %s does not exist", o.Dir)
	}
	return r, nil
}

// loadWorkflow reads and parses the workflow.
func (r *Request) loadWorkflow(host *Host, s Source) error {
	if ok, err := r.loadSource(host, s.Workflow, s.NameOnly); ok {
		return err
	}
	file, entry, err := library.Open(host.Home).Open(s.Workflow, s.NameOnly, r.Dir, host.Read)
	if err != nil {
		return err
	}
	r.Name, r.File, r.Source, r.file = file.Name, file.Name, file.Source, file
	r.Folder, r.Files = file.Dir, file.Included()
	if entry == nil {
		if s.Workflow != "-" {
			if r.Path, err = filepath.Abs(s.Workflow); err != nil {
				return fault.From(err)
			}
		}
		return nil
	}
	r.Name, r.Saved, r.Draft = entry.Name, entry.Saved, !entry.Saved
	if entry.Hidden {
		host.Warn("a draft named %s is hidden by the saved workflow", entry.Name)
	}
	return nil
}

// isEvents reports whether what names a run to go on from names its events: a file, or "-".
func isEvents(name string) bool {
	info, err := os.Stat(name)
	return name == "-" || err == nil && !info.IsDir() || strings.Contains(name, "/")
}

// loadOrigin sets Events if the run to go on from is named by a file or "-", else Resume. A stream that can be read only once
// is stored in a file.
func (r *Request) loadOrigin(host *Host, name string) (err error) {
	if name == "" {
		return nil
	}
	if isEvents(name) {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			r.Events, err = filepath.Abs(name)
			return err
		}
		stream, err := host.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = stream.Close() }()
		r.EventsSpooled = true
		r.Events, err = journal.SpoolEvents(host.Home, stream)
		return err
	}
	if name == "last" {
		if r.Path == "" && r.Name == "-" {
			return r.unnamed(host)
		}
		r.Resume, err = r.newestRun(host)
		return err
	}
	rec, err := journal.Find(host.Home, name)
	if f := fault.From(err); f != nil && f.Type == fault.NotFound && strings.Contains(name, ".") {
		return f.Suggest("There is no file %s here either", name)
	}
	if err != nil {
		return err
	}
	r.Resume = rec.ID
	return nil
}

// unnamed returns the fault of a workflow from standard input that is to go on from its last run: it has no name by which runs could be
// told apart.
func (r *Request) unnamed(host *Host) error {
	f := fault.New(fault.Usage, "A workflow from standard input has no last run to go on from").Suggest("Name the run").Then(fault.Command("Go on from it", "pflow-exec run - --resume RUN"))
	if rec, err := journal.Find(host.Home, "last"); err == nil {
		f.Suggest("The newest run is %s", rec.ID)
	}
	return f
}

// load reads the file and returns its values together with the others.
func (in Inputs) load(host *Host) (map[string]workflow.Given, error) {
	inputs := map[string]workflow.Given{}
	if in.File != "" {
		b, err := host.Read(in.File, input.MaxDocument)
		if err != nil {
			return nil, err
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(b, &object); err != nil || object == nil {
			return nil, fault.New(fault.Usage, "--inputs %s does not hold a JSON object", in.File).Suggest(`Write it as {"name": value, …}`)
		}
		if err := input.CheckKeys("--inputs "+in.File, b); err != nil {
			return nil, err
		}
		for k, v := range object {
			inputs[k] = workflow.Given{JSON: v}
		}
	}
	maps.Copy(inputs, in.Values)
	return inputs, nil
}

// MissingInputs returns the names of the workflow's inputs that the request has no value for, sorted. It returns nil for a request to go
// on with the workflow of a run.
func (r *Request) MissingInputs() (names []string) {
	if r.file == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(r.file.Workflow.Inputs)) {
		if _, ok := r.Inputs[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

// pipedInput reads standard input if an input takes it, has no other value, and something is piped in.
func pipedInput(host *Host, w *workflow.Workflow, inputs map[string]workflow.Given) (*string, error) {
	if host.Stdin == nil {
		return nil, nil
	}
	for name, in := range w.Inputs {
		if _, ok := inputs[name]; ok || !in.Stdin {
			continue
		}
		if info, err := host.Stdin.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return nil, nil // a terminal or /dev/null
		}
		b, err := host.Read("-", input.MaxDocument)
		if err != nil {
			return nil, err
		}
		if !utf8.Valid(b) {
			return nil, fault.New(fault.Usage, "Standard input is not UTF-8 text, so input %q cannot take it", name).Suggest("Give the path of a file instead")
		}
		text := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
		return &text, nil
	}
	return nil, nil
}

// SingleNode is the id of the node in a workflow that LoadNode makes.
const SingleNode = "node"

// LoadNode makes a request that runs one node of a type, with the parameters in a JSON object, as a workflow of its own. Templates
// in the parameters have nothing to refer to. Paths start from the folder to run in.
func LoadNode(host *Host, nodeType string, params json.RawMessage, o Options) (*Request, error) {
	r, err := o.request(host)
	if err != nil {
		return nil, err
	}
	type node struct {
		ID     string          `json:"id"`
		Type   string          `json:"type"`
		Params json.RawMessage `json:"params"`
	}
	source, err := rawjson.Marshal(map[string]any{"nodes": []node{{SingleNode, nodeType, params}}})
	if err != nil {
		return nil, fault.From(err)
	}
	file, _, err := library.Open(host.Home).Open("-", false, r.Dir, func(string, int64) ([]byte, error) { return source, nil })
	if err != nil {
		return nil, withoutPlaces(err)
	}
	r.Name, r.File, r.Source, r.file, r.single = "node "+nodeType, file.Name, source, file, true
	r.Folder, r.Files = file.Dir, file.Included()
	return r, nil
}

// withoutPlaces returns a fault of a workflow that LoadNode has made without the places in its text, because the user
// did not write that text.
func withoutPlaces(err error) error {
	if err == nil {
		return nil
	}
	f := *fault.From(err)
	f.File, f.Line, f.Column, f.Path = "", 0, 0, ""
	details := f.Details
	f.Details = nil
	for key, value := range details {
		if key != "mark" && key != "text" {
			f.Detail(key, value)
		}
	}
	errors := f.Errors
	f.Errors = nil
	for _, e := range errors {
		f.Errors = append(f.Errors, fault.From(withoutPlaces(e)))
	}
	if len(f.Errors) == 1 {
		return f.Errors[0]
	}
	return &f
}

// SourceArguments is the only input of the workflow that LoadSource makes. It is an object.
const SourceArguments = "arguments"

// loadSource makes the workflow of one node that executes the workflow of a source with the given name, SOURCE:ID. It reports false
// for the name of any other workflow, and for the path of a file unless nameOnly is set.
func (r *Request) loadSource(host *Host, name string, nameOnly bool) (ok bool, err error) {
	from, id, ok := source.Split(name)
	if !ok {
		return false, nil
	}
	if _, err := os.Stat(name); !nameOnly && err == nil {
		return false, nil
	}
	if _, err := source.Find(host.Home, from); err != nil {
		if !nameOnly && fault.From(err).Type == fault.NotFound && strings.ContainsAny(name, "./") {
			return false, nil // a path that does not exist
		}
		return true, err
	}
	type m = map[string]any
	text, err := rawjson.Marshal(m{
		"inputs":  m{SourceArguments: m{"type": "object", "default": m{}}},
		"nodes":   []m{{"id": "run", "type": nodetype.SourceWorkflowName, "params": m{"source": from, "id": id, "arguments": "${" + SourceArguments + "}"}}},
		"outputs": m{"result": m{"source": "${run.result}"}},
	})
	if err != nil {
		return true, fault.From(err)
	}
	file, _, err := library.Open(host.Home).Open("-", false, r.Dir, func(string, int64) ([]byte, error) { return text, nil })
	if err != nil {
		return true, withoutPlaces(err)
	}
	r.Name, r.File, r.Source, r.file = name, file.Name, text, file
	r.Folder, r.Files = file.Dir, file.Included()
	return true, nil
}

// Uncancellable returns why the cancellation of a run has not cancelled all that the run has begun, or "": a workflow of a source that
// cannot cancel it may go on there.
func Uncancellable(h *home.Home, run string) string {
	rec, err := journal.Find(h, run)
	if err != nil {
		return ""
	}
	first, _, err := rec.FirstAndLast()
	if err != nil || first == nil || first.Workflow == nil || first.Workflow.Path != "" {
		return ""
	}
	from, _, ok := source.Split(first.Workflow.Name)
	if !ok {
		return ""
	}
	if s, err := source.Find(h, from); err != nil || s.Cancel != nil {
		return ""
	}
	return "not supported by the source " + from + ", which has no command cancel: its command was ended, but what that has begun may go on"
}

// readEnvFile reads a file of KEY=VALUE lines as variables for the environment of a run. It ignores blank lines, lines that
// begin with #, and the word export before a key. A value in single quotes is literal. In a value in double quotes \n, \t,
// \", \$ and \\ are escapes. Both may span several lines. A value without quotes ends at the end of its line, or before a
// # that follows a blank. Nothing is expanded.
func readEnvFile(host *Host, name string) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	content, err := host.Read(name, input.MaxDocument)
	if err != nil {
		return nil, err
	}
	return parseEnvFile(name, content)
}

func parseEnvFile(name string, content []byte) ([]string, error) {
	p := &envFile{name: name, rest: string(bytes.TrimPrefix(content, []byte("\ufeff"))), line: 1}
	if !utf8.Valid(content) || strings.ContainsRune(p.rest, 0) {
		return nil, fault.New(fault.Usage, "%s is not text", name).Suggest("Write one KEY=VALUE on each line")
	}
	var env []string
	for p.rest != "" {
		kv, err := p.next()
		if err != nil {
			return nil, err
		}
		if kv != "" {
			env = append(env, kv)
		}
	}
	return env, nil
}

// envFile is the rest of a file, and the number of the line that it begins with.
type envFile struct {
	name, rest string
	line       int
}

// next reads a line, and the lines that a quoted value spans, and returns KEY=VALUE. It returns "" for a line without a
// variable.
func (p *envFile) next() (string, error) {
	line, _, _ := strings.Cut(p.rest, "\n")
	text := strings.TrimLeft(line, " \t")
	if bare := strings.TrimRight(text, "\r \t"); bare == "" || bare[0] == '#' {
		p.take(len(line))
		return "", nil
	}
	if rest, ok := strings.CutPrefix(text, "export "); ok {
		text = strings.TrimLeft(rest, " \t")
	}
	key, value, ok := strings.Cut(text, "=")
	if key = strings.TrimRight(key, " \t"); !ok || !envName(key) {
		return "", p.fault("is not KEY=VALUE")
	}
	value = strings.TrimLeft(value, " \t")
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		p.take(len(line) - len(value))
		value, err := p.quoted()
		return key + "=" + value, err
	}
	p.take(len(line))
	if i := strings.Index(" "+strings.ReplaceAll(value, "\t", " "), " #"); i >= 0 {
		value = value[:max(0, i-1)]
	}
	return key + "=" + strings.TrimRight(value, "\r \t"), nil
}

// take skips n bytes, and a newline that follows them.
func (p *envFile) take(n int) {
	p.line += strings.Count(p.rest[:n], "\n")
	if p.rest = p.rest[n:]; strings.HasPrefix(p.rest, "\n") {
		p.rest = p.rest[1:]
		p.line++
	}
}

// quoted reads a value in quotes, and a comment that may follow it on its line.
func (p *envFile) quoted() (string, error) {
	quote := p.rest[0]
	var value strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == quote:
			after, _, _ := strings.Cut(p.rest[i+1:], "\n")
			if text := strings.TrimSpace(after); text != "" && text[0] != '#' {
				return "", p.fault("has text after the closing quote")
			}
			p.take(i + 1 + len(after))
			return value.String(), nil
		case c == '\\' && quote == '"' && i+1 < len(p.rest):
			i++
			switch c := p.rest[i]; c {
			case 'n':
				value.WriteByte('\n')
			case 't':
				value.WriteByte('\t')
			case '"', '\\', '$', '`':
				value.WriteByte(c)
			default:
				value.WriteString(`\` + string(c))
			}
		default:
			value.WriteByte(c)
		}
	}
	return "", p.fault("has an unclosed quote")
}

// fault returns the fault of a line. It does not repeat the line, which may hold a secret.
func (p *envFile) fault(what string) error {
	f := fault.New(fault.Usage, "Line %d of %s %s", p.line, p.name, what).Suggest("Write one KEY=VALUE on each line, and # before comments")
	f.File, f.Line = p.name, p.line
	return f
}

// envName reports whether s is the name of a variable.
func envName(s string) bool {
	for i, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9' || i == 0) {
			return false
		}
	}
	return s != ""
}

// restoreLiterals returns the definition that a run has stored with the secrets that are written in the workflow's file, which the
// run has not stored. It reads them from the same places of that file. The file may have changed elsewhere.
func restoreLiterals(host *Host, run string, stored []byte, from event.Workflow) ([]byte, error) {
	ref := from.Path
	if ref == "" {
		ref = from.Name
	}
	need := func(format string, args ...any) *fault.Fault {
		f := fault.New(fault.Usage, "Run %s needs a secret that was written in "+format, append([]any{run}, args...)...)
		f.File = ref
		return f.Suggest("Give a workflow that has the secret").Suggest(`For later runs, declare an input with "secret": true: its value can be given on a resume`).
			Then(fault.Step{Do: fault.DoResume, Run: run, Workflow: true})
	}
	if ref == "-" || ref == "" {
		return nil, need("a workflow from standard input")
	}
	file, _, err := library.Open(host.Home).Open(ref, from.Path == "", "", host.Read)
	if err != nil {
		cause := fault.From(err)
		if cause.Type == fault.Security {
			return nil, err
		}
		return nil, need("the workflow %s: %s", ref, cause.Message)
	}
	whole, path := restored(gjson.ParseBytes(stored), gjson.ParseBytes(file.JSON()), "")
	if whole == nil {
		f := need("the workflow %s, where %s has another value now", ref, path)
		f.Path = path
		return nil, f
	}
	return whole, nil
}

// restored returns a JSON value with the strings of another in place of those that have marks. If the other has no such string
// at the place of one, restored returns nil and the place.
func restored(stored, file gjson.Result, path string) (json.RawMessage, string) {
	switch {
	case !strings.Contains(stored.Raw, redact.Mark):
		return json.RawMessage(stored.Raw), ""
	case stored.IsObject() && file.IsObject():
		return restoredObject(stored, file, path)
	case stored.IsArray() && file.IsArray():
		return restoredList(stored, file, path)
	case stored.Type == gjson.String && file.Type == gjson.String && stoodFor(stored.Str, file.Str),
		stored.Str == redact.Mark && file.Type == gjson.Number:
		return json.RawMessage(file.Raw), ""
	}
	return nil, path
}

func restoredObject(stored, file gjson.Result, path string) (whole json.RawMessage, where string) {
	fresh := file.Map()
	whole = json.RawMessage("{")
	stored.ForEach(func(key, value gjson.Result) bool {
		name := key.Str
		if strings.Contains(name, redact.Mark) {
			for candidate := range fresh {
				if stoodFor(key.Str, candidate) {
					name = candidate
				}
			}
		}
		at := rawjson.JoinPath(path, name)
		var v json.RawMessage
		if v, where = restored(value, fresh[name], at); v == nil || strings.Contains(name, redact.Mark) && name == key.Str && !fresh[name].Exists() {
			whole = nil
			if where == "" {
				where = at
			}
			return false
		}
		if len(whole) > 1 {
			whole = append(whole, ',')
		}
		whole = append(append(append(whole, rawjson.Quote(name)...), ':'), v...)
		return true
	})
	if whole == nil {
		return nil, where
	}
	return append(whole, '}'), ""
}

// restoredList takes objects with an id, which nodes have, from the one with the same id, and other values from the same place.
func restoredList(stored, file gjson.Result, path string) (json.RawMessage, string) {
	fresh := file.Array()
	byID := map[string]gjson.Result{}
	for _, item := range fresh {
		if id := item.Get("id"); id.Type == gjson.String {
			byID[id.Str] = item
		}
	}
	whole := json.RawMessage("[")
	for i, item := range stored.Array() {
		other, ok := byID[item.Get("id").Str]
		if !ok && i < len(fresh) {
			other = fresh[i]
		}
		v, where := restored(item, other, fmt.Sprintf("%s[%d]", path, i))
		if v == nil {
			return nil, where
		}
		if i > 0 {
			whole = append(whole, ',')
		}
		whole = append(whole, v...)
	}
	return append(whole, ']'), ""
}

// stoodFor reports whether a text with marks is the other one with marks in place of literals.
func stoodFor(marked, text string) bool {
	parts := strings.Split(marked, redact.Mark)
	rest, ok := strings.CutPrefix(text, parts[0])
	for i, part := range parts[1:] {
		if !ok {
			return false
		}
		at := strings.Index(rest, part)
		if i == len(parts)-2 { // the last part is at the end
			at = len(rest) - len(part)
			ok = strings.HasSuffix(rest, part)
		}
		if at < 0 || !ok || at == 0 || strings.Contains(rest[:at], "${") {
			return false
		}
		rest = rest[at+len(part):]
	}
	return ok && rest == ""
}
