package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/mcp/form"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// toolState is what a tool call whose server asks needs to go on with the answer.
type toolState struct {
	// Replies answer what the server has asked before, Asked is the question that is open.
	Replies []mcpclient.Reply  `json:"replies,omitempty"`
	Asked   mcpclient.Question `json:"asked"`
}

// toolReplies returns the answers to what a tool's server has asked so far.
func toolReplies(answer *Answer) ([]mcpclient.Reply, *fault.Fault) {
	if answer == nil {
		return nil, nil
	}
	var state toolState
	if err := json.Unmarshal(answer.State, &state); err != nil {
		return nil, fault.New(fault.Internal, "the question of an MCP server: %v", err)
	}
	// An answer with a secret is not in the journal. The server asks again for it.
	state.Replies = slices.DeleteFunc(state.Replies, func(r mcpclient.Reply) bool { return bytes.Contains(r.Content, []byte(redact.Mark)) })
	if f := state.Asked.Form().Check(answer.Text); f != nil {
		return nil, f
	}
	reply := mcpclient.Reply{Question: state.Asked}
	action, content := state.Asked.Form().Parse(answer.Text)
	if reply.Action = action; action == form.Accept {
		reply.Content = json.RawMessage(content)
	}
	return append(state.Replies, reply), nil
}

// askedByTool is the result of a tool call whose server asks a person.
func askedByTool(server string, replies []mcpclient.Reply, asked mcpclient.Question) *Result {
	state, err := rawjson.Marshal(toolState{replies, asked})
	if err != nil {
		return failedWithError(fault.New(fault.Internal, "the question of an MCP server: %v", err))
	}
	return &Result{Outputs: toolOutputs(nil, ""), Ask: &Question{
		Text: fmt.Sprintf("MCP server %s asks: %s", server, asked.Message), Choices: asked.Form().Choices(), AnyAnswer: true, Form: asked.Form(), State: state,
	}}
}
