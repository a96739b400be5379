package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Elicitation is a form that the client shows to a person.
type Elicitation struct {
	// Message is the question.
	Message string
	// Schema is the JSON Schema of the answer: an object whose members are texts, numbers, booleans, choices or lists of choices.
	Schema json.RawMessage
}

// The actions of a Reply.
const (
	Accept  = "accept"
	Decline = "decline"
	Dismiss = "cancel"
)

// Reply is what the person did with an Elicitation, as the result of elicitation/create has it.
type Reply struct {
	Action string `json:"action"`
	// Content is the answer if the action is Accept: a JSON object. The client may not have checked it against the schema.
	Content json.RawMessage `json:"content,omitempty"`
}

// InputRequest returns the elicitation as one of the inputRequests of a result, as MCP revision 2026-07-28 defines them.
func (e *Elicitation) InputRequest() json.RawMessage {
	return compact(struct {
		Method string `json:"method"`
		Params any    `json:"params"`
	}{"elicitation/create", struct {
		Mode    string          `json:"mode"`
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"requestedSchema"`
	}{"form", e.Message, e.Schema}})
}

// Input is a result that asks the client for replies. The client calls the tool again, with the replies and the state.
type Input struct {
	// Elicitations are the forms to show, by names that the replies have too.
	Elicitations map[string]*Elicitation
	// State comes back with the replies. The client, or whoever it passes the state to, may have changed it.
	State string
}

// Asking is how a call can ask the person in front of the client.
type Asking string

const (
	// Never means that the client cannot ask, or not for this call.
	Never Asking = ""
	// Directly means that Call.Elicit asks while the call goes on: revisions before 2026-07-28.
	Directly Asking = "directly"
	// ByResult means that a Result with Input asks, and the client calls again: revision 2026-07-28 and later.
	ByResult Asking = "by result"
)

// Asking returns how the call can ask the person in front of the client.
func (c *Call) Asking() Asking {
	switch {
	case c.elicit != nil:
		return Directly
	case c.mayReturnInput:
		return ByResult
	}
	return Never
}

// Elicit shows a form to the person in front of the client and waits for the reply, for as long as ctx and the call last. If ctx ends
// before, the client is told to withdraw the form. It may be called only if Asking is Directly.
func (c *Call) Elicit(ctx context.Context, e *Elicitation) (Reply, error) {
	if c.elicit == nil {
		return Reply{}, fault.New(fault.Unavailable, "The client cannot show forms")
	}
	return c.elicit(ctx, e)
}

// makeAsking sets how a call can ask, from the capabilities of the client, and what the client has replied.
func (c *Call) makeAsking(req *mcp.CallToolRequest, revision string) {
	if revision >= statelessRevision {
		c.State, c.Replies = req.Params.RequestState, repliesOf(req.Params.InputResponses)
	}
	client := req.ClientCapabilities()
	if client == nil || client.Elicitation == nil || client.Elicitation.Form == nil && client.Elicitation.URL != nil {
		return
	}
	if revision >= statelessRevision {
		c.mayReturnInput = true
		return
	}
	c.elicit = func(ctx context.Context, e *Elicitation) (Reply, error) {
		result, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Mode: "form", Message: e.Message, RequestedSchema: e.Schema})
		if err != nil {
			return Reply{}, err
		}
		return replyOf(result), nil
	}
}

// repliesOf returns the replies of a client to elicitations. Replies to other requests are left out: the server makes none.
func repliesOf(responses mcp.InputResponseMap) map[string]Reply {
	replies := make(map[string]Reply, len(responses))
	for name, response := range responses {
		if result, ok := response.(*mcp.ElicitResult); ok {
			replies[name] = replyOf(result)
		}
	}
	return replies
}

func replyOf(result *mcp.ElicitResult) Reply {
	reply := Reply{Action: result.Action}
	if result.Content != nil {
		reply.Content, _ = rawjson.Marshal(result.Content)
	}
	return reply
}

// wireInput is an Input as it is sent.
type wireInput struct {
	mcp.ResultBase
	ResultType    string                     `json:"resultType"`
	InputRequests map[string]json.RawMessage `json:"inputRequests"`
	RequestState  string                     `json:"requestState,omitempty"`
}

func (r *Input) wire() *wireInput {
	w := &wireInput{ResultType: "input_required", InputRequests: make(map[string]json.RawMessage, len(r.Elicitations)), RequestState: r.State}
	for name, e := range r.Elicitations {
		w.InputRequests[name] = e.InputRequest()
	}
	return w
}
