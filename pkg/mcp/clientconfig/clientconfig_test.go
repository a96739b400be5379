package clientconfig_test

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/clientconfig"
	"github.com/pflow-suite/pflow/pkg/mcp/install"
)

// files are the files that exist, by their paths.
type files map[string]string

func (f files) read(path string) ([]byte, error) {
	if content, ok := f[path]; ok {
		return []byte(content), nil
	}
	return nil, fs.ErrNotExist
}

// entry returns the only server of a file with the given entry.
func entry(t *testing.T, client, project, source string) clientconfig.Entry {
	t.Helper()
	switch client {
	case "codex":
		source = "[mcp_servers.s]\n" + source
	case "vscode":
		source = `{"inputs":[{"id":"api-key","type":"promptString","password":true,"default":"p"},{"id":"9 host","type":"promptString","default":"localhost"},{"id":"cmd","type":"command"}],"servers":{"s":` + source + `}}`
	default:
		source = `{"mcpServers":{"s":` + source + `}}`
	}
	have := files{"/proj/.env": "# comment\nexport A='x y'\nB=\"1\\n2\" # comment\nC = plain # comment\n\nD=\n", "/proj/bad.env": "A=1\nnonsense\n"}
	entries, err := clientconfig.Parse(client, "/file", project, []byte(source), have.read)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%s: %d entries, %v", source, len(entries), err)
	}
	return entries[0]
}

