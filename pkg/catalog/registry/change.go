package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// Change lists what a sync changed in the registry: the names of node types, each list sorted.
type Change struct {
	Added   []string
	Updated []string
	Removed []string
	// Overwritten are the names that belonged to another owner before.
	Overwritten []string
	// Foreign are the names of tools whose entries another program has written. They were left as they are.
	Foreign []string
}

// ReplaceServer makes types the only tools of a server, in one step. If nothing changes, nothing is written; otherwise
// registry.json.bak holds the state before. If the names of two tools make the same node type name, one tool gets that name
// and the other is registered as mcp-SERVER-TOOL, with TOOL as the server spells it. Entries that another program has written, such as
// upstream pflow, which can share the home, stay byte for byte unless foreign is set.
func (r *Registry) ReplaceServer(ctx context.Context, server string, types []nodetype.Type, foreign bool) (Change, error) {
	entries, err := entriesOf(server, types)
	if err != nil {
		return Change{}, err
	}
	c, _, err := r.replace(ctx, entries, func(e entry) bool { return e.isOf(server) && (foreign || !e.foreign()) }, nil)
	return c, err
}

// foreign reports whether an entry has a key that no program of this suite writes.
func (e entry) foreign() (foreign bool) {
	gjson.Parse(string(e)).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "class_name", "module", "file_path":
		case "interface":
			foreign = value.Get("inputs").Exists()
		default:
			foreign = true
		}
		return !foreign
	})
	return foreign
}

// replace makes entries the only ones of an owner, except that it leaves the entries named in keep as they are. It returns in
// kept which of these exist. All lists are sorted.
func (r *Registry) replace(ctx context.Context, entries map[string]entry, owned func(entry) bool, keep []string) (c Change, kept []string, err error) {
	err = r.change(ctx, func(f *file) {
		for name, e := range f.nodes {
			switch _, replaced := entries[name]; {
			case replaced || !owned(e):
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
			case !owned(old) && old.foreign():
				c.Foreign = append(c.Foreign, name)
				continue
			case !owned(old):
				c.Overwritten = append(c.Overwritten, name)
			case !sameJSON(string(old), string(e)):
				c.Updated = append(c.Updated, name)
			default:
				continue
			}
			f.nodes[name] = e
		}
	})
	for _, names := range [][]string{c.Added, c.Updated, c.Removed, c.Overwritten, c.Foreign, kept} {
		slices.Sort(names)
	}
	return c, kept, err
}

// RemoveServer removes all tools of a server from the registry and returns the names of their node types, sorted.
func (r *Registry) RemoveServer(ctx context.Context, server string) ([]string, error) {
	c, err := r.ReplaceServer(ctx, server, nil, true)
	return c.Removed, err
}

// change reads the file under the lock, lets edit change its entries, and writes the file if they differ.
func (r *Registry) change(ctx context.Context, edit func(*file)) error {
	return r.home.Lock(ctx, "registry", func() error {
		source, err := r.home.Read(fileName)
		if err != nil {
			return err
		}
		f, err := parseFile(source)
		if err != nil {
			return err
		}
		before := maps.Clone(f.nodes)
		edit(f)
		if source != nil && maps.Equal(before, f.nodes) || len(before) == 0 && len(f.nodes) == 0 {
			return nil
		}
		if source != nil {
			if err := r.home.Write(source, 0o600, fileName+".bak"); err != nil {
				return err
			}
		}
		if err := r.home.Write(f.text(), 0o600, fileName); err != nil {
			return err
		}
		r.forget()
		return nil
	})
}

// entriesOf returns the entries of the types, by their names in the registry.
func entriesOf(server string, types []nodetype.Type) (map[string]entry, error) {
	entries := make(map[string]entry, len(types))
	ordered := slices.Clone(types) // a tool that is spelled like the type's name comes first, so that it gets the name
	slices.SortStableFunc(ordered, func(a, b nodetype.Type) int { return rank(a) - rank(b) })
	for _, t := range ordered {
		if t.MCP == nil || t.MCP.Server != server {
			return nil, fault.New(fault.Internal, "The node type %q is not a tool of server %q", t.Name, server)
		}
		name := t.Name
		if _, taken := entries[name]; taken {
			name = rawName(server, t.MCP.Tool)
		}
		text, err := text(t)
		if err != nil {
			return nil, fault.New(fault.Internal, "The node type %q cannot be written as JSON: %v", t.Name, err)
		}
		entries[name] = entry(text)
	}
	return entries, nil
}

func rank(t nodetype.Type) int {
	if t.MCP != nil && t.Name == rawName(t.MCP.Server, t.MCP.Tool) {
		return 0
	}
	return 1
}

// text returns the entry of a type, indented for its place in the file.
func text(t nodetype.Type) (string, error) {
	b, err := t.MarshalJSON()
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = json.Indent(&out, b, "    ", "  ")
	return out.String(), err
}

// isOf reports whether an entry is a tool of a server. Most entries do not contain the server's name, so their JSON need not
// be parsed.
func (e entry) isOf(server string) bool {
	return (strings.Contains(string(e), server) || strings.Contains(string(e), `\u`)) && e.server() == server
}

func (e entry) server() string {
	server, _, _ := e.tool()
	return server
}

// sameJSON reports whether two JSON texts are equal except for the space between their tokens.
func sameJSON(a, b string) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, []byte(a)) == nil && json.Compact(&y, []byte(b)) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
