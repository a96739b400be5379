package report

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// param is a parameter as the workflow has it, and with its templates resolved if their values are known.
type param struct {
	field
	Resolved *value
}

// params returns the parameters of a node.
func (r *writer) params(n *history.Node, def *workflow.Node, space *budget) (params []param) {
	scope, literal := r.recorded.Scope(n, def), workflow.Literal(def)
	gjson.ParseBytes(def.Params).ForEach(func(k, v gjson.Result) bool {
		raw := json.RawMessage(v.Raw)
		p := param{field: field{Name: oneLine(k.Str), value: r.value(event.Escape(raw), space)}}
		if k.Str == literal {
			params = append(params, p) // a template in it belongs to another workflow
			return true
		}
		if !n.Began.IsZero() || n.State == history.Reused {
			if resolved, ok := scope.Resolve(raw); ok {
				v := r.value(event.Escape(resolved), space)
				p.Resolved = &v
			}
		}
		params = append(params, p)
		return len(params) < maxFields
	})
	return params
}
