package main

import (
	"github.com/pflow-suite/pflow/pkg/mcp/install"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/terminal/completion"
)

// values returns for completions the clients that install knows, and the toolsets.
func values(_ *cli.App, kind string, _ []string) (list []completion.Candidate, err error) {
	names := map[string]func() []string{"client": install.Clients, "toolset": suitetools.Toolsets}[kind]
	if names == nil {
		return nil, nil
	}
	for _, name := range names() {
		list = append(list, completion.Candidate{Value: name})
	}
	return list, nil
}
