package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// stateless calls a tool by the revision whose requests say who the client is. Params are more members of the request.
func (c *client) stateless(tool, arguments, params string) gjson.Result {
	c.Helper()
	c.id++
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s,"_meta":`+
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},`+
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}`, c.id, tool, arguments, params))
	for {
		line, err := c.stdout.ReadString('\n')
		if err != nil {
			c.Fatalf("no further message: %v, %s", err, c.stderr.String())
		}
		if strings.Contains(line, "elicitation/create") && gjson.Get(line, "method").Exists() {
			c.Fatalf("the server sends a request: %s", line)
		}
		if gjson.Get(line, "id").Int() == int64(c.id) {
			if refused := gjson.Get(line, "error"); refused.Exists() {
				return refused
			}
			return gjson.Get(line, "result")
		}
	}
}

// asked calls a tool that asks, and returns the questions and the state.
func (c *client) asked(tool, arguments string) (requests gjson.Result, state string) {
	c.Helper()
	r := c.stateless(tool, arguments, "")
	if r.Get("resultType").Str != "input_required" || r.Get("content").Exists() || r.Get("requestState").Str == "" {
		c.Fatalf("nothing is asked: %s", r.Raw)
	}
	return r.Get("inputRequests"), r.Get("requestState").Str
}

// with returns the members of a request that replies to the questions of nodes.
func with(state string, replies ...string) string {
	return `,"requestState":` + string(rawjson.Quote(state)) + `,"inputResponses":{` + strings.Join(replies, ",") + `}`
}

// approve is the reply yes to the question of drop.
const approve = `"drop":{"action":"accept","content":{"answer":"yes"}}`

// In revision 2026-07-28 a result asks, and the client calls again with the replies, also another server of the home.
func TestAResultAsksThePerson(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tool, arguments string }{
		"execute":       {"execute", `{"name":"asks"}`},
		"run_wait":      {"run_wait", `{"run_id":"last"}`},
		"run_resume":    {"run_resume", `{"run_id":"last"}`},
		"workflow tool": {"asks", `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("home/library/asks.json", asksBeforeDropping)
			if strings.HasPrefix(c.tool, "run_") {
				p.must("pflow-exec", "start", "--name", "asks")
				p.run("pflow-exec", "wait", "last")
			}
			s := p.launch("pflow-serve", "--toolsets", "core,workflows")
			requests, state := s.asked(c.tool, c.arguments)
			if drop := requests.Get("drop"); drop.Get("method").Str != "elicitation/create" || !strings.HasPrefix(drop.Get("params.message").Str, "Drop it?") || drop.Get("params.requestedSchema.required.0").Str != "answer" {
				t.Error(requests.Raw)
			}
			s.leave()
			other := p.launch("pflow-serve", "--toolsets", "core,workflows")
			again, state := other.stateless(c.tool, c.arguments, with(state)), state
			if again.Get("resultType").Str != "input_required" || again.Get("inputRequests").Raw != requests.Raw {
				t.Errorf("without a reply: %s", again.Raw)
			}
			r := other.stateless(c.tool, c.arguments, with(state, approve))
			if r.Get("resultType").Str != "complete" || r.Get("structuredContent.status").Str != "completed" || r.Get("structuredContent.outputs.said").Str != "dropped 2" {
				t.Error(r.Raw)
			}
			if p.runs() != 2 || p.read("counted") != "counted\n" {
				t.Errorf("%d runs, counted %q", p.runs(), p.read("counted"))
			}
			replayed := other.stateless(c.tool, c.arguments, with(state, approve))
			if e := replayed.Get("structuredContent.error"); !replayed.Get("isError").Bool() || e.Get("type").Str != "conflict" || e.Get("details.run_id").Str != r.Get("structuredContent.run_id").Str || p.runs() != 2 {
				t.Errorf("replayed: %s", replayed.Raw)
			}
			other.leave()
			if info, err := os.Stat(filepath.Join(p.dir, "home/serve.key")); err != nil || info.Mode().Perm() != 0o600 || info.Size() != 32 {
				t.Error(info, err)
			}
		})
	}
}

