// Package mcpclient keeps the configuration of MCP servers and talks to them through the client of the official SDK. It
// copes with real servers, which print banners on standard output, ignore or crash on requests that they do not know,
// hang, crash and leave processes behind.
package mcpclient

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
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
	// InheritEnv gives the server all variables of the program that starts it, not only those of environ.Passed.
	InheritEnv bool `json:"inherit_env,omitempty"`
	// Cwd is the folder in which Command is started; empty means that of the run. A relative one is taken from there.
	Cwd string `json:"cwd,omitempty"`
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
		Then(fault.ByPerson("Add it", "pflow-sync add %s -- COMMAND [ARG…]", name), fault.Step{Do: fault.DoListServers})
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
				Then(fault.Command("Add a server at a URL", "pflow-sync add %s URL", name))
		case s.Command == "" && s.URL != "":
			return invalid(name, "has a url but the transport %s, which needs a command", Stdio).Suggest(`A server at a URL has "type": "http"`)
		case s.Command == "":
			return invalid(name, "has no command").Suggest(`A stdio server has "command" and "args"; one that is reached over the network has "url"`)
		}
	case HTTP:
		// A host that is a variable cannot be parsed.
		if at, err := url.Parse(s.URL); !strings.Contains(s.URL, "${") && (err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https") {
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
	f := fault.New(fault.Validation, "Server %s "+format, append([]any{name}, args...)...)
	f.Path = "mcpServers." + name
	return f
}

// Same reports whether two entries define the same server: how it is reached, and its time limit.
func (s Server) Same(other Server) bool {
	return s.Transport() == other.Transport() && s.Command == other.Command && slices.Equal(s.Args, other.Args) && maps.Equal(s.Env, other.Env) && s.InheritEnv == other.InheritEnv &&
		s.Cwd == other.Cwd && s.URL == other.URL && maps.Equal(s.Headers, other.Headers) && s.Timeout == other.Timeout
}

// Limits returns how many seconds the server may take from its start to the end of the handshake, be silent while it lists its tools, and
// take for a call.
func (s Server) Limits() (start, list, call float64) {
	return s.timeout(DefaultStartTimeout).Seconds(), listSilence.Seconds(), s.timeout(DefaultCallTimeout).Seconds()
}
