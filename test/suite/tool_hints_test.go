package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// quoted returns a message as JSON.
func quoted(message any) string {
	raw, _ := json.Marshal(message) // it has been read from JSON
	return string(raw)
}

// texts calls see with every text in a value, and with those in texts that are JSON.
func texts(v any, at string, see func(at, text string)) {
	switch v := v.(type) {
	case string:
		var inner any
		if strings.HasPrefix(v, "{") && json.Unmarshal([]byte(v), &inner) == nil {
			texts(inner, at, see)
			return
		}
		see(at, v)
	case []any:
		for i, item := range v {
			texts(item, fmt.Sprintf("%s[%d]", at, i), see)
		}
	case map[string]any:
		for key, item := range v {
			texts(item, at+"."+key, see)
		}
	}
}

// suiteCommand finds command lines of the suite, and flags of them, in texts.
var suiteCommand = regexp.MustCompile(`[a-z]=VALUE|\bpflow-(lib|exec|sync|serve) +-?-?[a-zA-Z]|(^|[ (])--?(approve|idempotency-key|auto-approve|resume|only|from|jobs|timeout|inputs|C)\b`)

// speaksOfTools fails the test if a message to a client names a command of the suite, except as what a person runs, names a path of
// this machine, or is longer than a failure may be.
func (c *client) speaksOfTools(what string, message map[string]any) {
	c.Helper()
	answer := message["result"]
	if failed, ok := message["error"]; ok {
		answer = failed
	}
	texts(answer, "", func(at, text string) {
		if command := suiteCommand.FindString(text); command != "" && !strings.Contains(strings.ToLower(text), "a person") {
			c.Errorf("%s: %s names the command or flag %q: %s", what, at, command, text)
		}
		if (strings.Contains(text, c.dir) || strings.Contains(text, bin)) && !strings.HasSuffix(at, ".path") {
			c.Errorf("%s: %s names a path of this machine: %s", what, at, text)
		}
	})
	result, _ := message["result"].(map[string]any)
	if failed, _ := result["isError"].(bool); failed {
		for _, part := range []string{"structuredContent", "content"} {
			if raw, err := json.Marshal(result[part]); err != nil || len(raw) > 3*8192 || part == "structuredContent" && len(raw) > 8192 {
				c.Errorf("%s: %s of a failure has %d bytes", what, part, len(raw))
			}
		}
	}
}

// exchange calls a tool and returns the message that answers.
func (c *client) exchange(tool, arguments string) map[string]any {
	c.Helper()
	id := c.request(tool, arguments)
	for {
		if message := c.receive(); message["id"] == float64(id) {
			return message
		}
	}
}

// fails calls a tool, which must fail with an error of the given type, and returns the error.
func (c *client) fails(tool, arguments, kind string) map[string]any {
	c.Helper()
	message := c.exchange(tool, arguments)
	what := tool + " " + arguments
	c.speaksOfTools(what, message)
	result, _ := message["result"].(map[string]any)
	answer, _ := result["structuredContent"].(map[string]any)
	f, _ := answer["error"].(map[string]any)
	if f["type"] != kind {
		c.Errorf("%s answers %.500v, not a %s", what, message, kind)
	}
	return f
}

