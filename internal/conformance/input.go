package conformance

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// round is what a tool asks before it answers.
type round struct {
	key      string
	question *mcpserver.Elicitation
}

// asks returns a tool that asks in rounds, and then answers with what end returns for the replies. The state of a round is signed.
func asks(name string, end func(last mcpserver.Reply) *mcpserver.Result, rounds ...round) mcpserver.Tool {
	secret := []byte(rand.Text())
	sign := func(round string) string {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(round))
		return round + "." + hex.EncodeToString(mac.Sum(nil))
	}
	ask := func(n int) *mcpserver.Result {
		return &mcpserver.Result{Input: &mcpserver.Input{
			Elicitations: map[string]*mcpserver.Elicitation{rounds[n].key: rounds[n].question}, State: sign(rounds[n].key),
		}}
	}
	return tool(name, "Asks the person in front of the client", func(_ context.Context, c *mcpserver.Call) *mcpserver.Result {
		key, _, _ := strings.Cut(c.State, ".")
		if c.State != "" && sign(key) != c.State {
			return &mcpserver.Result{Err: &mcpserver.Error{Kind: mcpserver.Invalid, Message: "The requestState is not one of this server's"}}
		}
		for n, r := range rounds {
			reply, replied := c.Replies[r.key]
			switch {
			case !replied:
				continue
			case len(rounds) > 1 && key != r.key: // the reply to a round that is over
				continue
			case n+1 < len(rounds):
				return ask(n + 1)
			}
			return end(reply)
		}
		return ask(0)
	})
}

// answering returns an end with a text.
func answering(text string) func(mcpserver.Reply) *mcpserver.Result {
	return func(reply mcpserver.Reply) *mcpserver.Result {
		return &mcpserver.Result{Text: strings.ReplaceAll(text, "NAME", gjson.GetBytes(reply.Content, "name").Str)}
	}
}

// inputTools returns the tools that ask, except those that ask the client for a completion of its model or for its folders.
func inputTools(t *tasks) []mcpserver.Tool {
	name := round{"user_name", question("What is your name?", "name", "string")}
	confirm := round{"confirm", question("Please confirm", "ok", "boolean")}
	return []mcpserver.Tool{
		asks("test_input_required_result_elicitation", answering("Hello, NAME!"), name),
		asks("test_input_required_result_request_state", answering("state-ok"), confirm),
		asks("test_input_required_result_tampered_state", answering("state-ok"), confirm),
		asks("test_input_required_result_multi_round", answering("done"),
			round{"step1", question("Step 1: What is your name?", "name", "string")}, round{"step2", question("Step 2: What is your favorite color?", "color", "string")}),
		asks("test_tool_with_task", func(reply mcpserver.Reply) *mcpserver.Result {
			return t.later(100*time.Millisecond, mcpserver.Completed, answering("Hello, NAME!")(reply), nil)
		}, name),
	}
}
