package mcpserver

import (
	"context"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// receive is the middleware that all requests and notifications pass.
func (s *Server) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		defer func() {
			if r := recover(); r != nil {
				result, err = nil, rpcError(jsonrpc.CodeInternalError, s.crashed(method, r))
			}
		}()
		ctx, release := handlerContext(ctx, req)
		defer release()
		result, err = s.answer(ctx, next, method, req)
		if r, ok := req.(request); ok && err == nil && revisionOf(ctx, r) < statelessRevision {
			result = unhinted(result)
		}
		return result, err
	}
}

// answer answers the requests that are not the SDK's to answer, and has next answer the rest.
func (s *Server) answer(ctx context.Context, next mcp.MethodHandler, method string, req mcp.Request) (result mcp.Result, err error) {
	switch req := req.(type) {
	case *mcp.CallToolRequest: // the SDK would encode the result twice and escape the HTML in it
		return s.callTool(ctx, req)
	case *mcp.GetPromptRequest:
		return s.getPrompt(ctx, req)
	case *mcp.ReadResourceRequest:
		result, err = s.read(ctx, next, method, req)
		return result, s.readError(ctx, req, err)
	case *mcp.ServerRequest[*mcp.InitializeParams]:
		return s.initialize(ctx, next, method, req)
	}
	return next(ctx, method, req)
}

// handlerContext returns the context for the handler of a request. It ends with the SDK's context for the request, and
// when the session is stopped; then its cause is an *Ended. The caller must call release.
func handlerContext(ctx context.Context, req mcp.Request) (_ context.Context, release func()) {
	handler, end := context.WithCancelCause(context.WithoutCancel(ctx))
	unfollowClient := context.AfterFunc(ctx, func() { end(endOf(context.Cause(ctx))) })
	unfollowServer := func() bool { return true }
	if s := sessionOf(ctx); s != nil {
		unfollowServer = context.AfterFunc(s.serving, func() { end(&Ended{Stopping, context.Cause(s.serving)}) })
		s.follow(req, end)
	}
	if ending, ok := ctx.Value(endingKey{}).(context.Context); ok {
		unfollowServer = context.AfterFunc(ending, func() { end(context.Cause(ending)) })
	}
	return handler, func() { unfollowClient(); unfollowServer(); end(nil) }
}

// crashed logs a panic and returns it as a fault.
func (s *Server) crashed(handler string, cause any) *fault.Fault {
	s.log.Error("a handler crashed", "handler", handler, "cause", cause, "stack", string(debug.Stack()))
	return fault.New(fault.Internal, "%s crashed: %v", handler, cause).
		Suggest("This is a defect of %s; the server goes on, other calls are not affected", s.config.Name)
}
