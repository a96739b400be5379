package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process/chain"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Request is a call of a tool.
type Request struct {
	Tool string
	// Arguments is a JSON object, or nil.
	Arguments json.RawMessage
	// Limit bounds the call; 0 means the timeout of the server's entry, 30 seconds by default.
	Limit time.Duration
	// Progress is called in order during the call and never after it, and must not block. total is 0 if the server does not know
	// it. Progress may be nil.
	Progress func(done, total float64, message string)
	// Replies answer what the server asks during the call. Each answers one question.
	Replies []Reply
	// Log receives the server's log messages, one on a line. It may be nil. They also go to the session's log, at level info or
	// debug.
	Log io.Writer
	// Alone means that the call waits for all other calls of the session, and these for it.
	Alone bool
}

// Again is the error of a call whose server ended because another call, which had asked a question, was cancelled. Make the call again,
// with Request.Alone, in a new session.
type Again struct{ err error }

func (e *Again) Error() string { return e.err.Error() }

// Unwrap returns the fault of the server's end.
func (e *Again) Unwrap() error { return e.err }

// Call is Do with the given tool, arguments and progress.
func (s *Session) Call(ctx context.Context, tool string, args json.RawMessage, progress func(done, total float64, message string)) (*Answer, error) {
	return s.Do(ctx, Request{Tool: tool, Arguments: args, Progress: progress})
}

// Do calls a tool and waits for its result. If the server makes a task of the call, Do polls it to its end.
//
// If the tool itself fails, Do returns an Answer with IsError and no error. If the server asks a person and no reply answers
// that, the error is *Asked. If the server ended because another call had asked, it may be *Again. Other errors are faults: timeout
// "MCP tool timed out after N seconds"; not_found "Tool X not found on server Y"; protocol_error "Method not found", "Invalid params" or
// "Invalid JSON response from server"; execution_error "MCP server process terminated unexpectedly"; for HTTP, the fault for the
// status. If ctx ends first, the error is its cause.
//
// After a timeout, a stdio server is stopped unless other calls are waiting for it: it may hang, and the next call is
// better served by a new process.
func (s *Session) Do(ctx context.Context, r Request) (*Answer, error) {
	if len(r.Arguments) == 0 {
		r.Arguments = json.RawMessage("{}")
	}
	if !json.Valid(r.Arguments) || !gjson.ParseBytes(r.Arguments).IsObject() {
		return nil, fault.New(fault.Validation, "The arguments of tool %s must be a JSON object", r.Tool)
	}
	if r.Limit <= 0 {
		r.Limit = s.timeout
	}
	if r.Tool == ReadResource && s.offersResources() {
		return s.read(ctx, r.Limit, r.Arguments)
	}
	late := fault.New(fault.Timeout, "MCP tool timed out after %s", seconds(r.Limit)).Detail("server", s.name).Detail("tool", r.Tool).
		Suggest("Set a longer \"timeout\", in seconds, in the server's entry of %s", File)
	result, err := s.bounded(ctx, r.Limit, late, func(limited context.Context) (json.RawMessage, error) {
		alone := r.Alone || len(r.Replies) > 0 && !s.stateless() // then what the server asks is asked by this call
		result, err := s.attempt(limited, &r, alone)
		if errors.Is(err, errAskedByOneOf) {
			r.Alone = true
			return s.attempt(limited, &r, true)
		}
		return result, err
	})
	if err != nil {
		return nil, s.callFault(ctx, r.Tool, err)
	}
	if f := s.misshapen("tools/call", gjson.ParseBytes(result), "content"); f != nil {
		return nil, f
	}
	answer := parseAnswer(result)
	if answer.IsError && mayMeanMissingTool(answer.Text(), r.Tool) {
		if missing := s.missingTool(ctx, r.Tool); missing != nil {
			return nil, missing
		}
	}
	return answer, nil
}

// attempt is a call that goes on.
type attempt struct {
	*Request
	*Session
	token string
	// end ends the attempt with its error.
	end context.CancelCauseFunc
	// done is closed when the attempt has ended.
	done chan struct{}

	mu      sync.Mutex
	over    bool
	replied []int  // the replies that have been given
	task    string // the id of the call's task, or ""
}

