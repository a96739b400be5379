package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/stdio"
)

// serverMode is the argument with which this program is an MCP server.
const serverMode = "mcp-server"

// serve serves the tool mark, which leaves a side effect, and two tools that say what the server knows: its environment, its arguments
// and the file SAID.
func serve() error {
	schema := json.RawMessage(`{"type":"object","properties":{"node":{"type":"string"},"item":{"type":"integer"}}}`)
	tools := []mcpserver.Tool{{Name: "mark", Description: "Leave a side effect", InputSchema: schema, Call: mark}}
	if file := os.Getenv("SAID"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		said := strings.Join(append(append(os.Environ(), os.Args...), string(text)), "\n")
		fmt.Fprintln(os.Stderr, "starting with", said)
		say := func(failed bool) func(context.Context, *mcpserver.Call) *mcpserver.Result {
			return func(_ context.Context, call *mcpserver.Call) *mcpserver.Result {
				fmt.Fprintln(os.Stderr, "called with", string(call.Arguments))
				return &mcpserver.Result{Text: said + "\n" + string(call.Arguments), IsError: failed}
			}
		}
		described, err := json.Marshal(object{"type": "object", "properties": object{"x": object{"type": "string", "description": "as " + said, "default": said}}})
		if err != nil {
			return err
		}
		tools = append(tools, mcpserver.Tool{Name: "say", Description: "It says " + said, InputSchema: described, Call: say(false)},
			mcpserver.Tool{Name: "fail", InputSchema: json.RawMessage(`{"type":"object"}`), Call: say(true)})
	}
	server, err := mcpserver.New(mcpserver.Config{Name: "trial", Version: "1", Tools: tools})
	if err != nil {
		return err
	}
	return server.Serve(context.Background(), &stdio.Transport{In: os.Stdin, Out: os.Stdout})
}

// mark leaves a side effect. A tool has no key: the server is shared by the nodes of a run.
func mark(_ context.Context, call *mcpserver.Call) *mcpserver.Result {
	item := "-"
	if i := gjson.GetBytes(call.Arguments, "item"); i.Exists() {
		item = i.Raw
	}
	f, err := os.OpenFile(os.Getenv("EFFECTS"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s %s %s - 1 -\n", os.Getenv("PFLOW_RUN_ID"), gjson.GetBytes(call.Arguments, "node").Str, item)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return &mcpserver.Result{Text: err.Error(), IsError: true}
	}
	return &mcpserver.Result{Text: "marked"}
}

// serveMCP configures two MCP servers that are this program: trial, which starts a stray first, and teller, which has more variables
// and arguments. A third one, front, is pflow-serve.
func (t *trial) serveMCP(more object, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	env := object{}
	for name, value := range t.env {
		env[name] = value
	}
	for name, value := range env {
		if _, other := more[name]; !other {
			more[name] = value
		}
	}
	start := func(before string) []string { return []string{"-c", before + `exec "$0" "$@"`, self, serverMode} }
	servers, err := json.Marshal(object{"mcpServers": object{
		"trial":  object{"command": "sh", "args": start(stray), "env": env},
		"teller": object{"command": "sh", "args": append(start(""), args...), "env": more},
		"front":  object{"command": t.rig.program("pflow-serve"), "args": []string{"--log-level", "debug"}, "env": env},
	}})
	return errors.Join(err, os.WriteFile(filepath.Join(t.home, "mcp-servers.json"), servers, 0o600))
}

// echo answers an HTTP request with the request, in a response that has failed below /fail, and as a model's API refuses a key below
// /llm. It sets the cookies that it gets.
func echo(w http.ResponseWriter, r *http.Request) {
	dump, _ := httputil.DumpRequest(r, true)
	user, password, _ := r.BasicAuth()
	text := fmt.Sprintf("%s\nuser %s, password %s, key %s, token %s", dump, user, password, r.FormValue("key"), r.FormValue("token"))
	for _, c := range r.Cookies() {
		http.SetCookie(w, c)
	}
	switch {
	case strings.HasPrefix(r.URL.Path, "/fail"):
		w.WriteHeader(http.StatusInternalServerError)
	case strings.HasPrefix(r.URL.Path, "/llm"):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + r.Header.Get("X-Api-Key")
		_ = json.NewEncoder(w).Encode(object{"type": "error", "error": object{"type": "authentication_error", "code": "invalid_api_key", "message": "Incorrect API key provided: " + key}})
		return
	}
	_, _ = fmt.Fprint(w, text)
}
