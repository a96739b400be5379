package plan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// The names that the engine gives to values of its own: an item's number, an iteration's, and a person's answer.
const (
	IndexName     = "__index__"
	IterationName = "__iteration__"
	AnswerName    = "__answer__"
)

// Inputs lists the names that a node's own inputs give to values, in the order of the file.
func Inputs(n *workflow.Node) (names []string) {
	if !bytes.Contains(n.Params, []byte(`"inputs"`)) {
		return nil
	}
	inputs := gjson.GetBytes(n.Params, "inputs")
	if inputs.IsObject() {
		inputs.ForEach(func(name, _ gjson.Result) bool {
			names = append(names, name.Str)
			return true
		})
	}
	return names
}

// Locals lists the names that templates of one node alone can begin with: its inputs, the item of its batch, and what
// the engine counts. They win over all other names.
func Locals(n *workflow.Node) []string {
	names := Inputs(n)
	if n.Batch != nil {
		names = append(names, n.Batch.As, IndexName)
	}
	if n.Loop != nil {
		names = append(names, IterationName)
	}
	if n.Approval != nil {
		names = append(names, AnswerName)
	}
	return names
}

// Uses lists the references in all templates of a node, and what begins like one and is none, with their paths from the
// node, such as params.url or batch.items. Local names are left out where they hold.
func Uses(n *workflow.Node) (uses, bad []template.Use) {
	uses, bad = within("params", n.Params)
	if literal := workflow.Literal(n); literal != "" {
		foreign := func(u template.Use) bool {
			rest, ok := strings.CutPrefix(u.Path, "params."+literal)
			return ok && (rest == "" || rest[0] == '.')
		}
		uses, bad = slices.DeleteFunc(uses, foreign), slices.DeleteFunc(bad, foreign)
	}
	if n.Batch == nil && n.Loop == nil && n.Approval == nil {
		if inputs := Inputs(n); len(inputs) > 0 {
			uses = slices.DeleteFunc(uses, func(u template.Use) bool { return slices.Contains(inputs, u.Ref.Root) && !ofInputs(u) })
		}
		return uses, bad
	}
	add := func(path string, raw json.RawMessage) {
		u, b := within(path, raw)
		uses, bad = append(uses, u...), append(bad, b...)
	}
	locals, inputs := Locals(n), Inputs(n)
	if l := n.Loop; l != nil {
		add("loop.while", rawjson.Quote(l.While))
		add("loop.until", rawjson.Quote(l.Until))
		for _, name := range sortedKeys(l.Carry) {
			add(rawjson.JoinPath("loop.carry", name), l.Carry[name])
		}
	}
	uses = slices.DeleteFunc(uses, func(u template.Use) bool {
		item := n.Batch != nil && u.Ref.Root == n.Batch.As
		return slices.Contains(locals, u.Ref.Root) && (item || !ofInputs(u) || !slices.Contains(inputs, u.Ref.Root))
	})
	if n.Batch != nil { // read before there is an item
		add("batch.items", n.Batch.Items)
	}
	if n.Approval != nil { // asked before anything is known
		add("approval.question", rawjson.Quote(n.Approval.Question))
	}
	return uses, bad
}

// ofInputs says whether a reference stands in a value of the node's inputs: it does not mean the inputs themselves.
func ofInputs(u template.Use) bool {
	return strings.HasPrefix(u.Path, "params.inputs.") || strings.HasPrefix(u.Path, "params.inputs[")
}

func within(path string, raw json.RawMessage) (uses, bad []template.Use) {
	uses, bad = template.Uses(raw)
	for _, list := range [][]template.Use{uses, bad} {
		for i, u := range list {
			switch {
			case u.Path == "":
				list[i].Path = path
			case u.Path[0] == '[':
				list[i].Path = path + u.Path
			default:
				list[i].Path = path + "." + u.Path
			}
		}
	}
	return uses, bad
}

func sortedKeys(m map[string]json.RawMessage) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
