// Package veloflux offers a veloFlux Manager's REST API as tools: for a program that embeds it, or for one that serves
// them over MCP. It knows nothing of MCP itself.
package veloflux

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Runtime runs the tools against one Manager. It may be used by several callers at a time.
type Runtime struct {
	manager *Manager
	tools   []Tool
}

// New makes a runtime.
func New(manager *Manager) *Runtime { return &Runtime{manager: manager, tools: Tools()} }

// CallTool runs a tool. The arguments are a JSON object, or nothing for {}; the answer is one that fits the tool's
// output schema, and what comes from the Manager stands in it byte for byte. Every error is an *Error.
func (r *Runtime) CallTool(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	i := slices.IndexFunc(r.tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		var names []string
		for _, t := range r.tools {
			names = append(names, t.Name)
		}
		return nil, &Error{Code: NotFound, Message: fmt.Sprintf("There is no tool %q%s", name, instead(name, names)), Details: map[string]any{"available": names}}
	}
	tool := r.tools[i]
	if err := tool.check(args); err != nil {
		return nil, err
	}
	return tool.call(ctx, r.manager)
}

// check refuses arguments that the tool does not have.
func (t Tool) check(args json.RawMessage) error {
	if len(args) == 0 {
		return nil
	}
	given := gjson.ParseBytes(args)
	if !json.Valid(args) || !given.IsObject() {
		return &Error{Code: InvalidParams, Message: fmt.Sprintf("The arguments of %s must be a JSON object", t.Name)}
	}
	known := []string{}
	gjson.GetBytes(t.InputSchema, "properties").ForEach(func(key, _ gjson.Result) bool {
		known = append(known, key.Str)
		return true
	})
	var err error
	given.ForEach(func(key, _ gjson.Result) bool {
		if !slices.Contains(known, key.Str) {
			err = &Error{
				Code: InvalidParams, Message: fmt.Sprintf("%s has no argument %q%s", t.Name, key.Str, instead(key.Str, known)),
				Details: map[string]any{"available": known},
			}
		}
		return err == nil
	})
	return err
}

// instead says what there is in place of a name that is not known.
func instead(name string, known []string) string {
	if len(known) == 0 {
		return ". It takes no arguments"
	}
	text := ". There is " + strings.Join(known, ", ")
	if near, ok := fault.Nearest(name, known); ok {
		text = fmt.Sprintf(". Did you mean %q?%s", near, strings.TrimPrefix(text, "."))
	}
	return text
}
