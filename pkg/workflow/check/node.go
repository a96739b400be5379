package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
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
		f.Suggest("If the server has this tool, it must be registered: its name is almost that of another tool").Then(fault.Step{Do: fault.DoSync, Name: server})
	}
	if !found && server == "" && strings.HasPrefix(n.Type, "mcp-") {
		f.Then(fault.ByPerson("Make the tools of an MCP server node types", "pflow-sync add NAME -- COMMAND, then pflow-sync sync NAME"))
	}
	if !found && !strings.HasPrefix(n.Type, "mcp-") {
		f.Then(fault.ByPerson("Make a program pflow-node-NAME the node type NAME", "pflow-sync nodes"))
	}
	f.Then(fault.Step{Do: fault.DoSearch})
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
		Then(fault.Step{Do: fault.DoSync, Name: kind.MCP.Server}).Node = n.ID
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

// known reports whether a name is that of an input or a node.
func (c *checker) known(root string) bool {
	_, node := c.nodes[root]
	_, input := c.w.Inputs[root]
	return node || input
}
