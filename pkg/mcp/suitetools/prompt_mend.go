package suitetools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// mendRun returns the text of the prompt mend-run.
func (f *Front) mendRun(ctx context.Context, run, drafts string) (string, error) {
	status, err := f.reader().readRun(ctx, []string{cmp.Or(run, "last")})
	if err != nil {
		return "", err
	}
	fields := gjson.GetMany(status.Text, "run_id", "workflow", "status", "failed_node", "error.message", "resumed_by", "error.suggestions")
	run, name, state, failed, message, later := fields[0].Str, fields[1].Str, fields[2].Str, fields[3].Str, fields[4].Str, fields[5].Str
	message = fault.Truncate(message, 1000)
	var s strings.Builder
	fmt.Fprintf(&s, "The run %s of the workflow %s has the status %s.", run, name, state)
	switch {
	case failed != "" && message != "":
		fmt.Fprintf(&s, " The node %q failed: %s", failed, message)
	case failed != "":
		fmt.Fprintf(&s, " The node %q failed.", failed)
	case message != "":
		s.WriteString(" " + message)
	}
	s.WriteString("\n\n")
	if todo := nothingToMend(run, name, state, later); todo != "" {
		s.WriteString(todo + "\n")
		if state == "paused" && later == "" { // how to answer, with the choices
			for _, hint := range fields[6].Array() {
				fmt.Fprintf(&s, "* %s\n", fault.Truncate(hint.Str, 1000))
			}
		}
		return s.String(), nil
	}
	s.WriteString("Find the cause, correct the workflow and go on with the run.\n\n")
	w, err := f.workflowOf(ctx, run, name, drafts)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&s, "1. Find the cause: %sruns/%s is the state of the run, %sruns/%s/nodes/NODE has the outputs and the error of a node, %sruns/%s/logs/NODE what it printed.\n",
		scheme, run, scheme, run, scheme, run)
	fmt.Fprintf(&s, "2. %s\n3. %s Only the nodes that failed or that you changed run, and those that depend on them. %s\n", w.correct, w.resume, w.unchanged)
	s.WriteString("4. If another node fails, go on in the same way with the new run. Tell the user what the cause was and what you changed.\n\n")
	if failed != "" {
		if node, err := f.reader().readNode(ctx, []string{run, failed}); err == nil {
			part(&s, "The node "+failed, "json", node.Text, fmt.Sprintf("%sruns/%s/nodes/%s", scheme, run, failed))
		}
	}
	if w.text != "" {
		form := "markdown"
		if isJSON(w.text) {
			form = "json"
		}
		part(&s, w.title, form, w.text, w.uri)
	}
	return s.String(), ctx.Err()
}

// nothingToMend returns what to do with a run that has not failed, or "" for one that has.
func nothingToMend(run, name, state, later string) string {
	switch {
	case later != "":
		return fmt.Sprintf("It was continued by the run %s: if that failed, mend that one.", later)
	case live(state):
		return fmt.Sprintf("It has not ended. Call execute with name %q and resume %q to wait for it.", name, run)
	case state == "completed":
		return "There is nothing to mend. Tell the user so, and which outputs it has."
	case state == "paused":
		return fmt.Sprintf("It goes on with the answer of a person. Ask the user the question, and call execute with name %q, resume %q and the user's answer in answers.", name, run)
	case state == "denied":
		return "A person has denied a step of it. There is nothing to mend unless the user wants another workflow."
	}
	return ""
}

// mendable is the workflow of a run: its text, which is "" if no tool reads it, and what to do with it.
type mendable struct {
	text, title, uri string
	// correct is how to correct the workflow, and resume how to go on from the run then, or unchanged, if there is nothing to correct.
	correct, resume, unchanged string
}

// workflowOf returns the workflow that a run is of.
func (f *Front) workflowOf(ctx context.Context, run, name, drafts string) (*mendable, error) {
	w := &mendable{
		title: "The workflow " + name, uri: scheme + "workflows/" + name,
		resume:    fmt.Sprintf("Call execute with name %q and resume %q.", name, run),
		unchanged: "If the cause was not in the workflow, such as a service that did not answer, do only this.",
	}
	place, err := f.reader().print(ctx, "pflow-lib", "path", "--format", "json", "--", name)
	if err != nil {
		if kind := fault.From(err).Type; kind == fault.NotFound || kind == fault.Security {
			return f.withoutFile(ctx, w, run, name, drafts), ctx.Err()
		}
		return nil, err
	}
	content, err := f.reader().readWorkflow(ctx, []string{name})
	if err != nil {
		return nil, err
	}
	w.text, w.correct = content.Text, fmt.Sprintf("Write the corrected draft %s%s.", name, f.toWrite(name, drafts))
	if gjson.Get(place.Text, "saved").Bool() {
		w.correct = fmt.Sprintf("The workflow is saved, and no tool changes saved ones. If it has to be corrected, write the corrected one as a draft with another name%s, "+
			"and execute that from its beginning; or ask the user to replace %s by it with pflow-lib save --force, and then go on with step 3.", f.toWrite("NAME", drafts), name)
	}
	return w, nil
}

// withoutFile fills in what to do with a workflow that is neither a draft nor saved: it ran by the path of its file, or it has been
// deleted since.
func (f *Front) withoutFile(ctx context.Context, w *mendable, run, name, drafts string) *mendable {
	definition, path := f.reader().ran(ctx, run)
	w.text, w.title, w.uri = definition, "The workflow, as it ran", fmt.Sprintf("%sruns/%s/nodes/NODE, node by node", scheme, run)
	if path == "" && !strings.ContainsAny(name, "./") {
		w.correct = fmt.Sprintf("The workflow %s has been deleted since. Write it anew under that name, corrected, as a draft%s.", name, f.toWrite(name, drafts))
		w.unchanged = "If the cause was not in the workflow, write the draft as it was and do the same."
		return w
	}
	w.correct = fmt.Sprintf("Correct the file of the workflow, which the user ran by its path: %s.", name)
	w.resume = fmt.Sprintf("Ask the user to run in a shell, since execute knows only drafts and saved workflows: pflow-exec run %s --resume %s.", suite.ShellWord(name), run)
	w.unchanged = fmt.Sprintf("If the cause was not in the workflow, pflow-exec resume %s is enough.", run)
	return w
}

// ran returns the definition of the workflow that a run had, and the path of its file, which is "" if it ran by its name. Both are ""
// if they cannot be read.
func (r reader) ran(ctx context.Context, run string) (definition, path string) {
	out := &suite.Head{Most: maxContent}
	o, err := r.suite.Run(ctx, suite.Command{Program: "pflow-exec", Args: []string{"--quiet", "events", "--format", "ndjson", "--", run}, Stdout: out})
	first, _, _ := bytes.Cut(out.Kept.Bytes(), []byte("\n"))
	if err != nil || o.Exit != 0 || !json.Valid(first) {
		return "", ""
	}
	fields := gjson.GetManyBytes(first, "workflow.definition", "workflow.path")
	var laidOut bytes.Buffer
	if json.Indent(&laidOut, []byte(fields[0].Raw), "", "  ") != nil {
		return "", fields[1].Str
	}
	return laidOut.String(), fields[1].Str
}

// part writes a part of a prompt: a text if it is short enough, else where to read it.
func part(s *strings.Builder, title, form, text, uri string) {
	if len(text) > maxPart {
		fmt.Fprintf(s, "%s is long: read it at %s\n\n", title, uri)
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(s, "%s:\n\n%s%s\n%s\n%s\n\n", title, fence, form, strings.TrimRight(text, "\n"), fence)
}
