package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// suggestions returns what to try if nothing was found.
func suggestions(types *registry.Registry, c *searchCommand) (list []string) {
	if c.Server != "" {
		list = append(list, serverSuggestion(types, c.Server, c.reader))
	}
	if near := types.Nearest(c.words()); len(near) > 0 {
		list = append(list, "Names contain the words: "+strings.Join(near, ", "))
	}
	if c.reader.HasTools() {
		return append(list,
			"Try fewer or other words; browse_components without a query lists everything",
			"A person adds an MCP server with: pflow-sync add NAME -- COMMAND. To register its tools then: sync_server, if you have that tool, or a person with: pflow-sync sync NAME")
	}
	return append(list,
		"Try fewer or other words; pflow-lib search without words lists everything",
		"To add the tools of an MCP server: pflow-sync add NAME -- COMMAND, then pflow-sync sync NAME")
}

// serverSuggestion returns what to do about a server without node types that match.
func serverSuggestion(types *registry.Registry, name string, reader fault.Reader) string {
	configured := types.ConfiguredServers()
	known := slices.Sorted(maps.Keys(configured))
	near, ok := fault.Nearest(name, known)
	switch _, exact := configured[name]; {
	case exact && reader.HasTools():
		return "The server " + name + " is configured; to register its tools: sync_server, if you have that tool, or a person with: pflow-sync sync " + name
	case exact:
		return "The server " + name + " is configured; pflow-sync sync " + name + " registers its tools"
	case ok:
		return "Did you mean the server " + near + "?"
	case len(known) == 0:
		return "No MCP server is configured"
	}
	return "The configured servers are: " + strings.Join(known[:min(len(known), 20)], ", ")
}

// goOn returns how to see more, and less.
func (c *searchCommand) goOn() string {
	if c.reader.HasTools() {
		return "More: next_cursor as cursor, other arguments the same. To narrow: more words, server (one MCP server), type (one node type, in full), detail brief"
	}
	return "More: the same command and --cursor NEXT_CURSOR. To narrow: more words, --server NAME (the node types of one MCP server), --type TYPE (one, in full), --detail brief"
}

// wholeType returns how to see a node type that is shortened.
func wholeType(reader fault.Reader) string {
	if reader.HasTools() {
		return "The whole interface of a truncated node type: browse_components with type and limit 0, or the resource pflow://nodes/TYPE"
	}
	return "The whole interface of a truncated node type: pflow-lib describe TYPE"
}