// brokenDraft returns a workflow with n nodes, each of which has errors.
func brokenDraft(n int) string {
	var nodes []string
	for i := range n {
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"write-file","params":{"contents":"${nothing%d.out}"}}`, i, i))
	}
	return `{"nodes":[` + strings.Join(nodes, ",\n") + `]}`
}

// TestNoToolAnswersWithCommands drives the tools into failures of all kinds.
func TestNoToolAnswersWithCommands(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	p := newPlace(t)
	p.env = append(p.env, "PFLOW_TOOLSETS=core,drafts,servers")
	p.write("home/settings.json", `{"registry":{"nodes":{"deny":["copy-*"]}}}`)
	p.write("home/mcp-servers.json", `{"mcpServers":{"gone":{"command":"/nonexistent/server"},"web":{"type":"http","url":"not a url"},"odd":{"type":"sse","url":"http://127.0.0.1:1/"}}}`)
	node := func(name, node string) { p.draft(name, `{"nodes":[`+node+`]}`) }
	p.draft("broken", brokenDraft(61))
	p.draft("torn", `{"nodes": [{"id": "a"`)
	p.draft("untyped", `{"nodes":[{"id":"a"}]}`)
	p.draft("good", chain("echo hello"))
	p.draft("asks", `{"inputs":{"who":{"type":"string","required":true},"n":{"type":"integer"}},"nodes":[{"id":"a","type":"echo","params":{"message":"${who} ${n}"}}]}`)
	p.draft("waits", `{"nodes":[{"id":"a","type":"echo","params":{"message":"x"},"approval":{"question":"Really?"}}]}`)
	p.draft("outer", `{"nodes":[{"id":"a","type":"workflow","params":{"workflow_name":"no-such-workflow"}}]}`)
	node("fails", `{"id":"a","type":"shell","params":{"command":"echo no >&2; exit 3"}}`)
	node("reads", `{"id":"a","type":"read-file","params":{"file_path":"no-such-file"}}`)
	node("asks-model", `{"id":"a","type":"llm","params":{"prompt":"x","model":"gpt-4o"}}`)
	node("no-model", `{"id":"a","type":"llm","params":{"prompt":"x"}}`)
	node("computes-wrong", `{"id":"a","type":"code","params":{"code":"result: int = 1 // 0","language":"python"}}`)
	node("computes-badly", `{"id":"a","type":"code","params":{"code":"result: int = (","language":"python"}}`)
	node("lost-program", `{"id":"a","type":"lost"}`)
	node("no-program", `{"id":"a","type":"locked"}`)
	node("fails-program", `{"id":"a","type":"crashes"}`)
	node("far", `{"id":"a","type":"shell","params":{"command":"true","cwd":"no/such/folder"}}`)
	node("fetches", `{"id":"a","type":"http","params":{"url":"http://127.0.0.1:1/"}}`)
	node("filters", `{"id":"a","type":"jq","params":{"filter":".a.b","input":"x"}}`)
	node("computes", `{"id":"a","type":"code","params":{"code":"result: int = 1 // 0","language":"python"}}`)
	node("denied", `{"id":"a","type":"copy-file","params":{}}`)
	node("unknown-tool", `{"id":"a","type":"mcp-gone-tool","params":{}}`)
	node("unknown-server", `{"id":"a","type":"mcp-nowhere-tool","params":{}}`)
	node("bad-url", `{"id":"a","type":"mcp-web-tool","params":{}}`)
	node("bad-transport", `{"id":"a","type":"mcp-odd-tool","params":{}}`)
	node("unknown-type", `{"id":"a","type":"no-such-type-at-all","params":{}}`)
	node("mistyped", `{"id":"a","type":"shel","params":{}}`)
	node("slow", `{"id":"a","type":"shell","timeout":"50ms","params":{"command":"exec sleep 60"}}`)
	for _, program := range []string{"lost", "locked", "crashes"} {
		path := p.write("home/nodes/pflow-node-"+program, "#!/bin/sh\ncase \"$1\" in --describe) echo '{\"interface\":{\"description\":\"Does it\",\"params\":[],\"outputs\":[]}}';; *) echo no >&2; exit 7;; esac\n")
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.must("pflow-sync", "nodes")
	if err := errors.Join(os.Remove(p.home+"/nodes/pflow-node-lost"), os.Chmod(p.home+"/nodes/pflow-node-locked", 0o600)); err != nil {
		t.Fatal(err)
	}
	p.must("pflow-lib", "save", "good", "taken")
	p.draft("good", chain("echo hello"))
	p.write("home/workflows/bad-name!.json", chain("echo"))
	c := p.connect("pflow-serve")

	for name, kind := range map[string]string{
		"broken": "validation_error", "torn": "validation_error", "untyped": "validation_error", "asks": "template_error", "waits": "execution_error",
		"outer": "validation_error", "fails": "execution_error", "reads": "execution_error", "asks-model": "execution_error", "no-model": "execution_error", "fetches": "unavailable",
		"filters": "execution_error", "computes": "execution_error", "denied": "validation_error", "unknown-tool": "execution_error", "unknown-server": "validation_error",
		"bad-url": "execution_error", "bad-transport": "execution_error", "unknown-type": "validation_error", "mistyped": "validation_error", "slow": "timeout",
		"computes-wrong": "execution_error", "computes-badly": "execution_error", "lost-program": "unavailable", "no-program": "unavailable", "fails-program": "execution_error",
		"far": "execution_error", "no-such-workflow": "not_found", "gud": "not_found", "..": "security_error", "a/b": "security_error",
	} {
		f := c.fails("execute", fmt.Sprintf(`{"name":%q}`, name), kind)
		if name == "broken" {
			shown, _ := f["errors"].([]any)
			if len(shown) != 10 || f["errors_total"] != 244.0 {
				t.Errorf("broken: %d errors of %v", len(shown), f["errors_total"])
			}
		}
	}
	c.fails("execute", `{"name":"asks","inputs":{"whom":"x"}}`, "validation_error")
	c.fails("execute", `{"name":"asks","inputs":{"who":"x","n":"many"}}`, "validation_error")
	c.fails("execute", `{"name":"good","resume":"r9"}`, "not_found")
	paused := c.exchange("execute", `{"name":"waits"}`)
	c.speaksOfTools("a paused run", paused)
	run := gjson.Get(quoted(paused), "result.structuredContent.run_id").Str
	for _, answers := range []string{`{"a":"maybe"}`, `{"b":"yes"}`, `{"":"yes"}`} {
		c.fails("execute", fmt.Sprintf(`{"name":"waits","resume":%q,"answers":%s}`, run, answers), "usage_error")
	}
	c.fails("execute", `{"name":"good","answers":{"a":"yes"}}`, "usage_error")
	c.fails("execute", fmt.Sprintf(`{"name":"waits","resume":%q,"answers":{"a":"no"}}`, run), "execution_error")
	if said := gjson.Get(quoted(paused), "result.structuredContent.next").Str; !strings.Contains(said, `answers {"a": ANSWER}`) || !strings.Contains(said, run) || !strings.Contains(said, "yes, no") {
		t.Errorf("the next of a paused run is %q, want how to answer", said)
	}
	p.draft("secretive", `{"inputs":{"pw":{"type":"string","secret":true,"required":true}},"nodes":[{"id":"a","type":"shell","params":{"command":"false ${pw}"}}]}`)
	failed := c.exchange("execute", `{"name":"secretive","inputs":{"pw":"not-to-be-shown"}}`)
	run = gjson.Get(quoted(failed), "result.structuredContent.run_id").Str
	if f := c.fails("execute", fmt.Sprintf(`{"name":"secretive","resume":%q}`, run), "usage_error"); !strings.Contains(fmt.Sprint(f["suggestions"]), "inputs") {
		t.Errorf("without its secret: %v", f)
	}
	p.draft("lasts", `{"inputs":{"n":{"type":"integer","default":1}},"nodes":[{"id":"a","type":"shell","params":{"command":"sleep 60"}}]}`)
	lasting := c.exchange("execute", `{"name":"lasts","idempotency_key":"k","wait_seconds":0}`)
	for _, arguments := range []string{`{"name":"good","idempotency_key":"k"}`, `{"name":"lasts","inputs":{"n":2},"idempotency_key":"k"}`} {
		if f := c.fails("execute", arguments, "usage_error"); !strings.Contains(fmt.Sprint(f["suggestions"]), "another idempotency key") {
			t.Errorf("%s: %v", arguments, f)
		}
	}
	p.must("pflow-exec", "cancel", gjson.Get(quoted(lasting), "result.structuredContent.run_id").Str)
	c.fails("execute", `{"name":"broken","resume":"last"}`, "not_found")
	c.fails("describe_workflow", `{"name":"nothing"}`, "not_found")
	c.fails("describe_workflow", `{"name":"torn"}`, "validation_error")
	c.fails("describe_workflow", `{"name":"../x"}`, "security_error")
	c.fails("describe_workflow", `{"name":"mcp-gone-tool"}`, "not_found")
	c.fails("describe_workflow", `{"name":"copy-file"}`, "validation_error")
	c.fails("save_to_library", `{"draft_name":"nothing","final_name":"a","description":"x"}`, "not_found")
	c.fails("save_to_library", `{"draft_name":"good","final_name":"taken","description":"x"}`, "already_exists")
	c.fails("save_to_library", `{"draft_name":"good","final_name":"No Name","description":"x"}`, "validation_error")
	c.fails("save_to_library", `{"draft_name":"good","final_name":"a/b","description":"x"}`, "security_error")
	c.fails("save_to_library", `{"draft_name":"broken","final_name":"fine","description":"x"}`, "validation_error")
	c.fails("browse_components", `{"type":"no-such-type"}`, "not_found")
	c.fails("browse_components", `{"type":"mcp-gone-tool"}`, "not_found")
	c.fails("browse_components", `{"cursor":"garbage"}`, "usage_error")
	c.fails("list_library", `{"cursor":"garbage"}`, "usage_error")

	// What is no failure says what to do next too.
	for _, call := range [][2]string{
		{"browse_components", `{"query":"zzzz qqqq"}`}, {"browse_components", `{}`}, {"browse_components", `{"detail":"full"}`}, {"list_library", `{"pattern":"zzzz"}`},
		{"describe_workflow", `{"name":"good"}`}, {"execute", `{"name":"good"}`}, {"execute", `{"name":"fails","wait_seconds":0}`},
		{"write_draft", `{"name":"drafted","content":"{\"nodes\":[{\"id\":\"a\",\"type\":\"shel\"}]}"}`}, {"write_draft", `{"name":"a/b","content":"x"}`},
		{"check_draft", `{"name":"broken"}`}, {"check_draft", `{"name":"nothing"}`}, {"read_draft", `{"name":"nothing"}`}, {"delete_draft", `{"name":"nothing"}`}, {"delete_draft", `{"name":"taken"}`},
	} {
		if _, ok := c.tools[call[0]]; !ok {
			continue
		}
		message := c.exchange(call[0], call[1])
		c.speaksOfTools(call[0]+" "+call[1], message)
	}
	for name := range c.tools {
		for _, server := range []string{"nowhere", "gone", "web", "odd"} {
			for property, arguments := range map[string]string{
				"server": fmt.Sprintf(`{"server":%q}`, server), "tool": fmt.Sprintf(`{"server":%q,"tool":"x"}`, server), "name": fmt.Sprintf(`{"name":%q}`, server),
				"servers": fmt.Sprintf(`{"servers":[%q]}`, server),
			} {
				message := c.exchange(name, arguments)
				c.speaksOfTools(name+" "+property, message)
			}
		}
	}
	for _, uri := range []string{"pflow://nodes/nothing", "pflow://workflows/nothing", "pflow://workflows/torn", "pflow://runs/r9", "pflow://runs/r9/outputs/x", "pflow://nothing", "file:///etc/passwd"} {
		c.id++
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":%q}}`, c.id, uri))
		message := c.receive()
		if message["error"] == nil && uri != "pflow://workflows/torn" {
			t.Errorf("%s is read: %v", uri, message)
		}
		c.speaksOfTools("the resource "+uri, message)
	}
	c.leave()
}

