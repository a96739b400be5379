package hostilemcp

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// HTTPKinds returns the names of what a server over HTTP can do wrong, sorted.
func HTTPKinds() []string { return slices.Sorted(maps.Keys(httpKinds())) }

// Handler is a server over streamable HTTP. It misbehaves as the path of a request says: /KIND/STAGE.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, stage, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		misbehave, ok := httpKinds()[kind]
		if !ok {
			http.NotFound(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		a := answerer{ResponseWriter: w, request: r, id: gjson.GetBytes(body, "id").Raw, token: gjson.GetBytes(body, "params._meta.progressToken").Raw}
		method := gjson.GetBytes(body, "method").Str
		known := false
		a.result, known = results(method)
		switch {
		case r.Method == http.MethodDelete && kind == "no-goodbye":
			a.hang()
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case a.id == "":
			w.WriteHeader(http.StatusAccepted)
		case method == stage:
			misbehave(a)
		case known:
			a.sendJSON(a.message())
		default:
			a.sendJSON(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, a.id))
		}
	})
}

// answerer answers one request.
type answerer struct {
	http.ResponseWriter
	request           *http.Request
	id, result, token string
}

// message is the right answer.
func (a answerer) message() string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, a.id, a.result)
}

func (a answerer) sendJSON(text string) { a.send("application/json", text) }

func (a answerer) sendEvent(text string) { a.send("text/event-stream", "data: "+text+"\n\n") }

// send writes a part of the body and flushes it. It returns false when the client is gone.
func (a answerer) send(kind, text string) bool {
	a.Header().Set("Content-Type", kind)
	a.Header().Set("Mcp-Session-Id", "s")
	_, err := io.WriteString(a, text)
	if f, ok := a.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
	return err == nil && a.request.Context().Err() == nil
}

func (a answerer) hang() { <-a.request.Context().Done() }

// endlessly sends a text until the client is gone.
func (a answerer) endlessly(kind, text string) {
	for a.send(kind, text) {
	}
}

func (a answerer) status(code int) { http.Error(a, "out of cheese", code) }

// httpKinds is the table of what a server over HTTP can do wrong.
func httpKinds() map[string]func(answerer) {
	const events = "text/event-stream"
	return map[string]func(answerer){
		"well":       func(a answerer) { a.sendEvent(a.message()) },
		"silent":     func(a answerer) { a.hang() },
		"no-goodbye": func(a answerer) { a.sendJSON(a.message()) },
		"half":       func(a answerer) { m := a.message(); a.sendJSON(m[:len(m)/2]) },
		"broken-off": func(a answerer) { m := a.message(); a.sendJSON(m[:len(m)/2]); panic(http.ErrAbortHandler) },
		"drip": func(a answerer) {
			for a.send("application/json", " ") {
				time.Sleep(100 * time.Millisecond)
			}
		},
		"drip-events": func(a answerer) {
			for a.send(events, ": still here\n\n") {
				time.Sleep(100 * time.Millisecond)
			}
		},
		"endless-json": func(a answerer) {
			a.send("application/json", `{"x":"`)
			a.endlessly("application/json", strings.Repeat("x", 1<<16))
		},
		"endless-event":    func(a answerer) { a.send(events, "data: "); a.endlessly(events, strings.Repeat("x", 1<<16)) },
		"endless-comments": func(a answerer) { a.endlessly(events, ": "+strings.Repeat("x", 1000)+"\n\n") },
		"endless-logs": func(a answerer) {
			a.endlessly(events, "data: "+strings.TrimSpace(notification("message", `{"level":"error","data":"x"}`))+"\n\n")
		},
		"endless-progress": func(a answerer) {
			a.endlessly(events, "data: "+strings.TrimSpace(notification("progress", `{"progressToken":`+orNull(a.token)+`,"progress":-1,"message":"x"}`))+"\n\n")
		},
		"endless-questions": func(a answerer) {
			for i := 0; a.send(events, fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":\"q%d\",\"method\":\"roots/list\"}\n\n", i)); i++ {
			}
		},
		"endless-garbage": func(a answerer) { a.endlessly(events, "data: garbage\n\n") },
		"no-event":        func(a answerer) { a.send(events, "") },
		"event-ids":       func(a answerer) { a.send(events, "id: 1\nretry: 1\ndata: \n\n") },
		"retry-late":      func(a answerer) { a.send(events, "id: 1\nretry: 86400000\ndata: \n\n") },
		"wrong-id":        func(a answerer) { a.sendJSON(`{"jsonrpc":"2.0","id":999,"result":` + a.result + `}`) },
		"twice":           func(a answerer) { a.sendEvent(a.message()); a.sendEvent(a.message()) },
		"garbage":         func(a answerer) { a.sendJSON("out of cheese") },
		"empty":           func(a answerer) { a.sendJSON("") },
		"html":            func(a answerer) { a.send("text/html", "<html><h1>Sign in</h1></html>") },
		"xml":             func(a answerer) { a.send("application/xml", "<x/>") },
		"no-type":         func(a answerer) { a.Header()["Content-Type"] = nil; _, _ = io.WriteString(a, a.message()) },
		"accepted":        func(a answerer) { a.WriteHeader(http.StatusAccepted) },
		"no-content":      func(a answerer) { a.WriteHeader(http.StatusNoContent) },
		"redirect-loop":   func(a answerer) { http.Redirect(a, a.request, a.request.URL.Path, http.StatusTemporaryRedirect) },
		"redirect-away":   func(a answerer) { http.Redirect(a, a.request, "http://127.0.0.1:1/", http.StatusPermanentRedirect) },
		"redirect-get":    func(a answerer) { http.Redirect(a, a.request, a.request.URL.Path, http.StatusFound) },
		"bad-gzip":        func(a answerer) { a.Header().Set("Content-Encoding", "gzip"); a.sendJSON(a.message()) },
		"long-header": func(a answerer) {
			a.Header().Set("Mcp-Session-Id", strings.Repeat("s", 900_000))
			_, _ = io.WriteString(a, a.message())
		},
		"status-401":  func(a answerer) { a.Header().Set("WWW-Authenticate", `Bearer`); a.status(http.StatusUnauthorized) },
		"status-403":  func(a answerer) { a.status(http.StatusForbidden) },
		"status-404":  func(a answerer) { a.status(http.StatusNotFound) },
		"status-429":  func(a answerer) { a.Header().Set("Retry-After", "86400"); a.status(http.StatusTooManyRequests) },
		"status-500":  func(a answerer) { a.status(http.StatusInternalServerError) },
		"status-503":  func(a answerer) { a.status(http.StatusServiceUnavailable) },
		"result-list": func(a answerer) { a.sendJSON(`{"jsonrpc":"2.0","id":` + a.id + `,"result":[]}`) },
		"neither":     func(a answerer) { a.sendJSON(`{"jsonrpc":"2.0","id":` + a.id + `}`) },
		"batch":       func(a answerer) { a.sendJSON("[" + a.message() + "]") },
		"deep": func(a answerer) {
			a.sendJSON(`{"jsonrpc":"2.0","id":` + a.id + `,"result":` + with(a.result, strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)) + `}`)
		},
	}
}
