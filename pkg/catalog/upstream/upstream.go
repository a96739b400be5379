// Package upstream takes over what pflow's Python version keeps: workflows, settings and MCP servers.
package upstream

import (
	"context"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/workflow/check"
)

// Status says what became of an item.
type Status string

// The states of an item.
const (
	Taken     Status = "taken"
	Unchanged Status = "unchanged" // it was here already
	Kept      Status = "kept"      // there is another one of the name here, which was kept
	Refused   Status = "refused"
)

// Item is a workflow, a setting or a server.
type Item struct {
	// Kind is "workflow", "setting" or "server".
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Files are the other files of a workflow's bundle.
	Files []string `json:"files,omitempty"`
	// Differs says what is different here.
	Differs []string `json:"differs,omitempty"`
	// Error says why an item was refused or kept.
	Error *fault.Fault `json:"error,omitempty"`
}

// Importer takes items over into a home.
type Importer struct {
	Home *home.Home
	// Judge checks jq filters; it may be nil.
	Judge check.JudgeFilter
	// Force replaces what has the same name here. Dry changes nothing.
	Force bool
	Dry   bool
}

// Folder takes over a home of pflow's Python version: its settings, servers and workflows, in this order. If it is the same folder as
// the home of this suite, everything in it is used where it is.
func (i *Importer) Folder(ctx context.Context, dir string) ([]Item, error) {
	from, err := home.Open(dir, "")
	if err != nil {
		return nil, err
	}
	shared := sameFolder(dir, i.Home.Dir())
	items, err := i.settings(ctx, from, shared)
	if err != nil {
		return items, err
	}
	servers, more, err := i.servers(ctx, from, shared)
	if items = append(items, more...); err != nil {
		return items, err
	}
	more, err = i.workflows(ctx, from, shared, servers)
	return append(items, more...), err
}

// File takes over one workflow.
func (i *Importer) File(ctx context.Context, path string) (Item, error) {
	w := &workflows{importer: i, library: library.Open(i.Home), types: registry.Open(i.Home), sources: map[string]string{}}
	return w.take(ctx, nameOf(path), path, false)
}
