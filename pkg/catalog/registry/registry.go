// Package registry knows the node types: the built-in ones and those that registry.json adds, such as the tools of MCP
// servers.
//
// # The index
//
// A registry.json of 256 KiB and more has an index beside it, registry.index: the words by which a search finds the entries,
// and where each entry stands. It is stored by the first reader that comes two seconds after the last change. Until then
// each reader reads the whole file, as it does when the index is missing, damaged or of another state of the file. The
// writer of the file does nothing for it.
//
// The index is there because of these figures: milliseconds of processor time of a process on one machine, with 10,000
// types in 31 MB. The limits of scripts/bench are 30 ms for a search and 20 ms for a check of a workflow.
//
//	                                                       search  check
//	with the index                                             15      9
//	without it: parse with gjson, count the words             290    200
//	encoding/json, entries as raw messages                  > 300  > 165
//	encoding/json, entries decoded                          > 450  > 350
//	read the file, look for three names with gjson              –   > 25
//	store the texts of the entries, count their words        > 70      –
//
// Reading the file takes 16 ms by itself, so whatever reads all of it misses the limit of a check. Counting words takes
// longer than a search may, so the words must be stored, and with them a proof of the state of the file that they are of.
// To store the places of the entries with them takes 30 lines more.
package registry

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// Registry finds node types. It leaves out those that settings.json denies. It is safe for concurrent use.
type Registry struct {
	home *home.Home
	// leastIndexed is the least size in bytes of a registry that has an index.
	leastIndexed int64
	now          func() time.Time

	mu       sync.Mutex
	settings *settings.Settings
	last     *snapshot
}

// Open returns the registry of a home. It reads nothing yet.
func Open(h *home.Home) *Registry {
	return &Registry{home: h, leastIndexed: leastIndexed, now: time.Now}
}

// Type returns the node type that a name stands for, and whether there is one. It looks for a built-in type, then for an entry
// of that name, then for a registered MCP tool in another spelling: mcp-SERVER-TOOL with the tool's name as the server spells
// it (upstream pflow's form) or as nodetype.MCPName does. The type's Name is then that of the entry. Built-in types are found
// without reading registry.json.
//
// Any other name that begins with mcp-SERVER-, for a configured server, stands for an unregistered tool of it: see assumed.
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

// Known is like Type, but returns types that the settings deny, too.
func (r *Registry) Known(name string) (t nodetype.Type, ok bool, err error) {
	t, ok = nodetype.Builtin(name)
	if !ok {
		err = r.read(func(s *snapshot) error {
			entry, found := s.find(name)
			if !found {
				t, ok = r.assumed(s, name)
				return nil
			}
			ok = true
			t, err = s.typeOf(entry)
			return err
		})
	}
	return t, ok && err == nil, err
}

// Types returns all node types, sorted by name.
func (r *Registry) Types() ([]nodetype.Type, error) {
	return r.list(true, "")
}

// MCPTools returns the node types of one MCP server's tools, sorted by name.
func (r *Registry) MCPTools(server string) ([]nodetype.Type, error) {
	return r.list(false, server)
}

// Names returns the names of all node types, sorted. It does not decode the entries.
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
		for i := range s.len() {
			if s.allowed(i, allowed) {
				names = append(names, string(s.name(i)))
			}
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// list returns the allowed types of the entries, or only those of a server, and with builtin the built-in types too.
func (r *Registry) list(builtin bool, server string) ([]nodetype.Type, error) {
	allowed, err := r.rules()
	if err != nil {
		return nil, err
	}
	var types []nodetype.Type
	err = r.read(func(s *snapshot) error {
		types = []nodetype.Type{}
		for i := range s.len() {
			if !s.of(i, server) || !s.allowed(i, allowed) {
				continue
			}
			t, err := s.typeOf(s.at(i))
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

// usable reports whether an entry is a type of this suite that no built-in type hides.
func usable(e record) bool {
	_, builtin := nodetype.Builtin(e.name)
	return e.ours && !builtin
}

// allowed reports whether an entry is a type of this suite that no built-in type hides, and that the settings allow. Usually they have
// no patterns, and its other names are not needed.
func (e entries) allowed(i int, s *settings.Settings) bool {
	if !e.usable(i) {
		return false
	}
	if s.Allow == nil && len(s.Deny) == 0 {
		return true
	}
	r := e.at(i)
	return s.Allowed(r.name, r.aliases()...)
}

// Runners lists the names of the runners that nodes can run on, sorted.
func (r *Registry) Runners() ([]string, error) {
	s, err := r.rules()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(settings.WithLocal(s.Runners))), nil
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

// upstreamsOwn reports whether an entry is one of upstream pflow's own nodes, which its registry lists too. A tool of an MCP
// server is not.
func upstreamsOwn(name, module string) bool {
	tool := module == nodetype.MCPModule && strings.HasPrefix(name, "mcp-")
	return strings.HasPrefix(module, "pflow.nodes.") && !tool
}

// rawName returns the node type of a server's tool as upstream pflow writes it.
func rawName(server, tool string) string { return "mcp-" + server + "-" + tool }
