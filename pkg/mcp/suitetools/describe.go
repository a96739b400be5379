package suitetools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// describe is the tool describe_workflow.
func (f *Front) describe() mcpserver.Tool {
	const list = `{"type":"array","items":{"type":"object"}}`
	return mcpserver.Tool{
		Name: "describe_workflow", Title: "Describe a workflow",
		Description: "Describe a workflow and how to call it: its inputs and outputs with types, an example (arguments for execute), nodes, edges, templates, " +
			"dependencies (configured and set say whether they are there), and statistics of its runs. " +
			"Of long lists it has the beginning and their length, such as nodes_total. " +
			"The name of a node type describes that. With run_id it shows the end of what the run's nodes, or node, printed.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"the name of a saved workflow or a draft, or of a node type"},` +
			`"run_id":{"type":"string","description":"of a run of the workflow"},"node":{"type":"string","minLength":1,"description":"of the run"},` +
			limitProperty("entries of each list") + `},"required":["name"],"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(`"name":{"type":"string"},"type":{"type":"string"},"description":{"type":"string"},"saved":{"type":"boolean","description":"false for a draft"},` +
			`"inputs":{"type":["object","array"],"description":"by name; a node type's are a list"},"outputs":{"type":["object","array"]},` +
			`"template_inputs":{"type":"array","items":{"type":"string"}},"nodes":` + list + `,"edges":` + list + `,` +
			`"templates":` + list + `,` +
			`"example":{"type":"object","description":"arguments for execute"},"dependencies":{"type":"object"},"statistics":{"type":"object"},` +
			`"valid":{"type":"boolean","description":"false if it has errors and cannot run"},"errors_total":{"type":"integer"},` +
			`"errors":{"type":"array","description":"the first errors","items":` + suite.FaultSchema + `},` +
			`"truncated":{"type":"boolean","description":"limit 0 has everything"},"suggestions":{"type":"array","items":{"type":"string"}},` +
			`"logs":` + list),
		ReadOnly: true, Idempotent: true,
		Call: summarized(document[describeArguments](f), described),
	}
}

type describeArguments struct {
	Name  string `json:"name"`
	RunID string `json:"run_id"`
	Node  string `json:"node"`
	Limit *int   `json:"limit"`
}

func (a describeArguments) command() suite.Command {
	if a.RunID != "" {
		return runLogs{RunID: a.RunID, Node: a.Node}.command()
	}
	args := append([]string{"describe", "--format", "json"}, pageArguments{Limit: a.Limit}.flags()...)
	return suite.Command{Program: "pflow-lib", Args: append(args, "--", a.Name)}
}

// described is the summary of an answer: what the workflow is for, how to call it, and what it still needs.
func described(document json.RawMessage) string {
	if logs := gjson.GetBytes(document, "logs"); logs.Exists() {
		return printed(logs)
	}
	fields := gjson.GetManyBytes(document, "name", "type", "description", "example", "suggestions", "warnings.#.message")
	name, kind := fields[0].Str, "Workflow"
	if name == "" {
		name, kind = fields[1].Str, "Node type"
	}
	lines := []string{fmt.Sprintf("%s %s: %s", kind, name, fault.Truncate(fields[2].Str, maxListedBytes))}
	if example := fields[3]; example.Exists() && len(example.Raw) <= maxListedBytes {
		lines = append(lines, "To run it: execute with "+example.Raw)
	}
	if total := gjson.GetBytes(document, "errors_total").Int(); total > 0 {
		lines = append(lines, fmt.Sprintf("It cannot run, errors: %d. The first:", total))
		for _, message := range gjson.GetBytes(document, "errors.#.message").Array() {
			lines = append(lines, fault.Truncate(message.Str, 300))
		}
	}
	lines = append(lines, missing(document)...)
	for _, texts := range fields[4:] {
		for _, text := range texts.Array() {
			lines = append(lines, text.Str)
		}
	}
	return strings.Join(lines, "\n")
}

// printed returns the lines that nodes have printed as text.
func printed(logs gjson.Result) string {
	var text strings.Builder
	for _, line := range logs.Array() {
		text.WriteString(strings.TrimSuffix(line.Get("text").String(), "\n") + "\n")
	}
	return cmp.Or(text.String(), "Nothing was printed")
}

// missing returns a line for each kind of dependency of a workflow that is not there.
func missing(document json.RawMessage) (lines []string) {
	fields := gjson.GetManyBytes(document, "dependencies.servers.#(configured==false)#.name", "dependencies.settings.#(required==true)#|#(set==false)#.name")
	for i, what := range []string{"MCP servers that are not configured", "settings that are not set"} {
		if names := fields[i].Array(); len(names) > 0 {
			lines = append(lines, "It needs "+what+": "+listed(names))
		}
	}
	return lines
}
