package fault

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Step is something that can be done next, as data: events and documents carry it, and each door words it for its reader. Do says what,
// one of the constants; a reader skips one that it does not know. The other fields say with what, as far as Do needs it.
type Step struct {
	Do string `json:"do"`
	// Run is the id of a run, Node the path of a node in it.
	Run  string `json:"run,omitempty"`
	Node string `json:"node,omitempty"`
	// Name is that of a workflow, a node type, a server, an input or a setting, whichever Do is about.
	Name string `json:"name,omitempty"`
	// Inputs are the names of inputs that have to be given again: the run could not store them.
	Inputs []string `json:"inputs,omitempty"`
	// Workflow is set if the workflow has to be given again: the run could not store its secrets.
	Workflow bool `json:"workflow,omitempty"`
	// Choices are the answers to a question. AnyAnswer is set if any text is one, and Example is an answer that is an object.
	Choices   []string `json:"choices,omitempty"`
	AnyAnswer bool     `json:"any_answer,omitempty"`
	Example   string   `json:"example,omitempty"`
	// Why is what the Command of DoShell is for. Person is set if a reader without a shell may ask a person for it.
	Why     string `json:"why,omitempty"`
	Command string `json:"command,omitempty"`
	Person  bool   `json:"person,omitempty"`
}

// What a step can do about a run: go on from it, with what it began with, with a larger budget (Name is its field), or by running again what
// failed; answer its question, have a person answer it, or answer a question beforehand; give a value for the input Name; wait for its end; stop it; see what a node has
// printed, how far it is, its nodes, or its events; see the run that continues it; see all runs; begin a new one of the workflow Name.
const (
	DoResume     = "resume"
	DoAsItWas    = "as_it_was"
	DoExtend     = "extend"
	DoRetry      = "retry"
	DoAnswer     = "answer"
	DoAskPerson  = "ask_person"
	DoAnswerWith = "answer_with"
	DoInput      = "input"
	DoInputJSON  = "input_json"
	DoWait       = "wait"
	DoCancel     = "cancel"
	DoLogs       = "logs"
	DoStatus     = "status"
	DoShow       = "show"
	DoEvents     = "events"
	DoContinued  = "continued"
	DoList       = "list"
	DoRun        = "run"
)

// What a step can do about what Name names: find node types and workflows; describe a node type; read a workflow; see, write or delete
// drafts; see servers, or update the registry to the tools of one, or of all.
const (
	DoSearch      = "search"
	DoDescribe    = "describe"
	DoRead        = "read"
	DoDrafts      = "drafts"
	DoWrite       = "write"
	DoDeleteDraft = "delete_draft"
	DoListServers = "list_servers"
	DoSync        = "sync"
	DoSyncAll     = "sync_all"
)

// DoShell is a step that has no name of its own: to run Command.
const DoShell = "shell"

// Command returns the step of running a command line, for a reader with a shell.
func Command(why, format string, args ...any) Step {
	return Step{Do: DoShell, Why: why, Command: fmt.Sprintf(format, args...)}
}

// ByPerson returns the step of running a command line, for which a reader without a shell asks a person.
func ByPerson(why, format string, args ...any) Step {
	s := Command(why, format, args...)
	s.Person = true
	return s
}

// wording is how a step is said: what it is for, and how each reader does it. In its texts {run}, {node} and {name} stand for the
// fields of the step.
type wording struct {
	// first is set if it comes before other hints: it shows what the others are about.
	first bool
	why   string
	// command is the command line of the suite, cluster that of pflow-temporal if it has one.
	command, cluster string
	// calls are the calls of tools, by the toolsets that have them: the first that is served counts. If none is, a person may be asked to run the command.
	calls  []call
	person bool
}

type call struct{ toolset, text string }

// coreResume is the call of execute about a run.
const coreResume = `execute with {same} and resume "{run}"`

// personAnswers is where a person answers without a client.
const personAnswers = `on the page of the run, or with {resume} at a terminal`

