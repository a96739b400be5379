// Package registry is which node types there are: the built-in ones and those that registry.json adds, such as the
// tools of MCP servers.
package registry

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/settings"
)

// Registry answers which node types there are. Types that settings.json denies are none. It is safe for concurrent use.
type Registry struct {
	home *home.Home

	mu       sync.Mutex
	settings *settings.Settings
	file     *file
}

// Open gives the registry of a home. Nothing is read before it is asked for, and then only once.
func Open(h *home.Home) *Registry { return &Registry{home: h} }

// Type finds a node type: a built-in one, else an entry of that name, else the MCP tool that the name stands for in
// another spelling: mcp-SERVER-TOOL with the tool's name as the server has it (upstream pflow's form) or as
// nodetype.MCPName has it. The type's Name is then the entry's. Built-in types are found without reading registry.json.
func (r *Registry) Type(name string) (nodetype.Type, bool, error) {
	allowed, err := r.rules()
	if err != nil {
		return nodetype.Type{}, false, err
	}
	t, ok := nodetype.Builtin(name)
	if !ok {
		f, err := r.read()
		if err != nil {
			return t, false, err
		}
		key, found := f.find(name)
		if !found {
			return t, false, nil
		}
		if t, err = f.typeOf(key); err != nil {
			return t, false, err
		}
	}
	if !allowed.Allowed(t.Name, spellings(t)...) {
		return nodetype.Type{}, false, nil
	}
	return t, true, nil
}

// Types lists all node types, sorted by name.
func (r *Registry) Types() ([]nodetype.Type, error) {
	allowed, err := r.rules()
	if err != nil {
		return nil, err
	}
	f, err := r.read()
	if err != nil {
		return nil, err
	}
	types := make([]nodetype.Type, 0, len(f.nodes))
	for _, name := range nodetype.BuiltinNames() {
		t, _ := nodetype.Builtin(name)
		types = append(types, t)
	}
	for name, e := range f.nodes {
		if _, builtin := nodetype.Builtin(name); builtin || !e.ours() {
			continue
		}
		t, err := f.typeOf(name)
		if err != nil {
			return nil, err
		}
		types = append(types, t)
	}
	types = slices.DeleteFunc(types, func(t nodetype.Type) bool { return !allowed.Allowed(t.Name, spellings(t)...) })
	slices.SortFunc(types, func(a, b nodetype.Type) int { return cmp.Compare(a.Name, b.Name) })
	return types, nil
}

// MCPTools lists the node types of one MCP server's tools, sorted by name.
func (r *Registry) MCPTools(server string) ([]nodetype.Type, error) {
	types, err := r.Types()
	return slices.DeleteFunc(types, func(t nodetype.Type) bool { return t.MCP == nil || t.MCP.Server != server }), err
}

func (r *Registry) rules() (*settings.Settings, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.settings == nil {
		s, err := settings.Load(r.home)
		if err != nil {
			return nil, err
		}
		r.settings = s
	}
	return r.settings, nil
}

func (r *Registry) read() (*file, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		f, err := readFile(r.home)
		if err != nil {
			return nil, err
		}
		r.file = f
	}
	return r.file, nil
}

// find gives the key of the entry that a name stands for.
func (f *file) find(name string) (string, bool) {
	if e, ok := f.nodes[name]; ok && e.ours() {
		return name, true
	}
	if !strings.HasPrefix(name, "mcp-") {
		return "", false
	}
	for _, key := range slices.Sorted(maps.Keys(f.nodes)) {
		if server, tool, ok := f.nodes[key].tool(); ok && (name == rawName(server, tool) || name == nodetype.MCPName(server, tool)) {
			return key, true
		}
	}
	return "", false
}

// typeOf decodes an entry.
func (f *file) typeOf(key string) (nodetype.Type, error) {
	var t nodetype.Type
	if err := t.UnmarshalJSON([]byte(f.nodes[key])); err != nil {
		broken := fault.New(fault.Validation, "The entry of node type %q in %s is broken: %v", key, fileName, err)
		broken.File = fileName
		return t, broken.Suggest("Sync its server again with pflow-sync sync, or take the entry out of %s", fileName)
	}
	t.Name = key
	return t, nil
}

// ours says whether an entry is a node type of this suite. Upstream's registry also lists upstream's own nodes.
func (e entry) ours() bool {
	if _, _, ok := e.tool(); ok {
		return true
	}
	return !strings.HasPrefix(gjson.Get(string(e), "module").String(), "pflow.nodes.")
}

// tool names the server and the tool behind an MCP entry.
func (e entry) tool() (server, tool string, ok bool) {
	m := gjson.Get(string(e), "interface.mcp_metadata")
	server, tool = m.Get("server").String(), m.Get("tool").String()
	return server, tool, server != "" && tool != ""
}

// rawName is the node type of a server's tool as upstream pflow writes it.
func rawName(server, tool string) string { return "mcp-" + server + "-" + tool }

// spellings are the other names of a type.
func spellings(t nodetype.Type) []string {
	if t.MCP == nil {
		return nil
	}
	return []string{rawName(t.MCP.Server, t.MCP.Tool), nodetype.MCPName(t.MCP.Server, t.MCP.Tool)}
}
