package mcpserver

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
)

const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	methodCancelled   = "notifications/cancelled"
	// keyHeader is where a request carries its key from the connection to the handler. The SDK hands a handler the headers
	// of a request, but not its id.
	keyHeader = "Pflow-Request"
)

// session is one client. It stands between the SDK and the client's transport, of which it is a decorator, and follows
// the requests from their arrival to their answer: which of them are open, why their contexts end, and what is answered
// when the session is stopped.
type session struct {
	table *table // of the server, which may change
	tasks bool   // whether the server has tasks

	mcp.Connection // to the client, from transport
	transport      mcp.Transport
	sdk            *mcp.ServerSession // set before the session is one of the server's
	serving        context.Context    // when it ends, the calls of the session end
	reading        context.Context    // ends when the session is stopped and every request is answered
	endReading     context.CancelFunc
	gone           chan struct{} // closed when the client sends no more

	mu         sync.Mutex
	open       map[string]*openRequest // by key
	unanswered int                     // open requests, and those whose answer is being written
	stopping   bool                    // no further request is accepted
	begun      bool                    // there was an initialize request
	ready      bool                    // the client has spoken since the answer to it
	revision   string                  // which it agreed to
}

// openRequest is a request that has not been answered.
type openRequest struct {
	id        jsonrpc.ID
	method    string
	end       context.CancelCauseFunc // of the handler's context; nil until the handler begins
	cancelled *Ended                  // nil unless the client has cancelled the request
	drop      func()                  // drops the answer, once; nil unless the request is cancelled
}

// dropper is a connection that need not send the answers to cancelled requests.
type dropper interface{ Drop(id jsonrpc.ID) }

// sessionKey is the key of the session in the contexts of its requests.
type sessionKey struct{}

// sessionOf returns the session of a request's context. It returns nil if the SDK was connected in another way than by
// Serve.
func sessionOf(ctx context.Context) *session {
	s, _ := ctx.Value(sessionKey{}).(*session)
	return s
}

func newSession(serving context.Context, transport mcp.Transport, server *Server) *session {
	s := &session{table: &server.table, tasks: server.config.Tasks != nil, transport: transport, serving: serving, gone: make(chan struct{}), open: map[string]*openRequest{}}
	s.reading, s.endReading = context.WithCancel(context.WithoutCancel(serving))
	return s
}

// Connect connects to the client.
func (s *session) Connect(ctx context.Context) (mcp.Connection, error) {
	connection, err := s.transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	s.Connection = connection
	return s, nil
}

// SupportsProtocolVersion reports whether the client's transport can carry a revision (see mcp.ProtocolVersionSupporter).
func (s *session) SupportsProtocolVersion(version string) bool {
	supporter, ok := s.transport.(mcp.ProtocolVersionSupporter)
	return !ok || supporter.SupportsProtocolVersion(version)
}

// Read returns the client's next message. It returns io.EOF when the session is stopped and every request is answered.
func (s *session) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := s.Connection.Read(s.reading)
		if err != nil {
			close(s.gone) // the SDK does not read again
			if s.reading.Err() != nil {
				err = io.EOF
			}
			return nil, err
		}
		if s.take(ctx, msg) {
			return msg, nil
		}
	}
}

// take records what a message does to the session. It reports whether the SDK is to see the message.
func (s *session) take(ctx context.Context, msg jsonrpc.Message) bool {
	request, ok := msg.(*jsonrpc.Request)
	switch {
	case !ok:
		return true
	case request.IsCall():
		if refused := refusedListen(request.Method, request.Params); refused != nil && s.tasks {
			_ = s.Connection.Write(ctx, &jsonrpc.Response{ID: request.ID, Error: refused})
			return false
		}
		return s.begin(ctx, request)
	case request.Method == methodCancelled:
		return s.cancel(request.Params)
	case request.Method == methodInitialized:
		s.mu.Lock()
		s.ready = true
		s.mu.Unlock()
	}
	return true
}

// begin opens a request. A stopped session answers it with an error instead.
func (s *session) begin(ctx context.Context, request *jsonrpc.Request) bool {
	k := key(request.ID)
	s.mu.Lock()
	if s.stopping {
		s.mu.Unlock()
		_ = s.Connection.Write(ctx, &jsonrpc.Response{ID: request.ID, Error: &jsonrpc.Error{
			Code: jsonrpc.CodeInternalError, Message: "The server is being stopped",
		}})
		return false
	}
	defer s.mu.Unlock()
	if s.open[k] != nil {
		return true // the SDK refuses an id that is in use
	}
	s.ready = s.ready || s.begun
	s.open[k] = &openRequest{id: request.ID, method: request.Method}
	s.unanswered++
	tag(request, k)
	return true
}

