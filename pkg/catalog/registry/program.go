package registry

import (
	"context"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// ReplacePrograms makes types the only node types that programs run, in one step, except that it leaves the types named in
// keep as they are. It returns in kept which of these exist. If nothing changes, nothing is written; otherwise
// registry.json.bak holds the state before.
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

// program reports whether a program runs the nodes of an entry.
func (e entry) program() bool {
	return strings.HasPrefix(gjson.Get(string(e), "module").String(), nodetype.ProgramModule)
}
