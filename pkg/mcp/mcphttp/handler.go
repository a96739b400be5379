// Package mcphttp serves MCP over streamable HTTP, for every protocol revision from 2025-03-26 to 2026-07-28. Each POST stands for itself:
// the id of a session, which initialize gives to clients of the revisions that have sessions, says only whose request a cancellation means.
// Nothing is kept of a session, so any id will do, also one of another server or of one that was there before.
//
// The SDK's handlers answer all requests with JSON, or all with a stream. A Handler has one of each over the same servers, and
// chooses by what the client accepts. It checks requests before the SDK sees them, so that every refusal is an error of JSON-RPC,
// keeps streams alive through proxies, and knows why a call ends.
package mcphttp

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/message"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Client is who sends a request, as Config.Client finds out.
type Client struct {
	// Name tells clients with different rights apart. It is "" for all that need no credential.
	Name string
	// Server answers the client's requests.
	Server *mcpserver.Server
}

// Config is what a Handler serves.
type Config struct {
	// Name, Version and Description are what the health document says about the server.
	Name, Version, Description string
	// Client returns who sends a request. The error is a *Denied if the request must not be served.
	Client func(*http.Request) (*Client, error)
	// Health returns the client whose tools the health document names, or nil: then the document names none. Its error is that of
	// Client.
	Health func(*http.Request) (*Client, error)
	// Continued names the tool whose streams a client can go on with after it has lost them. It may be empty.
	Continued string
	// Log receives what the protocol has to report to people; nil discards it.
	Log *slog.Logger
}

// Denied is the error for a client that may not call.
type Denied struct {
	// Status is the HTTP status: 401 or 403.
	Status int
	// Challenge is the value of WWW-Authenticate; it may be empty.
	Challenge string
	Message   string
}

func (d *Denied) Error() string { return d.Message }

// Handler is the MCP endpoint. New makes one.
type Handler struct {
	config       Config
	log          *slog.Logger
	json, stream http.Handler
	calls        *calls
}

const (
	// maxBody is the most bytes of a request's body.
	maxBody = 4 << 20
	// maxBatch is the most messages of a batch.
	maxBatch = 50
	// allowed are the methods of the endpoint.
	allowed = "GET, HEAD, OPTIONS, POST"
)

// New makes a handler.
func New(config Config) *Handler {
	h := &Handler{config: config, log: config.Log, calls: newCalls()}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	server := func(r *http.Request) *mcp.Server { return clientOf(r).Server.SDK() }
	options := mcp.StreamableHTTPOptions{
		Stateless: true, Logger: h.log, MaxRequestBodyBytes: maxBody,
		DisableLocalhostProtection: true, // Guard checks hosts and origins, with those of --public-url
	}
	h.stream = mcp.NewStreamableHTTPHandler(server, &options)
	options.JSONResponse = true
	h.json = mcp.NewStreamableHTTPHandler(server, &options)
	return h
}

// Drain returns how Serve stops the handler: subscriptions end at once, and calls may take some time before their contexts end.
func (h *Handler) Drain(patience time.Duration) Drain {
	return Drain{Begin: h.calls.endSubscriptions, End: h.calls.endAll, Time: patience}
}

// clientKey is the key of the *Client in a request's context.
type clientKey struct{}

func clientOf(r *http.Request) *Client {
	c, _ := r.Context().Value(clientKey{}).(*Client)
	return c
}

// ServeHTTP answers POST with MCP, and GET with the health document or with the rest of a stream.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	switch r.Method {
	case http.MethodPost:
		h.post(w, r)
	case http.MethodGet, http.MethodHead:
		switch {
		case !parseAccept(r.Header).stream:
			h.health(w, r)
		case r.Method == http.MethodGet && h.continues(r) && r.Header.Get(lastEventID) != "":
			h.resume(w, r)
		default:
			refuse(w, http.StatusMethodNotAllowed, jsonrpc.CodeInvalidRequest, "The server has no stream for GET: changes are announced on the stream of subscriptions/listen")
		}
	case http.MethodOptions:
		w.Header().Set("Allow", allowed)
		w.WriteHeader(http.StatusNoContent)
	default:
		refuse(w, http.StatusMethodNotAllowed, jsonrpc.CodeInvalidRequest, "The method is not allowed: send each message with POST; a session needs no end")
	}
}

