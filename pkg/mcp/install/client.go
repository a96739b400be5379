package install

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// client is a client that a server can be added to.
type client struct {
	name string
	// command returns the client's own command for a scope, and the one that removes the server if the client does not replace it. It is
	// nil for a client without one.
	command func(s Server, scope string) (add, remove []string)
	// file returns the path of the user's configuration file, projectFile is that in a project or "".
	file        func(p places) string
	projectFile string
	snippet     func(s Server) string
}

// Clients returns the names of the clients.
func Clients() []string {
	var names []string
	for _, c := range clients() {
		names = append(names, c.name)
	}
	return names
}

// Files returns the paths of the configuration files of one of Clients, in an environment and on an operating system as
// runtime.GOOS names it: that of the user, and that of a project, relative to its folder; the latter is empty for a client without one.
func Files(name string, env []string, goos string) (user, project string) {
	for _, c := range clients() {
		if c.name == name {
			return c.file(places{env: env, goos: goos}), c.projectFile
		}
	}
	return "", ""
}

func clients() []client {
	return []client{
		{"claude-code", claudeCode, func(p places) string { return filepath.Join(p.variable("CLAUDE_CONFIG_DIR", p.home()), ".claude.json") }, ".mcp.json", mcpServers},
		{"codex", codex, func(p places) string { return filepath.Join(p.variable("CODEX_HOME", p.home(".codex")), "config.toml") }, ".codex/config.toml", codexTable},
		{"gemini", gemini, func(p places) string { return p.home(".gemini", "settings.json") }, ".gemini/settings.json", mcpServers},
		{"claude-desktop", nil, func(p places) string { return p.applicationData("Claude", "claude_desktop_config.json") }, "", mcpServers},
		{"cursor", nil, func(p places) string { return p.home(".cursor", "mcp.json") }, ".cursor/mcp.json", mcpServers},
		{"vscode", vscode, func(p places) string { return p.applicationData("Code", "User", "mcp.json") }, ".vscode/mcp.json", servers},
	}
}

func claudeCode(s Server, scope string) (add, remove []string) {
	return []string{"claude", "mcp", "add-json", "--scope", scope, s.Name, string(compact(typed(s)))},
		[]string{"claude", "mcp", "remove", "--scope", scope, s.Name}
}

func codex(s Server, scope string) (add, remove []string) {
	if scope != User {
		return nil, nil
	}
	add = []string{"codex", "mcp", "add", s.Name}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		add = append(add, "--env", name+"="+s.Env[name])
	}
	return append(append(add, "--", s.Command), s.Args...), nil
}

func gemini(s Server, scope string) (add, remove []string) {
	add = []string{"gemini", "mcp", "add", "--scope", scope}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		add = append(add, "-e="+name+"="+s.Env[name]) // as one word: -e takes all words that follow it
	}
	return append(append(add, s.Name, s.Command), s.Args...), nil
}

func vscode(s Server, scope string) (add, remove []string) {
	if scope != User {
		return nil, nil
	}
	return []string{"code", "--add-mcp", string(compact(named{s.Name, typed(s)}))}, nil
}

// entry is a server as clients configure it in JSON.
type entry struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

type named struct {
	Name string `json:"name"`
	entry
}

// typed returns the entry of a server for a client that wants its transport named.
func typed(s Server) entry { return entry{"stdio", s.Command, s.Args, s.Env} }

func mcpServers(s Server) string {
	return laidOut(map[string]any{"mcpServers": map[string]entry{s.Name: {"", s.Command, s.Args, s.Env}}})
}

func servers(s Server) string {
	return laidOut(map[string]any{"servers": map[string]entry{s.Name: typed(s)}})
}

// codexTable returns a server in TOML, whose basic strings can be written as those of JSON.
func codexTable(s Server) string {
	var b strings.Builder
	b.WriteString("[mcp_servers." + s.Name + "]\ncommand = " + string(compact(s.Command)) + "\n")
	if len(s.Args) > 0 {
		b.WriteString("args = " + string(compact(s.Args)) + "\n")
	}
	if len(s.Env) > 0 {
		b.WriteString("\n[mcp_servers." + s.Name + ".env]\n")
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			b.WriteString(name + " = " + string(compact(s.Env[name])) + "\n")
		}
	}
	return b.String()
}

// compact and laidOut return a value of texts as JSON.
func compact(v any) []byte {
	raw, _ := rawjson.Marshal(v) // texts can always be encoded
	return raw
}

func laidOut(v any) string {
	var b bytes.Buffer
	_ = json.Indent(&b, compact(v), "", "  ") // it is JSON
	return b.String() + "\n"
}

// places finds the configuration files of a user.
type places struct {
	env  []string
	goos string
}

// variable returns the value of a variable of the environment, or otherwise.
func (p places) variable(name, otherwise string) string {
	return cmp.Or(process.Getenv(p.env, name), otherwise)
}

func (p places) home(elem ...string) string {
	return filepath.Join(append([]string{p.variable("HOME", "~")}, elem...)...)
}

// applicationData returns a path in the folder where applications of the desktop keep their files.
func (p places) applicationData(elem ...string) string {
	folder := p.variable("XDG_CONFIG_HOME", p.home(".config"))
	if p.goos == "darwin" {
		folder = p.home("Library", "Application Support")
	}
	return filepath.Join(append([]string{folder}, elem...)...)
}
