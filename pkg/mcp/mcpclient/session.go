package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Session is a live connection to one server. It is safe for concurrent use.
type Session struct {
	name    string
	timeout time.Duration
	// runs has the runs around the calls, as chain.Key, or is empty.
	runs   string
	log    *slog.Logger
	client *mcp.ClientSession

	// Either child and pipe are set, or web.
	child *process.Process
	stdio *stdioConn
	web   *webClient

	// calls ends all requests when it is cancelled. Its cause is the reason.
	calls       context.Context
	cancelCalls context.CancelCauseFunc
	tokens      atomic.Int64
	inFlight    atomic.Int64
	closing     sync.Once
	cancels     cancellations

	// handshake is the server's result of initialize or server/discover.
	handshake json.RawMessage
	// roots are the folders offered to the server.
	roots        []*mcp.Root //nolint:staticcheck // servers of today use them
	active       *activeCalls
	elicitations elicitations
	// cutOff is when a call was last cancelled because of a question, in nanoseconds since 1970, or 0.
	cutOff   atomic.Int64
	levelSet sync.Once
	// known has the tools of the last list, or nil if they have changed since.
	known atomic.Pointer[[]Tool]
}

// Tool is a tool as its server describes it. Schemas and annotations are the server's bytes, or nil.
type Tool struct {
	Name, Title, Description string
	InputSchema              json.RawMessage
	OutputSchema             json.RawMessage
	Annotations              json.RawMessage
	// More is an object with what else the server says of the tool, such as icons and _meta, or nil.
	More json.RawMessage
}

const (
	// maxTools is the most tools of a server.
	maxTools = 10_000
	// maxPages is the most pages of a server's list of tools.
	maxPages = 1000
	// maxListSize is the most bytes of a server's list of tools. The registry, which has the definitions of all servers' tools, has a
	// limit too.
	maxListSize = 8 << 20
)

// Tools returns all tools, from all pages of the list, and ReadResource if the server offers resources. The server may take its time, but
// must not be silent for listSilence. A list of more than maxPages pages, maxTools tools or maxListSize bytes is refused, and one that
// is no list. What is no tool in the list, such as an object without a name, is left out.
func (s *Session) Tools(ctx context.Context) ([]Tool, error) {
	var tools []Tool
	size := 0
	seen := map[string]bool{}
	for cursor := ""; ; {
		result, err := listing{s, "tools"}.page(ctx, func(ctx context.Context) (mcp.Result, error) {
			return s.client.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		})
		if err != nil {
			return nil, err
		}
		if size += len(result); size > maxListSize {
			return nil, fault.New(fault.TooLarge, "MCP server %s lists more than %d MiB of tools, and was at %d tools", s.name, maxListSize>>20, len(tools))
		}
		page := gjson.ParseBytes(result)
		if f := s.misshapen("tools/list", page, "tools"); f != nil {
			return nil, f
		}
		page.Get("tools").ForEach(func(_, t gjson.Result) bool {
			if name := t.Get("name").Str; name != "" {
				tools = append(tools, Tool{
					Name: name, Title: t.Get("title").Str, Description: t.Get("description").Str,
					InputSchema: object(t, "inputSchema"), OutputSchema: object(t, "outputSchema"), Annotations: object(t, "annotations"),
					More: more(t),
				})
			}
			return true
		})
		if len(tools) > maxTools {
			return nil, fault.New(fault.TooLarge, "MCP server %s lists more than %d tools", s.name, maxTools)
		}
		cursor = page.Get("nextCursor").Str
		if cursor == "" {
			return s.withReader(tools), nil
		}
		if seen[cursor] {
			return nil, fault.New(fault.Protocol, "MCP server %s lists its tools in a loop: page %q was returned twice", s.name, fault.Truncate(cursor, maxSaid))
		}
		if seen[cursor] = true; len(seen) >= maxPages {
			return nil, fault.New(fault.TooLarge, "MCP server %s lists its tools on more than %d pages", s.name, maxPages)
		}
	}
}

// more returns the members of a tool that have no field of their own in Tool, or nil.
func more(t gjson.Result) json.RawMessage {
	var out []byte
	t.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "name", "title", "description", "inputSchema", "outputSchema", "annotations":
			return true
		}
		separator := byte(',')
		if out == nil {
			separator = '{'
		}
		out = append(append(append(append(out, separator), key.Raw...), ':'), value.Raw...)
		return true
	})
	if out == nil {
		return nil
	}
	return append(out, '}')
}

func object(t gjson.Result, key string) json.RawMessage {
	if v := t.Get(key); v.IsObject() {
		return json.RawMessage(v.Raw)
	}
	return nil
}

