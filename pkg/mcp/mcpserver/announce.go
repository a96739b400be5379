package mcpserver

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"
)

// The notifications that a list has changed.
const (
	listChangedTools     = "notifications/tools/list_changed"
	listChangedPrompts   = "notifications/prompts/list_changed"
	listChangedResources = "notifications/resources/list_changed"
	// subscription is where the params of a notification name the subscriptions/listen request that asked for it.
	subscription = `_meta.io\.modelcontextprotocol/subscriptionId`
)

// announce sends a notification to the sessions that the SDK does not send it to, though they ask for it: those that
// began with initialize after a request of the stateless revision. The SDK counts them among the sessions of that
// revision, which have to subscribe.
func (s *Server) announce(method string) {
	if !s.announces(method) {
		return
	}
	s.mu.Lock()
	clients := slices.Collect(maps.Keys(s.sessions))
	s.mu.Unlock()
	for _, client := range clients {
		if params := client.sdk.InitializeParams(); params == nil || params.ProtocolVersion < statelessRevision || !client.isReady() {
			continue
		}
		go func() { // a client that does not read must not hold up the change
			_ = client.Connection.Write(context.WithoutCancel(client.serving), &jsonrpc.Request{Method: method, Params: json.RawMessage("{}")})
		}()
	}
}

// announces reports whether the server has announced that it sends the notification of a change.
func (s *Server) announces(method string) bool {
	switch method {
	case listChangedTools:
		return s.config.ToolsChange
	case listChangedPrompts:
		return s.config.PromptsChange
	case listChangedResources:
		return s.config.ResourcesChange
	}
	return false
}

// isReady reports whether the session has begun with initialize and the client may be sent notifications.
func (s *session) isReady() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun && s.ready
}

// untimely reports whether a message of the SDK's announces a change too early: while more changes of the tools follow, or to a
// client that has not subscribed and is not ready, and so has not listed anything yet.
func (s *session) untimely(msg jsonrpc.Message) bool {
	notification, ok := msg.(*jsonrpc.Request)
	if !ok {
		return false
	}
	switch notification.Method {
	case listChangedTools, listChangedPrompts, listChangedResources:
	default:
		return false
	}
	if s.table.changing.Load() && notification.Method == listChangedTools {
		return true
	}
	return !gjson.GetBytes(notification.Params, subscription).Exists() && !s.isReady()
}
