package suite

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// done polls a job until it has ended.
func (d *door) done(job string) gjson.Result {
	d.Helper()
	var last gjson.Result
	d.eventually("job "+job+" has ended", func() bool {
		last = d.content("get_run_status", `{"job_id":"`+job+`"}`)
		return last.Get("status").Str == "completed" || last.Get("status").Str == "failed"
	})
	return last
}

// get sends a request without a body to a URL, with headers in pairs.
func (p *place) get(method, address string, headers ...string) (*http.Response, string) {
	p.Helper()
	request, err := http.NewRequestWithContext(p.Context(), method, address, nil)
	if err != nil {
		p.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		p.Fatal(err)
	}
	return response, string(body)
}

const hello = `{"description":"Say hello","inputs":{"who":{"type":"string","default":"you"}},` +
	`"nodes":[{"id":"a","type":"shell","params":{"command":"echo \"hello ${who}\""}},{"id":"b","type":"shell","params":{"command":"echo ${a.stdout}; printf '%02500d' 7"}}],` +
	`"outputs":{"greeting":{"source":"${a.stdout}"},"long text":{"source":"${b.stdout}"}}}`

// TestFlowsByPolling holds the default of pflow-serve http: shared flows for clients without a credential, by polling.
func TestFlowsByPolling(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	token := p.shared("hello", hello)
	d := p.open()
	if got := d.toolNames(); got != "get_flow_info get_run_status run_flow" {
		t.Fatalf("the tools are %s", got)
	}
	info := d.content("get_flow_info", `{"token":"`+token+`"}`)
	for path, want := range map[string]string{
		"name": "hello", "description": "Say hello", "ownerFunded": "true", "inputs.#": "1", "inputs.0.id": "who", "inputs.0.label": "who", "inputs.0.type": "text-input",
		"outputs.#": "2", "outputs.0.id": "greeting", "outputs.1.label": "long text",
	} {
		if got := info.Get(path).String(); got != want {
			t.Errorf("get_flow_info: %s is %q: %s", path, got, info)
		}
	}
	started := d.content("run_flow", `{"token":"`+token+`","inputs":{"who":"Ada"}}`)
	job := started.Get("job_id").Str
	if started.Get("status").Str != "started" || started.Get("next_action").Str == "" || started.Get("message").Str == "" || started.Get("quota_remaining").Int() != 99 || started.Get("run_id").Exists() {
		t.Errorf("run_flow: %s", started)
	}
	status := d.done(job)
	if status.Get("outputs.greeting.value").Str != "hello Ada" || status.Get("created_at").Str == "" || status.Get("completed_at").Str == "" || status.Get("duration_ms").Exists() {
		t.Errorf("get_run_status: %s", status)
	}
	link := status.Get("outputs.long text")
	if link.Get("type").Str != "resource_link" || !strings.HasPrefix(link.Get("uri").Str, strings.TrimSuffix(d.url, "/api/mcp")+"/api/mcp/outputs/"+job+"/") || link.Get("size_bytes").Int() != 2510 {
		t.Errorf("the link: %s", link)
	}
	_, body := d.ask(toolCall("1", "get_run_status", `{"job_id":"`+job+`"}`))
	if block := gjson.Get(body, `result.content.#(type=="resource_link")`); block.Get("uri").Str != link.Get("uri").Str || block.Get("size").Int() != 2510 {
		t.Errorf("the content block: %s", block)
	}
	_, body = d.ask(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + link.Get("uri").Str + `"}}`)
	if text := gjson.Get(body, "result.contents.0.text").Str; len(text) != 2510 || !strings.HasPrefix(text, "hello Ada\n0") {
		t.Errorf("resources/read: %.200s", body)
	}
	for _, uri := range []string{"pflow://runs/last", "pflow://guide", "pflow://workflows/hello"} {
		if _, body := d.ask(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + uri + `"}}`); !gjson.Get(body, "error").Exists() {
			t.Errorf("%s: %s", uri, body)
		}
	}
	if _, body := d.ask(`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`); gjson.Get(body, "result.prompts.#").Int() != 0 {
		t.Errorf("prompts: %s", body)
	}
	for name, refused := range map[string][3]string{
		"no token":     {"run_flow", `{}`, "Token must be a string"},
		"bad token":    {"run_flow", `{"token":"../../etc"}`, "Invalid token format. Expected 12 alphanumeric characters."},
		"bad input":    {"run_flow", `{"token":"` + token + `","inputs":{"who":7}}`, `Input value for "who" must be a string`},
		"another":      {"get_run_status", `{"job_id":"` + job + `","token":"AAAAAAAAAAAA"}`, "Job not found: " + job + ". Jobs expire after 1 hour."},
		"unknown job":  {"get_run_status", `{"job_id":"job_AAAAAAAAAAAAAAAA"}`, "Job not found: job_AAAAAAAAAAAAAAAA. Jobs expire after 1 hour."},
		"bad job":      {"get_run_status", `{"job_id":"job_"}`, "Invalid job ID format"},
		"unknown flow": {"get_flow_info", `{"token":"AAAAAAAAAAAA"}`, ""},
	} {
		got := d.content(refused[0], refused[1])
		if text := got.Get("error.message").Str; text == "" || refused[2] != "" && text != refused[2] {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestFlowsOnAStream holds that run_flow streams to its result, with the job's id and what happens to each node.
func TestFlowsOnAStream(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	token := p.shared("hello", hello)
	failing := p.shared("failing", chain("echo one", "echo oops >&2; exit 3"))
	d := p.open()
	for name, tc := range map[string]struct{ token, accept, meta, progressToken, status, messages string }{
		"stream alone":          {token, "text/event-stream", "", `"id-7"`, "completed", "Flow: running|a: running|a: success|b: running|b: success"},
		"stream alone, token":   {token, "text/event-stream", `,"_meta":{"progressToken":42}`, "42", "completed", "Flow: running|a: running|a: success|b: running|b: success"},
		"both, with a token":    {token, "application/json, text/event-stream", `,"_meta":{"progressToken":"p"}`, `"p"`, "completed", "Flow: running|a: running|a: success|b: running|b: success"},
		"a flow that fails":     {failing, "text/event-stream", "", `"id-7"`, "failed", "Flow: running|a: running|a: success|b: running|b: error"},
		"both, without a token": {token, "application/json, text/event-stream", "", "", "started", ""},
	} {
		response, err := d.post(t.Context(), `{"jsonrpc":"2.0","id":"id-7","method":"tools/call","params":{"name":"run_flow","arguments":{"token":"`+tc.token+`"}`+tc.meta+`}}`, "Accept", tc.accept)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		var messages []string
		var result, job gjson.Result
		last, first := -1.0, true
		for line := range strings.Lines(string(text)) {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok && tc.status != "started" {
				continue
			}
			if tc.status == "started" {
				data = line
			}
			event := gjson.Parse(data)
			if event.Get("id").Exists() {
				result = event.Get("result.structuredContent")
				continue
			}
			params := event.Get("params")
			messages = append(messages, params.Get("message").Str)
			if progress := params.Get("progress").Num; params.Get("progressToken").Raw != tc.progressToken || progress <= last {
				t.Errorf("%s: after %v comes %s", name, last, data)
			} else {
				last = progress
			}
			job = params.Get("job_id")
			if node := params.Get("node"); !first && (node.Get("nodeId").Str != params.Get("message").Str[:1] || node.Get("nodeLabel").Str != node.Get("nodeId").Str ||
				node.Get("nodeType").Str != "shell" || node.Get("status").Str != params.Get("message").Str[3:] || node.Get("timestamp").Str == "" || params.Get("total").Int() != 2) {
				t.Errorf("%s: %s", name, data)
			}
			first = false
		}
		if got := strings.Join(messages, "|"); got != tc.messages {
			t.Errorf("%s: %s", name, got)
		}
		if result.Get("status").Str != tc.status || result.Get("run_id").Exists() || !strings.HasPrefix(result.Get("job_id").Str, "job_") {
			t.Errorf("%s: %s", name, text)
		}
		switch tc.status {
		case "completed":
			if last != 2 || job.Str != result.Get("job_id").Str || result.Get("outputs.greeting.value").Str != "hello you" || !result.Get("duration_ms").Exists() || result.Get("message").Exists() {
				t.Errorf("%s: %v %s", name, last, result)
			}
		case "failed":
			if !strings.Contains(result.Get("errors").Raw, "b") {
				t.Errorf("%s: %s", name, result)
			}
		}
	}
}

// TestFlowStreamEndsWithoutTheRun holds that a flow goes on if its client leaves or cancels, and its job can be polled.
func TestFlowStreamEndsWithoutTheRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	gate := p.gate("gate")
	token := p.shared("gated", strings.ReplaceAll(gated(), "gate\"", gate.path+"\""))
	d := p.open()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	response, err := d.post(ctx, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_flow","arguments":{"token":"`+token+`"}}}`, "Accept", "text/event-stream", "Mcp-Session-Id", "mine")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	open := gate.reached()
	var job string
	for in := bufio.NewReader(response.Body); job == ""; {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		job = gjson.Get(strings.TrimPrefix(line, "data: "), "params.job_id").Str
	}
	if status, _ := d.ask(cancelFirst, "Mcp-Session-Id", "mine"); status != http.StatusAccepted {
		t.Errorf("%d", status)
	}
	leave()
	open()
	if got := d.done(job); got.Get("status").Str != "completed" {
		t.Errorf("%s", got)
	}
}

// TestFlowOutputsOverHTTP holds what the addresses of outputs answer, and that nothing in them can be active.
func TestFlowOutputsOverHTTP(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	token := p.shared("media", `{"nodes":[{"id":"a","type":"shell","params":{"command":"printf '{\"type\":\"image\",\"value\":\"iVBORw0KGgo=\"}'"}},`+
		`{"id":"b","type":"shell","params":{"command":"printf '{\"type\":\"image\",\"value\":\"PHN2Zy8+\",\"mimeType\":\"image/svg+xml\"}'"}}],`+
		`"outputs":{"picture":{"source":"${a.stdout}"},"a \"drawing\"/é":{"source":"${b.stdout}"}}}`)
	d := p.open()
	job := d.content("run_flow", `{"token":"`+token+`"}`).Get("job_id").Str
	outputs := d.done(job).Get("outputs")
	picture := outputs.Get("picture.uri").Str
	response, body := p.get(http.MethodGet, picture)
	etag := response.Header.Get("ETag")
	for name, want := range map[string]string{
		"Content-Type": "image/png", "Content-Length": "8", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox", "Accept-Ranges": "bytes",
		"Content-Disposition": "inline; filename=picture.png",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if response.StatusCode != 200 || body != "\x89PNG\r\n\x1a\n" || len(etag) != 66 {
		t.Errorf("%d %q %s", response.StatusCode, body, etag)
	}
	for name, tc := range map[string]struct {
		method  string
		headers []string
		status  int
		body    string
	}{
		"a range":             {"GET", []string{"Range", "bytes=1-3"}, 206, "PNG"},
		"the end":             {"GET", []string{"Range", "bytes=-2"}, 206, "\x1a\n"},
		"no such range":       {"GET", []string{"Range", "bytes=100-"}, 416, ""},
		"a range of nonsense": {"GET", []string{"Range", "bytes=-"}, 416, ""},
		"unchanged":           {"GET", []string{"If-None-Match", etag}, 304, ""},
		"a stale range":       {"GET", []string{"Range", "bytes=1-3", "If-Range", `"other"`}, 200, "\x89PNG\r\n\x1a\n"},
		"head":                {"HEAD", nil, 200, ""},
		"post":                {"POST", nil, 405, ""},
	} {
		if got, body := p.get(tc.method, picture, tc.headers...); got.StatusCode != tc.status || tc.status < 400 && body != tc.body {
			t.Errorf("%s: %d %q", name, got.StatusCode, body)
		}
	}
	drawing := outputs.Get(`a "drawing"/é.uri`).Str
	if response, _ := p.get(http.MethodGet, drawing); response.StatusCode != 200 || !strings.HasPrefix(response.Header.Get("Content-Disposition"), "attachment; filename*=utf-8''a%20%22drawing%22_%C3%A9") {
		t.Errorf("%s: %d %v", drawing, response.StatusCode, response.Header)
	}
	base := strings.TrimSuffix(d.url, "/api/mcp") + "/api/mcp/outputs/"
	for path, want := range map[string]int{
		job + "/nothing": 404, "job_AAAAAAAAAAAAAAAA/picture": 404, "job_/picture": 400, "last/picture": 400, "%2e%2e%2fx/picture": 400,
		job + "/" + url.PathEscape("../../share.db"): 404, job + "/" + url.PathEscape("picture\r\nX-Evil: 1"): 404, job + "/" + url.PathEscape("-h"): 404, job + "/%00": 400,
	} {
		response, body := p.get(http.MethodGet, base+path)
		if got := response.StatusCode; got != want && !(want == 400 && got == 404) || gjson.Get(body, "error").Str == "" || response.Header.Get("X-Evil") != "" {
			t.Errorf("%s: %d %s", path, got, body)
		}
	}
}

// TestFlowLimitsAndCleanup holds how a limit that passes is answered over HTTP, and who may remove expired jobs.
func TestFlowLimitsAndCleanup(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.env = append(p.env, "CRON_SECRET=open-sesame-77")
	token := p.shared("hello", chain("true"))
	d := p.open()
	for range 10 {
		p.must("pflow-share", "admit", token)
	}
	for _, accept := range []string{"application/json", "text/event-stream"} {
		response, err := d.post(t.Context(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_flow","arguments":{"token":"`+token+`"}}}`, "Accept", accept)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		_, data, _ := strings.Cut("data: "+strings.TrimPrefix(string(text), "event: message\n"), "data: ")
		refused := gjson.Get(strings.TrimPrefix(data, "data: "), "result.structuredContent.error")
		if response.StatusCode != 200 || refused.Get("type").Str != "rate_limited" || refused.Get("details.retry_after_ms").Int() <= 0 {
			t.Errorf("%s: %d %v %s", accept, response.StatusCode, response.Header, text)
		}
		if accept == "application/json" && response.Header.Get("Retry-After") == "" {
			t.Errorf("no Retry-After: %v", response.Header)
		}
	}
	cleanup := d.url + "/cleanup"
	for name, tc := range map[string]struct {
		method string
		header string
		status int
	}{
		"no secret": {"POST", "", 401}, "wrong": {"POST", "Bearer open-sesame-78", 401}, "empty": {"POST", "Bearer ", 401}, "right": {"POST", "Bearer open-sesame-77", 200}, "get": {"GET", "Bearer open-sesame-77", 405},
	} {
		response, body := p.get(tc.method, cleanup, "Authorization", tc.header)
		if response.StatusCode != tc.status || tc.status == 200 && !gjson.Get(body, "success").Bool() {
			t.Errorf("cleanup, %s: %d %s", name, response.StatusCode, body)
		}
	}
	p.env = p.env[:len(p.env)-1]
	unset := p.open()
	if response, _ := p.get(http.MethodPost, unset.url+"/cleanup", "Authorization", "Bearer "); response.StatusCode != 401 {
		t.Errorf("cleanup without a secret: %d", response.StatusCode)
	}
}

// TestFlowsNeedNoBearer holds that a server of several toolsets behind a name of its own serves shared flows to all, and the rest to
// those with a token.
func TestFlowsNeedNoBearer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	bearer := p.token("desk")
	d := p.open("--toolsets", "core,flows", "--public-url", "https://flows.example.com")
	if got := d.toolNames(); got != "get_flow_info get_run_status run_flow" {
		t.Errorf("without a token: %s", got)
	}
	if got := d.toolNames("Authorization", bearer); !strings.Contains(got, "execute") || !strings.Contains(got, "run_flow") {
		t.Errorf("with a token: %s", got)
	}
	if _, body := d.ask(toolCall("1", "execute", `{"name":"x"}`)); !gjson.Get(body, "error").Exists() {
		t.Errorf("execute without a token: %s", body)
	}
}

// TestSecretsOfTheServerStayThere holds that the programs which a server of flows starts do not have its own secrets, except for pflow-share,
// which decrypts keys.
func TestSecretsOfTheServerStayThere(t *testing.T) {
	t.Parallel()
	needsLinux(t, "the environments of processes are read from /proc")
	p := newPlace(t)
	p.env = append(p.env, masterKey, "CRON_SECRET=open-sesame-77")
	p.fed("sk-hunter22", "pflow-share", "keys", "set", "A_TOKEN", "-")
	gate := p.gate("gate")
	const show = `echo "$${ENCRYPTION_KEY-none} $${CRON_SECRET-none} $${#A_TOKEN}"`
	p.saved("mine", chain(show))
	token := p.shared("gated", `{"nodes":[{"id":"a","type":"shell","params":{"command":`+quote("read x < "+gate.path+"; "+show)+`}}],"outputs":{"seen":{"source":"${a.stdout}"}}}`)
	d := p.open("--toolsets", "core,flows")
	if got := d.content("execute", `{"name":"mine"}`).Get("outputs.@values.0").Str; strings.TrimSpace(got) != "none none 0" {
		t.Errorf("a run of a client has %q", got)
	}
	response, err := d.post(t.Context(), toolCall("1", "run_flow", `{"token":"`+token+`"}`), "Accept", "text/event-stream")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	open := gate.reached()
	running := processes("PFLOW_HOME=" + p.home)
	if delete(running, d.cmd.Process.Pid); len(running) < 2 { // pflow-exec watch and the run
		t.Errorf("there are too few programs to look at: %v", running)
	}
	having := func(secret string) (commands []string) {
		for pid, command := range processes(secret) {
			if running[pid] != "" {
				commands = append(commands, command)
			}
		}
		return commands
	}
	if got := having("CRON_SECRET=open-sesame-77"); len(got) != 0 {
		t.Errorf("the secret of the clean-up is in the environment of %q", got)
	}
	if got := having(masterKey); len(got) != 1 || !strings.Contains(got[0], "/pflow-share ") || !strings.Contains(got[0], " --requests") {
		t.Errorf("the key is in the environment of %q", got)
	}
	open()
	text, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(text), "none none 11") {
		t.Errorf("a shared run: %v %s", err, text)
	}
}
