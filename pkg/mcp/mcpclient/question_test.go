package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/form"
)

// askingServer has a tool that asks twice, with its argument in the questions, and a tool that does not.
func askingServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "asking", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		who := gjson.GetBytes(req.Params.Arguments, "who").Str
		said := who
		for _, what := range []string{"name", "age"} {
			answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "The " + what + "?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"v":{"type":"string"}}}`)})
			if err != nil {
				return nil, err
			}
			said += fmt.Sprint(" ", answer.Content["v"])
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said}}}, nil
	})
	s.AddTool(&mcp.Tool{Name: "quick", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "quick"}}}, nil
	})
	return s
}

// TestAnswersReachTheirCalls makes many calls of one session at the same time, of which most ask the same: each gets its own answers.
func TestAnswersReachTheirCalls(t *testing.T) {
	s := connect(t, "asks")
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			if i%4 == 0 {
				if answer, err := s.Call(t.Context(), "quick", nil, nil); err != nil || answer.Text() != "quick" {
					t.Errorf("quick %d: %v", i, err)
				}
				return
			}
			request := Request{Tool: "ask", Arguments: json.RawMessage(fmt.Sprintf(`{"who":"%d"}`, i))}
			for asked := 0; ; asked++ {
				answer, err := s.Do(t.Context(), request)
				question, isQuestion := errors.AsType[*Asked](err)
				if !isQuestion {
					if want := fmt.Sprintf("%d %d.0 %d.1", i, i, i); err != nil || answer.Text() != want || asked != 2 {
						t.Errorf("call %d after %d questions: %v, %+v", i, asked, err, answer)
					}
					return
				}
				request.Replies = append(request.Replies, Reply{Question: question.Question, Action: form.Accept, Content: json.RawMessage(fmt.Sprintf(`{"v":"%d.%d"}`, i, asked))})
			}
		})
	}
	all.Wait()
}

// TestServersThatDieOfQuestions makes calls at the same time that all ask: each call returns its own question. The server fragile exits
// as soon as a call is cancelled. The server fussy exits if its question is refused before it knows that the call was cancelled.
func TestServersThatDieOfQuestions(t *testing.T) {
	for _, mode := range []string{"fragile", "fussy"} {
		t.Run(mode, func(t *testing.T) {
			var starts atomic.Int32
			pool := NewPool(func(string) (Spec, error) {
				starts.Add(1)
				return fakeSpec(t, mode), nil
			})
			defer pool.Close()
			var all sync.WaitGroup
			for i := range 4 {
				all.Go(func() {
					request := Request{Tool: "ask", Arguments: json.RawMessage(fmt.Sprintf(`{"who":"%d"}`, i))}
					again := true
					for again {
						s, err := pool.Session(t.Context(), "fake")
						if err != nil {
							t.Error(err)
							return
						}
						_, err = s.Do(t.Context(), request)
						if _, again = errors.AsType[*Again](err); again {
							request.Alone = true
							continue
						}
						if asked, ok := errors.AsType[*Asked](err); !ok || asked.Message != fmt.Sprint(i) {
							t.Errorf("call %d: %v", i, err)
						}
					}
				})
			}
			all.Wait()
			if mode == "fussy" && starts.Load() != 1 {
				t.Errorf("the server was started %d times", starts.Load())
			}
		})
	}
}
