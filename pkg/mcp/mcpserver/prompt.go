package mcpserver

import (
	"context"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/toolargs"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Prompt is a text that users choose in their client, such as a command with a slash, and that goes to the model.
type Prompt struct {
	Name, Title, Description string
	Arguments                []PromptArgument
	// Get returns the text, which is sent as one message of the user. The arguments are texts by name: only those that
	// Arguments names, all that are required, none of them empty. The error is that of a Resource's Read. The context ends
	// as that of a tool's call does.
	Get func(ctx context.Context, arguments map[string]string) (string, error)
}

// PromptArgument is a text that a Prompt takes.
type PromptArgument struct {
	Name, Title, Description string
	Required                 bool
}

// promptEntry is a prompt with the check of its arguments.
type promptEntry struct {
	Prompt
	arguments *toolargs.Checker
}

// AddPrompts adds prompts, and replaces those with the same names. Clients learn of it if Config.PromptsChange is set. A
// prompt that cannot be served is an internal fault; the prompts before it are added.
func (s *Server) AddPrompts(prompts ...Prompt) error {
	defer s.announce(listChangedPrompts)
	s.table.mu.Lock()
	defer s.table.mu.Unlock()
	for _, p := range prompts {
		if p.Name == "" || p.Get == nil {
			return fault.New(fault.Internal, "the table of prompts cannot be served: a prompt needs a name and a Get, %q", p.Name)
		}
		s.sdk.AddPrompt(p.listed(), unreachablePrompt)
		s.table.prompts[p.Name] = &promptEntry{Prompt: p, arguments: toolargs.NewChecker(p.Name, p.schema())}
	}
	return nil
}

// RemovePrompts removes the prompts with the given names. A name that is not in the table has no effect.
func (s *Server) RemovePrompts(names ...string) {
	defer s.announce(listChangedPrompts)
	s.table.mu.Lock()
	defer s.table.mu.Unlock()
	for _, name := range names {
		delete(s.table.prompts, name)
	}
	s.sdk.RemovePrompts(names...)
}

// unreachablePrompt replaces the handler that the SDK wants: the middleware answers all requests.
func unreachablePrompt(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return nil, rpcError(jsonrpc.CodeInternalError, fault.New(fault.Internal, "a prompt went past the dispatcher"))
}

// listed is the prompt as prompts/list shows it.
func (p *Prompt) listed() *mcp.Prompt {
	listed := &mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
	for _, a := range p.Arguments {
		listed.Arguments = append(listed.Arguments, &mcp.PromptArgument{
			Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required,
		})
	}
	return listed
}

// schema returns the JSON Schema of the prompt's arguments.
func (p *Prompt) schema() []byte {
	properties, required := map[string]any{}, []string{}
	for _, a := range p.Arguments {
		properties[a.Name] = map[string]any{"type": "string"}
		if a.Required {
			required = append(required, a.Name)
		}
	}
	return compact(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

// promptResult is the result of prompts/get as it is sent.
type promptResult struct {
	mcp.ResultBase
	Description string          `json:"description,omitempty"`
	Messages    []promptMessage `json:"messages"`
	ResultType  string          `json:"resultType,omitempty"`
}

type promptMessage struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// getPrompt answers prompts/get.
func (s *Server) getPrompt(ctx context.Context, req *mcp.GetPromptRequest) (mcp.Result, error) {
	s.table.mu.RLock()
	prompt, names := s.table.prompts[req.Params.Name], slices.Sorted(maps.Keys(s.table.prompts))
	s.table.mu.RUnlock()
	if prompt == nil {
		return nil, rpcError(jsonrpc.CodeInvalidParams, unknown("prompt", req.Params.Name, names))
	}
	given := maps.Clone(req.Params.Arguments)
	maps.DeleteFunc(given, func(_, value string) bool { return value == "" }) // how clients send a field that was left empty
	raw, err := rawjson.Marshal(given)
	if err != nil {
		return nil, protocolError(err, jsonrpc.CodeInvalidParams)
	}
	if _, f := prompt.arguments.Check(raw); f != nil {
		return nil, protocolError(f, jsonrpc.CodeInvalidParams)
	}
	text, err := prompt.Get(ctx, given)
	if err != nil {
		return nil, protocolError(err, jsonrpc.CodeInvalidParams)
	}
	result := &promptResult{Description: prompt.Description, Messages: []promptMessage{{Role: "user", Content: content{Type: "text", Text: &text}}}}
	if revisionOf(ctx, req) >= statelessRevision {
		result.ResultType = "complete"
	}
	return result, nil
}
