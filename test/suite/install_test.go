package suite

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// clientsOnPath puts programs with the names of clients on PATH. Each notes its arguments and ends with an exit status.
func (p *place) clientsOnPath(exit string) {
	p.Helper()
	for _, name := range []string{"claude", "codex", "gemini", "code", "cursor"} {
		path := p.write("clients/"+name, "#!/bin/sh\nprintf '<%s>' "+name+" \"$@\" >> \"$HOME/called\"; echo cannot write >&2; exit "+exit+"\n")
		if err := os.Chmod(path, 0o700); err != nil {
			p.Fatal(err)
		}
	}
	p.env = append(p.env, "PATH="+filepath.Join(p.dir, "clients")+":"+bin+":/usr/bin:/bin")
}

// everything returns the paths of all files of the place, one a line.
func (p *place) everything() string {
	p.Helper()
	var list strings.Builder
	err := filepath.WalkDir(p.dir, func(path string, _ fs.DirEntry, err error) error {
		list.WriteString(path + "\n")
		return err
	})
	if err != nil {
		p.Fatal(err)
	}
	return list.String()
}

var installClients = []string{"claude-code", "codex", "gemini", "claude-desktop", "cursor", "vscode"}

// TestInstallRunsTheClientsOwnCommand where it has one, with the absolute path of the server and the home.
func TestInstallRunsTheClientsOwnCommand(t *testing.T) {
	t.Parallel()
	serve := filepath.Join(bin, "pflow-serve")
	for client, want := range map[string]func(p *place) string{
		"claude-code": func(p *place) string {
			return `<claude><mcp><add-json><--scope><user><pflow><{"type":"stdio","command":"` + serve + `","env":{"PFLOW_HOME":"` + p.home + `"}}>`
		},
		"codex": func(p *place) string {
			return "<codex><mcp><add><pflow><--env><PFLOW_HOME=" + p.home + "><--><" + serve + ">"
		},
		"gemini": func(p *place) string {
			return "<gemini><mcp><add><--scope><user><-e=PFLOW_HOME=" + p.home + "><pflow><" + serve + ">"
		},
		"vscode": func(p *place) string {
			return `<code><--add-mcp><{"name":"pflow","type":"stdio","command":"` + serve + `","env":{"PFLOW_HOME":"` + p.home + `"}}>`
		},
		"cursor": nil, "claude-desktop": nil,
	} {
		p := newPlace(t)
		p.clientsOnPath("0")
		before := p.everything()
		d := p.document(p.must("pflow-serve", "install", client))
		if d["success"] != true || d["client"] != client || d["installed"] != (want != nil) || d["snippet"] == "" {
			t.Errorf("%s: %v", client, d)
		}
		if want == nil {
			if after := p.everything(); after != before {
				t.Errorf("%s: there were\n%s, and are\n%s", client, before, after)
			}
		} else if got := p.read("called"); got != want(p) {
			t.Errorf("%s: %s", client, got)
		}
	}
}

// TestInstallPrints with --print, and where the client is not installed. Then nothing is started or written, and the exit
// status is 0.
func TestInstallPrints(t *testing.T) {
	t.Parallel()
	for _, client := range installClients {
		for _, there := range []bool{true, false} {
			p := newPlace(t)
			args := []string{"install", client, "--format", "text"}
			if there {
				p.clientsOnPath("0")
				args = append(args, "--print")
			} else {
				p.env = append(p.env, "PATH=/usr/bin:/bin")
			}
			before := p.everything()
			o := p.run("pflow-serve", args...)
			if o.exit != 0 || o.stderr != "" || !strings.Contains(o.stdout, p.dir+"/.") || !strings.Contains(o.stdout, filepath.Join(bin, "pflow-serve")) || !strings.Contains(o.stdout, p.home) {
				t.Errorf("%s: %s", client, o)
			}
			if after := p.everything(); after != before {
				t.Errorf("%s: there were\n%s, and are\n%s", client, before, after)
			}
		}
	}
}

