package check

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/shell"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// node checks one node: its type, its parameters, how it runs, and its references.
func (c *checker) node(i int) {
	n := &c.w.Nodes[i]
	at := nodePath(i)
	var params map[string]json.RawMessage
	if json.Unmarshal(n.Params, &params) != nil {
		return
	}
	kind, ok := c.kind(n, at)
	if ok {
		c.unregistered(n, kind, at)
		errors := len(c.report.Errors)
		c.params(n, kind, params, at)
		if len(c.report.Errors) == errors {
			c.toolArguments(n, kind, params, at)
		}
		c.timeout(n, kind, params, at)
		c.fromInputs(n, kind, params, at)
		c.filter(n, kind, params, at)
		c.llm(n, kind, params, at)
		c.agent(n, kind, params, at)
	}
	runsOn(c, n.RunsOn, at+".runs_on", n.ID)
	c.control(n, kind, at)
	command := ok && kind.Name == "shell"
	if command {
		c.command(n, params, at)
	}
	if ok && kind.Name == workflow.CodeType {
		c.code(n, params, at)
	}
	uses, bad := plan.Uses(n)
	for _, b := range bad {
		if !command || b.Path != "params.command" {
			c.malformed(place{path: at + "." + b.Path, node: n, inText: true, offset: b.Offset}, b.Ref.Root)
		}
	}
	for _, u := range uses {
		if command && u.Path == "params.command" {
			continue
		}
		where := place{path: at + "." + u.Path, node: n, inText: true, offset: u.Offset}
		c.reference(where, u.Ref, u.Optional)
		c.functions(where, u.Expr)
		if kind, ok := c.wholeType(params, u, kind); ok {
			c.fits(where, u.Ref, kind)
		}
	}
	if n.UnsafeTemplates && !command {
		c.fail(at+".unsafe_templates", "Node %q (%s): unsafe_templates is only for shell nodes", n.ID, n.Type).Suggest("Remove it").Node = n.ID
	}
}

// described appends the description of a parameter to a suggestion.
func described(what string, p nodetype.Param) string {
	if p.Description == "" {
		return what
	}
	return what + ": " + p.Description
}

// shown describes a literal value in an error: its kind and, if it is short, the value.
func shown(raw json.RawMessage) string {
	kind, text := rawjson.Kind(raw), string(bytes.TrimSpace(raw))
	switch {
	case kind == "true or false":
		return text
	case kind == "an object", kind == "a list", len(text) > 60:
		return kind
	}
	return kind + ": " + text
}

// kind returns the type of a node. It reports an error if the type does not exist.
func (c *checker) kind(n *workflow.Node, at string) (nodetype.Type, bool) {
	if kind, ok := c.report.Kinds[n.Type]; ok {
		return kind, true
	}
	kind, ok, err := c.types.Type(n.Type)
	if err != nil {
		c.report.Errors = append(c.report.Errors, fault.From(err))
		return kind, false
	}
	if ok {
		c.report.Kinds[n.Type] = kind
		return kind, true
	}
	if denied := denial(c.types, n.Type); denied != nil {
		f := c.fail(at+".type", "%s", denied.Message)
		f.SuggestAs(denied).Node = n.ID
		return kind, false
	}
	server := serverOf(c.types, n.Type)
	message := fmt.Sprintf("Unknown node type %q", n.Type)
	if server != "" {
		message += fmt.Sprintf(": MCP server %s had no such tool at its last sync", server)
	}
	f := c.fail(at+".type", "%s", message)
	f.Node = n.ID
	names := c.allTypeNames()
	c.offer(f, n.Type, names)
	near, found := c.nearest(n.Type, names)
	if found {
		f.Suggest("Did you mean %q?", near)
	}
	if instead := formerType(n.Type); instead != "" {
		f.Suggest("%s", instead)
	}
	if server != "" {
		f.SuggestCommand("If the server has this tool: pflow-sync sync %s. It cannot be called unregistered, because its name is almost that of another tool", server).
			SuggestTool("If the server has this tool: sync_server, if you have that tool, or a person with: pflow-sync sync %s. It cannot be called unregistered, because its name is almost that of another tool", server)
	}
	if !found && server == "" && strings.HasPrefix(n.Type, "mcp-") {
		f.SuggestCommand("Tools of MCP servers become node types with: pflow-sync add NAME -- COMMAND, then pflow-sync sync NAME").
			SuggestTool("A person adds an MCP server with: pflow-sync add NAME -- COMMAND. To make its tools node types then: sync_server, if you have that tool, or a person with: pflow-sync sync NAME")
	}
	if !found && !strings.HasPrefix(n.Type, "mcp-") {
		f.SuggestCommand("A program pflow-node-NAME becomes the node type NAME with: pflow-sync nodes").
			SuggestTool("A person makes a program pflow-node-NAME the node type NAME with: pflow-sync nodes")
	}
	f.SuggestCommand("pflow-lib search lists all node types").SuggestTool("browse_components finds node types by words")
	return kind, false
}

