// Package mcpclient keeps the configuration of MCP servers and talks to them through the client of the official SDK. It
// copes with real servers, which print banners on standard output, ignore or crash on requests that they do not know,
// hang, crash and leave processes behind.
package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// File is the name of the configuration file in the home.
const File = "mcp-servers.json"

// SyncVariable is the variable that marks the processes of the servers that pflow-sync starts. Its value is another one for
// each command.
const SyncVariable = "PFLOW_SYNC_ID"

// The supported transports.
const (
	Stdio = "stdio"
	HTTP  = "http"
)

// Server is the entry of one server. Expand replaces ${VAR} in it.
type Server struct {
	// Command, Args and Env start a server that speaks over its standard input and output.
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	// Type is the transport as the file has it, and may be empty. Transport returns the effective one.
	Type string `json:"type,omitempty"`
	// URL and Headers connect to a server that speaks streamable HTTP.
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// Timeout is the most seconds that a call may take, and the start to the end of the handshake; 0 means 30.
	Timeout float64 `json:"timeout,omitempty"`
	// MaxMemory is the most resident memory of a stdio server's processes, in megabytes of 1,000,000 bytes, before they
	// are killed; 0 means no limit.
	MaxMemory int `json:"max_memory,omitempty"`
	// Disabled forbids to start the server or to connect to it.
	Disabled bool `json:"disabled,omitempty"`

	// rest holds unknown keys, which are preserved when the file is rewritten.
	rest map[string]json.RawMessage
}

// Servers are the configured servers by name.
type Servers map[string]Server

// LoadServers reads the configuration. It is empty if the file does not exist. It may contain invalid entries: Check
// returns what is wrong with one.
func LoadServers(h *home.Home) (Servers, error) {
	doc, err := readDocument(h)
	if err != nil {
		return nil, err
	}
	return doc.servers, nil
}

// ChangeServers reads the configuration, calls change with it and replaces the file atomically, under a lock that every
// program of the suite respects. If change returns an error, nothing is written. Unknown keys are preserved.
func ChangeServers(ctx context.Context, h *home.Home, change func(Servers) error) error {
	return h.Lock(ctx, File, func() error {
		doc, err := readDocument(h)
		if err != nil {
			return err
		}
		if err := change(doc.servers); err != nil {
			return err
		}
		data, err := doc.encode()
		if err != nil {
			return err
		}
		return h.Write(data, 0o600, File)
	})
}

// Get returns a configured server, or the fault not_found "Server NAME not configured".
func (s Servers) Get(name string) (Server, error) {
	if server, ok := s[name]; ok {
		return server, nil
	}
	f := fault.New(fault.NotFound, "Server %s not configured", name)
	names := s.Names()
	if near, ok := fault.Nearest(name, names); ok {
		f.Suggest("Did you mean %q?", near)
	}
	return Server{}, f.Offer(name, names).
		SuggestCommand("pflow-sync add %s -- COMMAND [ARG…] configures it; pflow-sync list shows the configured servers", name).
		SuggestTool("A person configures it with: pflow-sync add %s -- COMMAND [ARG…]", name)
}

// Names returns the names of the servers, sorted.
func (s Servers) Names() []string { return slices.Sorted(maps.Keys(s)) }

// Enabled returns the names of the servers that are not disabled, sorted.
func (s Servers) Enabled() []string {
	return slices.DeleteFunc(s.Names(), func(name string) bool { return s[name].Disabled })
}

// Transport returns Stdio, HTTP, or the entry's type if it is neither.
func (s Server) Transport() string {
	switch strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(s.Type)) {
	case "":
		if s.URL != "" && s.Command == "" {
			return HTTP
		}
		return Stdio
	case "stdio":
		return Stdio
	case "http", "streamablehttp":
		return HTTP
	}
	return s.Type
}

// IsURL reports whether a text is a URL, and so not a command.
func IsURL(text string) bool {
	scheme, rest, ok := strings.Cut(text, "://")
	return ok && rest != "" && scheme != "" && strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+-.") == ""
}

// Check returns a validation_error if an entry is invalid: its transport is neither stdio nor streamable HTTP, it has no
// command or no URL, its command is a URL, or a limit is negative.
func (s Server) Check(name string) error {
	switch s.Transport() {
	case Stdio:
		switch {
		case IsURL(s.Command):
			return invalid(name, "has a URL as its command").Suggest(`Write it as "url", with "type": "http"`).
				SuggestCommand("pflow-sync add %s URL configures a server at a URL", name)
		case s.Command == "" && s.URL != "":
			return invalid(name, "has a url but the transport %s, which needs a command", Stdio).Suggest(`A server at a URL has "type": "http"`)
		case s.Command == "":
			return invalid(name, "has no command").Suggest(`A stdio server has "command" and "args"; one that is reached over the network has "url"`)
		}
	case HTTP:
		if at, err := url.Parse(s.URL); err != nil || !strings.Contains(s.URL, "${") && (at.Host == "" || at.Scheme != "http" && at.Scheme != "https") {
			return invalid(name, "has no usable url").Suggest(`A server of type http has "url", such as https://example.com/mcp`)
		}
	default:
		return invalid(name, "has transport %q, but only stdio and streamable HTTP are supported", s.Type).
			Suggest("Use stdio (a command) or http (streamable HTTP); most servers that offer SSE also offer streamable HTTP, often at /mcp")
	}
	if s.Timeout < 0 || s.MaxMemory < 0 {
		return invalid(name, "has a negative timeout or max_memory")
	}
	return nil
}

