package install

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// server needs quoting everywhere.
var server = Server{
	Name: "pflow", Command: "/opt/my bin/pflow-serve", Args: []string{"--toolsets=core,drafts"},
	Env: map[string]string{"PFLOW_HOME": `/home/o'hara/"x" $y`, "B": ""},
}

const (
	typedServer = `{"type":"stdio","command":"/opt/my bin/pflow-serve","args":["--toolsets=core,drafts"],"env":{"B":"","PFLOW_HOME":"/home/o'hara/\"x\" $y"}}`
	plainServer = `{"command":"/opt/my bin/pflow-serve","args":["--toolsets=core,drafts"],"env":{"B":"","PFLOW_HOME":"/home/o'hara/\"x\" $y"}}`
)

func TestSteps(t *testing.T) {
	home := `PFLOW_HOME=/home/o'hara/"x" $y`
	for _, c := range []struct {
		client, scope, goos, file string
		command                   []string
		snippet                   string // "" for one that is not JSON
	}{
		{"claude-code", User, "linux", "/h/.claude.json", []string{"claude", "mcp", "add-json", "--scope", "user", "pflow", typedServer}, `{"mcpServers":{"pflow":` + plainServer + `}}`},
		{"claude-code", Project, "darwin", ".mcp.json", []string{"claude", "mcp", "add-json", "--scope", "project", "pflow", typedServer}, `{"mcpServers":{"pflow":` + plainServer + `}}`},
		{"codex", User, "linux", "/h/.codex/config.toml", []string{"codex", "mcp", "add", "pflow", "--env", "B=", "--env", home, "--", "/opt/my bin/pflow-serve", "--toolsets=core,drafts"}, ""},
		{"codex", Project, "linux", ".codex/config.toml", nil, ""},
		{"gemini", User, "darwin", "/h/.gemini/settings.json", []string{"gemini", "mcp", "add", "--scope", "user", "-e=B=", "-e=" + home, "pflow", "/opt/my bin/pflow-serve", "--toolsets=core,drafts"}, `{"mcpServers":{"pflow":` + plainServer + `}}`},
		{"gemini", Project, "linux", ".gemini/settings.json", []string{"gemini", "mcp", "add", "--scope", "project", "-e=B=", "-e=" + home, "pflow", "/opt/my bin/pflow-serve", "--toolsets=core,drafts"}, `{"mcpServers":{"pflow":` + plainServer + `}}`},
		{"claude-desktop", User, "linux", "/h/.config/Claude/claude_desktop_config.json", nil, `{"mcpServers":{"pflow":` + plainServer + `}}`},
		{"claude-desktop", User, "darwin", "/h/Library/Application Support/Claude/claude_desktop_config.json", nil, `{"mcpServers":{"pflow":` + plainServer + `}}`},
		{"cursor", User, "linux", "/h/.cursor/mcp.json", nil, `{"mcpServers":{"pflow":` + plainServer + `}}`},
		{"cursor", Project, "linux", ".cursor/mcp.json", nil, `{"mcpServers":{"pflow":` + plainServer + `}}`},
		{"vscode", User, "linux", "/h/.config/Code/User/mcp.json", []string{"code", "--add-mcp", `{"name":"pflow",` + typedServer[1:]}, `{"servers":{"pflow":` + typedServer + `}}`},
		{"vscode", User, "darwin", "/h/Library/Application Support/Code/User/mcp.json", []string{"code", "--add-mcp", `{"name":"pflow",` + typedServer[1:]}, `{"servers":{"pflow":` + typedServer + `}}`},
		{"vscode", Project, "linux", ".vscode/mcp.json", nil, `{"servers":{"pflow":` + typedServer + `}}`},
	} {
		t.Run(c.client+" "+c.scope+" "+c.goos, func(t *testing.T) {
			steps, err := For(c.client, c.scope, server, []string{"HOME=/h"}, c.goos)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.command, steps.Command); d != "" || steps.File != c.file {
				t.Errorf("%s\nfile %s", d, steps.File)
			}
			var got, want any
			if c.snippet != "" && (json.Unmarshal([]byte(steps.Snippet), &got) != nil || json.Unmarshal([]byte(c.snippet), &want) != nil || !cmp.Equal(got, want)) {
				t.Errorf("%s", steps.Snippet)
			}
			if table := "[mcp_servers.pflow]\ncommand = \"/opt/my bin/pflow-serve\"\nargs = [\"--toolsets=core,drafts\"]\n\n[mcp_servers.pflow.env]\nB = \"\"\nPFLOW_HOME = \"/home/o'hara/\\\"x\\\" $y\"\n"; c.snippet == "" && steps.Snippet != table {
				t.Errorf("%s", steps.Snippet)
			}
		})
	}
}

