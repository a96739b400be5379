package template_test

import (
	"encoding/json"
	"fmt"

	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

func ExampleResolve() {
	outputs := map[string]json.RawMessage{"list": json.RawMessage(`{"files": ["a.txt", "b.txt"], "total": 1.50}`)}
	scope := func(ref template.Ref) (json.RawMessage, template.Availability) {
		value, ok := outputs[ref.Root]
		if !ok {
			return nil, template.Absent
		}
		return value, template.Present
	}
	params := json.RawMessage(`{"first": "${list.files[0]}", "total": "${list.total}", "text": "${list.total} for ${list.files}", "none": "${list.date ?? \"today\"}"}`)
	resolved, unresolved := template.Resolve(params, scope)
	fmt.Printf("%s\n%d unresolved\n", resolved, len(unresolved))
	// Output:
	// {"first": "a.txt", "total": 1.50, "text": "1.50 for [\"a.txt\",\"b.txt\"]", "none": "today"}
	// 0 unresolved
}