// formerType says what to use instead of a node type that pflow's Python version had, or returns "".
func formerType(name string) string {
	switch {
	case name == "claude-code":
		return `Write "type": "agent", which runs claude by default`
	case strings.HasPrefix(name, "github-"):
		return "Use a shell node that calls gh, or the tools of an MCP server for GitHub"
	case strings.HasPrefix(name, "git-"):
		return "Use a shell node that calls git"
	}
	return ""
}

// unregistered warns of an MCP tool that is not registered. Whether it exists shows only when it is called.
func (c *checker) unregistered(n *workflow.Node, kind nodetype.Type, at string) {
	if !kind.Unregistered {
		return
	}
	c.warn(at+".type", "Node %q: the tool %q of MCP server %q is not registered, so neither it nor its parameters can be checked", n.ID, kind.MCP.Tool, kind.MCP.Server).
		SuggestCommand("Run pflow-sync sync %s to register the tools of the server", kind.MCP.Server).
		SuggestTool("To register the tools of the server: sync_server, if you have that tool, or a person with: pflow-sync sync %s", kind.MCP.Server).Node = n.ID
}

// kindOf returns the type of a node, without reporting an error.
func (c *checker) kindOf(n *workflow.Node) (nodetype.Type, bool) {
	if kind, ok := c.report.Kinds[n.Type]; ok {
		return kind, true
	}
	kind, ok, err := c.types.Type(n.Type)
	if ok = ok && err == nil; ok {
		c.report.Kinds[n.Type] = kind
	}
	return kind, ok
}

// allTypeNames lists the names of all node types, those of MCP tools last.
func (c *checker) allTypeNames() []string {
	if c.typeNames == nil {
		c.typeNames = append([]string{}, namesOf(c.types)...)
		slices.SortStableFunc(c.typeNames, func(a, b string) int {
			return cmp.Compare(len(a)-len(strings.TrimPrefix(a, "mcp-")), len(b)-len(strings.TrimPrefix(b, "mcp-")))
		})
	}
	return c.typeNames
}

// denial returns the fault of a type that exists but is denied by the settings. It returns nil if types cannot tell.
func denial(types Types, name string) *fault.Fault {
	judge, ok := types.(interface {
		Denial(name string) *fault.Fault
	})
	if !ok {
		return nil
	}
	return judge.Denial(name)
}

// serverOf returns the configured MCP server to which the name of a node type belongs, or "" if that is unknown.
func serverOf(types Types, name string) string {
	if known, ok := types.(interface{ ServerOf(name string) string }); ok {
		return known.ServerOf(name)
	}
	return ""
}

// namesOf lists the names of all node types, without loading the types if possible.
func namesOf(types Types) (names []string) {
	if named, ok := types.(interface{ Names() ([]string, error) }); ok {
		names, _ = named.Names()
		return names
	}
	all, _ := types.Types()
	for _, t := range all {
		names = append(names, t.Name)
	}
	return names
}