// cancel ends the context of the request that the client cancels, with the client's reason as the cause, and reports
// whether the SDK is to hear of it. A request that is answered or does not exist cannot be cancelled, and MCP forbids to
// cancel initialize.
func (s *session) cancel(params json.RawMessage) bool {
	given := gjson.GetBytes(params, "requestId")
	id, err := jsonrpc.MakeID(given.Value())
	if n, ok := id.Raw().(int64); err != nil || ok && given.Raw != strconv.FormatInt(n, 10) { // rounded, it is another request's
		return false
	}
	s.mu.Lock()
	request := s.open[key(id)]
	if request == nil || request.cancelled != nil || request.method == methodInitialize {
		s.mu.Unlock()
		return false
	}
	request.cancelled = CancelledFor(gjson.GetBytes(params, "reason").Str)
	request.drop = sync.OnceFunc(func() {
		if d, ok := s.Connection.(dropper); ok {
			d.Drop(id)
		}
	})
	end := request.end
	s.mu.Unlock()
	request.drop()
	if end != nil {
		end(request.cancelled)
	}
	return true
}

// follow has end called when the client cancels the request of a handler.
func (s *session) follow(req mcp.Request, end context.CancelCauseFunc) {
	extra := req.GetExtra()
	if extra == nil {
		return // a notification
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range extra.Header[keyHeader] {
		if request := s.open[k]; request != nil && request.cancelled != nil {
			end(request.cancelled)
		} else if request != nil {
			request.end = end
		}
	}
}

// Write sends a message of the SDK's. It discards the answer to a request that was answered already, and the notification
// of a change to a client that does not expect it.
func (s *session) Write(ctx context.Context, msg jsonrpc.Message) error {
	if s.untimely(msg) {
		return nil
	}
	response, ok := msg.(*jsonrpc.Response)
	if !ok || !response.ID.IsValid() {
		return s.Connection.Write(ctx, msg)
	}
	k := key(response.ID)
	s.mu.Lock()
	request := s.open[k]
	delete(s.open, k) // before the answer is written: then the client may use the id again
	s.mu.Unlock()
	if request == nil {
		return nil
	}
	defer s.answered()
	response.Error = coded(request.method, response.Error)
	if request.cancelled != nil { // MCP wants no answer, but some transports wait for one
		request.drop()
		response.Result, response.Error = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "The request was cancelled"}
	}
	return s.Connection.Write(ctx, response)
}

// answered counts an answer that has been sent.
func (s *session) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unanswered--
	s.checkIdle()
}

// stop has further requests refused. The session ends when the open ones are answered.
func (s *session) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	s.checkIdle()
}

// checkIdle ends the reading of a stopped session without open requests. The mu must be held.
func (s *session) checkIdle() {
	if s.stopping && s.unanswered == 0 {
		s.endReading()
	}
}

// abandon answers every open request with an error.
func (s *session) abandon() {
	s.mu.Lock()
	left := slices.Collect(maps.Values(s.open))
	s.mu.Unlock()
	for _, request := range left {
		_ = s.Write(context.WithoutCancel(s.serving), &jsonrpc.Response{ID: request.id, Error: &jsonrpc.Error{
			Code: jsonrpc.CodeInternalError, Message: "The server was stopped before the request was answered",
		}})
	}
}

// onlyCancelled reports whether requests are open and the client has cancelled all of them.
func (s *session) onlyCancelled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, request := range s.open {
		if request.cancelled == nil {
			return false
		}
	}
	return len(s.open) > 0
}

// key returns the id of a request as text, with a string in quotes.
func key(id jsonrpc.ID) string {
	if text, ok := id.Raw().(string); ok {
		return strconv.Quote(text)
	}
	n, _ := id.Raw().(int64)
	return strconv.FormatInt(n, 10)
}

// tag puts a request's key among its headers.
func tag(request *jsonrpc.Request, key string) {
	tagged := &mcp.RequestExtra{}
	if extra, ok := request.Extra.(*mcp.RequestExtra); ok && extra != nil {
		*tagged = *extra
	}
	if tagged.Header = tagged.Header.Clone(); tagged.Header == nil {
		tagged.Header = http.Header{}
	}
	tagged.Header.Set(keyHeader, key)
	request.Extra = tagged
}