func TestFilesThatVariablesMove(t *testing.T) {
	env := []string{"HOME=/h", "CODEX_HOME=/codex", "CLAUDE_CONFIG_DIR=/claude", "XDG_CONFIG_HOME=/config"}
	for client, want := range map[string]string{
		"claude-code": "/claude/.claude.json", "codex": "/codex/config.toml", "claude-desktop": "/config/Claude/claude_desktop_config.json", "vscode": "/config/Code/User/mcp.json",
	} {
		if steps, err := For(client, User, server, env, "linux"); err != nil || steps.File != want {
			t.Errorf("%s: %+v, %v", client, steps, err)
		}
	}
}

func TestUnknownClientsAndScopes(t *testing.T) {
	for _, c := range [][2]string{{"claude-desktop", Project}, {"claude", User}, {"", User}} {
		if _, err := For(c[0], c[1], server, nil, "linux"); fault.From(err) == nil || fault.From(err).Type != fault.Usage || len(fault.From(err).Suggestions) == 0 {
			t.Errorf("%v: %v", c, err)
		}
	}
	if _, err := For("vscod", User, server, nil, "linux"); !slices.Equal(fault.From(err).Available, Clients()) || fault.From(err).Suggestions[0] != `Did you mean "vscode"?` {
		t.Errorf("%+v", err)
	}
}

// TestLine: a shell reads the words of a line as they were.
func TestLine(t *testing.T) {
	words := []string{"printf", `%s\0`, "plain", "", "a b", `o'hara`, `$x "y" \z`, "*", "~", "a\nb", "é", typedServer}
	out, err := exec.Command("/bin/sh", "-c", Line(words)).Output()
	if want := strings.Join(words[2:], "\x00") + "\x00"; err != nil || string(out) != want {
		t.Errorf("%q, not %q: %v", out, want, err)
	}
}

// TestRun: the client's command gets its arguments one by one. What it prints when it fails is in the fault.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	env := []string{"PATH=" + dir + ":/usr/bin:/bin", "OUT=" + filepath.Join(dir, "out")}
	steps := &Steps{Command: []string{"client", "add", "a b", ""}, Remove: []string{"client", "remove"}}
	if ran, err := steps.Run(t.Context(), env); ran || err != nil {
		t.Errorf("without the program: %v, %v", ran, err)
	}
	write := func(script string) {
		if err := os.WriteFile(filepath.Join(dir, "client"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(`printf '<%s>' "$@" > "$OUT"; echo done`)
	if ran, err := steps.Run(t.Context(), env); !ran || err != nil {
		t.Errorf("%v, %v", ran, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "out")); err != nil || string(got) != "<add><a b><>" {
		t.Errorf("%q, %v", got, err)
	}
	write(`echo said; echo why >&2; exit 3`)
	ran, err := steps.Run(t.Context(), env)
	f := fault.From(err)
	f.Address(fault.Shell)
	if !ran || f == nil || f.Type != fault.Execution || f.Details["output"] != "said\nwhy" || !strings.Contains(f.Message, "why") || !strings.Contains(strings.Join(f.Suggestions, ""), "client remove") {
		t.Errorf("%v, %+v", ran, f)
	}
	if ran, err := (&Steps{}).Run(t.Context(), env); ran || err != nil {
		t.Errorf("without a command: %v, %v", ran, err)
	}
}

// TestExecutable: the path that stays when the program is upgraded is chosen, if it leads to the program.
func TestExecutable(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(elem ...string) string { return filepath.Join(append([]string{root}, elem...)...) }
	for _, dir := range []string{"cellar/1.0/bin", "bin", "other", "mine"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program := at("cellar/1.0/bin/pflow-serve")
	err = errors.Join(
		os.WriteFile(program, []byte("program"), 0o700), os.WriteFile(at("other/pflow-serve"), []byte("another"), 0o700),
		os.Symlink("../cellar/1.0/bin/pflow-serve", at("bin/pflow-serve")), os.Symlink(program, at("mine/serve")),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, called, path, want string }{
		{"by name", "pflow-serve", at("bin"), at("bin/pflow-serve")},
		{"by its file, while PATH has a link to it", program, at("bin"), at("bin/pflow-serve")},
		{"by its file, while PATH has another one", program, at("other"), program},
		{"by its file alone", program, "", program},
		{"by a link with its name that is not on PATH", at("bin/pflow-serve"), at("other"), at("bin/pflow-serve")},
		{"by a link with another name", at("mine/serve"), at("other"), at("mine/serve")},
		{"by a path with dots", at("bin") + "/../bin/./pflow-serve", "", at("bin/pflow-serve")},
		{"by something else", "sh", "/bin", program},
		{"by nothing", "", at("bin"), program},
	} {
		if got := Executable(c.called, program, []string{"PATH=" + c.path}); got != c.want {
			t.Errorf("called %s: %s, not %s", c.name, got, c.want)
		}
	}
}
