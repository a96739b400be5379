package stdio

import (
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"
)

// The messages of a handshake, for a client that leaves it out. No request has the id, so the answer is discarded.
const (
	handshakeInitialize  = `{"jsonrpc":"2.0","id":"\u0000handshake","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"unknown","version":"0"}}}`
	handshakeInitialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// begin delivers a handshake before the client's first request, unless that is one itself or needs none. Clients that send
// Content-Length headers are older than MCP's handshake, or made for language servers, and may leave it out; the SDK would
// refuse all their requests. begun reports whether there is nothing left to do for later messages.
func (p *pipe) begin(message []byte) (begun bool) {
	m := gjson.ParseBytes(message)
	method := m.Get("method").Str
	switch {
	case method == "", method == "ping", strings.HasPrefix(method, "notifications/"):
		return false
	case method == "initialize", method == "server/discover", m.Get(`params._meta.io\.modelcontextprotocol/protocolVersion`).Exists():
		return true
	}
	for _, text := range []string{handshakeInitialize, handshakeInitialized} {
		if msg, err := jsonrpc.DecodeMessage([]byte(text)); err == nil {
			p.deliver(msg)
		}
	}
	return true
}