var wordings = map[string]wording{
	DoResume:  {why: "Go on", command: "{resume}", cluster: "pflow-temporal resume {run} WORKFLOW", calls: []call{{"core", coreResume}, {"runs", `run_resume with run_id "{run}"`}}},
	DoAsItWas: {why: "Go on with what the run began with", command: "{resume} --as-it-was", calls: []call{{"core", coreResume + " and as_it_was true"}, {"runs", `run_resume with run_id "{run}" and as_it_was true`}}},
	DoExtend: {why: "Go on with a larger budget", command: "{resume} --budget-{name} N",
		calls: []call{{"core", `ask the person, then ` + coreResume + ` and budget {"{name}": N}`}}},
	DoRetry:      {why: "Run again what failed", command: "{resume} --retry-failed"},
	DoAnswer:     {first: true, why: "Answer", command: "{resume} --approve {answer}", cluster: "pflow-temporal approve {run} {answer}", calls: []call{{"core", "ask the person, then " + coreResume + " and answers {answers}"}, {"runs", `ask the person, then run_resume with run_id "{run}" and answers {answers}`}}},
	DoAskPerson:  {first: true, why: "Only a person may answer", command: "{resume} --approve {answer}, at a terminal", cluster: "pflow-temporal approve {run} {answer}, at a terminal", calls: []call{{"core", personAnswers + "; a client that shows forms asks for " + coreResume}, {"runs", personAnswers + `; a client that shows forms asks for run_resume with run_id "{run}"`}}},
	DoAnswerWith: {why: "Answer", command: "--approve {answer}", calls: []call{{"", "answers {answers}"}}},
	DoInput:      {why: "Pass it", command: "{name}=VALUE", calls: []call{{"", `inputs {"{name}": VALUE}`}}},
	DoInputJSON:  {why: "Pass it", command: "{name}:=JSON", calls: []call{{"", `inputs {"{name}": VALUE}`}}},
	DoWait:       {why: "Wait for its end", command: "pflow-exec wait {run}", cluster: "pflow-temporal wait {run}", calls: []call{{"core", coreResume}, {"runs", `run_wait with run_id "{run}"`}}},
	DoCancel:     {why: "Stop it", command: "pflow-exec cancel {run}", cluster: "pflow-temporal cancel {run}", calls: []call{{"runs", `run_cancel with run_id "{run}"`}}},
	DoLogs:       {first: true, why: "All output", command: "pflow-exec logs {run} {node}", calls: []call{{"core", `describe_workflow with run_id "{run}" and node "{node}"`}, {"runs", `run_logs with run_id "{run}" and node "{node}"`}}},
	DoStatus:     {why: "See how far it is", command: "pflow-exec status {run}", cluster: "pflow-temporal status {run}", calls: []call{{"runs", `run_status with run_id "{run}"`}}},
	DoShow:       {why: "See its nodes", command: "pflow-exec show {run}", calls: []call{{"runs", `run_status with run_id "{run}"`}}},
	DoEvents:     {why: "See its events", command: "pflow-exec events {run}", cluster: "pflow-temporal events {run}"},
	DoContinued:  {why: "Run {run} continues this one", command: "pflow-exec wait {run}", cluster: "pflow-temporal wait {run}", calls: []call{{"core", coreResume}, {"runs", `run_wait with run_id "{run}"`}}},
	DoList:       {why: "See the runs", command: "pflow-exec list", cluster: "pflow-temporal list", calls: []call{{"runs", "list_runs"}}},
	DoRun:        {why: "Start a run", command: "pflow-exec run {name}", cluster: "pflow-temporal start {name}", calls: []call{{"core", `execute with name "{name}"`}, {"workflows", "call the tool of the workflow {name}"}}},

	DoSearch:      {why: "Find node types and workflows", command: "pflow-lib search WORDS", calls: []call{{"core", "browse_components with words"}}},
	DoDescribe:    {why: "See its parameters", command: "pflow-lib describe {name}", calls: []call{{"core", `browse_components with the query "{name}"`}}},
	DoRead:        {why: "Read it", command: "pflow-lib show {name}", calls: []call{{"", "read the resource pflow://workflows/{name}"}}},
	DoDrafts:      {why: "See the drafts", command: "pflow-lib list --drafts", calls: []call{{"core", "browse_components without a query"}}},
	DoWrite:       {why: "Write a draft", command: "pflow-lib draft write {name}", calls: []call{{"drafts", `write_draft`}}},
	DoDeleteDraft: {why: "Delete it", command: "pflow-lib draft delete {name}", calls: []call{{"drafts", `delete_draft with name "{name}"`}}, person: true},
	DoListServers: {why: "See the servers", command: "pflow-sync list", calls: []call{{"servers", "list_servers"}}, person: true},
	DoSync:        {why: "Update the registry to the tools that the server has now", command: "pflow-sync sync {name}", calls: []call{{"servers", `sync_server with name "{name}"`}}, person: true},
	DoSyncAll:     {why: "Update the registry", command: "pflow-sync sync --all", calls: []call{{"servers", "sync_server for each server"}}, person: true},
}

