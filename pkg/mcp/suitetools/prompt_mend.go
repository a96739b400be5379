package suitetools

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// mendRun returns the text of the prompt mend-run.
func (f *Front) mendRun(ctx context.Context, run, drafts string) (string, error) {
	status, err := f.reader().readRun(ctx, []string{cmp.Or(run, "last")})
	if err != nil {
		return "", err
	}
	fields := gjson.GetMany(status.Text, "run_id", "workflow", "status", "failed_node", "error.message", "resumed_by")
	run, name, state, failed, message, later := fields[0].Str, fields[1].Str, fields[2].Str, fields[3].Str, fields[4].Str, fields[5].Str
	var s strings.Builder
	fmt.Fprintf(&s, "The run %s of the workflow %s has the status %s.", run, name, state)
	if failed != "" {
		fmt.Fprintf(&s, " The node %q failed", failed)
	}
	if message != "" {
		fmt.Fprintf(&s, ": %s", fault.Truncate(message, 1000))
	}
	s.WriteString("\n\n")
	if todo := nothingToMend(run, name, state, later); todo != "" {
		return s.String() + todo + "\n", nil
	}
	s.WriteString("Find the cause, correct the workflow and go on with the run.\n\n")
	source, how, err := f.source(ctx, name, drafts)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&s, "1. Find the cause: %sruns/%s is the state of the run, %sruns/%s/nodes/NODE has the outputs and the error of a node, %sruns/%s/logs/NODE what it printed.\n",
		scheme, run, scheme, run, scheme, run)
	fmt.Fprintf(&s, "2. %s\n", how)
	fmt.Fprintf(&s, "3. Call execute with name %q and resume %q. Only the nodes that failed or that you changed run, and those that depend on them. If the cause was not in the workflow, such as a service that did not answer, do only this.\n", name, run)
	s.WriteString("4. If another node fails, go on in the same way with the new run. Tell the user what the cause was and what you changed.\n\n")
	if failed != "" {
		if node, err := f.reader().readNode(ctx, []string{run, failed}); err == nil {
			part(&s, "The node "+failed, "json", node.Text, fmt.Sprintf("%sruns/%s/nodes/%s", scheme, run, failed))
		}
	}
	if source != "" {
		form := "markdown"
		if isJSON(source) {
			form = "json"
		}
		part(&s, "The workflow "+name, form, source, scheme+"workflows/"+name)
	}
	return s.String(), ctx.Err()
}

// nothingToMend returns what to do with a run that has not failed, or "" for one that has.
func nothingToMend(run, name, state, later string) string {
	switch {
	case later != "":
		return fmt.Sprintf("It was continued by the run %s: if that failed, mend that one.", later)
	case state == "running":
		return fmt.Sprintf("It has not ended. Call execute with name %q and resume %q to wait for it.", name, run)
	case state == "completed":
		return "There is nothing to mend. Tell the user so, and which outputs it has."
	case state == "paused":
		return "It waits for the answer of a person, and goes on with that. Tell the user the question."
	case state == "denied":
		return "A person has denied a step of it. There is nothing to mend unless the user wants another workflow."
	}
	return ""
}

// source returns the text of a workflow and how to correct it. The text is "" if the run was not one of a draft or a saved workflow.
func (f *Front) source(ctx context.Context, name, drafts string) (text, how string, err error) {
	const byFile = "Correct the file of the workflow, which the user ran by its path: %s. Then run it in a shell with pflow-exec resume, since execute knows only drafts and saved workflows."
	place, err := f.reader().print(ctx, "pflow-lib", "path", "--format", "json", "--", name)
	if err != nil {
		if kind := fault.From(err).Type; kind == fault.NotFound || kind == fault.Security {
			return "", fmt.Sprintf(byFile, name), ctx.Err()
		}
		return "", "", err
	}
	content, err := f.reader().readWorkflow(ctx, []string{name})
	if err != nil {
		return "", "", err
	}
	if gjson.Get(place.Text, "saved").Bool() {
		return content.Text, fmt.Sprintf("The workflow is saved, and no tool changes saved ones. If it has to be corrected, write the corrected one as a draft with another name%s, "+
			"and execute that from its beginning; or ask the user to replace %s by it with pflow-lib save --force, and then go on with step 3.", f.toWrite("NAME", drafts), name), nil
	}
	return content.Text, fmt.Sprintf("Write the corrected draft %s%s.", name, f.toWrite(name, drafts)), nil
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
