package mcpclient

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

func testHome(t *testing.T, servers string) *home.Home {
	t.Helper()
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if servers != "" {
		if err := h.Write([]byte(servers), 0o600, File); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func TestChangeServersKeepsWhatIsNotOurs(t *testing.T) {
	h := testHome(t, `{
		"inputs": [1.10],
		"servers": {"old": {"transport": "stdio", "command": "a<b", "timeout": 12.50}},
		"mcpServers": {"z": {"url": "https://x/mcp", "auth": {"type": "bearer", "token": "${TOK}"}, "disabled": false}}
	}`)
	err := ChangeServers(t.Context(), h, func(s Servers) error {
		s["new"] = Server{Command: "npx", Args: []string{"-y", "srv"}, Env: map[string]string{"T": "${T:-x}"}, Type: Stdio}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "inputs": [
    1.10
  ],
  "mcpServers": {
    "new": {
      "args": [
        "-y",
        "srv"
      ],
      "command": "npx",
      "env": {
        "T": "${T:-x}"
      },
      "type": "stdio"
    },
    "old": {
      "command": "a<b",
      "timeout": 12.5,
      "type": "stdio"
    },
    "z": {
      "auth": {
        "type": "bearer",
        "token": "${TOK}"
      },
      "disabled": false,
      "url": "https://x/mcp"
    }
  }
}
`
	got, err := h.Read(File)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestChangeServersThatFailsWritesNothing(t *testing.T) {
	h := testHome(t, "")
	no := errors.New("no")
	if err := ChangeServers(t.Context(), h, func(s Servers) error { s["x"] = Server{}; return no }); !errors.Is(err, no) {
		t.Errorf("error is %v", err)
	}
	if data, err := h.Read(File); data != nil || err != nil {
		t.Errorf("the file has %q, %v", data, err)
	}
}

func TestLoadServersFaults(t *testing.T) {
	for doc, want := range map[string]string{
		`{`:                                      "mcp-servers.json cannot be read as JSON",
		`{"mcpServers": [1]}`:                    `mcp-servers.json: "mcpServers" must be an object of servers by name, not a list`,
		`[]`:                                     "mcp-servers.json must be an object with mcpServers, not a list",
		`"x"`:                                    "mcp-servers.json must be an object with mcpServers, not text",
		`null`:                                   "mcp-servers.json must be an object with mcpServers, not null",
		`{"servers": "x"}`:                       `mcp-servers.json: "servers" must be an object of servers by name, not text`,
		`{"servers": {"a":1}}`:                   "Server a cannot be read: it must be an object, not a number",
		`{"servers": {"a":[]}}`:                  "Server a cannot be read: it must be an object, not a list",
		`{"servers": {"a":null}}`:                "Server a cannot be read: it is null",
		`{"mcpServers":{"a":{"command":["x"]}}}`: "its command must be text, not a list",
		`{"mcpServers":{"a":{"command":"x","args":"-y"}}}`:                "mcp-servers.json: Server a cannot be read: its args must be a list of texts, not text",
		`{"mcpServers":{"a":{"command":"x","args":["-y", 1]}}}`:           "its args[1] must be text, not a number",
		`{"mcpServers":{"a":{"command":"x","env":[]}}}`:                   "its env must be an object, not a list",
		`{"mcpServers":{"a":{"command":"x","env":{"A":"b", "PORT": 1}}}}`: "its env.PORT must be text, not a number",
		`{"mcpServers":{"a":{"type":1}}}`:                                 "its type must be text, not a number",
		`{"mcpServers":{"a":{"transport":{}}}}`:                           "its transport must be text, not an object",
		`{"mcpServers":{"a":{"url":false}}}`:                              "its url must be text, not true or false",
		`{"mcpServers":{"a":{"url":"u","headers":{"H":{}}}}}`:             "its headers.H must be text, not an object",
		`{"mcpServers":{"a":{"command":"x","timeout":"5"}}}`:              "its timeout must be a number, not text",
		`{"mcpServers":{"a":{"command":"x","max_memory":1.5}}}`:           "its max_memory must be a whole number, not a fraction",
		`{"mcpServers":{"a":{"command":"x","disabled":"no"}}}`:            "its disabled must be true or false, not text",
	} {
		_, err := LoadServers(testHome(t, doc))
		if f := asFault(t, err); f.Type != fault.Validation || f.File != File || !strings.Contains(f.Message, want) || strings.Contains(f.Message, "Go ") {
			t.Errorf("%s: %s %q", doc, f.Type, f.Message)
		}
	}
	if s, err := LoadServers(testHome(t, "")); err != nil || len(s) != 0 {
		t.Errorf("no file: %v, %v", s, err)
	}
}

func TestParseServers(t *testing.T) {
	tests := map[string]struct {
		doc   string
		want  string // the names with their transports
		notes int
		fault string
	}{
		"Claude Code":       {doc: `{"mcpServers":{"github":{"type":"stdio","command":"npx"}}}`, want: "github:stdio"},
		"Cursor":            {doc: `{"mcpServers":{"docs":{"url":"https://example.com/mcp","headers":{"A":"b"}}}}`, want: "docs:http"},
		"VS Code":           {doc: `{"inputs":[],"servers":{"a":{"command":"x"},"b":{"type":"http","url":"http://h/"}}}`, want: "a:stdio b:http"},
		"with transport":    {doc: `{"servers":{"github":{"transport":"stdio","command":"npx"}}}`, want: "github:stdio"},
		"bare":              {doc: `{"fs":{"command":"npx"}}`, want: "fs:stdio"},
		"streamable":        {doc: `{"x":{"type":"streamable-http","url":"${BASE}/mcp"}}`, want: "x:http"},
		"cleaned":           {doc: `{"My_Server 2":{"command":"x"}}`, want: "my-server-2:stdio", notes: 1},
		"SSE":               {doc: `{"a":{"command":"x"},"x":{"type":"sse","url":"https://h/sse"}}`, fault: `Server x has transport "sse", but only stdio and streamable HTTP are supported`},
		"websocket":         {doc: `{"x":{"transport":"ws","url":"wss://h"}}`, fault: "streamable HTTP"},
		"no command":        {doc: `{"x":{"args":[]}}`, fault: "has no command"},
		"no url":            {doc: `{"x":{"type":"http"}}`, fault: "has no usable url"},
		"an entry alone":    {doc: `{"command":"npx"}`, fault: "without the name"},
		"nothing":           {doc: `{"mcpServers":{}}`, fault: "names no servers"},
		"two of one name":   {doc: `{"a b":{"command":"x"},"a-b":{"command":"y"}}`, fault: "would both be called a-b"},
		"a name for a path": {doc: `{"../x":{"command":"x"}}`, fault: "not allowed"},
		"no JSON":           {doc: `npx -y srv`, fault: "cannot be read as JSON"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			servers, notes, err := ParseServers([]byte(tt.doc))
			if tt.fault != "" {
				if f := asFault(t, err); !strings.Contains(f.Message, tt.fault) || servers != nil {
					t.Errorf("fault is %q, servers %v", f.Message, servers)
				}
				return
			}
			var got []string
			for _, n := range servers.Names() {
				got = append(got, n+":"+servers[n].Type)
			}
			if err != nil || strings.Join(got, " ") != tt.want || len(notes) != tt.notes {
				t.Errorf("got %v, notes %q, %v", got, notes, err)
			}
		})
	}
}

func TestExpand(t *testing.T) {
	variables := map[string]string{"TOK": "s3cret", "EMPTY": "", "DIR": "/srv"}
	lookup := func(name string) (string, bool) { v, ok := variables[name]; return v, ok }
	s := Server{
		Command: "${DIR}/run", Args: []string{"$DIR", "${DIR", "${EMPTY:-d}", "${1}", "${input:x}"}, URL: "https://${HOST:-h}/mcp",
		Env:     map[string]string{"A": "${TOK}", "B": "${NOWHERE}", "C": "${env:DIR}"},
		Headers: map[string]string{"Authorization": "Bearer ${TOK}", "X": "${EMPTY}"},
	}
	x := s.Expand(lookup)
	want := Expanded{
		Server: Server{
			Command: "/srv/run", Args: []string{"$DIR", "${DIR", "d", "${1}", "${input:x}"}, URL: "https://h/mcp",
			Env:     map[string]string{"A": "s3cret", "B": "", "C": "/srv"},
			Headers: map[string]string{"Authorization": "Bearer s3cret", "X": ""},
		},
		Secrets: map[string]string{"TOK": "s3cret", "DIR": "/srv"}, Undefined: []string{"NOWHERE"},
	}
	if diff := cmp.Diff(want, x, cmp.AllowUnexported(Server{})); diff != "" {
		t.Error(diff)
	}
	if s.Env["A"] != "${TOK}" {
		t.Error("the entry itself was changed")
	}
}

func TestExpandOfUpstreamsAuth(t *testing.T) {
	for auth, want := range map[string]string{
		`{"type":"bearer","token":"${T}"}`:                        "Authorization: Bearer abc",
		`{"type":"api_key","key":"${T}"}`:                         "X-API-Key: abc",
		`{"type":"basic","username":"u","password":"${T}"}`:       "Authorization: Basic dTphYmM=",
		`{"type":"api_key","key":"${T}","header":"X-Other-Name"}`: "X-Other-Name: abc",
	} {
		h := testHome(t, `{"mcpServers":{"x":{"url":"https://h/mcp","auth":`+auth+`}}}`)
		servers, err := LoadServers(h)
		if err != nil {
			t.Fatal(err)
		}
		x := servers["x"].Expand(func(string) (string, bool) { return "abc", true })
		for name, value := range x.Headers {
			if got := name + ": " + value; got != want {
				t.Errorf("%s gives %q", auth, got)
			}
		}
		if len(x.Headers) != 1 || len(x.Secrets) != 1 || x.Secrets["T"] != "abc" {
			t.Errorf("%s gives headers %v, secrets %v", auth, x.Headers, x.Secrets)
		}
	}
}

func TestServerInAFolder(t *testing.T) {
	spec := Spec{Dir: "/run", Server: Server{Command: "x"}}
	for own, want := range map[string]string{"": "/run", "sub": "/run/sub", "/srv": "/srv", "${WHERE}/a": "/var/a"} {
		spec.Server.Cwd = own
		spec.Server = spec.Server.Expand(func(string) (string, bool) { return "/var", true }).Server
		if got := command(spec).Dir; got != want {
			t.Errorf("%q: %s, want %s", own, got, want)
		}
	}
}

func TestURLWithAVariableAsItsHost(t *testing.T) {
	if err := (Server{URL: "https://${HOST}/mcp"}).Check("x"); err != nil {
		t.Error(err)
	}
}
