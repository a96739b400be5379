package suite

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// streamed returns the events of a stream that a call of run_flow with some arguments is answered with, and how many bytes it has.
func (d *door) streamed(arguments string) (events []gjson.Result, size int) {
	d.Helper()
	status, text := d.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_flow","arguments":`+arguments+`}}`, "Accept", "text/event-stream")
	for line := range strings.Lines(text) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			events = append(events, gjson.Parse(data))
		}
	}
	if status != http.StatusOK || len(events) == 0 {
		d.Fatalf("%d %s", status, text)
	}
	return events, len(text)
}

// TestFlowsInEveryRevision holds that a client of each revision initializes, lists the tools and runs a flow.
func TestFlowsInEveryRevision(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	token := p.shared("hello", hello)
	d := p.open()
	for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		headers := []string{"Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", revision}
		ask := func(method, name, params string) gjson.Result {
			meta := ""
			if revision == "2026-07-28" {
				meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
				if params != "" {
					meta = "," + meta
				}
			}
			status, body := d.ask(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+meta+`}}`, append(headers, "Mcp-Method", method, "Mcp-Name", name)...)
			if status != http.StatusOK || !gjson.Get(body, "result").Exists() {
				t.Fatalf("%s, %s: %d %s", revision, method, status, body)
			}
			return gjson.Get(body, "result")
		}
		if revision == "2026-07-28" {
			if got := ask("server/discover", "", ""); !strings.Contains(got.Get("supportedVersions").Raw, revision) || !got.Get("capabilities.tools").Exists() {
				t.Errorf("%s: %s", revision, got)
			}
		} else if got := ask("initialize", "", `"protocolVersion":"`+revision+`","capabilities":{},"clientInfo":{"name":"test","version":"1"}`); got.Get("protocolVersion").Str != revision ||
			!got.Get("capabilities.tools").Exists() || got.Get("serverInfo.name").Str == "" {
			t.Errorf("%s: %s", revision, got)
		}
		for _, tool := range ask("tools/list", "", "").Get("tools").Array() {
			if tool.Get("title").Str == "" || tool.Get("description").Str == "" || tool.Get("inputSchema.type").Str != "object" || tool.Get("outputSchema.type").Str != "object" {
				t.Errorf("%s: %s", revision, tool)
			}
		}
		job := ask("tools/call", "run_flow", `"name":"run_flow","arguments":{"token":"`+token+`"}`).Get("structuredContent.job_id").Str
		if got := d.done(job); got.Get("status").Str != "completed" {
			t.Errorf("%s: %s", revision, got)
		}
	}
}

// TestTheHealthOfAServerOfFlows holds what GET answers to whoever asks.
func TestTheHealthOfAServerOfFlows(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	d := p.open()
	response, body := p.get(http.MethodGet, d.url)
	health := gjson.Parse(body)
	if got := health.Get("tools").Raw; response.StatusCode != http.StatusOK || got != `["get_flow_info","get_run_status","run_flow"]` && got != `["get_flow_info","run_flow","get_run_status"]` {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	for _, name := range []string{"name", "version", "protocolVersion", "description"} {
		if health.Get(name).Str == "" {
			t.Errorf("%s is missing: %s", name, body)
		}
	}
}

// TestTokensOfOthersOpenNothing holds that a token of one flow neither runs another nor sees its jobs, and that the end of a share ends its
// runs, but not the jobs that there are.
func TestTokensOfOthersOpenNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first, second := p.shared("first", chain("echo private-first")), p.shared("second", chain("echo two"))
	d := p.open()
	job := d.content("run_flow", `{"token":"`+first+`"}`).Get("job_id").Str
	unknown := d.content("get_run_status", `{"job_id":"job_AAAAAAAAAAAAAAAA","token":"`+second+`"}`).Raw
	d.done(job)
	for _, token := range []string{second, "AAAAAAAAAAAA"} {
		got := d.content("get_run_status", `{"job_id":"`+job+`","token":"`+token+`"}`).Raw
		if strings.ReplaceAll(got, job, "job_AAAAAAAAAAAAAAAA") != unknown {
			t.Errorf("%s: %s", token, got)
		}
	}
	if got := d.content("get_run_status", `{"job_id":"`+job+`","token":"`+first+`"}`); got.Get("status").Str != "completed" {
		t.Errorf("its own token: %s", got)
	}
	p.must("pflow-share", "remove", first)
	for _, tool := range []string{"get_flow_info", "run_flow"} {
		if got := d.content(tool, `{"token":"`+first+`"}`); got.Get("error.type").Str != "not_found" || strings.Contains(got.Raw, "private") {
			t.Errorf("%s of a share that has ended: %s", tool, got)
		}
	}
	if got := d.content("get_run_status", `{"job_id":"`+job+`"}`); got.Get("status").Str != "completed" {
		t.Errorf("a job of a share that has ended: %s", got)
	}
}

