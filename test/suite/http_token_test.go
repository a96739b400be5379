package suite

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// token makes a token and returns the header that has it.
func (p *place) token(args ...string) string {
	p.Helper()
	made := gjson.Get(p.must("pflow-serve", append([]string{"token", "add"}, args...)...), "token").Str
	if !strings.HasPrefix(made, "pflow_") {
		p.Fatalf("the token is %q", made)
	}
	return "Bearer " + made
}

// toolNames returns the names of the tools that a client sees.
func (d *door) toolNames(headers ...string) string {
	d.Helper()
	_, body := d.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, headers...)
	var names []string
	for _, tool := range gjson.Get(body, "result.tools.#.name").Array() {
		names = append(names, tool.Str)
	}
	return strings.Join(names, " ")
}

// content calls a tool and returns its structured content.
func (d *door) content(tool, arguments string, headers ...string) gjson.Result {
	d.Helper()
	status, body := d.ask(toolCall("1", tool, arguments), headers...)
	result := gjson.Get(body, "result.structuredContent")
	if status != http.StatusOK || !result.Exists() {
		d.Fatalf("%s %s: %d %s", tool, arguments, status, body)
	}
	return result
}

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// TestHTTPWhoMayCall holds who needs a token, and what a wrong one is answered with.
func TestHTTPWhoMayCall(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	good, gone := p.token("good"), p.token("gone")
	p.must("pflow-serve", "token", "remove", "gone")
	local := p.open("--toolsets", "core")
	public := p.open("--toolsets", "core", "--public-url", "https://flows.example.com")
	for name, tc := range map[string]struct {
		d       *door
		headers []string
		status  int
	}{
		"local":               {local, nil, 200},
		"local, good":         {local, []string{"Authorization", good}, 200},
		"local, gone":         {local, []string{"Authorization", gone}, 401},
		"local, wrong":        {local, []string{"Authorization", "Bearer pflow_wrong"}, 401},
		"local, empty":        {local, []string{"Authorization", "Bearer "}, 401},
		"local, basic":        {local, []string{"Authorization", strings.Replace(good, "Bearer", "Basic", 1)}, 401},
		"local, by a proxy":   {local, []string{"X-Forwarded-For", "192.0.2.1"}, 401},
		"a proxy and a token": {local, []string{"X-Forwarded-For", "192.0.2.1", "Authorization", good}, 200},
		"public":              {public, nil, 401},
		"public, good":        {public, []string{"Authorization", good}, 200},
		"public, lower case":  {public, []string{"Authorization", strings.Replace(good, "Bearer", "bearer", 1)}, 200},
		"public, gone":        {public, []string{"Authorization", gone}, 401},
	} {
		response, err := tc.d.post(t.Context(), listTools, tc.headers...)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if challenged := strings.HasPrefix(response.Header.Get("WWW-Authenticate"), "Bearer "); response.StatusCode != tc.status || challenged != (tc.status == 401) {
			t.Errorf("%s: %d %v", name, response.StatusCode, response.Header)
		}
	}
	health := func(d *door, headers ...string) (int, int) {
		request, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, d.url, nil)
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		var body strings.Builder
		_ = response.Write(&body)
		_, document, _ := strings.Cut(body.String(), "\r\n\r\n")
		return response.StatusCode, int(gjson.Get(document, "tools.#").Int())
	}
	for name, tc := range map[string]struct {
		d             *door
		headers       []string
		status, tools int
	}{"local": {local, nil, 200, 5}, "public": {public, nil, 200, 0}, "public, good": {public, []string{"Authorization", good}, 200, 5}, "wrong": {public, []string{"Authorization", gone}, 401, 0}} {
		if status, tools := health(tc.d, tc.headers...); status != tc.status || tools != tc.tools {
			t.Errorf("health, %s: %d with %d tools", name, status, tools)
		}
	}
	p.must("pflow-serve", "token", "remove", "good") // and the server knows at once
	if status, _ := public.ask(listTools, "Authorization", good); status != http.StatusUnauthorized {
		t.Errorf("after removal: %d", status)
	}
	secret := strings.TrimPrefix(good, "Bearer pflow_")
	for name, content := range p.files() {
		if strings.Contains(content, secret) {
			t.Errorf("%s has the token", name)
		}
	}
}

