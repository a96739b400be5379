// Package mcpclient is for MCP servers that other people wrote: which ones are configured, and talking to one through
// the official SDK's client. Real servers print banners on standard output, ignore or die on what they do not know,
// hang, crash and leave processes behind; all that is dealt with here, once.
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

// File is the file of the home that holds the configuration.
const File = "mcp-servers.json"

// The transports that a server may be reached by.
const (
	Stdio = "stdio"
	HTTP  = "http"
)

// Server is the configuration of one server, as its entry has it: ${VAR} is not expanded, see Expand.
type Server struct {
	// Command, Args and Env start a server that speaks over its standard input and output.
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	// Type is Stdio or HTTP, or empty in a file that leaves it to be seen from Command and URL: ask Transport.
	Type string `json:"type,omitempty"`
	// URL and Headers reach a server that speaks streamable HTTP.
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// Timeout is how many seconds a call may take, 30 when it is zero.
	Timeout float64 `json:"timeout,omitempty"`
	// MaxMemory is how many megabytes (of 1,000,000 bytes) the processes of a stdio server may hold resident before
	// they are killed; no limit when it is zero.
	MaxMemory int `json:"max_memory,omitempty"`

	// rest holds the keys that are not ours, for the next rewrite.
	rest map[string]json.RawMessage
}

// Servers are the configured servers by name.
type Servers map[string]Server

// LoadServers reads the configuration. A missing file is no servers. An entry that cannot be used does not keep the
// others from being read: Check says what is wrong with one.
func LoadServers(h *home.Home) (Servers, error) {
	doc, err := readDocument(h)
	if err != nil {
		return nil, err
	}
	return doc.servers, nil
}

// ChangeServers reads the configuration, lets change work on it and replaces the file in one step, all under a lock
// that every program of the suite respects. Nothing is written when change fails. Keys that are not ours survive.
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

// Get finds a configured server. Its fault is not_found "Server NAME not configured".
func (s Servers) Get(name string) (Server, error) {
	if server, ok := s[name]; ok {
		return server, nil
	}
	f := fault.New(fault.NotFound, "Server %s not configured", name)
	f.Available = s.Names()
	if near, ok := fault.Nearest(name, f.Available); ok {
		f.Suggest("Did you mean %q?", near)
	}
	return Server{}, f.Suggest("pflow-sync add %s -- COMMAND [ARG…] configures it; pflow-sync list shows the servers there are", name)
}

// Names lists the servers, sorted.
func (s Servers) Names() []string { return slices.Sorted(maps.Keys(s)) }

// Transport is Stdio, HTTP, or the word in the entry when it is neither.
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

// Check says whether an entry can be used: a validation_error when its transport is neither stdio nor streamable HTTP,
// or lacks its command or URL.
func (s Server) Check(name string) error {
	switch s.Transport() {
	case Stdio:
		if s.Command == "" {
			return invalid(name, "has no command").Suggest(`A stdio server has "command" and "args"; one that is reached over the network has "url"`)
		}
	case HTTP:
		if at, err := url.Parse(s.URL); err != nil || !strings.Contains(s.URL, "${") && (at.Host == "" || at.Scheme != "http" && at.Scheme != "https") {
			return invalid(name, "has no usable url").Suggest(`A server of type http has "url", such as https://example.com/mcp`)
		}
	default:
		return invalid(name, "has transport %q, which is not supported", s.Type).
			Suggest("Use stdio (a command) or http (streamable HTTP); most servers that offer SSE also offer streamable HTTP, often at /mcp")
	}
	if s.Timeout < 0 || s.MaxMemory < 0 {
		return invalid(name, "has a negative timeout or max_memory")
	}
	return nil
}

func (s Server) callTimeout() time.Duration {
	if s.Timeout > 0 {
		return time.Duration(s.Timeout * float64(time.Second))
	}
	return DefaultCallTimeout
}

func invalid(name, format string, args ...any) *fault.Fault {
	f := fault.New(fault.Validation, "Server "+name+" "+format, args...)
	f.Path = "mcpServers." + name
	return f
}

// known are the keys of an entry that Server has fields for; "transport" is another word for "type".
func known() []string {
	return []string{"command", "args", "env", "type", "transport", "url", "headers", "timeout", "max_memory"}
}

// UnmarshalJSON reads an entry and keeps what it does not know.
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
	for _, key := range known() {
		delete(s.rest, key)
	}
	return nil
}

// MarshalJSON writes an entry, its keys sorted.
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

// document is the whole file; rest are its top-level keys besides the servers.
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
	for _, key := range []string{"servers", "mcpServers"} { // what stands under mcpServers wins
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

// decodeEntries reads the object of entries that stands under a key.
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

// decodeProblem says what json could not decode without naming Go's types.
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

// indented writes JSON for people to read, with a newline at its end.
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