// Then appends steps to what can be done next, and returns the fault.
func (f *Fault) Then(steps ...Step) *Fault {
	f.Next = append(slices.Clip(f.Next), steps...)
	return f
}

// Words returns how the reader does the step, with what it is for, or "" if the reader cannot do it or does not know it.
func (s Step) Words(r Reader) string {
	w := s.wording()
	how := s.Call(r)
	if how == "" && r.HasTools() && w.person {
		how = "a person runs " + s.filled(w.command, true)
	}
	if how == "" || w.why == "" {
		return how
	}
	return s.filled(w.why, true) + ": " + how
}

// Call returns how the reader does the step, a command line or the call of a tool, or "" if the reader cannot do it.
func (s Step) Call(r Reader) string {
	w := s.wording()
	if !r.HasTools() {
		text := w.command
		if r == Cluster && (w.cluster != "" || strings.Contains(text, "{run}") || strings.Contains(text, "{resume}")) {
			text = w.cluster // a run there is in no home
		}
		if text == "" {
			return ""
		}
		for _, name := range s.Inputs {
			text += " " + name + "=VALUE"
		}
		return s.answers(s.filled(text, true))
	}
	i := slices.IndexFunc(w.calls, func(c call) bool { return c.toolset == "" || r.serves(c.toolset) })
	if i < 0 {
		return ""
	}
	text := w.calls[i].text
	var again []string
	for _, name := range s.Inputs {
		again = append(again, fmt.Sprintf("%q: VALUE", name))
	}
	if len(again) > 0 {
		text += " and inputs {" + strings.Join(again, ", ") + "} again"
	}
	return s.answers(s.filled(text, false))
}

// answers adds to the call of a step that answers what stands for ANSWER in it.
func (s Step) answers(how string) string {
	choices := strings.Join(s.Choices, ", ")
	switch {
	case s.Do != DoAnswer && s.Do != DoAnswerWith && s.Do != DoAskPerson || !strings.Contains(how, "ANSWER"):
		return how
	case s.Example != "":
		return how + ", where ANSWER is a JSON object such as '" + s.Example + "', or one of: " + choices
	case !s.AnyAnswer:
		return how + ", where ANSWER is one of: " + choices
	case choices == "":
		return how + ", where ANSWER is any text"
	}
	return how + ", where ANSWER is any text, such as one of: " + choices
}

// wording returns the wording of the step; a step that is not known has an empty one.
func (s Step) wording() wording {
	if s.Do == DoShell {
		return wording{why: s.Why, command: s.Command, person: s.Person}
	}
	return wordings[s.Do]
}

// ShellWord returns a word quoted for a shell, if it needs that.
func ShellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:,@%+=", r)
	}
	if word != "" && strings.TrimFunc(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// filled returns a text with the fields of the step in it. In a command line they are words of a shell, in the call of a tool JSON text.
func (s Step) filled(text string, command bool) string {
	if s.Do == DoShell {
		return text
	}
	resume := "pflow-exec resume " + s.Run
	if s.Workflow {
		resume = "pflow-exec run WORKFLOW --resume " + s.Run
	}
	as := func(text string) string {
		quoted := strconv.Quote(text)
		return quoted[1 : len(quoted)-1]
	}
	if command {
		as = ShellWord
	}
	same := "the same name"
	if s.Name != "" && s.Do != DoExtend {
		same = fmt.Sprintf("name %q", s.Name)
	}
	return strings.NewReplacer("{same}", same, "{resume}", resume, "{run}", s.Run, "{node}", as(s.Node), "{name}", as(s.Name),
		"{answer}", ShellWord(s.Node+"=ANSWER"), "{answers}", fmt.Sprintf("{%q: ANSWER}", s.Node)).Replace(text)
}

// UnmarshalJSON reads a step, or a command line: older runs have one in its place.
func (s *Step) UnmarshalJSON(raw []byte) error {
	*s = Step{Do: DoShell}
	if json.Unmarshal(raw, &s.Command) == nil {
		return nil
	}
	type plain Step
	return json.Unmarshal(raw, (*plain)(s))
}
