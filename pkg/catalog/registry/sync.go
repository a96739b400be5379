package registry

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// ServerTools are the node types of all tools of one MCP server.
type ServerTools struct {
	Server string
	Types  []nodetype.Type
}

// SyncOptions say what ReplaceServers may do.
type SyncOptions struct {
	// Foreign permits to replace and remove entries of the servers' tools that another program has written, such as upstream
	// pflow, which can share the home. Otherwise they stay byte for byte.
	Foreign bool
	// Rename permits that a tool gets another name, and that a name is given to another tool.
	Rename bool
	// Names returns the names of the node types of a server's tools, for a tool that has to give its name to another server's.
	// If it is nil, such a tool is removed.
	Names func(server string, tools []string) map[string]string
}

// Synced is what ReplaceServers did for one server.
type Synced struct {
	Change
	// Fault is set if nothing was changed, because Rename was needed or the file would be too long to be read.
	Fault *fault.Fault
}

// ReplaceServers makes the types the only tools of their servers, in one step. It returns what it did for each. If nothing
// changes, nothing is written; otherwise registry.json.bak holds the state before. A corrupt registry is moved to the file
// whose name is returned, and a new one is written.
func (r *Registry) ReplaceServers(ctx context.Context, servers []ServerTools, o SyncOptions) (done []Synced, corrupt string, err error) {
	entries := make([]map[string]toolEntry, len(servers))
	for i, s := range servers {
		if entries[i], err = toolsOf(s); err != nil {
			return nil, "", err
		}
	}
	done = make([]Synced, len(servers))
	corrupt, err = r.change(ctx, func(f *file) {
		s := &syncing{file: f, options: o, owners: make(map[string]owner, len(f.nodes))}
		for name, e := range f.nodes {
			s.owners[name] = ownerOf(e)
			s.size += sizeOf(name, e)
		}
		for i := range servers {
			if done[i].Fault = s.tooLong(servers[i].Server, entries[i]); done[i].Fault == nil {
				done[i] = s.replace(servers[i].Server, entries[i])
			}
		}
	})
	return done, corrupt, err
}

// ReplaceServer is ReplaceServers for one server. It may rename tools.
func (r *Registry) ReplaceServer(ctx context.Context, server string, types []nodetype.Type, foreign bool) (Change, error) {
	done, _, err := r.ReplaceServers(ctx, []ServerTools{{server, types}}, SyncOptions{Foreign: foreign, Rename: true})
	if err != nil {
		return Change{}, err
	}
	return done[0].Change, nil
}

// RemoveServer removes all tools of a server from the registry and returns the names of their node types, sorted.
func (r *Registry) RemoveServer(ctx context.Context, server string) ([]string, error) {
	c, err := r.ReplaceServer(ctx, server, nil, true)
	return c.Removed, err
}

// toolEntry is a tool, by its name on the server, with its entry.
type toolEntry struct {
	name  string
	entry entry
}

// toolsOf returns the tools of a server by the names of their node types.
func toolsOf(s ServerTools) (map[string]toolEntry, error) {
	tools := make(map[string]toolEntry, len(s.Types))
	for _, t := range s.Types {
		if t.MCP == nil || t.MCP.Server != s.Server {
			return nil, fault.New(fault.Internal, "The node type %q is not a tool of server %q", t.Name, s.Server)
		}
		if other, taken := tools[t.Name]; taken {
			return nil, fault.New(fault.Internal, "The tools %q and %q of server %q have the same node type %q", other.name, t.MCP.Tool, s.Server, t.Name)
		}
		text, err := text(t)
		if err != nil {
			return nil, fault.New(fault.Internal, "The node type %q cannot be written as JSON: %v", t.Name, err)
		}
		tools[t.Name] = toolEntry{t.MCP.Tool, entry(text)}
	}
	return tools, nil
}

// owner is whose entry a node type is: a tool's, or with empty fields another's.
type owner struct {
	server, tool string
	foreign      bool
}

func ownerOf(e entry) owner {
	m := gjson.Get(string(e), "interface.mcp_metadata")
	o := owner{server: m.Get("server").String(), tool: m.Get("tool").String(), foreign: e.foreign()}
	if o.server == "" || o.tool == "" {
		o.server, o.tool = "", ""
	}
	return o
}

// syncing is a change of the file to the tools of servers.
type syncing struct {
	*file
	options SyncOptions
	owners  map[string]owner
	// size is the number of bytes that all entries take.
	size int
}

// owned reports whether the entry of a name is a tool of the server that may be replaced.
func (s *syncing) owned(name, server string) bool {
	o := s.owners[name]
	return o.server == server && (s.options.Foreign || !o.foreign)
}

// kept reports whether the entry of a name must stay as another program has written it.
func (s *syncing) kept(name, server string) bool {
	o, exists := s.owners[name]
	return exists && o.foreign && !s.owned(name, server)
}

// maxSize is the most bytes of all entries. The rest of what the suite reads of a file is for the other keys.
const maxSize = input.MaxDocument - 1<<20

// sizeOf returns the bytes that an entry takes in the file, with its indentation, quotes and comma.
func sizeOf(name string, e entry) int { return len(name) + len(e) + 10 }