// TestLimitsOfInputsOverHTTP holds that the limits of inputs are those of the flow, and leave room for all that is allowed.
func TestLimitsOfInputsOverHTTP(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	token := p.shared("length", `{"inputs":{"text":{"type":"string"}},"nodes":[{"id":"a","type":"shell","params":{"stdin":"${text}","command":"wc -m"}}],"outputs":{"n":{"source":"${a.stdout}"}}}`)
	d := p.open()
	var many []string
	for i := range 51 {
		many = append(many, fmt.Sprintf(`"i%d":"x"`, i))
	}
	for _, tc := range [][2]string{
		{"{" + strings.Join(many, ",") + "}", "Too many inputs. Maximum 50 allowed."},
		{`{"` + strings.Repeat("k", 257) + `":"x"}`, `Input key too long: "` + strings.Repeat("k", 50) + `..." (max 256 chars)`},
		{`{"text":"` + strings.Repeat("x", 100_001) + `"}`, `Input value for "text" exceeds maximum length of 100000 characters`},
	} {
		if got := d.content("run_flow", `{"token":"`+token+`","inputs":`+tc[0]+`}`).Get("error.message").Str; got != tc[1] {
			t.Errorf("%.40s: %s", tc[0], got)
		}
	}
	started := d.content("run_flow", `{"token":"`+token+`","inputs":{"text":"`+strings.Repeat("é", 100_000)+`"}}`)
	if got := d.done(started.Get("job_id").Str).Get("outputs.n.value").Str; started.Get("quota_remaining").Int() != 99 || strings.TrimSpace(got) != "100000" && strings.TrimSpace(got) != "200000" {
		t.Errorf("%s: %q", started, got)
	}
}

// TestStreamsCarryNoOutputs holds that what a client puts into its context stays small, however much a flow returns.
func TestStreamsCarryNoOutputs(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	token := p.shared("large", `{"nodes":[{"id":"text","type":"shell","params":{"command":"head -c 1000000 /dev/zero | tr '\\0' x"}},
		{"id":"image","type":"shell","params":{"command":"printf '{\"type\":\"image\",\"value\":\"'; head -c 1000000 /dev/zero | base64 -w 0; printf '\"}'"}}],
		"outputs":{"text":{"source":"${text.stdout}"},"image":{"source":"${image.stdout}"}}}`)
	d := p.open()
	events, size := d.streamed(`{"token":"` + token + `"}`)
	result := events[len(events)-1].Get("result.structuredContent")
	if result.Get("status").Str != "completed" || result.Get("outputs.text.size_bytes").Int() != 1_000_000 || result.Get("outputs.image.size_bytes").Int() != 1_000_000 {
		t.Errorf("%s", result)
	}
	if size > 10_000 {
		t.Errorf("the stream has %d bytes", size)
	}
	for _, event := range events[:len(events)-1] {
		if event.Get("params.node.output").Exists() {
			t.Errorf("%s", event)
		}
	}
	for tool, most := range map[string]int{"run_flow": 1000, "get_run_status": 3000} { // twice the text: as content, and structured
		arguments := `{"token":"` + token + `"}`
		if tool == "get_run_status" {
			arguments = `{"job_id":"` + result.Get("job_id").Str + `"}`
		}
		if text := d.content(tool, arguments).Raw; len(text) > most {
			t.Errorf("%s: %d bytes", tool, len(text))
		}
	}
}

// TestFlowsByCurl holds that curl, with the lines of the documentation, polls a flow and reads a stream.
func TestFlowsByCurl(t *testing.T) {
	t.Parallel()
	needs(t, "curl")
	p := newPlace(t)
	token := p.shared("hello", hello)
	d := p.open()
	curl := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "curl", append([]string{"-sS", "--max-time", "60", "-H", "Content-Type: application/json"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v %s", err, out)
		}
		return string(out)
	}
	call := `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "run_flow", "arguments": {"token": "` + token + `", "inputs": {"who": "Ada"}}}}`
	started := curl(d.url, "-d", call)
	job := gjson.Get(gjson.Get(started, "result.content.0.text").Str, "job_id").Str // as a client without structured content reads it
	if got := d.done(job).Get("outputs.greeting.value").Str; got != "hello Ada" {
		t.Errorf("%s: %s", started, got)
	}
	stream := curl("-N", "-H", "Accept: text/event-stream", d.url, "-d", call)
	if !strings.Contains(stream, "\nevent: message\ndata: ") && !strings.HasPrefix(stream, "event: message\ndata: ") || strings.Count(stream, "notifications/progress") != 5 || !strings.Contains(stream, `"status":"completed"`) {
		t.Errorf("%s", stream)
	}
	link := gjson.Get(stream[strings.LastIndex(stream, "data: ")+6:], `result.structuredContent.outputs.long text.uri`).Str
	if got := curl("-r", "0-8", link); got != "hello Ada" {
		t.Errorf("%q: %q", link, got)
	}
	if got := curl("-o", "/dev/null", "-w", "%{http_code}", "-X", "DELETE", d.url); got != "405" {
		t.Errorf("DELETE: %s", got)
	}
}

// TestFlowsByAClientsConfiguration holds that the entry which clients have for a server at a URL, in the file .mcp.json of a project, is all
// that a client needs: here pflow-sync, which takes it over, and a workflow whose node runs the flow.
func TestFlowsByAClientsConfiguration(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	token := p.shared("hello", hello)
	d := p.open()
	p.write("desk/.mcp.json", `{
  "mcpServers": {
    "composer-local": {
      "type": "http",
      "url": "`+d.url+`"
    }
  }
}`)
	p.must("pflow-sync", "import", "composer-local", "--project", filepath.Join(p.dir, "desk"))
	p.must("pflow-sync", "sync", "composer-local")
	info := gjson.Parse(p.must("pflow-sync", "call", "composer-local", "get_flow_info", "token="+token, "--raw"))
	if info.Get("name").Str != "hello" {
		t.Errorf("%s", info)
	}
	p.write("uses.json", `{"nodes":[{"id":"start","type":"mcp-composer-local-run-flow","params":{"token":"`+token+`","inputs":{"who":"Ada"}}}],"outputs":{"job":{"source":"${start.result.job_id}"}}}`)
	job := gjson.Get(p.must("pflow-exec", "run", "uses.json", "--format", "json"), "outputs.job").Str
	if got := d.done(job).Get("outputs.greeting.value").Str; got != "hello Ada" {
		t.Errorf("%s: %s", job, got)
	}
}