func TestEntriesOfClients(t *testing.T) {
	for _, c := range []struct {
		client, project, source string
		// want is the entry, or what the fault must name after "!".
		want    string
		differs int
	}{
		{"claude-code", "", `{"type":"stdio","command":"${BIN:-npx}","args":["-y","${HOME}/x","$HOME","100%"],"env":{"KEY":"v1","PORT":80},"timeout":90000}`,
			`{"args":["-y","${HOME}/x","$HOME","100%"],"command":"${BIN:-npx}","env":{"KEY":"v1","PORT":"80"},"timeout":90,"type":"stdio"}`, 0},
		{"claude-code", "/proj", `{"command":"./serve","args":["${CLAUDE_PROJECT_DIR}/data"]}`,
			`{"args":["/proj/data"],"command":"./serve","cwd":"/proj","type":"stdio"}`, 0},
		{"claude-code", "", `{"type":"http","url":"https://${HOST}/mcp","headers":{"Authorization":"Bearer ${TOKEN}"},"oauth":{"clientId":"a"}}`,
			`{"headers":{"Authorization":"Bearer ${TOKEN}"},"type":"http","url":"https://${HOST}/mcp"}`, 1},
		{"claude-code", "", `{"type":"sse","url":"https://example.com/sse"}`, "!sse", 0},
		{"claude-code", "", `{"type":"ws","url":"wss://example.com"}`, "!ws", 0},
		{"claude-code", "", `{"type":"http","url":"https://example.com/mcp","headersHelper":"x"}`, "!headersHelper", 0},
		{"claude-code", "", `{"command":"x","args":["${env:HOME}"]}`, "!args", 0},
		{"claude-code", "", `{"command":"x","args":"y"}`, "!args must be a list of texts", 0},
		{"claude-code", "", `null`, "!object", 0},
		{"claude-code", "", `{}`, "!command", 0},

		{"claude-desktop", "", `{"command":"npx","args":["$HOME","${"],"env":{"A":"b"}}`, `{"args":["$HOME","${"],"command":"npx","env":{"A":"b"},"type":"stdio"}`, 0},
		{"claude-desktop", "", `{"command":"npx","env":{"A":"x${HOME}"}}`, "!env.A", 0},

		{"cursor", "", `{"command":"${userHome}/bin/x","args":["${env:A}","a${/}b"],"env":{"K":"${env:KEY}"},"trust":true}`,
			`{"args":["${A}","a/b"],"command":"${HOME}/bin/x","env":{"K":"${KEY}"},"type":"stdio"}`, 0},
		{"cursor", "/proj", `{"command":"x","args":["${workspaceFolder}/a","${workspaceFolderBasename}"],"envFile":".env","cwd":"sub"}`,
			`{"args":["/proj/a","proj"],"command":"x","cwd":"/proj/sub","env":{"A":"x y","B":"1\n2","C":"plain","D":""},"type":"stdio"}`, 1},
		{"cursor", "/proj", `{"command":"x","envFile":"bad.env"}`, "!line 2", 0},
		{"cursor", "/proj", `{"command":"x","envFile":"none.env"}`, "!envFile", 0},
		{"cursor", "", `{"command":"x","args":["${workspaceFolder}/a"]}`, "!workspaceFolder", 0},
		{"cursor", "", `{"command":"x","args":["${HOME}"]}`, "!args", 0},
		{"cursor", "", `{"url":"https://example.com/mcp","headers":{"A":"${env:A}"},"auth":{"CLIENT_ID":"a"}}`, `{"headers":{"A":"${A}"},"type":"http","url":"https://example.com/mcp"}`, 1},

		{"vscode", "/proj", `{"type":"stdio","command":"x","args":["${input:9 host}"],"env":{"K":"${input:api-key}","N":null},"sandboxEnabled":true}`,
			`{"args":["${_9_HOST:-localhost}"],"command":"x","cwd":"/proj","env":{"K":"${API_KEY}"},"type":"stdio"}`, 4},
		{"vscode", "/proj", `{"command":"x","cwd":"${workspaceFolder}/sub","envFile":"${workspaceFolder}/.env"}`,
			`{"command":"x","cwd":"/proj/sub","env":{"A":"x y","B":"1\n2","C":"plain","D":""},"type":"stdio"}`, 1},
		{"vscode", "", `{"command":"x","args":["${input:cmd}"]}`, "!args", 0},
		{"vscode", "", `{"command":"x","args":["${input:none}"]}`, "!args", 0},
		{"vscode", "", `{"command":"x","args":["${config:a.b}"]}`, "!config", 0},
		{"vscode", "", `{"type":"http","url":"unix:///tmp/x"}`, "!url", 0},

		{"codex", "", "command='npx'\nargs=['-y','$HOME']\nenv={A='b'}\nenv_vars=['TOKEN',{name='T2',source='local'}]\nenabled=false\nstartup_timeout_sec=20\ntool_timeout_sec=90.5\n",
			`{"args":["-y","$HOME"],"command":"npx","disabled":true,"env":{"A":"b","T2":"${T2}","TOKEN":"${TOKEN}"},"timeout":90.5,"type":"stdio"}`, 0},
		{"codex", "", "url='https://example.com/mcp'\nbearer_token_env_var='DOCS_TOKEN'\nhttp_headers={A='b'}\nenv_http_headers={C='D'}\nenabled_tools=['x']\n",
			`{"headers":{"A":"b","Authorization":"Bearer ${DOCS_TOKEN}","C":"${D}"},"type":"http","url":"https://example.com/mcp"}`, 1},
		{"codex", "", "command='x'\nenv_vars=[{name='T',source='remote'}]\n", "!remote", 0},
		{"codex", "", "url='https://example.com/mcp'\nbearer_token_env_var='not a name'\n", "!bearer_token_env_var", 0},
		{"codex", "", "command='x'\nenv={A='${B}'}\n", "!env.A", 0},

		{"gemini", "", `{"command":"x","args":["$A/b","${C:-d}","$1","$$A"],"timeout":5000,"trust":true,"includeTools":["a"],"cwd":"/srv"}`,
			`{"args":["${A}/b","${C:-d}","$1","$${A}"],"command":"x","cwd":"/srv","timeout":5,"type":"stdio"}`, 1},
		{"gemini", "", `{"httpUrl":"https://example.com/mcp","headers":{"Authorization":"Bearer $T"}}`, `{"headers":{"Authorization":"Bearer ${T}"},"type":"http","url":"https://example.com/mcp"}`, 0},
		{"gemini", "", `{"url":"https://example.com/mcp","type":"http"}`, `{"type":"http","url":"https://example.com/mcp"}`, 0},
		{"gemini", "", `{"url":"https://example.com/sse","type":"sse"}`, "!sse", 0},
		{"gemini", "", `{"url":"https://example.com/mcp","authProviderType":"google_credentials"}`, "!authProviderType", 0},
	} {
		got := entry(t, c.client, c.project, c.source)
		if want, ok := strings.CutPrefix(c.want, "!"); ok {
			if got.Fault == nil || got.Fault.Type != fault.Validation || !strings.Contains(got.Fault.Message, want) {
				t.Errorf("%s %s: the fault is %v, want one of %s", c.client, c.source, got.Fault, want)
			}
			continue
		}
		server, err := json.Marshal(got.Server)
		if err != nil || got.Fault != nil || string(server) != c.want || len(got.Differs) != c.differs {
			t.Errorf("%s %s:\ngot  %s, %v, %v\nwant %s and %d differences", c.client, c.source, server, got.Fault, got.Differs, c.want, c.differs)
		}
	}
}

