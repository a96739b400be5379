package registry

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// serversFile is the configuration of the MCP servers in the home. pkg/mcp/mcpclient owns it; this package reads only the
// servers' names.
const serversFile = "mcp-servers.json"

// assumed returns the type of a tool that is not registered, without parameters and outputs: in mcp-SERVER-TOOL, SERVER is the
// longest configured server that fits, and TOOL the rest of the name. It returns false if TOOL looks like a typing error for
// a registered tool of the server.
func (r *Registry) assumed(s *snapshot, name string) (nodetype.Type, bool) {
	rest, ok := strings.CutPrefix(name, "mcp-")
	if !ok {
		return nodetype.Type{}, false
	}
	server := longestServer(rest, serverNames(r.home))
	if server == "" {
		return nodetype.Type{}, false
	}
	tool := rest[len(server)+1:]
	if _, mistyped := fault.Nearest(tool, s.tools(server)); mistyped {
		return nodetype.Type{}, false
	}
	return nodetype.Type{
		Name: name, Description: "A tool of MCP server " + server + " that is not registered", Actions: []string{"default", "error"},
		ExtraOutputs: true, Unregistered: true, MCP: &nodetype.MCP{Server: server, Tool: tool, Respelled: true},
	}, true
}

// ServerOf returns the configured MCP server to whose tools the name of a node type belongs, or "".
func (r *Registry) ServerOf(name string) string {
	rest, ok := strings.CutPrefix(name, "mcp-")
	if !ok {
		return ""
	}
	return longestServer(rest, serverNames(r.home))
}

// longestServer returns the longest of the servers that the rest of a node type's name after mcp- begins with, or "".
func longestServer(rest string, servers []string) (longest string) {
	for _, known := range servers {
		if after, ok := strings.CutPrefix(rest, known+"-"); ok && after != "" && len(known) > len(longest) {
			longest = known
		}
	}
	return longest
}

// placeTool sets the server and the tool of an MCP entry that has no mcp_metadata, by its name: the longest configured server that
// fits, else what stands before the first hyphen.
func placeTool(t *nodetype.Type, servers []string) {
	rest := strings.TrimPrefix(t.Name, "mcp-")
	server := longestServer(rest, servers)
	if server == "" {
		server, _, _ = strings.Cut(rest, "-")
	}
	t.MCP.Server, t.MCP.Respelled = server, true
	t.MCP.Tool = strings.TrimPrefix(rest[len(server):], "-")
}

// tools returns the names of a server's tools as their node types spell them.
func (x *index) tools(server string) (tools []string) {
	for i := range x.len() {
		if owner, tool := x.owner(i); string(owner) == server {
			tools = append(tools, strings.TrimPrefix(nodetype.MCPName("", string(tool)), "mcp--"))
		}
	}
	return tools
}

// serverNames returns the names of the configured servers, sorted. It returns nil if the configuration cannot be read: calling
// a server reports that fault.
func serverNames(h *home.Home) (names []string) {
	source, err := h.Read(serversFile)
	if err != nil || !gjson.ValidBytes(source) {
		return nil
	}
	top := gjson.ParseBytes(source)
	for _, key := range []string{"servers", "mcpServers"} {
		top.Get(key).ForEach(func(name, entry gjson.Result) bool {
			if entry.IsObject() {
				names = append(names, name.String())
			}
			return true
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ConfiguredServers returns for each configured server the variables that its entry reads and that have no default, sorted. It returns
// nil if the configuration cannot be read.
func (r *Registry) ConfiguredServers() map[string][]string {
	source, err := r.home.Read(serversFile)
	if err != nil || !gjson.ValidBytes(source) {
		return nil
	}
	servers := map[string][]string{}
	for _, key := range []string{"servers", "mcpServers"} {
		gjson.GetBytes(source, key).ForEach(func(name, entry gjson.Result) bool {
			if entry.IsObject() {
				servers[name.String()] = variables(entry.Raw)
			}
			return true
		})
	}
	return servers
}

// variables returns the names in ${NAME} and ${env:NAME} of a text, sorted, except those with a default.
func variables(text string) (names []string) {
	_, text, _ = strings.Cut(text, "${")
	for part := range strings.SplitSeq(text, "${") {
		inner, _, closed := strings.Cut(part, "}")
		name := strings.TrimPrefix(inner, "env:")
		if closed && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