// params checks that no parameter is unknown or missing, and that literal values have the right type.
func (c *checker) params(n *workflow.Node, kind nodetype.Type, params map[string]json.RawMessage, at string) {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		path := rawjson.JoinPath(at+".params", name)
		p, ok := kind.Param(name)
		switch {
		case strings.HasPrefix(name, "__"):
			c.fail(path, "Node %q (%s): parameter %q is reserved: a workflow cannot set names that start with __", n.ID, n.Type, name).
				Suggest("Remove it").Node = n.ID
		case !ok && kind.MCP != nil && c.takesMore(kind):
		case !ok && name == nodetype.TimeoutParam && kind.LimitsTime():
		case !ok && name == "inputs": // local names of the node
			c.ownInputs(n, params[name], path)
		case !ok:
			f := c.fail(path, "Node %q (%s): unknown parameter %q", n.ID, n.Type, name)
			f.Node = n.ID
			c.instead(f, name, "A "+n.Type+" node takes", kind.ParamNames())
		case string(params[name]) != "null" && !strings.Contains(string(params[name]), "${"):
			c.literal(n, kind, p, params[name], path)
		case ok && kind.MCP != nil && string(params[name]) != "null":
			c.toolArgument(n, kind, p, params[name], at)
		}
	}
	for _, p := range kind.Params {
		if _, ok := params[p.Name]; !ok && p.Required {
			f := c.fail(at, "Node %q (%s): parameter %q is required", n.ID, n.Type, p.Name)
			f.Node, f.Missing = n.ID, []string{p.Name}
			f.Suggest("%s", described(fmt.Sprintf("Add %q", p.Name), p))
		}
	}
}

// literal checks a value without templates.
func (c *checker) literal(n *workflow.Node, kind nodetype.Type, p nodetype.Param, value json.RawMessage, path string) {
	fail := func(format string, args ...any) *fault.Fault {
		f := c.fail(path, "Node %q (%s): parameter %q %s", n.ID, n.Type, p.Name, fmt.Sprintf(format, args...))
		f.Node = n.ID
		return f
	}
	fitted, ok := nodetype.Fit(p.Type, value)
	switch {
	case !ok && p.Type == nodetype.DurationType:
		fail("must be a duration, not %s", shown(value)).Suggest(durationForms)
	case !ok:
		fail("must be of type %s, not %s", p.Type, shown(value)).Suggest("%s", described("Correct the value", p))
	case !p.Allows(value):
		fail("cannot be %s", shown(value)).Suggest("Use one of: %s", p.Enum)
	case kind.MCP != nil:
		c.toolArgument(n, kind, p, fitted, strings.TrimSuffix(path, rawjson.JoinPath(".params", p.Name)))
	case p.Type == nodetype.DurationType:
		if !nodetype.IsLimit(fitted) {
			fail("must be more than 0 seconds").Suggest("%s", described("Correct the value", p))
		}
	case kind.Name == "http" && p.Name == "url":
		var text string
		if json.Unmarshal(fitted, &text) != nil {
			return
		}
		if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			fail("must be an http or https URL, not %s", shown(value)).Suggest("Write the whole URL: https://host/path")
		}
	}
}

// ownInputs checks the local names in a node's inputs.
func (c *checker) ownInputs(n *workflow.Node, raw json.RawMessage, path string) {
	var named map[string]json.RawMessage
	if json.Unmarshal(raw, &named) != nil || named == nil {
		c.fail(path, "Node %q: inputs must be an object of names and values, not %s", n.ID, rawjson.Kind(raw)).Node = n.ID
		return
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if !template.IsName(name) {
			c.fail(rawjson.JoinPath(path, name), "Node %q: invalid input name %q: templates cannot refer to it", n.ID, name).
				Suggest(nameRule).Node = n.ID
		}
	}
}

