package suitetools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// execute is the tool execute.
func (f *Front) execute() mcpserver.Tool {
	return mcpserver.Tool{
		Name: "execute", Title: "Run a workflow",
		Description: "Run a workflow by name: the saved one, or else the draft. The status:\n" +
			"- completed, degraded: it reached its end; degraded means that something failed on the way, see warnings.\n" +
			"- running, queued: it goes on after wait_seconds. Call execute again with resume set to run_id to wait on.\n" +
			"- failed: error says what to do. Correct the draft, then call execute with resume set to run_id: finished nodes do not run again.\n" +
			"- paused: error has a question. Ask the person, then call execute with resume and answers.\n" +
			"After a call that timed out, call it again with the same idempotency_key or resume \"last\".\n" +
			"Links replace long texts and large values: read the resource at uri, or set max_output_chars to 0.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` +
			`"name":{"type":"string","description":"the name of a saved workflow or a draft"},` +
			`"inputs":{"type":"object","description":"values for the workflow's inputs, by name"},` +
			`"resume":{"type":"string","pattern":"^(last|r[0-9a-z]*)$","description":"the run_id of an earlier run to wait for or to go on from, or \"last\""},` +
			asItWasProperty + `,` +
			answersProperty + `,` +
			waitProperty + `,` +
			`"budget":{"type":"object","properties":{"usd":{"type":"number","exclusiveMinimum":0},"tokens":{"type":"integer","minimum":1},"minutes":{"type":"number","exclusiveMinimum":0}},"additionalProperties":false,"description":"stop the run when this is spent"},` +
			`"idempotency_key":{"type":"string","minLength":1,"maxLength":256,"description":"while a run with this key goes on, a call with it waits for that run and starts no other"},` +
			outputCharsProperty + `},"required":["name"],"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(runProperties),
		Destructive:  true, OpenWorld: true, Meta: withApp(suite.AlwaysLoad()),
		Call: summarized(f.callExecute, ended),
	}
}

const (
	asItWasProperty     = `"as_it_was":{"type":"boolean","description":"go on with the workflow as it was when the run began"}`
	waitProperty        = `"wait_seconds":{"type":"number","minimum":0,"maximum":3600,"default":45,"description":"how long to wait for its end"}`
	answersProperty     = `"answers":{"type":"object","additionalProperties":{"type":["string","object"],"minLength":1},"description":"a person's answers to the questions of the paused run, by node: yes, no, a choice, or an object for the fields in the error's details"}`
	outputCharsProperty = `"max_output_chars":{"type":"integer","minimum":0,"default":2000,"description":"longer texts become links; 0 returns everything"}`
)

// runProperties are the properties of the answer about a run.
const runProperties = `"success":{"type":"boolean"},"run_id":{"type":"string"},"status":{"type":"string"},` +
	`"next":{"type":"string","description":"what to call next"},"resume":{"type":"string","description":"how to go on"},` +
	`"outputs":{"type":"object","description":"the workflow's outputs by name"},"outputs_total":{"type":"integer","description":"how many there are"},"checkpoint":{"type":["object","null"],"description":"what is done, after a failure",` +
	`"properties":{"completed_nodes":{"type":"array","items":{"type":"string"}},"completed_total":{"type":"integer"},"failed_node":{"type":"string"},"run_id":{"type":"string"}}},"warnings":{"type":"array"},"warnings_total":{"type":"integer"}`

type executeArguments struct {
	Name           string                     `json:"name"`
	Inputs         json.RawMessage            `json:"inputs"`
	Resume         string                     `json:"resume"`
	AsItWas        bool                       `json:"as_it_was"`
	Answers        map[string]json.RawMessage `json:"answers"`
	WaitSeconds    *float64                   `json:"wait_seconds"`
	Budget         map[string]json.Number     `json:"budget"`
	IdempotencyKey *string                    `json:"idempotency_key"`
	MaxOutputChars *int                       `json:"max_output_chars"`
	// by is who gives the answers, and person is set if a person does. proposed are answers that a person is only shown.
	by       string
	person   bool
	proposed map[string]json.RawMessage
	// caller has the variables of suite.CallerOf.
	caller []string
	// endless waits for the end of the run, however long that takes.
	endless bool
	// logged has the log take the progress of the run and why it failed.
	logged bool
	// task lets the call go on as a task if the run does not end at once.
	task bool
}

const (
	defaultWait     = 45 * time.Second // clients give up after 60
	defaultMaxChars = 2000

	maxShortAnswer  = 1024 // bytes of an answer that is also sent as text
	maxNamedOutputs = 20   // in the text of a longer one
)

// start is the command that starts the run, or finds the one that already does what is asked for. It is not interrupted, so
// that the run's id is known.
func (a *executeArguments) start() suite.Command {
	c := suite.Command{Program: "pflow-exec", Uninterrupted: true, Caller: a.caller, Args: []string{"start", "--format", "json", "--name"}}
	if a.Resume != "" {
		c.Args = append(c.Args, "--resume="+a.Resume)
	}
	if a.AsItWas {
		c.Args = append(c.Args, "--as-it-was")
	}
	for _, node := range slices.Sorted(maps.Keys(a.Answers)) {
		c.Args = append(c.Args, "--approve="+node+"="+answerText(a.Answers[node]))
	}
	for _, node := range slices.Sorted(maps.Keys(a.proposed)) {
		if a.person { // who has seen them
			break
		}
		c.Args = append(c.Args, "--propose="+node+"="+answerText(a.proposed[node]))
	}
	if len(a.Answers) > 0 {
		c.Args = append(c.Args, "--by="+a.by)
		if a.person {
			c.Args = append(c.Args, "--by-person")
		}
	}
	for _, field := range slices.Sorted(maps.Keys(a.Budget)) {
		c.Args = append(c.Args, "--budget-"+field+"="+a.Budget[field].String())
	}
	if a.IdempotencyKey != nil {
		c.Args = append(c.Args, "--idempotency-key="+*a.IdempotencyKey)
	}
	if len(a.Inputs) > 0 && string(a.Inputs) != "null" {
		c.Args, c.Stdin = append(c.Args, "--inputs=-"), a.Inputs
	}
	c.Args = append(c.Args, "--", a.Name)
	return c
}

// answerText returns an answer as the command line has it.
func answerText(answer json.RawMessage) string {
	if text := gjson.ParseBytes(answer); text.Type == gjson.String {
		return text.Str
	}
	return string(rawjson.Compact(answer))
}

// wait is the command that waits for the end of a run, less the whole seconds that the call has taken before.
func (a *executeArguments) wait(run string, before time.Duration) suite.Command {
	chars := defaultMaxChars
	if a.MaxOutputChars != nil {
		chars = *a.MaxOutputChars
	}
	c := suite.Command{Program: "pflow-exec", Long: true, Args: []string{"wait", "--format", "json"}}
	if !a.endless {
		c.Args = append(c.Args, "--for="+a.patience(before))
	}
	c.Args = append(c.Args, "--max-output-chars="+strconv.Itoa(chars))
	if a.all() {
		c.Args = append(c.Args, "--max-bytes=0")
	}
	c.Args = append(c.Args, "--", run)
	return c
}

// patience returns how many seconds the command waits.
func (a *executeArguments) patience(before time.Duration) string {
	patience := defaultWait
	if a.WaitSeconds != nil {
		patience = time.Duration(*a.WaitSeconds * float64(time.Second))
	}
	patience = max(0, patience-before.Truncate(time.Second))
	return strconv.FormatFloat(patience.Seconds(), 'f', -1, 64)
}

// shorten limits how long the call waits.
func (a *executeArguments) shorten(limit time.Duration) {
	seconds := limit.Seconds()
	if a.WaitSeconds != nil {
		seconds = min(seconds, *a.WaitSeconds)
	}
	a.WaitSeconds, a.endless = &seconds, false
}

// all reports whether the answer is to have everything.
func (a *executeArguments) all() bool { return a.MaxOutputChars != nil && *a.MaxOutputChars == 0 }

// ended is the summary of an answer that is too long to be sent as text too. It is "" for a short one.
func ended(document json.RawMessage) string {
	if len(document) <= maxShortAnswer {
		return ""
	}
	fields := gjson.GetManyBytes(document, "run_id", "status", "next")
	var outputs []string
	gjson.GetBytes(document, "outputs").ForEach(func(key, _ gjson.Result) bool {
		outputs = append(outputs, fault.Truncate(key.Str, maxShortAnswer/maxNamedOutputs/2))
		return len(outputs) < maxNamedOutputs
	})
	text := fmt.Sprintf("Run %s: %s. Its outputs are in the structured content: %s", fields[0].Str, fields[1].Str, strings.Join(outputs, ", "))
	if n := int(cmp.Or(gjson.GetBytes(document, "outputs_total").Int(), gjson.GetBytes(document, "outputs.@keys.#").Int())); n > len(outputs) {
		text += fmt.Sprintf(", … (%d outputs)", n)
	}
	return strings.TrimSpace(text + "\n" + fields[2].Str)
}
