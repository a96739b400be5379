package check

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/shell"
	"github.com/pflow-suite/pflow/pkg/template"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// node checks one node: its type, its parameters, and the references in them.
func (c *checker) node(i int) {
	n := &c.w.Nodes[i]
	at := fmt.Sprintf("nodes[%d]", i)
	var params map[string]json.RawMessage
	if json.Unmarshal(n.Params, &params) != nil {
		return
	}
	kind, ok := c.kind(n, at)
	if ok {
		c.params(n, kind, params, at)
	}
	command := ok && kind.Name == "shell"
	for _, name := range slices.Sorted(maps.Keys(params)) {
		path := rawjson.JoinPath(at+".params", name)
		if command && name == "command" {
			c.command(n, params, path)
			continue
		}
		uses, bad := template.Uses(params[name])
		for _, b := range bad {
			c.malformed(joined(path, b.Path), b.Ref.Root).Node = n.ID
		}
		for _, u := range uses {
			c.reference(joined(path, u.Path), n.ID, u.Ref)
		}
	}
}

func joined(path, inner string) string {
	if inner == "" || inner[0] == '[' {
		return path + inner
	}
	return path + "." + inner
}

// described is what to do about a parameter, with what the parameter is for.
func described(what string, p nodetype.Param) string {
	if p.Description == "" {
		return what
	}
	return what + ": " + p.Description
}

// shown is a literal value as an error shows it: what it is and, where it is short, the value.
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

// kind finds the node's type.
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
	f := c.fail(at+".type", "Unknown node type %q", n.Type)
	f.Node = n.ID
	names := c.typeNames()
	f.Available = listed(names)
	near, found := c.nearest(n.Type, names)
	if found {
		f.Suggest("Did you mean %q?", near)
	}
	if !found && strings.HasPrefix(n.Type, "mcp-") {
		f.Suggest("Tools of MCP servers become node types with: pflow-sync add NAME -- COMMAND, then pflow-sync sync NAME")
	}
	f.Suggest("pflow-lib search lists all node types")
	return kind, false
}

// typeNames are the names of all node types there are, as far as that can be told.
func (c *checker) typeNames() []string {
	if c.kinds == nil {
		all, _ := c.types.Types()
		c.kinds = make([]string, len(all))
		for i, t := range all {
			c.kinds[i] = t.Name
		}
		slices.SortStableFunc(c.kinds, func(a, b string) int { // the built-in ones stand first
			return cmp.Compare(len(a)-len(strings.TrimPrefix(a, "mcp-")), len(b)-len(strings.TrimPrefix(b, "mcp-")))
		})
	}
	return c.kinds
}

