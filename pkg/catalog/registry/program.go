package registry

import (
	"context"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// ReplacePrograms makes types the only node types that programs run, in one step, except that those named in keep stay
// as they are; kept are those of them that there were. Where nothing changes nothing is written; else registry.json.bak
// holds the state before.
func (r *Registry) ReplacePrograms(ctx context.Context, types []nodetype.Type, keep []string) (c Change, kept []string, err error) {
	entries := make(map[string]entry, len(types))
	for _, t := range types {
		text, err := text(t)
		if err != nil {
			return c, nil, fault.New(fault.Internal, "The node type %q cannot be written as JSON: %v", t.Name, err)
		}
		entries[t.Name] = entry(text)
	}
	return r.replace(ctx, entries, entry.program, keep)
}

// program says whether a program runs the nodes of an entry.
func (e entry) program() bool {
	return strings.HasPrefix(gjson.Get(string(e), "module").String(), nodetype.ProgramModule)
}
