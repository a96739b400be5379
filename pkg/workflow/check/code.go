package check

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/shell"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// code checks the program of a code node by its text alone. It reports an error if the program can never run, and a warning
// if it surely does something else than intended.
func (c *checker) code(n *workflow.Node, params map[string]json.RawMessage, at string) {
	text, language := "", "python"
	if json.Unmarshal(params["code"], &text) != nil {
		return
	}
	if raw, ok := params["language"]; ok && (json.Unmarshal(raw, &language) != nil || template.MayHoldTemplate(raw)) {
		return
	}
	inputs := plan.Inputs(n)
	for _, name := range inputs {
		if why, next := nodetype.CodeName(language, name); why != "" {
			c.fail(rawjson.JoinPath(at+".params.inputs", name), "Node %q: input %q %s", n.ID, name, why).Suggest("%s", next).Node = n.ID
		}
	}
	if language == "python" {
		c.declared(n, text, inputs, at+".params.code")
	}
	if language == "bash" {
		c.bashCode(n, text, params, at+".params.code")
	}
	c.noTemplates(n, language, text, params, at+".params.code")
	c.next(n, at+".params.code")
}

// bashCode warns where bash takes the value of an input for code.
func (c *checker) bashCode(n *workflow.Node, text string, params map[string]json.RawMessage, path string) {
	var inputs map[string]json.RawMessage
	if json.Unmarshal(params["inputs"], &inputs) != nil {
		return
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(inputs)), func(name string) bool {
		var value string
		_ = json.Unmarshal(inputs[name], &value)
		e, whole := template.Whole(value)
		return !template.MayHoldTemplate(inputs[name]) || whole && c.isNumber(e, plan.Locals(n))
	})
	_, problems := shell.ParseCode(text, names)
	for _, p := range problems {
		f := c.warn(path, "Node %q: %s", n.ID, p.Message).Suggest("%s", p.Suggest)
		f.Node = n.ID
		if p.Offset >= 0 {
			f.File, f.Line, f.Column = c.file.PlaceIn(path, p.Offset)
		}
	}
}

// declared checks that Python code declares its inputs and its result.
func (c *checker) declared(n *workflow.Node, text string, inputs []string, path string) {
	var bare []string
	for _, name := range inputs {
		if why, _ := nodetype.CodeName("python", name); why == "" && !annotated(text, name) {
			bare = append(bare, name)
		}
	}
	if len(bare) > 0 {
		c.fail(path, "Node %q: Input(s) missing type annotation in code: %s", n.ID, strings.Join(bare, ", ")).
			Suggest("Declare them in the code: %s: list", strings.Join(bare, ": list, ")).Node = n.ID
	}
	if !annotated(text, "result") {
		c.fail(path, "Node %q: Code must declare result type annotation: result: <type> = ...", n.ID).
			Suggest("Annotate result where it is assigned: result: list = …").Node = n.ID
	}
}

// annotated reports whether Python code may declare a name with a type: a colon follows the name. It may be true for a name
// without a type, but is never false for one with a type.
func annotated(text, name string) bool {
	for at := range words(text, name) {
		rest := strings.TrimLeft(text[at+len(name):], " \t\f\r\n\\)")
		if strings.HasPrefix(rest, "#") || strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, ":=") {
			return true
		}
	}
	return false
}

// words yields the offsets at which a text contains a name as a whole word.
func words(text, name string) func(yield func(int) bool) {
	part := func(b byte) bool {
		return b == '_' || b >= 0x80 || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
	}
	return func(yield func(int) bool) {
		for from := 0; ; {
			k := strings.Index(text[from:], name)
			if k < 0 {
				return
			}
			at := from + k
			from = at + len(name)
			if (at == 0 || !part(text[at-1])) && (from == len(text) || !part(text[from])) && !yield(at) {
				return
			}
		}
	}
}

// noTemplates warns of ${…} in code that looks like a template. Templates are not resolved in code.
func (c *checker) noTemplates(n *workflow.Node, language, text string, params map[string]json.RawMessage, path string) {
	if !strings.Contains(text, "${") {
		return
	}
	parts := template.Parse(text)
	var around strings.Builder // the code without templates
	for _, p := range parts {
		if p.Expr == nil {
			around.WriteString(p.Source)
		}
	}
	var env map[string]json.RawMessage
	_ = json.Unmarshal(params["env"], &env) // params checks its type
	inputs, offset := plan.Inputs(n), 0
	for _, p := range parts {
		if p.Expr != nil {
			p.Expr.Refs(func(ref template.Ref, _ bool) {
				if env[ref.Root] == nil && c.meant(language, around.String(), inputs, ref) {
					c.located(c.warn(path, "Node %q: ${%s} in the code is not resolved: templates do not work in code", n.ID, ref.Expression()),
						place{path: path, node: n, inText: true, offset: offset}).Suggest("%s", asInput(language, inputs, ref))
				}
			})
		}
		offset += len(p.Source)
	}
}

// meant reports whether a reference in code is surely meant as a template: it names an input of the workflow or a node, and
// the rest of the code does not mention that name.
func (c *checker) meant(language, around string, inputs []string, ref template.Ref) bool {
	mentioned := func(name string) bool {
		for range words(around, name) {
			return true
		}
		return false
	}
	if slices.Contains(inputs, ref.Root) { // as in f"${price}"
		formatted := slices.ContainsFunc([]string{`f"`, `f'`, `F"`, `F'`, `fr"`, `fr'`, "Template", "string."}, func(s string) bool { return strings.Contains(around, s) })
		return language == "python" && !formatted
	}
	first, _, _ := strings.Cut(ref.Root, "-") // a hyphen ends a name in code
	return c.known(ref.Root) && !mentioned(first)
}

// asInput suggests how to pass the value to the code.
func asInput(language string, inputs []string, ref template.Ref) string {
	if slices.Contains(inputs, ref.Root) && len(ref.Path) == 0 {
		return "Write " + ref.Root + " alone: the variable holds the value"
	}
	name := ref.Root
	if len(ref.Path) > 0 && ref.Path[len(ref.Path)-1].Key != "" {
		name = ref.Path[len(ref.Path)-1].Key
	}
	if why, _ := nodetype.CodeName(language, name); why != "" {
		name = "value"
	}
	return `Pass it as an input: "inputs": {"` + name + `": "` + ref.String() + `"}, and use ` + name + " in the code"
}
