// Package llmserver is a server for tests that stands in for a language model. It has the OpenAI chat completions and responses
// APIs and the Anthropic messages API, with and without streaming, as their references describe them. Its answers come from a
// script in the prompt.
package llmserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// The APIs of the server.
const (
	Chat      = "chat"
	Messages  = "messages"
	Responses = "responses"
)

// Server is a running server. It listens on the loopback interface.
type Server struct {
	// URL is the URL of the server without a path. The base URL of an OpenAI client is URL + "/v1", that of an Anthropic client is
	// URL.
	URL string
	// Reply returns the answer to a request. The default is Scripted. Set it before the first request.
	Reply func(*Request) Answer
	// Key is the API key that requests must have, if it is not empty. Set it before the first request.
	Key string
	// Models are the models that the server lists and accepts. If it is empty, it accepts every model. Set it before the first request.
	Models []string

	server *httptest.Server

	mu       sync.Mutex
	requests []*Request
	failed   map[string]int // how many times a [[status …]] has been answered, by the text of the request
	next     int
}

// Start starts a server and closes it at the end of the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := New()
	t.Cleanup(s.Close)
	return s
}

// New starts a server. The caller must close it.
func New() *Server {
	s := &Server{failed: map[string]int{}}
	s.Reply = s.Scripted
	mux := http.NewServeMux()
	for _, base := range []string{"/v1", ""} {
		mux.HandleFunc("POST "+base+"/chat/completions", s.serve(chat{}))
		mux.HandleFunc("POST "+base+"/messages", s.serve(messages{}))
		mux.HandleFunc("POST "+base+"/responses", s.serve(responses{}))
		mux.HandleFunc("POST "+base+"/messages/count_tokens", s.countTokens)
		mux.HandleFunc("GET "+base+"/models", s.listModels)
	}
	mux.HandleFunc("HEAD /{$}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, http.StatusNotFound, map[string]any{"error": map[string]any{"type": "not_found_error", "message": "There is nothing at " + r.Method + " " + r.URL.Path}})
	})
	s.server = httptest.NewServer(mux)
	s.URL = s.server.URL
	return s
}

// Close stops the server and aborts its responses.
func (s *Server) Close() {
	s.server.CloseClientConnections()
	s.server.Close()
}

// Requests returns the requests so far, oldest first.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Request(nil), s.requests...)
}

// api reads the requests and writes the answers of an API.
type api interface {
	// read sets the fields of a request from its body.
	read(body []byte, r *Request) error
	// write writes an answer as one JSON document.
	write(w http.ResponseWriter, r *Request, a *Answer)
	// stream writes an answer as server-sent events.
	stream(w http.ResponseWriter, r *Request, a *Answer)
	// fail writes an error.
	fail(w http.ResponseWriter, status int, kind, code, message string)
}

// maxBody is the maximum size of a request in bytes.
const maxBody = 64 << 20

// serve returns the handler of an API.
func (s *Server) serve(api api) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		body, err := io.ReadAll(io.LimitReader(hr.Body, maxBody))
		if err != nil {
			return
		}
		r := &Request{Header: hr.Header.Clone(), Body: body, Path: hr.URL.Path}
		if err := api.read(body, r); err != nil {
			api.fail(w, http.StatusBadRequest, "invalid_request_error", "", "We could not parse the JSON body of your request: "+err.Error())
			return
		}
		s.record(r)
		if s.Key != "" && r.Key() != s.Key {
			api.fail(w, http.StatusUnauthorized, "authentication_error", "invalid_api_key", "Incorrect API key provided: "+r.Key())
			return
		}
		if !s.knows(r.Model) {
			api.fail(w, http.StatusNotFound, "not_found_error", "model_not_found", "The model `"+r.Model+"` does not exist or you do not have access to it.")
			return
		}
		answer := s.Reply(r)
		if !wait(hr.Context(), answer.Delay) {
			return
		}
		answer.complete(r)
		for name, value := range answer.Header {
			w.Header().Set(name, value)
		}
		switch {
		case answer.Status >= http.StatusBadRequest:
			api.fail(w, answer.Status, answer.ErrorType, answer.ErrorCode, answer.Error)
		case r.Stream:
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Cache-Control", "no-cache")
			api.stream(w, r, &answer)
		default:
			api.write(w, r, &answer)
		}
	}
}

// record numbers a request and appends it to the requests.
func (s *Server) record(r *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	r.Number = s.next
	s.requests = append(s.requests, r)
}

func (s *Server) knows(model string) bool {
	return len(s.Models) == 0 || slices.Contains(s.Models, model)
}

// wait waits for a duration. It returns false if the client closes the connection before.
func wait(ctx context.Context, d time.Duration) (ok bool) {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *Server) countTokens(w http.ResponseWriter, hr *http.Request) {
	body, err := io.ReadAll(io.LimitReader(hr.Body, maxBody))
	if err != nil {
		return
	}
	r := &Request{}
	if err := (messages{}).read(body, r); err != nil {
		(messages{}).fail(w, http.StatusBadRequest, "invalid_request_error", "", err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"input_tokens": r.tokens()})
}

// listModels writes the models in a form that fits both APIs.
func (s *Server) listModels(w http.ResponseWriter, _ *http.Request) {
	data := []any{}
	for _, m := range s.Models {
		data = append(data, map[string]any{
			"id": m, "object": "model", "created": 1700000000, "owned_by": "test",
			"type": "model", "display_name": m, "created_at": "2023-11-14T22:13:20Z",
		})
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": data, "has_more": false})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	raw, err := rawjson.Marshal(v)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte(`{}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

// event writes a server-sent event. The name may be empty.
func event(w http.ResponseWriter, name string, data any) {
	var b bytes.Buffer
	if name != "" {
		b.WriteString("event: " + name + "\n")
	}
	raw, ok := data.(json.RawMessage)
	if !ok {
		raw, _ = rawjson.Marshal(data)
	}
	b.WriteString("data: ")
	b.Write(raw)
	b.WriteString("\n\n")
	_, _ = w.Write(b.Bytes())
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// pieces splits a text into the parts of a stream.
func pieces(text string) []string {
	const size = 16
	var parts []string
	part := ""
	for _, r := range text {
		part += string(r)
		if len(part) >= size {
			parts, part = append(parts, part), ""
		}
	}
	if part != "" {
		parts = append(parts, part)
	}
	return parts
}