// params checks that the parameters are the type's: none unknown, none missing, literal values of the right type.
func (c *checker) params(n *workflow.Node, kind nodetype.Type, params map[string]json.RawMessage, at string) {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		path := rawjson.JoinPath(at+".params", name)
		p, ok := kind.Param(name)
		switch {
		case strings.HasPrefix(name, "__"):
			c.fail(path, "Node %q (%s): parameter %q is reserved: names beginning with __ are not the author's to set", n.ID, n.Type, name).
				Suggest("Take it out").Node = n.ID
		case !ok && kind.MCP != nil && len(kind.Params) == 0: // the tool does not say what it takes
		case !ok:
			f := c.fail(path, "Node %q (%s): unknown parameter %q", n.ID, n.Type, name)
			f.Node = n.ID
			c.instead(f, name, "A "+n.Type+" node takes", kind.ParamNames())
		case string(params[name]) != "null" && !strings.Contains(string(params[name]), "${"):
			if _, ok := nodetype.Fit(p.Type, params[name]); !ok {
				c.fail(path, "Node %q (%s): parameter %q must be of type %s, not %s", n.ID, n.Type, name, p.Type, shown(params[name])).
					Suggest("%s", described("Correct the value", p)).Node = n.ID
			} else if !p.Allows(params[name]) {
				c.fail(path, "Node %q (%s): parameter %q cannot be %s", n.ID, n.Type, name, shown(params[name])).
					Suggest("It is one of: %s", p.Enum).Node = n.ID
			}
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

// command checks the templates of a shell command where they stand in it.
func (c *checker) command(n *workflow.Node, params map[string]json.RawMessage, path string) {
	var text string
	if json.Unmarshal(params["command"], &text) != nil {
		return
	}
	var env map[string]json.RawMessage
	_ = json.Unmarshal(params["env"], &env) // its type is checked among the parameters
	for _, p := range template.Parse(text) {
		if p.Ref != nil { // also in a command that is faulty for another reason
			c.used[p.Ref.Root] = true
		}
	}
	script, problems := shell.Parse(text, c.known, slices.Sorted(maps.Keys(env)))
	for _, p := range problems {
		f := c.fail(path, "Node %q: %s", n.ID, p.Message)
		f.Node = n.ID
		if p.Name != "" {
			f.Type, f.Message, f.Missing = fault.Template, "Template "+p.Message, []string{p.Name}
			f.Available = listed(c.roots)
			if near, ok := c.nearest(p.Name, c.roots); ok {
				f.Suggest("Did you mean ${%s}?", near)
			}
		}
		f.Suggest("%s", p.Suggest)
	}
	if script != nil {
		for _, v := range script.Vars {
			c.reference(path, n.ID, v.Ref)
		}
	}
}

func (c *checker) known(root string) bool {
	_, node := c.nodes[root]
	_, input := c.w.Inputs[root]
	return node || input
}

func (c *checker) malformed(path, source string) *fault.Fault {
	return c.fail(path, "Malformed template %s", source).
		Suggest(`A template is ${name}, ${node.key}, ${node.key[0]} or ${node["any key"]}; for a literal ${ write $${`)
}

// reference checks that what a template names exists: an input, or a node and one of its outputs. node is the node whose
// parameter it stands in, if any.
func (c *checker) reference(path, node string, ref template.Ref) {
	if _, ok := c.w.Inputs[ref.Root]; ok {
		c.used[ref.Root] = true
		return
	}
	i, ok := c.nodes[ref.Root]
	if !ok {
		f := c.fail(path, "Template %s not resolved: there is no input and no node %q", ref, ref.Root)
		f.Type, f.Node = fault.Template, node
		f.Missing, f.Available = []string{ref.Root}, listed(c.roots)
		if near, ok := c.nearest(ref.Root, c.roots); ok {
			fixed := ref
			fixed.Root = near
			f.Suggest("Did you mean %s?", fixed)
		} else {
			f.Suggest(`Declare it under "inputs", or name one of: %s`, strings.Join(f.Available, ", "))
		}
		return
	}
	if len(ref.Path) == 0 || ref.Path[0].IsIndex {
		return
	}
	n := &c.w.Nodes[i]
	kind, ok := c.kindOf(n)
	if !ok || kind.Open {
		return
	}
	key := ref.Path[0].Key
	if _, ok := kind.Output(key); ok {
		return
	}
	f := c.fail(path, "Node %q (type: %s) does not output %q", n.ID, n.Type, key)
	f.Node = node
	f.Missing = []string{ref.Expression()}
	var names []string
	for _, o := range kind.Outputs {
		names = append(names, o.Name)
		f.Available = append(f.Available, fmt.Sprintf("${%s.%s} (%s)", n.ID, o.Name, o.Type))
	}
	if near, ok := c.nearest(key, names); ok {
		fixed := template.Ref{Root: ref.Root, Path: append([]template.Step{{Key: near}}, ref.Path[1:]...)}
		f.Suggest("Did you mean %s?", fixed)
	} else if len(names) > 0 {
		f.Suggest("Available outputs: %s", strings.Join(f.Available, ", "))
	}
}

// kindOf is the type of a node, without a complaint where it has none.
func (c *checker) kindOf(n *workflow.Node) (nodetype.Type, bool) {
	if kind, ok := c.report.Kinds[n.Type]; ok {
		return kind, true
	}
	kind, ok, err := c.types.Type(n.Type)
	return kind, ok && err == nil
}