// TestBrokenFilesOfTheHomeAreReportedWithoutPaths has each file of the home that a person or another program may have broken.
func TestBrokenFilesOfTheHomeAreReportedWithoutPaths(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"registry.json", "settings.json", "mcp-servers.json", "workflows/greet.json", "library/kept.json"} {
		for _, content := range []string{"{", `{"nodes":3,"mcpServers":3,"env":3,"registry":3}`} {
			t.Run(fmt.Sprintf("%s %q", filepath.Base(file), content), func(t *testing.T) {
				p := newPlace(t)
				p.env = append(p.env, "PFLOW_TOOLSETS=core,drafts,servers")
				p.draft("greet", `{"nodes":[{"id":"a","type":"mcp-server-tool"},{"id":"b","type":"echo","params":{"message":"x"}}]}`)
				p.write("home/library/kept.json", chain("echo hello"))
				p.write("home/"+file, content)
				c := p.connect("pflow-serve")
				for _, call := range [][2]string{
					{"browse_components", `{}`}, {"browse_components", `{"query":"echo"}`}, {"browse_components", `{"type":"mcp-server-tool"}`}, {"list_library", `{}`},
					{"describe_workflow", `{"name":"greet"}`}, {"describe_workflow", `{"name":"kept"}`}, {"describe_workflow", `{"name":"echo"}`}, {"execute", `{"name":"greet"}`}, {"execute", `{"name":"kept"}`},
					{"save_to_library", `{"draft_name":"greet","final_name":"kept","description":"x"}`}, {"check_draft", `{"name":"greet"}`}, {"read_draft", `{"name":"greet"}`},
				} {
					if _, ok := c.tools[call[0]]; !ok {
						continue
					}
					message := c.exchange(call[0], call[1])
					c.speaksOfTools(call[0]+" "+call[1], message)
				}
				_ = c.stdin.Close()
				_ = c.cmd.Wait()
				if text := c.stderr.String(); strings.Contains(text, "panic") {
					t.Errorf("%q", text)
				}
			})
		}
	}
}

