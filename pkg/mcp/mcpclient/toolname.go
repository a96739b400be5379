package mcpclient

import (
	"context"
	"slices"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// ToolName returns a tool's name on the server: name itself if the server has such a tool, else the name of the only tool
// that has the same name in node types (create-issue for create_issue). If there is no such tool, it returns the fault
// not_found "Tool X not found on server Y" with the server's tools. If the server does not list its tools, it returns
// name.
func (s *Session) ToolName(ctx context.Context, name string) (string, error) {
	tools, err := s.Tools(ctx)
	if err != nil {
		return name, nil //nolint:nilerr // the call will report what is wrong with the server
	}
	var names, alike []string
	for _, t := range tools {
		names = append(names, t.Name)
		if nodetype.MCPName(s.name, t.Name) == nodetype.MCPName(s.name, name) {
			alike = append(alike, t.Name)
		}
	}
	switch {
	case slices.Contains(names, name):
		return name, nil
	case len(alike) == 1:
		return alike[0], nil
	}
	f := ToolNotFound(s.name, name, names)
	if len(alike) > 1 {
		f.Message += ", and several have a similar name"
		f.Available = alike
	}
	return "", f
}
