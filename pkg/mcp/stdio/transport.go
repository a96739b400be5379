// Package stdio carries MCP messages over two streams, such as standard input and standard output. It is a transport of
// the MCP SDK and replaces the SDK's own, which ends the session at the first malformed line and at the end of the input
// drops every answer that is still under way.
//
// What belongs to the streams is decided here: how messages are framed, what is refused because it is not a message,
// batches, ids that are in use, and when the end of the input counts. What a message means is decided above.
package stdio

import (
	"context"
	"io"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Transport connects to a client over two streams. It carries one session, which closes both streams at its end.
//
// Input that is not a message does not end the session. Text that is not JSON is answered with -32700; other JSON, and a
// message over 64 MiB or nested more than 1000 levels, with -32600, under its id where that can be read. MCP has no
// requests whose id is null: they are refused, but notifications with such an id are accepted.
//
// The session sees the end of In when every request is answered, except those that were dropped and the subscriptions,
// which last as long as the session.
type Transport struct {
	In  io.ReadCloser
	Out io.WriteCloser
	// Framing is how messages are separated; the default is FramingNewline. Answers go out in the framing of the requests.
	Framing Framing
	// Log receives what the streams have to report to people; nil discards it.
	Log *slog.Logger
}

// Connect starts to read. It implements mcp.Transport and must be called once. An unknown Framing is an internal fault.
func (t *Transport) Connect(context.Context) (mcp.Connection, error) {
	if err := t.Framing.check(); err != nil {
		return nil, err
	}
	log := t.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	p := newPipe(t.In, t.Out, t.Framing, log)
	go p.readMessages()
	return p, nil
}
