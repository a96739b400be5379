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

// The names of the engine's own values in templates: the index of an item, the number of an iteration, and a person's answer.
const (
	IndexName     = "__index__"
	IterationName = "__iteration__"
	AnswerName    = "__answer__"
)

// Inputs returns the names in a node's own inputs, in the order of the file.
func Inputs(n *workflow.Node) (names []string) {
	if !bytes.Contains(n.Params, []byte(`"inputs"`)) && !bytes.Contains(n.Params, []byte(`\u`)) { // a key may be spelled with escapes
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

// Locals returns the names that only the templates of one node may refer to: its inputs, the item of its batch, and the engine's
// values. They win over all other names.
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

// Uses returns the references in all templates of a node, and the malformed ones, with their paths in the node, such as
// params.url or batch.items. References to local names are left out, in the places where those are valid.
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
		for _, f := range LoopFields(l) {
			add("loop."+f.Name, f.Raw)
		}
		for _, name := range sortedKeys(l.Carry) {
			add(rawjson.JoinPath("loop.carry", name), l.Carry[name])
		}
	}
	uses = slices.DeleteFunc(uses, func(u template.Use) bool {
		item := n.Batch != nil && u.Ref.Root == n.Batch.As
		return slices.Contains(locals, u.Ref.Root) && (item || !ofInputs(u) || !slices.Contains(inputs, u.Ref.Root))
	})
	if n.Batch != nil { // resolved before there is an item
		add("batch.items", n.Batch.Items)
	}
	if n.Approval != nil { // resolved before the local names exist
		add("approval.question", rawjson.Quote(n.Approval.Question))
	}
	return uses, bad
}

// LoopField is a field of a loop that may be a template.
type LoopField struct {
	Name string
	Raw  json.RawMessage
}

// LoopFields returns the fields of a loop that may be templates and that the file has, except its condition and carry.
func LoopFields(l *workflow.Loop) []LoopField {
	fields := []LoopField{{"max_iterations", l.MaxIterations}, {"wait", l.Wait}, {"backoff", l.Backoff}, {"max_wait", l.MaxWait}}
	return slices.DeleteFunc(fields, func(f LoopField) bool { return f.Raw == nil })
}

// ofInputs reports whether a reference is in a value of the node's inputs, where it cannot mean these inputs.
func ofInputs(u template.Use) bool {
	return strings.HasPrefix(u.Path, "params.inputs.") || strings.HasPrefix(u.Path, "params.inputs[")
}

// within is template.Uses with a path that precedes those in raw.
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