// tooLong returns a fault if the file would be too long to be read with the tools as those of a server.
func (s *syncing) tooLong(server string, tools map[string]toolEntry) *fault.Fault {
	size := 0
	for name, t := range tools {
		size += sizeOf(name, t.entry)
	}
	if size == 0 || s.size+size <= maxSize {
		return nil
	}
	others := s.size
	for name, e := range s.nodes {
		if s.owned(name, server) {
			others -= sizeOf(name, e)
		}
	}
	if others+size <= maxSize {
		return nil
	}
	return fault.New(fault.TooLarge, "The %d tools of server %s do not fit into %s: they take %d MB, all others take %d MB, and the limit is %d MB",
		len(tools), server, fileName, size/1e6, others/1e6, maxSize/1_000_000).
		Suggest("Nothing of the server was changed").Then(fault.ByPerson("Make room, by removing a server with its tools", "pflow-sync remove NAME"))
}

// replace makes the tools the only ones of their server, unless that needs a permission to rename.
func (s *syncing) replace(server string, tools map[string]toolEntry) (done Synced) {
	if !s.options.Rename {
		if done.Fault = s.conflict(server, tools); done.Fault != nil {
			return done
		}
	}
	c := &done.Change
	c.Renamed = s.renamed(server, tools)
	for name := range s.owners {
		if _, replaced := tools[name]; !replaced && s.owned(name, server) {
			c.Removed = append(c.Removed, name)
			s.remove(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		e := tools[name].entry
		switch old, ok := s.nodes[name]; {
		case !ok:
			c.Added = append(c.Added, name)
		case s.kept(name, server):
			c.Foreign = append(c.Foreign, name)
			continue
		case !s.owned(name, server):
			c.Overwritten = append(c.Overwritten, name)
			c.Renamed = append(c.Renamed, s.displace(name)...)
		case old == e || sameJSON(string(old), string(e)):
			continue
		case redefined(gjson.Parse(string(old)), gjson.Parse(string(e)), ""):
			c.Updated = append(c.Updated, name)
		}
		s.set(name, e, owner{server: server, tool: tools[name].name})
	}
	slices.Sort(c.Removed)
	slices.SortFunc(c.Renamed, func(a, b Renaming) int { return cmp.Compare(a.From, b.From) })
	return done
}

func (s *syncing) set(name string, e entry, o owner) {
	s.remove(name)
	s.nodes[name], s.owners[name] = e, o
	s.size += sizeOf(name, e)
}

func (s *syncing) remove(name string) {
	if old, ok := s.nodes[name]; ok {
		s.size -= sizeOf(name, old)
	}
	delete(s.nodes, name)
	delete(s.owners, name)
}

// renamed returns the tools of a server whose names will change. A name in the server's spelling remains valid.
func (s *syncing) renamed(server string, tools map[string]toolEntry) (list []Renaming) {
	names := make(map[string]string, len(tools))
	for name, t := range tools {
		names[t.name] = name
	}
	for name, o := range s.owners {
		to := names[o.tool]
		if o.server == server && !o.foreign && to != "" && to != name && !verbatim(name, o.server, o.tool) {
			list = append(list, Renaming{server, o.tool, name, to})
		}
	}
	return list
}

// displace moves the tool of another server that has the name to the name that it should have.
func (s *syncing) displace(name string) []Renaming {
	o := s.owners[name]
	if o.server == "" || s.options.Names == nil {
		return nil
	}
	var all []string
	for _, other := range s.owners {
		if other.server == o.server {
			all = append(all, other.tool)
		}
	}
	to := s.options.Names(o.server, all)[o.tool]
	if _, taken := s.owners[to]; to == "" || taken {
		return nil
	}
	s.set(to, s.nodes[name], o)
	return []Renaming{{o.server, o.tool, name, to}}
}

// conflict returns a fault if a tool would lose its name, or if a name would stand for another tool.
func (s *syncing) conflict(server string, tools map[string]toolEntry) *fault.Fault {
	list := s.renamed(server, tools)
	slices.SortFunc(list, func(a, b Renaming) int { return cmp.Compare(a.From, b.From) })
	message := ""
	if len(list) > 0 {
		message = fmt.Sprintf("The node type of tool %q of server %s is %s, and would become %s", list[0].Tool, server, list[0].From, list[0].To)
	}
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		o, exists := s.owners[name]
		if !exists || o.server == "" || s.kept(name, server) || o.server == server && o.tool == tools[name].name {
			continue
		}
		if message == "" {
			message = fmt.Sprintf("The node type %s stands for tool %q of server %s, and would stand for tool %q of server %s", name, o.tool, o.server, tools[name].name, server)
		}
		list = append(list, Renaming{server, tools[name].name, "", name})
	}
	if message == "" {
		return nil
	}
	return fault.New(fault.Validation, "%s", message).Detail("renames", list).
		Suggest("Nothing of the server was changed").Suggest("Workflows that use the old names must be changed then").
		Then(fault.ByPerson(fmt.Sprintf("Register its tools under the new names, %d in details.renames", len(list)), "pflow-sync sync %s --rename", server))
}

// verbatim reports whether a name is the tool's in the spelling of the server, by which the tool is found under any name.
func verbatim(name, server, tool string) bool {
	return name == rawName(server, tool) && name != nodetype.MCPName(server, tool)
}