// TestFilesOfClients: the files are where the clients have them, and those that are broken stop no other.
func TestFilesOfClients(t *testing.T) {
	have := files{
		"/home/u/.claude.json": "{\"mcpServers\":{\"user\":{\"command\":\"a\"}},\"projects\":{\"/other\":{\"mcpServers\":{\"local\":{\"command\":\"a\"}}},\"/none\":{}}}",
		"/proj/.mcp.json":      `{"mcpServers":{"shared":{"command":"a"}}}`,
		"/home/u/.config/Claude/claude_desktop_config.json": `{"mcpServers":{"desk":{"command":"a"}}}`,
		"/home/u/.cursor/mcp.json":                          "{\"mcpServers\": {\n\"x\": }",
		"/home/u/.config/Code/User/mcp.json":                "\uFEFF// comment\n{\"servers\":{\"code\":{\"command\":\"a\",},},}",
		"/proj/.vscode/mcp.json":                            ``,
		"/home/u/.codex/config.toml":                        "model = 'x'\nwhen = 2026-01-01\n[mcp_servers.dex]\ncommand = 'a'\n",
		"/proj/.codex/config.toml":                          "[mcp_servers.\n",
		"/home/u/.gemini/settings.json":                     `{"mcpServers":[]}`,
	}
	search := clientconfig.Search{Env: []string{"HOME=/home/u"}, GOOS: "linux", Dir: "/proj", Read: have.read}
	found, broken := search.Find()
	var got []string
	for _, e := range found {
		got = append(got, e.Client+" "+e.Name+" "+e.Project)
	}
	if want := "claude-code user ;codex dex ;claude-desktop desk ;vscode code ;claude-code local /other;claude-code shared /proj"; strings.Join(got, ";") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ";"), want)
	}
	lines := map[string]int{}
	for _, f := range broken {
		lines[f.File] = f.Line
	}
	if len(lines) != 3 || lines["/home/u/.cursor/mcp.json"] != 2 || lines["/proj/.codex/config.toml"] != 1 || lines["/home/u/.gemini/settings.json"] != 0 {
		t.Errorf("the lines of the broken files are %v", lines)
	}
}

// TestAFileOfTheUserInTheFolderOfAProjectIsReadOnce: a file is not read twice where the home is the current folder.
func TestAFileOfTheUserInTheFolderOfAProjectIsReadOnce(t *testing.T) {
	have := files{"/home/u/.cursor/mcp.json": `{"mcpServers":{"x":{"command":"a"}}}`}
	found, _ := clientconfig.Search{Env: []string{"HOME=/home/u"}, GOOS: "linux", Dir: "/home/u", Read: have.read}.Find()
	if len(found) != 1 || found[0].Project != "" {
		t.Errorf("got %v", found)
	}
}