// TestAReaderIsChosenWhenADocumentIsPrinted runs a workflow in a shell, whose failure a client of tools reads, and the other way round.
func TestAReaderIsChosenWhenADocumentIsPrinted(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("asks-model", `{"nodes":[{"id":"a","type":"llm","params":{"prompt":"x","model":"gpt-4o"}}]}`)
	p.env = slices.DeleteFunc(p.env, func(kv string) bool { return strings.HasPrefix(kv, "OPENAI_") })
	hint := func(reader string, args ...string) string {
		t.Helper()
		o := p.run("pflow-exec", append([]string{"--format=json", "--hints=" + reader}, args...)...)
		f, _ := p.document(o.stdout)["error"].(map[string]any)
		return fmt.Sprint(f["suggestions"], " ", p.document(o.stdout)["resume"])
	}
	wants := map[string]string{"shell": "pflow-exec resume r", "tools:core": "execute with", "tools:runs": "run_resume with"}
	for run := range wants {
		for reader, want := range wants {
			if got := hint(run, "run", "--name", "asks-model"); !strings.Contains(got, wants[run]) {
				t.Errorf("run for %s: %s", run, got)
			}
			if got := hint(reader, "wait", "last"); !strings.Contains(got, want) {
				t.Errorf("run for %s, read for %s: %s", run, reader, got)
			}
		}
	}
	for _, journal := range p.journals() {
		b, err := os.ReadFile(journal)
		if text := string(b); err != nil || !strings.Contains(text, `"resume":{"do":"resume"`) || strings.Contains(text, "pflow-exec resume") || strings.Contains(text, "execute with") {
			t.Errorf("the journal %s has %v and words for a reader, want steps: %s", journal, err, text)
		}
	}
}
