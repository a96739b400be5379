package source

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// maxListed is the most workflows of a source.
const maxListed = 10_000

// Workflows runs the command list and returns the array that it prints. The array may be the only member, result or workflows, of an
// object. The error is a fault, with the exit status and the end of standard error of a command that failed.
func (s *Source) Workflows(ctx context.Context, h Host) (json.RawMessage, error) {
	what := fmt.Sprintf("list of source %s", s.Name)
	e, err := h.short(ctx, what, s.List, nil, commandLimit)
	if err != nil {
		return nil, err
	}
	document, err := e.document(what)
	if err != nil {
		return nil, err
	}
	var items []json.RawMessage
	if document = unwrapped(document); json.Unmarshal(document, &items) != nil || items == nil {
		return nil, fault.New(fault.Protocol, "The command %s printed no array of workflows: %s", what, Harmless(fault.Truncate(string(document), maxEcho))).
			Suggest(`It must print [{"id", "name", "description"}, …], or an object with only that array, under "result" or "workflows"`)
	}
	if len(items) > maxListed {
		return nil, fault.New(fault.TooLarge, "The command %s printed %d workflows, more than the limit of %d", what, len(items), maxListed)
	}
	return document, nil
}

// unwrapped returns the only member, result or workflows, of an object, and any other document as it is. An object may be wrapped twice, as
// the answer of an MCP tool is.
func unwrapped(document json.RawMessage) json.RawMessage {
	for range 2 {
		fields := map[string]json.RawMessage{}
		if json.Unmarshal(document, &fields) != nil || len(fields) != 1 {
			return document
		}
		for name, value := range fields {
			if name != "result" && name != "workflows" {
				return document
			}
			document = value
		}
	}
	return document
}
