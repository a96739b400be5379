package check

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/shell"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// command checks the templates of a shell command in their places in it.
func (c *checker) command(n *workflow.Node, params map[string]json.RawMessage, at string) {
	path := at + ".params.command"
	var text string
	if json.Unmarshal(params["command"], &text) != nil {
		if kind := rawjson.Kind(params["command"]); kind == "a list" || kind == "an object" {
			c.fail(path, "Node %q: the command must be text, not %s", n.ID, kind).Suggest(`Write one line as a shell takes it, such as "command": "echo hi"`).Node = n.ID
		}
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
	number := func(e template.Expr) bool { return c.isNumber(e, locals) }
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
				fixed := template.Ref{Root: near}
				if p.Expr != nil {
					if ref, ok := p.Expr.Ref(); ok {
						fixed.Path = ref.Path
					}
				}
				f.Suggest("Did you mean %s?", fixed)
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

// isNumber reports whether the value of a template can only be a number, true or false.
func (c *checker) isNumber(e template.Expr, locals []string) bool {
	ref, ok := e.Ref()
	if ok && slices.Contains(locals, ref.Root) {
		return len(ref.Path) == 0 && (ref.Root == plan.IndexName || ref.Root == plan.IterationName)
	}
	return ok && slices.Contains([]string{"int", "float", "bool"}, c.typeOf(ref))
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