// health writes the health document.
func (h *Handler) health(w http.ResponseWriter, r *http.Request) {
	tools := []string{}
	c, err := h.config.Health(r)
	if err != nil {
		deny(w, err)
		return
	}
	if c != nil {
		tools = c.Server.ToolNames()
	}
	document, err := rawjson.Marshal(struct {
		Name            string   `json:"name"`
		Version         string   `json:"version"`
		ProtocolVersion string   `json:"protocolVersion"`
		Description     string   `json:"description"`
		Tools           []string `json:"tools"`
	}{h.config.Name, h.config.Version, mcpserver.NewestRevision, h.config.Description, tools})
	if err != nil {
		h.log.Error("the health document cannot be written", "error", err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(document) // that the client is gone needs no report
}

// post answers one message, or a batch of them.
func (h *Handler) post(w http.ResponseWriter, r *http.Request) {
	client, err := h.config.Client(r)
	if err != nil {
		deny(w, err)
		return
	}
	in, status, refused := read(w, r)
	if refused != nil {
		refuseAs(w, status, refused)
		return
	}
	form := parseAccept(r.Header).form(in)
	if form == formNone {
		refuse(w, http.StatusNotAcceptable, jsonrpc.CodeInvalidRequest, "Accept names neither application/json nor text/event-stream")
		return
	}
	if in.cancels != nil {
		h.calls.cancel(callKey{identify(client, r), in.cancels.request}, in.cancels.reason, h.log)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	h.answer(w, r, client, in, form, "")
}

// answer has the SDK answer what a request has asked for. after is the place that a stream goes on from, or empty.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, client *Client, in *input, form form, after string) {
	open := h.calls.begin(identify(client, r), in)
	defer open.end()
	ctx := r.Context()
	unfollow := context.AfterFunc(ctx, func() {
		why := errors.New("the client closed the connection")
		if d := revoked(ctx); d != nil {
			why = d
		}
		open.stop(&mcpserver.Ended{By: mcpserver.Gone, Err: why})
	})
	defer unfollow()
	sender := mcpserver.Sender{Name: client.Name, Person: fromPage(r)}
	r = r.WithContext(mcpserver.WithEnding(mcpserver.WithSender(context.WithValue(ctx, clientKey{}, client), sender), open.ctx))
	r.Body = in.body()
	r.Header.Set("Accept", "application/json, text/event-stream") // the SDK wants both
	if in.method == "initialize" {
		w.Header().Set(sessionHeader, rand.Text())
	}
	out := newResponse(w, form == formStream, in)
	defer func() { out.close(revoked(ctx)) }()
	if form == formStream {
		if len(in.ids) == 1 {
			out.identified = h.continues(r)
			r = r.WithContext(mcpserver.WithStream(r.Context(), &mcpserver.Stream{Token: in.ids[0], Send: out.send, After: after}))
		}
		client.Server.CheckTasks(h.stream).ServeHTTP(out, r)
		return
	}
	client.Server.CheckTasks(h.json).ServeHTTP(out, r)
}

// fromPage reports whether a request comes from a page of the server: it has an Origin, which only browsers send, and the guard has let none
// through but the server's own.
func fromPage(r *http.Request) bool { return r.Header.Get("Origin") != "" }

// deny answers a client that may not call.
func deny(w http.ResponseWriter, err error) {
	d := &Denied{}
	if !errors.As(err, &d) {
		d = &Denied{Status: http.StatusInternalServerError, Message: err.Error()}
	}
	if d.Challenge != "" {
		w.Header().Set("WWW-Authenticate", d.Challenge)
	}
	refuse(w, d.Status, jsonrpc.CodeInvalidRequest, d.Message)
}

// refuse answers a request with an HTTP status and an error of JSON-RPC without an id.
func refuse(w http.ResponseWriter, status int, code int64, text string) {
	refuseAs(w, status, &message.Refusal{Code: code, Message: text})
}

func refuseAs(w http.ResponseWriter, status int, refused *message.Refusal) {
	if status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", allowed)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(refused.Encode()) // that the client is gone needs no report
}
