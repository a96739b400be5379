package mcpclient

import (
	"context"
	"slices"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// Spelling is a tool's own name on the server: name itself when the server has such a tool, else that of the one tool
// whose name is the same in the spelling of node types (create-issue for create_issue). Its fault is not_found "Tool X not
// found on server Y", with the tools there are. A server that does not list its tools is asked for the name as it is.
func (s *Session) Spelling(ctx context.Context, name string) (string, error) {
	tools, err := s.Tools(ctx)
	if err != nil {
		return name, nil //nolint:nilerr // the call itself will tell what is wrong with the server
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
		f.Message += ", and several are alike"
		f.Available = alike
	}
	return "", f
}