// command checks the templates of a shell command in their places in it.
func (c *checker) command(n *workflow.Node, params map[string]json.RawMessage, at string) {
	path := at + ".params.command"
	var text string
	if json.Unmarshal(params["command"], &text) != nil {
		return
	}
	if n.UnsafeTemplates {
		c.warn(at+".unsafe_templates", "Node %q: unsafe_templates pastes values into the command without quoting, so a value can become code", n.ID).
			Suggest("Remove unsafe_templates, unless you trust every value in the command").Node = n.ID
	}
	var env map[string]json.RawMessage
	if own, ok := params["env"]; ok {
		_ = json.Unmarshal(own, &env) // params checks its type
	}
	parts := template.Parse(text)
	if c.unknownFunctions(parts, place{path: path, node: n, inText: true}) {
		return
	}
	for _, p := range parts {
		if p.Expr != nil { // also if the command has other errors
			p.Expr.Refs(func(ref template.Ref, _ bool) { c.used[ref.Root] = true })
		}
	}
	locals := plan.Locals(n)
	known := func(root string) bool { return slices.Contains(locals, root) || c.known(root) }
	number := func(e template.Expr) bool {
		ref, ok := e.Ref()
		return ok && !slices.Contains(locals, ref.Root) && slices.Contains([]string{"int", "float", "bool"}, c.typeOf(ref))
	}
	options := shell.Options{Known: known, Number: number, Own: slices.Sorted(maps.Keys(env)), Unsafe: n.UnsafeTemplates}
	for _, name := range options.Own {
		if !template.MayHoldTemplate(env[name]) {
			continue
		}
		var value string
		_ = json.Unmarshal(env[name], &value)
		if e, whole := template.Whole(value); !whole || !number(e) {
			options.FromTemplates = append(options.FromTemplates, name)
		}
	}
	script, problems := shell.Parse(text, options)
	for _, p := range problems {
		note := c.fail
		if p.Warning {
			note = c.warn
		}
		f := note(path, "Node %q: %s", n.ID, p.Message)
		if p.Offset >= 0 {
			f.File, f.Line, f.Column = c.file.PlaceIn(path, p.Offset)
		}
		f.Node = n.ID
		if p.Kind == shell.Destructive {
			f.Type = fault.Security
		}
		if p.Name != "" {
			f.Type, f.Message, f.Missing = fault.Template, "Template "+p.Message, []string{p.Name}
			names := c.namesWith(locals)
			c.offer(f, p.Name, names)
			if near, ok := c.nearest(p.Name, names); ok {
				f.Suggest("Did you mean ${%s}?", near)
			}
			c.localOfOthers(f, p.Name)
		}
		f.Suggest("%s", p.Suggest)
	}
	if script == nil {
		return
	}
	c.search(n, script, params, path)
	offset := 0
	for _, p := range parts {
		if p.Expr != nil {
			c.functions(place{path: path, node: n, inText: true, offset: offset}, p.Expr)
			p.Expr.Refs(func(ref template.Ref, optional bool) {
				if !slices.Contains(locals, ref.Root) && c.known(ref.Root) {
					c.reference(place{path: path, node: n, inText: true, offset: offset}, ref, optional)
				}
			})
		}
		offset += len(p.Source)
	}
}

// search warns of a command whose exit status is a success although it is not 0, because it only means that nothing was found.
func (c *checker) search(n *workflow.Node, script *shell.Script, params map[string]json.RawMessage, path string) {
	if c.plan == nil || string(params["ignore_errors"]) == "true" {
		return
	}
	command, _ := script.Render(make([]string, len(script.Vars)))
	if reason, ok := shell.Searches(command); ok && !c.plan.AsksStatus(n.ID) {
		c.warn(path, "Node %q succeeds also when %s, because nothing asks for its exit status", n.ID, reason).
			Suggest(`To branch on it, add an edge with the action error (in Markdown - on-error: name); to read it, use ${%s.exit_code} with "ignore_errors": true`, n.ID).Node = n.ID
	}
}

// known reports whether a name is that of an input or a node.
func (c *checker) known(root string) bool {
	_, node := c.nodes[root]
	_, input := c.w.Inputs[root]
	return node || input
}
