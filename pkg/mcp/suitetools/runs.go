package suitetools

import (
	"context"
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

const runsInstructions = `Runs, by run_id: run_wait waits on; run_resume goes on after a failure or with a person's answers; also list_runs, run_status, run_logs, run_cancel.`

// runs returns the tools for runs that outlive a call.
func runs(f *Front) []mcpserver.Tool {
	const run = `"run_id":{"type":"string","pattern":"^(last|r[0-9a-z]*)$","description":"the run_id of an answer, or last for the newest run"}`
	return []mcpserver.Tool{{
		Name: "run_wait", Title: "Wait for a run",
		Description: "Wait for the end of a run, and return its outputs and status as the call that started it does. A run that has ended answers at once. " +
			"While it is running, call run_wait again. Cancelling the call does not cancel the run.",
		InputSchema:  json.RawMessage(`{"type":"object","properties":{` + run + `,` + waitProperty + `,` + outputCharsProperty + `},"required":["run_id"],"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(runProperties), ReadOnly: true, Idempotent: true,
		Call: summarized(func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result { return waitForRun(ctx, f, call) }, ended),
	}, {
		Name: "run_resume", Title: "Go on with a run",
		Description: "Go on from a run that failed, was cancelled or is paused, with the workflow as it is now: finished nodes do not run again. " +
			"A paused run needs a person's answers to its questions, by node. A live run is waited for. Returns what the call that started the run does, with the run_id of the new run.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + run + `,` + answersProperty + `,` + asItWasProperty + `,` +
			`"inputs":{"type":"object","description":"values for inputs of the workflow, by name, in place of the run's: the secret ones are needed again"},` + waitProperty + `,` + outputCharsProperty +
			`},"required":["run_id"],"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(runProperties), Destructive: true, OpenWorld: true,
		Call: summarized(func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result { return resumeRun(ctx, f, call) }, ended),
	}, {
		Name: "run_cancel", Title: "Cancel a run",
		Description: "Cancel a run: its nodes are ended in order. Returns its status. A run that has ended stays as it is.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + run + `},"required":["run_id"],"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(`"run_id":{"type":"string"},"status":{"type":"string"},"resume":{"type":"string","description":"how to go on"},` +
			`"beyond":{"type":"string","description":"what may go on in the system that the run has called, where it cannot be cancelled"}`),
		Destructive: true, Idempotent: true,
		Call: document[runCancel](f),
	}, {
		Name: "run_status", Title: "Show how far a run is",
		Description: "Show how far a run is, without waiting: its status, how many nodes are done, what runs now and has said last, the outputs of the nodes that are done, what a person is asked, and after the end the outputs or the error. " +
			"References replace long texts: the resource pflow://runs/RUN_ID/nodes/NODE has them.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + run + `},"required":["run_id"],"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(`"run_id":{"type":"string"},"workflow":{"type":"string"},"status":{"type":"string"},"started_at":{"type":"string"},"ended_at":{"type":"string"},` +
			`"nodes":{"type":"object","description":"how many there are, total, and in which state"},"running":{"type":"array","items":{"type":"string"}},` +
			`"running_nodes":{"type":"array","items":{"type":"object","properties":{"node":{"type":"string"},"duration_ms":{"type":"number"},"message":{"type":"string"}}}},` +
			`"completed_nodes":{"type":"array","items":{"type":"string"}},"completed_total":{"type":"integer"},"failed_node":{"type":"string"},` +
			`"questions":{"type":"array","description":"what a paused run asks; run_resume takes the answers","items":{"type":"object","properties":{"node":{"type":"string"},"question":{"type":"string"},"choices":{"type":"array","items":{"type":"string"}}}}},"warnings":{"type":"array","description":"why the run is degraded"},` +
			`"budget":{"type":"object","description":"what the run may spend"},"spent":{"type":"object","description":"what it has spent of its budget"},` +
			`"node_outputs":{"type":"object","description":"the outputs of the nodes that are done, by node"},"outputs":{"type":"object","description":"the workflow's outputs by name"},` +
			`"resumed_by":{"type":"string","description":"the run that went on from this one"},"resume":{"type":"string","description":"how to go on"},"next":{"type":"string","description":"what to call next"}`),
		ReadOnly: true, Idempotent: true, Meta: withApp(nil),
		Call: document[runStatus](f),
	}, {
		Name: "run_logs", Title: "Read the output of a run's nodes",
		Description: "Read what the processes of a run's nodes have written, or those of one node. Of a long output, the end is returned; resources of the run have the whole.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + run + `,"node":{"type":"string","minLength":1,"description":"only this node and those inside it"},` +
			`"stream":{"type":"string","enum":["stdout","stderr"],"description":"only this one"}},"required":["run_id"],"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(`"run_id":{"type":"string"},"logs":{"type":"array","items":{"type":"object","properties":{"node":{"type":"string"},"stream":{"type":"string"},` +
			`"text":{"description":"a line, or {\"$base64\":…} for bytes that are no text"}}}},"omitted":{"type":"integer","description":"how many lines before these are left out"}`),
		ReadOnly: true, Idempotent: true,
		Call: document[runLogs](f),
	}, {
		Name: "list_runs", Title: "List runs",
		Description: "List runs, the newest first: all, or those of a workflow, with a status, of a time, or with words in their name, description or error.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"workflow":{"type":"string","description":"the name of a workflow"},` +
			`"status":{"type":"string","enum":["running","queued","interrupted","completed","degraded","failed","cancelled","timed_out","paused","denied"],"description":"only runs with this status"},` +
			`"since":{"type":"string","description":"started at this time (RFC 3339) or later, or how long ago, such as 2h or 7d"},"until":{"type":"string","description":"started at this time or earlier"},` +
			`"text":{"type":"string","description":"words"},` + limitProperty("runs") + `,` + cursorProperty + `},"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(`"runs":{"type":"array","items":{"type":"object","properties":{"run_id":{"type":"string"},"workflow":{"type":"string"},"status":{"type":"string"},` +
			`"started_at":{"type":"string"},"duration_ms":{"type":"number"}},"required":["run_id"]}},"next_cursor":{"type":"string","description":"continues after this page, as the argument cursor; absent on the last page"}`),
		ReadOnly: true, Idempotent: true,
		Call: document[listRuns](f),
	}}
}

type runStatus struct {
	RunID string `json:"run_id"`
}

func (a runStatus) command() suite.Command {
	return suite.Command{Program: "pflow-exec", Args: []string{"status", "--format", "json", "--outputs", "--", a.RunID}}
}

type runLogs struct {
	RunID  string `json:"run_id"`
	Node   string `json:"node"`
	Stream string `json:"stream"`
}

func (a runLogs) command() suite.Command {
	c := suite.Command{Program: "pflow-exec", Args: []string{"logs", "--format", "json"}}
	if a.Stream != "" {
		c.Args = append(c.Args, "--stream="+a.Stream)
	}
	if c.Args = append(c.Args, "--", a.RunID); a.Node != "" {
		c.Args = append(c.Args, a.Node)
	}
	return c
}

type listRuns struct {
	Workflow string `json:"workflow"`
	Status   string `json:"status"`
	Since    string `json:"since"`
	Until    string `json:"until"`
	Text     string `json:"text"`
	pageArguments
}

func (a listRuns) command() suite.Command {
	c := suite.Command{Program: "pflow-exec", Args: []string{"list", "--format", "json", "--page"}}
	for _, flag := range [][2]string{{"--workflow", a.Workflow}, {"--status", a.Status}, {"--since", a.Since}, {"--until", a.Until}, {"--text", a.Text}} {
		if flag[1] != "" {
			c.Args = append(c.Args, flag[0]+"="+flag[1])
		}
	}
	c.Args = append(c.Args, a.flags()...)
	return c
}

type runCancel struct {
	RunID string `json:"run_id"`
}

func (a runCancel) command() suite.Command {
	return suite.Command{Program: "pflow-exec", Long: true, Uninterrupted: true, Args: []string{"cancel", "--format", "json", "--", a.RunID}}
}

// runArguments are the arguments of run_wait and run_resume.
type runArguments struct {
	RunID string `json:"run_id"`
	executeArguments
}

// waitForRun answers a call of run_wait.
func waitForRun(ctx context.Context, f *Front, call *mcpserver.Call) *mcpserver.Result {
	a, refused := decode[runArguments](call)
	if refused != nil {
		return refused
	}
	return awaitRun(ctx, f, call, &a.executeArguments, a.RunID)
}

// resumeRun answers a call of run_resume. The run says which workflow it is of.
func resumeRun(ctx context.Context, f *Front, call *mcpserver.Call) *mcpserver.Result {
	a, refused := decode[runArguments](call)
	if refused != nil {
		return refused
	}
	found := f.answer(ctx, suite.Command{Program: "pflow-exec", Args: []string{"status", "--format", "json", "--", a.RunID}})
	if found.IsError {
		return found
	}
	of := gjson.GetManyBytes(found.Structured, "run_id", "workflow")
	a.Resume, a.Name = of[0].Str, of[1].Str
	if a.Resume == "" || a.Name == "" {
		return suite.Failure(fault.New(fault.Protocol, "pflow-exec status printed no run_id and no workflow"))
	}
	return runWorkflow(ctx, f, call, &a.executeArguments)
}
