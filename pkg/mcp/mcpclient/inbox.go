package mcpclient

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The methods of messages from a server that the session handles.
const (
	progressed   = "notifications/progress"
	logMessage   = "notifications/message"
	toolsChanged = "notifications/tools/list_changed"
	elicited     = "elicitation/create"
)

// inbox takes what a server sends of itself.
type inbox struct{ *Session }

// received takes a notification or a request of the server before the SDK does. x is the request that it came with, or nil if the
// transport does not know. It reports whether the SDK needs the message too.
func (s inbox) received(x *pendingRequest, method string, params json.RawMessage) bool {
	var a *attempt
	if x != nil {
		a = x.attempt
	}
	switch method {
	case progressed:
		for _, a := range s.active.all() {
			a.report(params)
		}
		return false
	case logMessage:
		s.logged(a, params)
		return false
	case toolsChanged:
		s.known.Store(nil)
		return false
	case elicited:
		s.elicitations.add(elicitation{params, a})
	}
	return true
}

// stateless reports whether the session speaks a revision without a handshake.
func (s *Session) stateless() bool {
	result := s.client.InitializeResult()
	return result != nil && result.ProtocolVersion >= statelessVersion
}

// listed returns the tools of the server as it has listed them. It lists them again if they have changed since, if the tool is not
// among them, or if the transport does not pass on that they change.
func (a *attempt) listed(ctx context.Context) ([]Tool, error) {
	if known := a.known.Load(); known != nil && a.stdio != nil && slices.ContainsFunc(*known, func(t Tool) bool { return t.Name == a.Tool }) {
		return *known, nil
	}
	fresh := &[]Tool{}
	a.known.Store(fresh) // before the request, so that a change meanwhile is noticed
	tools, err := a.Tools(ctx)
	if err != nil {
		a.known.CompareAndSwap(fresh, nil)
		return nil, err
	}
	a.known.CompareAndSwap(fresh, &tools)
	return tools, nil
}

// clientOptions returns what the client offers to a server: its roots, and to ask a person.
func (s inbox) clientOptions(spec Spec, version string) *mcp.ClientOptions {
	offered := &mcp.ClientCapabilities{}
	if spec.Dir != "" {
		offered.RootsV2 = &mcp.RootCapabilities{} //nolint:staticcheck // servers of today use them
	}
	if version == statelessVersion {
		offered.AddExtension(tasksExtension, map[string]any{})
	}
	return &mcp.ClientOptions{
		Capabilities: offered, ElicitationHandler: s.elicit, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	}
}