// A state that was changed, that another home has sent or that belongs to another tool is refused, and the run stays as it is.
func TestAStateIsSigned(t *testing.T) {
	t.Parallel()
	p, q := newPlace(t), newPlace(t)
	for _, place := range []*place{p, q} {
		place.write("home/library/asks.json", asksBeforeDropping)
	}
	s, foreign := p.launch("pflow-serve", "--toolsets", "core,workflows"), q.launch("pflow-serve")
	_, state := s.asked("execute", `{"name":"asks"}`)
	_, other := foreign.asked("execute", `{"name":"asks"}`)
	content, signature, _ := strings.Cut(state, ".")
	for name, c := range map[string]struct{ tool, arguments, state string }{
		"garbage":         {"execute", `{"name":"asks"}`, "garbage"},
		"content":         {"execute", `{"name":"asks"}`, "x" + content[1:] + "." + signature},
		"signature":       {"execute", `{"name":"asks"}`, content + "." + "A" + signature[1:]},
		"unsigned":        {"execute", `{"name":"asks"}`, content + "."},
		"another home":    {"execute", `{"name":"asks"}`, other},
		"another tool":    {"asks", `{}`, state},
		"another of runs": {"run_wait", `{"run_id":"last"}`, state},
	} {
		r := s.stateless(c.tool, c.arguments, with(c.state, approve))
		if r.Get("code").Int() != -32602 || r.Get("data.type").Str != "security_error" || p.runs() != 1 {
			t.Errorf("%s: %s", name, r.Raw)
		}
	}
	if r := s.stateless("execute", `{"name":"asks"}`, with(state, approve)); r.Get("structuredContent.status").Str != "completed" {
		t.Error(r.Raw)
	}
	s.leave()
	foreign.leave()
}

// Replies deny, dismiss or do not fit; a question that was answered elsewhere is not answered again.
func TestRepliesToAResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ reply, path, want string }{
		"declined":       {`"drop":{"action":"decline"}`, "structuredContent.status", "denied"},
		"dismissed":      {`"drop":{"action":"cancel"}`, "structuredContent.status", "paused"},
		"another word":   {`"drop":{"action":"accept","content":{"answer":"maybe"}}`, "structuredContent.error.type", "usage_error"},
		"another node":   {`"count":{"action":"accept","content":{"answer":"yes"}}`, "resultType", "input_required"},
		"another result": {`"drop":{"roots":[]}`, "resultType", "input_required"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("home/library/asks.json", asksBeforeDropping)
			s := p.launch("pflow-serve")
			_, state := s.asked("execute", `{"name":"asks"}`)
			<-time.After(400 * time.Millisecond) // a person reads
			if r := s.stateless("execute", `{"name":"asks"}`, with(state, c.reply)); r.Get(c.path).Str != c.want {
				t.Error(r.Raw)
			}
			s.leave()
		})
	}
	p := newPlace(t)
	p.write("home/library/asks.json", asksBeforeDropping)
	s := p.launch("pflow-serve")
	_, state := s.asked("execute", `{"name":"asks"}`)
	next := gjson.Get(p.run("pflow-exec", "resume", "last", "--approve", "no", "--format", "json").stdout, "run_id").Str
	if r := s.stateless("execute", `{"name":"asks"}`, with(state, approve)); r.Get("structuredContent.error.details.run_id").Str != next || p.runs() != 2 {
		t.Error(r.Raw)
	}
	s.leave()
}

// Without elicitation among the capabilities of the request, the result is the answer about the paused run.
func TestAResultAsksOnlyWhoCanReply(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("home/library/asks.json", asksBeforeDropping)
	s := p.launch("pflow-serve")
	s.id++
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute","arguments":{"name":"asks"},"_meta":` +
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)
	if answer, failed := s.answer(); !failed || answer["status"] != "paused" {
		t.Error(answer)
	}
	s.leave()
}