// TestInstallThatFails shows what the client printed, and the snippet for work by hand.
func TestInstallThatFails(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.clientsOnPath("7")
	for _, client := range []string{"claude-code", "codex", "gemini", "vscode"} {
		o := p.run("pflow-serve", "install", client)
		e, _ := p.document(o.stdout)["error"].(map[string]any)
		details, _ := e["details"].(map[string]any)
		if o.exit != 1 || e["type"] != "execution_error" || details["output"] != "cannot write" || details["snippet"] == nil || details["file"] == nil {
			t.Errorf("%s: %s", client, o)
		}
		o = p.run("pflow-serve", "install", client, "--format", "text")
		if o.exit != 1 || o.stdout != "" || !strings.Contains(o.stderr, "cannot write") || !strings.Contains(o.stderr, filepath.Join(bin, "pflow-serve")) {
			t.Errorf("%s: %s", client, o)
		}
	}
	for _, args := range [][]string{{"install", "vscod"}, {"install"}, {"install", "claude-desktop", "--scope", "project"}} {
		if o := p.run("pflow-serve", args...); o.exit != 2 || !strings.Contains(o.stdout, "usage_error") {
			t.Errorf("%q: %s", args, o)
		}
	}
}

// TestInstallWithToolsets: the client's server gets the toolsets, by flag or from the environment, if they exist.
func TestInstallWithToolsets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  string
		args []string
		want string
	}{
		{"", []string{"--toolsets", "core, drafts"}, "<--toolsets=core,drafts>"},
		{"servers", nil, "<--toolsets=servers>"},
		{"servers", []string{"--toolsets=core"}, "<--toolsets=core>"},
	} {
		p := newPlace(t)
		p.clientsOnPath("0")
		p.env = append(p.env, "PFLOW_TOOLSETS="+c.env)
		p.must("pflow-serve", append([]string{"install", "gemini"}, c.args...)...)
		if got := p.read("called"); !strings.HasSuffix(got, c.want) {
			t.Errorf("%q %q: %s", c.env, c.args, got)
		}
	}
	p := newPlace(t)
	p.clientsOnPath("0")
	if o := p.run("pflow-serve", "install", "gemini", "--toolsets", "draft"); o.exit != 2 || !strings.Contains(o.stdout, "usage_error") || p.exists("called") {
		t.Error(o)
	}
}

// TestInstallInClaudeCode adds the server to the real client, which then starts it.
func TestInstallInClaudeCode(t *testing.T) {
	t.Parallel()
	claude := os.Getenv("CASE_CLAUDE")
	if claude == "" {
		t.Skip("CASE_CLAUDE is not set: use scripts/test --all")
	}
	p := newPlace(t)
	if err := os.Mkdir(filepath.Join(p.dir, "clients"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(claude, filepath.Join(p.dir, "clients", "claude")); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "PATH="+filepath.Join(p.dir, "clients")+":"+bin+":/usr/bin:/bin", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1")
	if d := p.document(p.must("pflow-serve", "install", "claude-code", "--toolsets", "core,drafts")); d["installed"] != true || d["file"] != filepath.Join(p.dir, ".claude.json") {
		t.Errorf("%v", d)
	}
	servers, _ := p.document(p.read(".claude.json"))["mcpServers"].(map[string]any)
	server, _ := servers["pflow"].(map[string]any)
	if server["command"] != filepath.Join(bin, "pflow-serve") || fmt.Sprint(server["args"]) != "[--toolsets=core,drafts]" {
		t.Errorf("%v", servers)
	}
	if o := p.run(claude, "mcp", "list"); o.exit != 0 || !strings.Contains(o.stdout, "pflow") || !strings.Contains(o.stdout, "Connected") {
		t.Error(o)
	}
	if o := p.run("pflow-serve", "install", "claude-code"); o.exit != 1 || !strings.Contains(o.stdout, "mcp remove") {
		t.Errorf("a second time: %s", o)
	}
}
