package suitetools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// browse is the tool browse_components.
func (f *Front) browse() mcpserver.Tool {
	return mcpserver.Tool{
		Name: "browse_components", Title: "Browse building blocks",
		Description: "Find node types (the building blocks of workflows, such as shell, http or the tools of MCP servers) and workflows by words. " +
			"Use it before writing a workflow. The best 8 node types come with their inputs (parameters), outputs and actions, the others with a description; " +
			"type shows one of them in full. An answer is a page of at most 8 kB: total counts all results, and next_cursor, given back as cursor, continues. " +
			"Without a query everything is listed by name.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` +
			`"query":{"type":"string","description":"words or a sentence to look for, such as \"http\", \"read file\" or \"post a message to a channel\""},` +
			`"include_workflows":{"type":"boolean","default":true,"description":"also search the saved workflows and drafts"},` +
			`"type":{"type":"string","description":"show only the node type of exactly this name, in full; without a query"},` +
			`"server":{"type":"string","description":"search only the node types of this MCP server, and no workflows"},` +
			`"detail":{"type":"string","enum":["brief","full"],"description":"brief: only what each node type does; full: the whole interface of each. By default the best 8 in full and the others in brief"},` +
			limitProperty("node types, and the most workflows,") + `,` + cursorProperty + `},"additionalProperties":false}`),
		OutputSchema: suite.AnswerSchema(`"nodes":{"type":"array","description":"the node types, the best match first","items":{"type":"object","properties":{` +
			`"type":{"type":"string"},"description":{"type":"string"},` +
			`"inputs":{"type":"array","items":{"type":"object"}},"outputs":{"type":"array","items":{"type":"object"}},"actions":{"type":"array","items":{"type":"string"}},` +
			`"truncated":{"type":"boolean","description":"the interface is shortened; the whole is pflow://nodes/TYPE, or type with limit 0"}},"required":["type"]}},` +
			`"workflows":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"},` +
			`"saved":{"type":"boolean"}},"required":["name"]}},` +
			pageProperties + `,"more":{"type":"integer"},"warnings":{"type":"array","items":{"type":"object"}},"suggestions":{"type":"array","items":{"type":"string"}}`),
		ReadOnly: true, Idempotent: true, Meta: suite.AlwaysLoad(),
		Call: summarized(document[browseArguments](f), browsed),
	}
}

type browseArguments struct {
	Query            string `json:"query"`
	IncludeWorkflows *bool  `json:"include_workflows"`
	Type             string `json:"type"`
	Server           string `json:"server"`
	Detail           string `json:"detail"`
	pageArguments
}

func (a browseArguments) command() suite.Command {
	args := append([]string{"search", "--format", "json"}, a.flags()...)
	if a.IncludeWorkflows != nil && !*a.IncludeWorkflows {
		args = append(args, "--no-workflows")
	}
	for _, flag := range [][2]string{{"--type=", a.Type}, {"--server=", a.Server}, {"--detail=", a.Detail}} {
		if flag[1] != "" {
			args = append(args, flag[0]+flag[1])
		}
	}
	if a.Query != "" {
		args = append(args, "--", a.Query)
	}
	return suite.Command{Program: "pflow-lib", Args: args}
}

// browsed is the summary of an answer: the interfaces of its node types, the names of others and of workflows, and what is not on the page.
func browsed(document json.RawMessage) string {
	fields := gjson.GetManyBytes(document, "nodes.#.type", "workflows.#.name", "total", "more", "suggestions", "warnings.#.message")
	lines := interfaces(gjson.GetBytes(document, "nodes").Array())
	if named := fields[0].Array(); len(lines) < len(named) {
		lines = slices.Insert(lines, 0, counted("node type", named))
	}
	if named := fields[1].Array(); len(named) > 0 {
		lines = append(lines, counted("workflow", named))
	}
	if len(lines) == 0 {
		lines = append(lines, "Nothing was found.")
	}
	switch more := fields[3].Int(); {
	case more > 0 && len(fields[4].Array()) > 0: // which says how
		lines = append(lines, fmt.Sprintf("%d more of %d.", more, fields[2].Int()))
	case more > 0:
		lines = append(lines, fmt.Sprintf("%d more of %d: cursor with next_cursor continues.", more, fields[2].Int()))
	}
	for _, texts := range fields[4:] {
		for _, text := range texts.Array() {
			lines = append(lines, text.Str)
		}
	}
	return strings.Join(lines, "\n")
}

// counted returns how many there are of what is named, and the names.
func counted(what string, names []gjson.Result) string {
	if len(names) > 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s: %s", len(names), what, listed(names))
}

// maxListed is the most names in a summary, and maxListedBytes the most bytes of them.
const (
	maxListed      = 8
	maxListedBytes = 400
)

// listed returns the first of the names, and how many more there are.
func listed(names []gjson.Result) string {
	text := ""
	for i, name := range names {
		next := name.Str
		if i > 0 {
			next = ", " + next
		}
		if i == maxListed || len(text)+len(next) > maxListedBytes {
			return fmt.Sprintf("%s and %d more", text, len(names)-i)
		}
		text += next
	}
	return text
}