// FuzzParse: whatever a file contains, parsing ends, and an entry that can be taken over is valid.
func FuzzParse(f *testing.F) {
	for i, source := range []string{
		`{"mcpServers":{"s":{"command":"x","args":["$A${B:-c}"],"env":{"A":1}}},"projects":{"/p":{"mcpServers":{}}}}`,
		`{"servers":{"s":{"url":"https://${env:A}/","headers":{"A":"${input:x}"}}},"inputs":[{"id":"x"}],}// c`,
		"[mcp_servers.\"a b\"]\ncommand='x'\nenv={A='b'}\n[mcp_servers.c]\nurl='http://x'\nenv_vars=['A']\n",
		"[mcp_servers]\na=1\n", `{"mcpServers":{"%s":{"type":"%d"}}}`, "x=[[[[[[[[[[[[{a={b={c=[",
	} {
		f.Add(i, source)
	}
	clients := install.Clients()
	f.Fuzz(func(t *testing.T, client int, source string) {
		name := clients[uint(client)%uint(len(clients))]
		entries, err := clientconfig.Parse(name, "/f", "", []byte(source), files{}.read)
		if err != nil && len(entries) > 0 {
			t.Fatalf("both entries and %v", err)
		}
		for _, e := range entries {
			if e.Fault == nil && e.Server.Check(e.Name) != nil {
				t.Fatalf("%s: the entry is not valid: %v", source, e.Server)
			}
			if e.Fault != nil && strings.Contains(e.Fault.Message, "%!") {
				t.Fatalf("the message is %s", e.Fault.Message)
			}
		}
	})
}

// TestFilesThatClientsWrote: these were written by codex mcp add (0.169.0), gemini mcp add (0.61.0) and claude mcp add (2.1.197).
func TestFilesThatClientsWrote(t *testing.T) {
	for client, c := range map[string]struct{ source, want string }{
		"codex": {
			"[mcp_servers.docs]\ncommand = \"npx\"\nargs = [\"-y\", \"srv\", \"--flag\"]\n\n[mcp_servers.docs.env]\nTOKEN = \"abc\"\n\n[mcp_servers.web]\nurl = \"https://example.com/mcp\"\nbearer_token_env_var = \"DOCS_TOKEN\"\n",
			`{"args":["-y","srv","--flag"],"command":"npx","env":{"TOKEN":"abc"},"type":"stdio"} {"headers":{"Authorization":"Bearer ${DOCS_TOKEN}"},"type":"http","url":"https://example.com/mcp"} `,
		},
		"gemini": {
			`{"mcpServers":{"local":{"command":"npx","args":["-y","srv"],"env":{"A":"1"}},"web":{"url":"https://example.com/mcp","type":"http","headers":{"Authorization":"Bearer x"}}}}`,
			`{"args":["-y","srv"],"command":"npx","env":{"A":"1"},"type":"stdio"} {"headers":{"Authorization":"Bearer x"},"type":"http","url":"https://example.com/mcp"} `,
		},
		"claude-code": {
			`{"mcpServers":{"loc":{"type":"stdio","command":"npx","args":["-y","srv"],"env":{"KEY":"v1"}}},"projects":{"/proj":{"mcpContextUris":[],"mcpServers":{"web":{"type":"http","url":"https://example.com/mcp","headers":{"Authorization":"Bearer x"}}},"enabledMcpjsonServers":[]}}}`,
			`{"args":["-y","srv"],"command":"npx","env":{"KEY":"v1"},"type":"stdio"} {"headers":{"Authorization":"Bearer x"},"type":"http","url":"https://example.com/mcp"} `,
		},
	} {
		entries, err := clientconfig.Parse(client, "/f", "", []byte(c.source), files{}.read)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, e := range entries {
			server, err := json.Marshal(e.Server)
			if err != nil || e.Fault != nil || e.Differs != nil {
				t.Errorf("%s: %v, %v, %v", client, err, e.Fault, e.Differs)
			}
			got += string(server) + " "
		}
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", client, got, c.want)
		}
	}
}
