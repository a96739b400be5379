// Package offer decides which workflows an MCP server offers as tools, and under which names and schemas.
package offer

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/source"
)

// Listing is a workflow as `pflow-lib list --tools` prints it, for the library or for a source.
type Listing struct {
	// Source is the name of the source that has the workflow, or "" for one of the library.
	Source        string          `json:"source,omitempty"`
	ID            string          `json:"id"`
	Name          string          `json:"name"`
	Description   string          `json:"description"`
	Category      string          `json:"category"`
	Version       string          `json:"version"`
	InputSchema   json.RawMessage `json:"inputSchema"`
	OutputSchema  json.RawMessage `json:"outputSchema"`
	ExecutionType string          `json:"executionType"`
	Metadata      json.RawMessage `json:"metadata"`
}

// Sync reports whether a call waits for the end of the run, however long that takes.
func (l *Listing) Sync() bool { return l.ExecutionType == "sync" }

// Workflow returns the name by which pflow-exec runs the workflow.
func (l *Listing) Workflow() string {
	if l.Source == "" {
		return l.ID
	}
	return source.Join(l.Source, l.ID)
}

// tags returns the list under tags in the metadata, if it has one.
func (l *Listing) tags() []string {
	var metadata struct {
		Tags []string `json:"tags"`
	}
	_ = json.Unmarshal(l.Metadata, &metadata) // metadata may have any form
	return metadata.Tags
}

// Parse reads a JSON array of workflows of a source, or of the library if the source is "". What a workflow does not say has its default:
// the category workflow, the version 1.0.0 and the execution type async. A workflow that cannot be offered is left out, and skipped says
// why: it is no object, has no text as its id, name or description, has the id of another, or is too large. The error is a fault for a
// text that is no array.
func Parse(of string, array []byte) (listings []Listing, skipped []*fault.Fault, err error) {
	var items []json.RawMessage
	if err := json.Unmarshal(array, &items); err != nil {
		return nil, nil, fault.New(fault.Protocol, "The list of workflows must be a JSON array: %v", err)
	}
	seen := make(map[string]bool, len(items))
	for i, item := range items {
		l, f := parse(of, item)
		if f == nil && seen[l.ID] {
			f = fault.New(fault.Validation, "Two workflows have the id %q", fault.Truncate(l.ID, maxEcho)).Suggest("Give each workflow an id of its own")
		}
		if f == nil {
			seen[l.ID] = true
			listings = append(listings, l)
			continue
		}
		if f.Path = fmt.Sprintf("[%d]", i); of != "" {
			f.Path = "source " + of + f.Path
			f.Message = f.Path + ": " + f.Message
		}
		skipped = append(skipped, f)
	}
	if more := len(skipped) - maxSkipped; more > 0 {
		skipped = append(skipped[:maxSkipped], fault.New(fault.Validation, "%d more workflows cannot be offered", more))
	}
	return listings, skipped, nil
}

const (
	// maxItem is the most bytes of a workflow in a list.
	maxItem = 1 << 20
	// maxSkipped is the most workflows of a list that are named because they cannot be offered.
	maxSkipped = 50
)

// maxEcho is the most bytes of a listing that a message repeats.
const maxEcho = 80

func parse(of string, item json.RawMessage) (Listing, *fault.Fault) {
	fields, shown := map[string]json.RawMessage{}, source.Harmless(fault.Truncate(string(item), maxEcho))
	if len(item) > maxItem {
		return Listing{}, fault.New(fault.TooLarge, "The workflow %s has %d bytes, more than the limit of %d", shown, len(item), maxItem)
	}
	if json.Unmarshal(item, &fields) != nil || fields == nil {
		return Listing{}, fault.New(fault.Validation, "A workflow must be an object, not %s", shown)
	}
	l := Listing{
		Source:   of,
		Category: "workflow", Version: "1.0.0", ExecutionType: "async",
		InputSchema: fields["inputSchema"], OutputSchema: fields["outputSchema"], Metadata: fields["metadata"],
	}
	for _, required := range []struct {
		key  string
		into *string
	}{{"id", &l.ID}, {"name", &l.Name}, {"description", &l.Description}} {
		if json.Unmarshal(fields[required.key], required.into) != nil || strings.TrimSpace(*required.into) == "" {
			f := fault.New(fault.Validation, "The workflow %s has no text %q", shown, required.key)
			return l, f.Suggest("Each workflow needs an id, a name and a description, which are text")
		}
	}
	if of != "" {
		if err := source.CheckID(l.ID); err != nil {
			return l, fault.From(err)
		}
	}
	for key, into := range map[string]*string{"category": &l.Category, "version": &l.Version, "executionType": &l.ExecutionType} {
		var text string
		if json.Unmarshal(fields[key], &text) == nil && text != "" {
			*into = text
		}
	}
	if l.ExecutionType != "sync" {
		l.ExecutionType = "async"
	}
	return l, nil
}