// timeout returns the entry's timeout, or the given one if it has none.
func (s Server) timeout(standard time.Duration) time.Duration {
	if s.Timeout > 0 {
		return time.Duration(s.Timeout * float64(time.Second))
	}
	return standard
}

func invalid(name, format string, args ...any) *fault.Fault {
	f := fault.New(fault.Validation, "Server "+name+" "+format, args...)
	f.Path = "mcpServers." + name
	return f
}

// knownKeys returns the keys of an entry that Server has fields for; "transport" is an alias of "type".
func knownKeys() []string {
	return []string{"command", "args", "env", "type", "transport", "url", "headers", "timeout", "max_memory", "disabled"}
}

// UnmarshalJSON reads an entry and keeps its unknown keys.
func (s *Server) UnmarshalJSON(data []byte) error {
	type plain Server // without this method
	var entry struct {
		plain
		Transport string `json:"transport"`
	}
	if err := json.Unmarshal(data, &entry); err != nil {
		return err
	}
	*s = Server(entry.plain)
	if s.Type == "" {
		s.Type = entry.Transport
	}
	if err := json.Unmarshal(data, &s.rest); err != nil {
		return err
	}
	for _, key := range knownKeys() {
		if key != "disabled" || s.Disabled { // "disabled": false is the author's, and has no effect
			delete(s.rest, key)
		}
	}
	return nil
}

// MarshalJSON writes an entry with its unknown keys, sorted.
func (s Server) MarshalJSON() ([]byte, error) {
	type plain Server
	own, err := rawjson.Marshal(plain(s))
	if err != nil {
		return nil, err
	}
	all := maps.Clone(s.rest)
	if err := json.Unmarshal(own, &all); err != nil {
		return nil, err
	}
	return rawjson.Marshal(all)
}

// document is the whole file. rest holds its other top-level keys.
type document struct {
	servers Servers
	rest    map[string]json.RawMessage
}

func readDocument(h *home.Home) (*document, error) {
	data, err := h.Read(File)
	if err != nil {
		return nil, err
	}
	doc := &document{servers: Servers{}, rest: map[string]json.RawMessage{}}
	if len(bytes.TrimSpace(data)) == 0 {
		return doc, nil
	}
	if err := json.Unmarshal(data, &doc.rest); err != nil {
		return nil, unreadable(err)
	}
	if doc.rest == nil {
		return nil, unreadable(errors.New("it is null"))
	}
	for _, key := range []string{"servers", "mcpServers"} { // mcpServers overrides servers
		entries, err := decodeEntries(doc.rest[key], key)
		if err != nil {
			f := fault.From(err)
			f.File = File
			f.Message = File + ": " + f.Message
			return nil, f
		}
		maps.Copy(doc.servers, entries)
		delete(doc.rest, key)
	}
	return doc, nil
}

func unreadable(err error) error {
	f := fault.New(fault.Validation, "%s cannot be read as JSON: %v", File, err)
	f.File = File
	return f.Suggest("Correct the file in the home folder by hand; it has the form {\"mcpServers\":{NAME:{\"command\":…}}}")
}

// decodeEntries reads the object of entries under a key.
func decodeEntries(data json.RawMessage, key string) (Servers, error) {
	if data == nil {
		return nil, nil
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fault.New(fault.Validation, "%q must be an object of servers by name", key)
	}
	servers := Servers{}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		var s Server
		if string(raw[name]) == "null" {
			f := fault.New(fault.Validation, "Server %s cannot be read: it is null, not an object", name)
			f.Path = key + "." + name
			return nil, f
		}
		if err := json.Unmarshal(raw[name], &s); err != nil {
			f := fault.New(fault.Validation, "Server %s cannot be read: %s", name, decodeProblem(err))
			f.Path = key + "." + name
			return nil, f.Suggest(`An entry has "command" (text), "args" (a list of texts) and "env" (an object of texts), or "url" and "headers"`)
		}
		servers[name] = s
	}
	return servers, nil
}

// decodeProblem returns what could not be decoded, without the names of Go types.
func decodeProblem(err error) string {
	if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if te.Field == "" {
			return "it is a " + te.Value + ", not an object"
		}
		return "its " + strings.TrimPrefix(te.Field, "plain.") + " must not be a " + te.Value
	}
	return err.Error()
}

func (d *document) encode() ([]byte, error) {
	entries, err := rawjson.Marshal(d.servers)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(d.rest)
	all["mcpServers"] = entries
	return indented(all)
}

// indented returns v as indented JSON with a newline at its end.
func indented(v any) ([]byte, error) {
	raw, err := rawjson.Marshal(v)
	if err != nil {
		return nil, fault.New(fault.Internal, "cannot write JSON: %v", err)
	}
	var buf bytes.Buffer
	if err := json.Indent(&buf, raw, "", "  "); err != nil {
		return nil, fault.New(fault.Internal, "cannot write JSON: %v", err)
	}
	return append(buf.Bytes(), '\n'), nil
}