// TestHTTPTokenReachesItsFlowsOnly holds that a token with flows sees nothing of other workflows, by no tool and no resource.
func TestHTTPTokenReachesItsFlowsOnly(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.saved("mine", chain("echo mine"))
	p.saved("other", chain("echo secret"))
	theirs := gjson.Get(p.must("pflow-exec", "start", "--name", "other"), "run_id").Str
	p.must("pflow-exec", "wait", theirs)
	limited := []string{"Authorization", p.token("limited", "--flows", "mine", "--toolsets", "core,workflows,runs")}
	core := []string{"Authorization", p.token("core", "--toolsets", "core")}
	none := []string{"Authorization", p.token("none", "--toolsets", "veloflux")}
	d := p.open("--toolsets", "core,drafts,workflows")
	if got, want := d.toolNames(limited...), "describe_workflow execute list_runs mine run_cancel run_logs run_resume run_status run_wait"; got != want {
		t.Errorf("the limited token sees %s", got)
	}
	if got := d.toolNames(core...); got != "browse_components describe_workflow execute list_library save_to_library" {
		t.Errorf("the token of one toolset sees %s", got)
	}
	if status, body := d.ask(listTools, none...); status != http.StatusForbidden {
		t.Errorf("a token without toolsets: %d %s", status, body)
	}
	run := d.content("execute", `{"name":"mine"}`, limited...)
	if run.Get("status").Str != "completed" {
		t.Fatalf("%s", run)
	}
	if got := d.content("mine", `{}`, limited...).Get("status").Str; got != "completed" {
		t.Errorf("the workflow's own tool: %s", got)
	}
	for _, refused := range [][2]string{
		{"execute", `{"name":"other"}`},
		{"execute", `{"name":"mine","resume":"` + theirs + `"}`},
		{"execute", `{"name":"mine","resume":"last"}`},
		{"describe_workflow", `{"name":"mine","run_id":"` + theirs + `"}`},
		{"describe_workflow", `{"name":"mine","run_id":"last"}`},
		{"describe_workflow", `{"name":"other"}`},
		{"describe_workflow", `{"name":"shell"}`},
		{"run_status", `{"run_id":"` + theirs + `"}`},
		{"run_wait", `{"run_id":"` + theirs + `"}`},
		{"run_logs", `{"run_id":"` + theirs + `"}`},
		{"run_cancel", `{"run_id":"` + theirs + `"}`},
		{"run_resume", `{"run_id":"` + theirs + `"}`},
		{"run_status", `{"run_id":"last"}`},
		{"list_runs", `{}`},
		{"list_runs", `{"workflow":"other"}`},
	} {
		if got := d.content(refused[0], refused[1], limited...); got.Get("success").Bool() || strings.Contains(got.Raw, "secret") {
			t.Errorf("%s: %s", refused, got)
		}
	}
	for _, uri := range []string{"workflows/other", "runs/" + theirs, "runs/" + theirs + "/fragment", "runs/" + theirs + "/outputs/last", "runs/" + theirs + "/nodes/a", "runs/" + theirs + "/logs", "runs/last"} {
		message := `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"pflow://` + uri + `"}}`
		if _, body := d.ask(message, limited...); !gjson.Get(body, "error").Exists() || strings.Contains(body, "secret") {
			t.Errorf("%s: %s", uri, body)
		}
		if _, body := d.ask(message); !gjson.Get(body, "result").Exists() {
			t.Errorf("%s without limits: %s", uri, body)
		}
	}
	if _, body := d.ask(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"pflow://runs/`+run.Get("run_id").Str+`"}}`, limited...); !gjson.Get(body, "result").Exists() {
		t.Errorf("the token's own run: %s", body)
	}
	if _, body := d.ask(`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`, limited...); gjson.Get(body, "result.prompts.#").Int() != 0 {
		t.Errorf("prompts: %s", body)
	}
	if _, body := d.ask(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"pflow://runs/`+run.Get("run_id").Str+`/fragment"}}`, limited...); !gjson.Get(body, "result").Exists() {
		t.Errorf("the token's own run as HTML: %s", body)
	}
	if got := d.content("list_runs", `{"workflow":"mine"}`, limited...); got.Get("runs.#").Int() != 2 {
		t.Errorf("the token's own runs: %s", got)
	}
	if got := d.content("list_runs", `{"workflow":"other"}`); got.Get("runs.0.run_id").Str != theirs {
		t.Errorf("without limits: %s", got)
	}
}

// TestATokenOfUnknownFlowsWarns holds that a workflow which does not exist is named when a token is limited to it, and that the token is
// made nevertheless.
func TestATokenOfUnknownFlowsWarns(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.saved("mine", chain("true"))
	p.draft("sketch", chain("true"))
	for name, warned := range map[string]bool{"mine": false, "sketch": false, "absent": true} {
		o := p.run("pflow-serve", "token", "add", "for-"+name, "--flows", name)
		if o.exit != 0 || gjson.Get(o.stdout, "flows.0").Str != name || strings.Contains(o.stderr, "absent") != warned {
			t.Errorf("%s: %s", name, o)
		}
	}
}
