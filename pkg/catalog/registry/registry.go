// Package registry is which node types there are: the built-in ones and those that registry.json adds, such as the
// tools of MCP servers.
package registry

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// Registry answers which node types there are. Types that settings.json denies are none. It is safe for concurrent use.
//
// A large registry.json has an index beside it, registry.index, by which one type is found without reading the others. It
// is made when the registry is written, and when it is asked for something and the index is missing, damaged or of
// another state of the file; where it cannot be written nothing is said.
type Registry struct {
	home *home.Home
	// leastIndexed is the size of a registry that has an index.
	leastIndexed int64
	now          func() time.Time

	mu       sync.Mutex
	settings *settings.Settings
	last     *snapshot
	// distrust says that the stored index is damaged, whatever its head says.
	distrust bool
}

// Open gives the registry of a home. Nothing is read before it is asked for.
func Open(h *home.Home) *Registry {
	return &Registry{home: h, leastIndexed: leastIndexed, now: time.Now}
}

// Type finds a node type: a built-in one, else an entry of that name, else the MCP tool that the name stands for in
// another spelling: mcp-SERVER-TOOL with the tool's name as the server has it (upstream pflow's form) or as
// nodetype.MCPName has it. The type's Name is then the entry's. Built-in types are found without reading registry.json.
//
// A name that none of these is but begins with mcp-SERVER-, for a configured server, stands for the tool whose name is
// the rest of it: see assumed.
func (r *Registry) Type(name string) (nodetype.Type, bool, error) {
	allowed, err := r.rules()
	if err != nil {
		return nodetype.Type{}, false, err
	}
	t, ok, err := r.Known(name)
	if err != nil || !ok || !Judge(allowed, t).Allowed {
		return nodetype.Type{}, false, err
	}
	return t, true, nil
}

// Known is Type without regard to what the settings deny.
func (r *Registry) Known(name string) (t nodetype.Type, ok bool, err error) {
	t, ok = nodetype.Builtin(name)
	if !ok {
		err = r.read(func(s *snapshot) error {
			i, found := s.find(name)
			if !found {
				t, ok = r.assumed(s, name)
				return nil
			}
			ok = true
			t, err = s.typeOf(i)
			return err
		})
	}
	return t, ok && err == nil, err
}

// Types lists all node types, sorted by name.
func (r *Registry) Types() ([]nodetype.Type, error) {
	return r.list(true, func(record) bool { return true })
}

// MCPTools lists the node types of one MCP server's tools, sorted by name.
func (r *Registry) MCPTools(server string) ([]nodetype.Type, error) {
	return r.list(false, func(e record) bool { return e.server == server })
}

// Names lists the names of all node types, sorted, without reading what they say of themselves.
func (r *Registry) Names() ([]string, error) {
	allowed, err := r.rules()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range nodetype.BuiltinNames() {
		if allowed.Allowed(name) {
			names = append(names, name)
		}
	}
	builtin := len(names)
	err = r.read(func(s *snapshot) error {
		names = names[:builtin]
		for i := range s.count {
			if e := s.at(i); usable(e) && permits(allowed, e) {
				names = append(names, strings.Clone(e.name))
			}
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// list gives the allowed types: the entries that are wanted, and the built-in ones before them.
func (r *Registry) list(builtin bool, wanted func(record) bool) ([]nodetype.Type, error) {
	allowed, err := r.rules()
	if err != nil {
		return nil, err
	}
	var types []nodetype.Type
	err = r.read(func(s *snapshot) error {
		types = make([]nodetype.Type, 0, s.count)
		for i := range s.count {
			e := s.at(i)
			if !usable(e) || !wanted(e) || !permits(allowed, e) {
				continue
			}
			if len(types) == manyEntries {
				if err := s.whole(); err != nil {
					return err
				}
			}
			t, err := s.typeOf(i)
			if err != nil {
				return err
			}
			types = append(types, t)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if builtin {
		for _, name := range nodetype.BuiltinNames() {
			if t, _ := nodetype.Builtin(name); allowed.Allowed(name) {
				types = append(types, t)
			}
		}
		slices.SortFunc(types, func(a, b nodetype.Type) int { return cmp.Compare(a.Name, b.Name) })
	}
	return types, nil
}

// manyEntries is how many entries are read one by one before the file is read whole.
const manyEntries = 100

// usable says whether an entry is a type that can be used: the suite's own, which no built-in one hides.
func usable(e record) bool {
	_, builtin := nodetype.Builtin(e.name)
	return e.ours && !builtin
}

// permits says whether the settings allow an entry. Mostly they have no patterns, and its other names are not needed.
func permits(s *settings.Settings, e record) bool {
	return s.Allow == nil && len(s.Deny) == 0 || s.Allowed(e.name, e.aliases()...)
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

// upstreamsOwn says whether a module is one of upstream pflow's own nodes, which its registry lists too.
func upstreamsOwn(module string) bool { return strings.HasPrefix(module, "pflow.nodes.") }

// tool names the server and the tool behind an MCP entry.
func (e entry) tool() (server, tool string, ok bool) {
	m := gjson.Get(string(e), "interface.mcp_metadata")
	server, tool = m.Get("server").String(), m.Get("tool").String()
	return server, tool, server != "" && tool != ""
}

// rawName is the node type of a server's tool as upstream pflow writes it.
func rawName(server, tool string) string { return "mcp-" + server + "-" + tool }
