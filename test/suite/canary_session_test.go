package suite

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/brief"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// watched is a session of pflow-serve with all toolsets and all logs, of which everything is kept that the client gets.
type watched struct {
	*client
	got bytes.Buffer
}

// watch starts a session.
func (p *place) watch() *watched {
	p.Helper()
	p.env = append(p.env, "PFLOW_TOOLSETS=core,drafts,servers")
	w := &watched{client: p.connect("pflow-serve", "--log-level", "debug")}
	w.stdout = bufio.NewReader(io.TeeReader(w.stdout, &w.got))
	return w
}

// progressing calls a tool with a progress token and returns the structured content of its answer.
func (w *watched) progressing(tool, arguments string) gjson.Result {
	w.Helper()
	w.id++
	w.called[w.id] = tool
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"progressToken":"p%d"}}}`, w.id, tool, arguments, w.id))
	message := w.receive()
	for message["id"] != float64(w.id) {
		message = w.receive()
	}
	raw, err := rawjson.Marshal(message)
	if err != nil {
		w.Fatal(err)
	}
	return gjson.GetBytes(raw, "result.structuredContent")
}

// readers asks for everything that the session can say about the last run of a workflow.
func (w *watched) readers(name, node string) {
	w.Helper()
	for _, uri := range []string{"pflow://runs/last", "pflow://runs/last/logs", "pflow://runs/last/logs/" + node, "pflow://runs/last/nodes/" + node, "pflow://runs/last/outputs/out", "pflow://runs/last/outputs/err"} {
		w.ask("resources/read", map[string]string{"uri": uri})
	}
	arguments := fmt.Sprintf(`{"name":%q}`, name)
	w.progressing("describe_workflow", arguments)
	w.progressing("check_draft", arguments)
	w.progressing("execute", fmt.Sprintf(`{"name":%q,"resume":"last","max_output_chars":0}`, name))
}

// ends ends the session and searches all that it said, its log, and the home.
func (w *watched) ends(h *hunt) {
	w.Helper()
	_ = w.stdin.Close()
	_, _ = io.Copy(io.Discard, w.stdout)
	_ = w.cmd.Wait()
	h.in("the answers and progress messages", w.got.String())
	h.in("the log", w.stderr.String())
	if !strings.Contains(w.got.String(), "notifications/progress") || !strings.Contains(w.stderr.String(), "level=DEBUG") {
		w.Errorf("there are no messages of progress, or no log of level debug")
	}
	h.inHome()
}

// oneByOne returns workflows with one node each: those of telling.
func oneByOne(secret, inputs string, others bool) map[string]string {
	workflows := map[string]string{}
	all := telling(secret, inputs, others)
	for _, node := range gjson.Get(all, "nodes").Array() {
		outputs := ""
		if id := node.Get("id").Str; node.Get("type").Str == "shell" && !node.Get("batch").Exists() {
			outputs = fmt.Sprintf(`,"outputs":{"out":{"source":"${%s.stdout}"},"err":{"source":"${%s.stderr}"}}`, id, id)
		}
		workflows[node.Get("id").Str] = fmt.Sprintf(`{"inputs":%s,"nodes":[%s]%s}`, gjson.Get(all, "inputs").Raw, node.Raw, outputs)
	}
	return workflows
}

// TestACanaryInASession: no answer, message of progress, log or journal of a session has a secret, however it comes to a workflow and
// whatever the workflow does with it.
func TestACanaryInASession(t *testing.T) {
	t.Parallel()
	needs(t, "base64", "od", "yes")
	const secret = `"pin":{"type":"string","secret":true}`
	for _, c := range brief.Part([]struct {
		name, value, inputs, env, settings, given string
	}{
		{name: "an input", value: "${pin}", inputs: secret, given: `{"pin":JSON}`},
		{name: "an input of the settings", value: "${plain}", inputs: `"plain":{"type":"string"}`, settings: `{"env":{"plain":JSON}}`},
		{name: "the environment", value: "$MY_TOKEN", env: "MY_TOKEN=SECRET"},
	}, 3) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			value := random(true)
			h := p.look(value)
			set := func(s string) string { return strings.NewReplacer("SECRET", value, "JSON", quote(value)).Replace(s) }
			p.env = append(p.env, set(c.env))
			if c.settings != "" {
				p.write("home/settings.json", set(c.settings))
			}
			workflows := oneByOne(c.value, c.inputs, c.inputs != "")
			for name, workflow := range workflows {
				p.draft(name, workflow)
			}
			w := p.watch()
			met := 0
			for name := range workflows {
				arguments := fmt.Sprintf(`{"name":%q,"inputs":%s,"max_output_chars":0}`, name, set("{}"))
				if c.given != "" {
					arguments = fmt.Sprintf(`{"name":%q,"inputs":%s}`, name, set(c.given))
				}
				answer := w.progressing("execute", arguments)
				if strings.Contains(answer.Raw, "<redacted>") || strings.Contains(answer.Raw, `$blob`) {
					met++
				}
				w.readers(name, name)
			}
			if met < len(tellers)*2/3 {
				t.Errorf("only %d of %d answers have something redacted", met, len(workflows))
			}
			w.progressing("browse_components", `{"query":"tell"}`)
			w.progressing("list_library", `{}`)
			w.progressing("save_to_library", `{"draft_name":"plain","final_name":"kept","description":"tells"}`)
			w.progressing("execute", `{"name":"kept"}`)
			w.ends(h)
		})
	}
}

// TestACanaryThatAClientSends: a secret of the environment or the settings that a client gives in a place that is not secret is not
// logged.
func TestACanaryThatAClientSends(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	inEnv, inSettings, inURL := random(false), random(false), random(false)
	h := p.look(inEnv, inSettings, inURL)
	p.env = append(p.env, "MY_TOKEN="+inEnv)
	p.write("home/settings.json", fmt.Sprintf(`{"env":{"other":%q}}`, inSettings))
	p.draft("good", chain("echo hello"))
	w := p.watch()
	for _, secret := range []string{inEnv, inSettings, "https://me:" + inURL + "@host/?token=" + inURL} {
		for _, call := range [][2]string{
			{"browse_components", `{"query":%q}`}, {"describe_workflow", `{"name":%q}`}, {"execute", `{"name":"good","idempotency_key":%q}`},
			{"save_to_library", `{"draft_name":"good","final_name":"kept","description":%q}`}, {"call_server_tool", `{"server":"x","tool":%q}`},
		} {
			w.progressing(call[0], fmt.Sprintf(call[1], secret))
		}
	}
	_ = w.stdin.Close()
	_, _ = io.Copy(io.Discard, w.stdout)
	_ = w.cmd.Wait()
	h.in("the log", w.stderr.String())
	if log := w.stderr.String(); strings.Count(log, "<redacted>") < 8 || !strings.Contains(log, "describe") {
		t.Errorf("the log has nothing redacted: %.2000s", log)
	}
}

// TestACanaryInURLsOfASession: credentials in the URLs of a workflow, what a server answers with, and where it cannot be reached.
func TestACanaryInURLsOfASession(t *testing.T) {
	brief.Skip(t)
	t.Parallel()
	p := newPlace(t)
	secrets := flock()
	h := p.look(secrets...)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		rw.Header().Set("Set-Cookie", "sid="+secrets[0]+"; Path=/")
		if strings.HasPrefix(r.URL.Path, "/fails") {
			rw.WriteHeader(http.StatusForbidden)
		}
		_, _ = fmt.Fprintf(rw, "user %s, password %s, key %s, %s", user, password, r.FormValue("key"), r.URL)
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	names := map[string]string{}
	for i, secret := range secrets[1:] {
		name := fmt.Sprintf("fetch-%d", i)
		names[name] = []string{
			"http://me:%s@" + host + "/works", "http://" + host + "/works?key=%s", "http://me:%s@" + host + "/fails", "http://" + host + "/fails?key=%s", "http://me:%s@127.0.0.1:1/?a=b", "http://127.0.0.1:1/?token=%s", "ftp://me:%s@host/",
		}[i%7]
		address := fmt.Sprintf(names[name], url.QueryEscape(secret))
		p.draft(name, fmt.Sprintf(`{"nodes":[{"id":"a","type":"http","params":{"url":%q}}],"outputs":{"out":{"source":"${a.response}"},"all":{"source":"${a}"}}}`, address))
		h.theirs = append(h.theirs, "workflows/"+name+".json")
	}
	w := p.watch()
	for name := range names {
		w.progressing("execute", fmt.Sprintf(`{"name":%q,"max_output_chars":0}`, name))
		w.readers(name, "a")
	}
	w.ends(h)
}

// TestACanaryOfAnMCPServerInASession: secrets in the configuration of a server, which its tools and its failures repeat.
func TestACanaryOfAnMCPServerInASession(t *testing.T) {
	t.Parallel()
	needs(t, "sed", "tr", "cat")
	p := newPlace(t)
	secrets := flock()
	h := p.look(secrets...)
	h.theirs = append(h.theirs, "mcp-servers.json")
	script := p.write("server.sh", fakeServer)
	p.write("said", strings.Join(secrets[:4], "\n"))
	p.env = append(p.env, "OUTER_TOKEN="+secrets[3])
	p.write("home/mcp-servers.json", fmt.Sprintf(`{"mcpServers":{"f":{"command":"sh","args":[%q,"said"],"env":{"API_TOKEN":%q,"DB_URL":"postgres://me:%s@h/db","X_TOKEN":%q,"Y_TOKEN":"${OUTER_TOKEN}"}}}}`,
		script, secrets[0], secrets[1], secrets[2]))
	p.draft("telling", `{"nodes":[{"id":"a","type":"mcp-f-say"},{"id":"c","type":"echo","params":{"message":"${a.result}"}}],"outputs":{"out":{"source":"${a.result}"}}}`)
	p.draft("failing", `{"nodes":[{"id":"a","type":"mcp-f-fail"}]}`)
	w := p.watch()
	for name, tool := range w.tools {
		if !gjson.Get(tool.raw, "inputSchema.properties.server").Exists() && !gjson.Get(tool.raw, "inputSchema.properties.servers").Exists() {
			continue
		}
		for _, arguments := range []string{`{"server":"f"}`, `{"servers":["f"]}`, `{"server":"f","tool":"say"}`, `{"server":"f","tool":"fail"}`, `{"server":"f","tool":"none"}`, `{}`} {
			w.progressing(name, arguments)
		}
	}
	for _, name := range []string{"telling", "failing"} {
		if answer := w.progressing("execute", fmt.Sprintf(`{"name":%q,"max_output_chars":0}`, name)); !strings.Contains(answer.Raw, "<redacted>") {
			t.Errorf("%s: %s", name, answer)
		}
		w.readers(name, "a")
	}
	w.progressing("browse_components", `{"query":"say"}`)
	w.progressing("describe_workflow", `{"name":"mcp-f-say"}`)
	w.ask("resources/read", map[string]string{"uri": "pflow://nodes/mcp-f-say"})
	if _, err := os.Stat(p.home + "/registry.json"); err != nil {
		t.Errorf("the server was not synced: %v", err)
	}
	w.ends(h)
}