// bounded makes a request with a time limit, after which it returns the fault late. It then stops a stdio server, unless other
// requests are waiting for it. It does so too when the deadline of ctx passes.
func (s *Session) bounded(ctx context.Context, limit time.Duration, late *fault.Fault, request func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	limited, done := s.within(ctx, limit, late)
	defer done()
	s.inFlight.Add(1)
	result, err := request(limited)
	others := s.inFlight.Add(-1)
	if err == nil {
		return result, nil
	}
	if s.child != nil && others == 0 && errors.Is(limited.Err(), context.DeadlineExceeded) { // the limit, or that of a node
		s.log.Info("The MCP server is stopped after a call that took too long; its state is lost", "server", s.name)
		s.cancelCalls(errClosed) // before the caller goes on, so that the next call gets a new process
		go s.stop(0)
	}
	return nil, err
}

// exchange makes one request and returns the bytes of its result.
func (s *Session) exchange(ctx context.Context, x *pendingRequest, request func(context.Context) (mcp.Result, error)) (json.RawMessage, error) {
	decoded, err := request(x.attach(ctx))
	if s.stdio != nil {
		s.stdio.forget(x)
	}
	result := x.kept()
	if err != nil && ctx.Err() != nil && !errors.Is(err, mcp.ErrConnectionClosed) {
		s.cancels.add(1)
	}
	if err == nil && result == nil { // the SDK took it from its cache
		result, err = rawjson.Marshal(decoded)
	}
	return result, err
}

// within returns a context that ends with ctx, with the fault late after the limit, and with the session. The caller must
// call the returned function.
func (s *Session) within(ctx context.Context, limit time.Duration, late *fault.Fault) (context.Context, func()) {
	limited, cancel := context.WithTimeoutCause(ctx, limit, late)
	both, end := joined(limited, s.calls)
	return both, func() { end(nil); cancel() }
}

// joined returns a context that ends with each of two, and a function that ends it, which the caller must call.
func joined(ctx, other context.Context) (context.Context, context.CancelCauseFunc) {
	both, end := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { end(context.Cause(other)) })
	return both, func(cause error) { stop(); end(cause) }
}

// About returns what the server calls itself, such as "git 1.0.2", and the revision of MCP that the session speaks. Both may be
// empty.
func (s *Session) About() (implementation, protocol string) {
	result := s.client.InitializeResult()
	if result == nil {
		return "", ""
	}
	if result.ServerInfo != nil {
		implementation = strings.TrimSpace(result.ServerInfo.Name + " " + result.ServerInfo.Version)
	}
	return implementation, result.ProtocolVersion
}

// Dead reports whether the session is unusable because the server's process or connection is gone.
func (s *Session) Dead() bool {
	if s.calls.Err() != nil {
		return true
	}
	if s.web != nil {
		return s.web.gone.Load()
	}
	select {
	case <-s.stdio.ended:
		return true
	case <-s.stdio.closed:
		return true
	case <-s.child.Ended():
		return true
	default:
		return false
	}
}

// Close ends all calls, closes the server's standard input, gives the server two seconds to exit, and kills what is left
// of its process group. It ignores how the server exited. It may be called more than once.
func (s *Session) Close() { s.stop(stopPatience) }

func (s *Session) stop(patience time.Duration) {
	s.closing.Do(func() {
		if patience > 0 || s.web != nil {
			s.cancels.wait()
		}
		s.cancelCalls(errClosed)
		if s.child != nil {
			_ = s.stdio.Close()
			s.child.Stop(patience)
			return // the SDK's session ends with the connection
		}
		if s.client != nil {
			closed := make(chan struct{})
			go func() { _ = s.client.Close(); close(closed) }()
			select {
			case <-closed:
			case <-time.After(stopPatience):
			}
		}
		if s.web.login != nil {
			s.web.login.Settle() // a renewed token is stored before the program ends
		}
		s.web.next.CloseIdleConnections()
	})
}

var errClosed = errors.New("the session was closed")

// stderrLog logs a server's standard error, line by line, at debug level.
type stderrLog struct {
	log    *slog.Logger
	server string
	line   []byte
}

func (w *stderrLog) Write(p []byte) (int, error) {
	if !w.log.Enabled(context.Background(), slog.LevelDebug) {
		return len(p), nil
	}
	w.line = append(w.line, p...)
	for {
		line, rest, ok := bytes.Cut(w.line, []byte("\n"))
		if !ok {
			w.line = w.line[max(0, len(w.line)-64<<10):]
			return len(p), nil
		}
		w.log.Debug("MCP server says", "server", w.server, "line", string(bytes.ToValidUTF8(line, []byte("?"))))
		w.line = rest
	}
}
