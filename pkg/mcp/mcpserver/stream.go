package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Stream is the stream of events that a call is answered with, over a transport that answers others with one document.
type Stream struct {
	// Token is the progress token of the call: the client's, or else the id of the request. It is JSON.
	Token json.RawMessage
	// Send sends a message of JSON-RPC. That it fails shows when the call is answered. With a place, which only the tool understands, a
	// client that loses the stream may go on after the message: then the tool is called again, with the place as After.
	Send func(message json.RawMessage, place string)
	// After is the place of the last message that the client has received on the stream that this one continues. The call has no
	// arguments then. It is empty for a new stream. It comes from the client, so it proves nothing.
	After string
}

// streamKey is the key of the *Stream in the context of a call.
type streamKey struct{}

// WithStream returns a context for the requests of a transport that connects to the SDK's server itself, and answers with a stream:
// the calls have it.
func WithStream(ctx context.Context, s *Stream) context.Context {
	return context.WithValue(ctx, streamKey{}, s)
}

// streamOf returns the stream of a call, or nil.
func streamOf(ctx context.Context, req *mcp.CallToolRequest) *Stream {
	s, _ := ctx.Value(streamKey{}).(*Stream)
	if s == nil {
		return nil
	}
	own := *s
	if token := req.Params.GetProgressToken(); token != nil {
		if raw, err := rawjson.Marshal(token); err == nil {
			own.Token = raw
		}
	}
	return &own
}