// attempt makes a call and returns the bytes of its result. An attempt that is alone waits for all other calls of the session,
// and these for it.
func (s *Session) attempt(ctx context.Context, r *Request, alone bool) (json.RawMessage, error) {
	a := &attempt{Request: r, Session: s, done: make(chan struct{}), token: fmt.Sprintf("p%d", s.tokens.Add(1))}
	leave, err := s.active.enter(ctx, alone)
	if err == nil {
		defer leave()
	}
	if a.diedOfCutOff(ctx) {
		return nil, &Again{s.terminated()}
	}
	if err != nil {
		return nil, s.requestFault(ctx, err)
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	a.end = end
	if a.wantsLog() {
		a.setLevel(ctx)
	}
	s.active.add(a)
	result, err := a.rounds(ctx)
	asked, ok := errors.AsType[*Asked](context.Cause(ctx))
	s.active.remove(a, ok || ctx.Err() == nil)
	switch {
	case ok:
		return nil, asked
	case err != nil && !a.hasReplied() && a.diedOfCutOff(ctx) && (r.Alone || time.Since(time.Unix(0, s.cutOff.Load())) < cutOffEffect):
		return nil, &Again{err}
	}
	return result, err
}

// cutOffEffect is how long after a call was cancelled because of a question the end of the server is taken for the effect of that.
const cutOffEffect = 2 * time.Second

// diedOfCutOff reports whether the server has ended after a call was cancelled because of a question.
func (a *attempt) diedOfCutOff(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return a.cutOff.Load() != 0 && a.child != nil && (cause == nil || errors.Is(cause, errClosed)) && a.Dead()
}

// cut ends an attempt because of a question.
func (a *attempt) cut(why error) {
	a.cutOff.Store(time.Now().UnixNano())
	a.end(why)
}

// maxRounds is how often a call is repeated because its server wants more input.
const maxRounds = 16

// roundPause is the pause before a call is repeated that the server was too busy for.
const roundPause = time.Second

// rounds calls the tool until its result is final. From 2026-07-28 on, a server that wants input returns that as a result, and the
// call is repeated with the input.
func (a *attempt) rounds(ctx context.Context) (json.RawMessage, error) {
	more := moreParams{}
	if a.takesTask(ctx) {
		more.Task = json.RawMessage("{}")
	}
	for range maxRounds {
		result, err := a.request(ctx, func(ctx context.Context) (mcp.Result, error) {
			params := &mcp.CallToolParams{Meta: mcp.Meta{}, Name: a.Tool, Arguments: a.Arguments}
			if a.runs != "" {
				params.Meta[chain.Key] = a.runs
			}
			if a.wantsLog() && a.stateless() {
				params.Meta[logLevel] = a.level()
			}
			if a.Progress != nil {
				params.SetProgressToken(a.token)
			}
			return a.client.CallTool(context.WithValue(ctx, moreParamsKey{}, more), params)
		})
		if err != nil {
			return nil, err
		}
		switch r := gjson.ParseBytes(result); kindOf(r) {
		case "complete":
			return result, nil
		case "task":
			t := r
			if !a.stateless() {
				t = r.Get("task")
			}
			return a.awaitTask(ctx, t)
		case inputRequired:
			responses, err := a.responses(r.Get("inputRequests"), nil)
			if err != nil {
				return nil, err
			}
			if responses == nil && !pause(ctx, roundPause) {
				return nil, a.requestFault(ctx, context.Cause(ctx))
			}
			more.InputResponses, more.RequestState = responses, json.RawMessage(r.Get("requestState").Raw)
		default:
			return nil, fault.New(fault.Protocol, "Tool %s returned a result of type %q, which is not supported", a.Tool, kindOf(r)).Detail("server", a.name)
		}
	}
	return nil, fault.New(fault.Protocol, "Tool %s wanted more input %d times", a.Tool, maxRounds).Detail("server", a.name)
}

// inputRequired is the type of a result, and the status of a task, that needs input.
const inputRequired = "input_required"

// kindOf returns the type of a result of tools/call.
func kindOf(result gjson.Result) string {
	switch kind := result.Get("resultType").Str; {
	case kind != "":
		return kind
	case result.Get("task.taskId").Exists() && !result.Get("content").Exists():
		return "task"
	default:
		return "complete"
	}
}

// request makes one request of an attempt and returns the bytes of its result.
func (a *attempt) request(ctx context.Context, send func(context.Context) (mcp.Result, error)) (json.RawMessage, error) {
	result, err := a.exchange(ctx, &pendingRequest{attempt: a}, send)
	if err != nil && (ctx.Err() != nil || kindOf(gjson.ParseBytes(result)) != inputRequired) { // the SDK knows not all requests for input
		return nil, a.requestFault(ctx, err)
	}
	return result, nil
}

// responses answers the requests for input of a result or of a task, by their keys, without those that are answered already. It
// returns nil if nothing is left to answer.
func (a *attempt) responses(requests gjson.Result, answered map[string]bool) (json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	var err error
	requests.ForEach(func(key, request gjson.Result) bool {
		if answered[key.Str] {
			return true
		}
		switch method := request.Get("method").Str; method {
		case "elicitation/create":
			q, f := parseQuestion(a.name, json.RawMessage(request.Get("params").Raw))
			reply, ok := a.reply(q)
			switch {
			case f != nil:
				err = f
			case !ok:
				err = &Asked{q}
			default:
				out[key.Str] = reply.result()
			}
		case "roots/list":
			out[key.Str], err = rawjson.Marshal(map[string]any{"roots": a.roots})
		default:
			err = fault.New(fault.Protocol, "MCP server %s asks for %s, which is not offered", a.name, method).Detail("server", a.name)
		}
		return err == nil
	})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return rawjson.Marshal(out)
}

// reply returns the reply to a question. Each is returned once.
func (a *attempt) reply(q Question) (Reply, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, reply := range a.Replies {
		if reply.same(q) && !slices.Contains(a.replied, i) {
			a.replied = append(a.replied, i)
			return reply, true
		}
	}
	return Reply{}, false
}

// hasReplied reports whether the server got a reply in this attempt.
func (a *attempt) hasReplied() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.replied) > 0
}

// pause waits. It returns false if the context ends before.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// moreParams are the parameters of tools/call that the SDK does not have, or only decoded. It is a value of the request's context.
type moreParams struct {
	Task           json.RawMessage `json:"task,omitempty"`
	InputResponses json.RawMessage `json:"inputResponses,omitempty"`
	RequestState   json.RawMessage `json:"requestState,omitempty"`
}

type moreParamsKey struct{}

// callParams are the parameters of tools/call.
type callParams struct {
	mcp.ParamsBase
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
	moreParams
}

// addMoreParams is middleware that adds the moreParams of a call's context to its parameters.
func addMoreParams(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		more, _ := ctx.Value(moreParamsKey{}).(moreParams)
		params, isCall := req.GetParams().(*mcp.CallToolParams)
		session, ok := req.GetSession().(*mcp.ClientSession)
		if isCall && ok {
			own := &callParams{Name: params.Name, Arguments: params.Arguments, moreParams: more}
			own.Meta = params.Meta
			req = &mcp.ClientRequest[*callParams]{Session: session, Params: own}
		}
		return next(ctx, method, req)
	}
}
