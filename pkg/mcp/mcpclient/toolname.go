package mcpclient

import (
	"context"
	"slices"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// FindTool returns a tool of the server by its name, else the only tool that has the same name in node types (create_issue for
// create-issue), or ReadResource for read-resource. If there is no such tool, it returns the fault not_found "Tool X not found on server Y" with the server's
// tools. If the server does not list its tools, it returns a tool of that name, without schemas.
func (s *Session) FindTool(ctx context.Context, name string) (Tool, error) {
	tools, err := s.Tools(ctx)
	if err != nil {
		return Tool{Name: name}, nil //nolint:nilerr // the call will report what is wrong with the server
	}
	var names, alike []string
	for _, t := range tools {
		names = append(names, t.Name)
		if nodetype.MCPName(s.name, t.Name) == nodetype.MCPName(s.name, name) {
			alike = append(alike, t.Name)
		}
	}
	found := slices.Index(names, name)
	switch {
	case found >= 0:
	case len(alike) == 1:
		found = slices.Index(names, alike[0])
	case len(alike) == 0 && name == "read-resource":
		found = slices.Index(names, ReadResource)
	}
	if found >= 0 {
		return tools[found], nil
	}
	f := ToolNotFound(s.name, name, names)
	if len(alike) > 1 {
		f.Message += ", and several have a similar name"
		f.Available = alike
	}
	return Tool{}, f
}
