package registry

import (
	"context"
	"slices"
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
	err = r.change(ctx, func(f *file) {
		for name, e := range f.nodes {
			switch _, replaced := entries[name]; {
			case !e.program() || replaced:
			case slices.Contains(keep, name):
				kept = append(kept, name)
			default:
				c.Removed = append(c.Removed, name)
				delete(f.nodes, name)
			}
		}
		for name, e := range entries {
			switch old, ok := f.nodes[name]; {
			case !ok:
				c.Added = append(c.Added, name)
			case !old.program():
				c.Overwritten = append(c.Overwritten, name)
			case !sameJSON(string(old), string(e)):
				c.Updated = append(c.Updated, name)
			default:
				continue
			}
			f.nodes[name] = e
		}
	})
	for _, names := range [][]string{c.Added, c.Updated, c.Removed, c.Overwritten, kept} {
		slices.Sort(names)
	}
	return c, kept, err
}

// program says whether a program runs the nodes of an entry.
func (e entry) program() bool {
	return strings.HasPrefix(gjson.Get(string(e), "module").String(), nodetype.ProgramModule)
}
