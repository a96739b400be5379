package suite

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// shown is the answer to a request for a page.
type shown struct {
	status int
	header http.Header
	body   string
}

// visit sends a request with headers in pairs and follows no redirect. A form is posted.
func (d *door) visit(path string, form url.Values, headers ...string) shown {
	d.Helper()
	method, body := http.MethodGet, io.Reader(nil)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	request, err := http.NewRequestWithContext(d.Context(), method, d.base()+path, body)
	if err != nil {
		d.Fatal(err)
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		d.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		d.Fatal(err)
	}
	return shown{response.StatusCode, response.Header, string(text)}
}

// base is the URL of the server without a path.
func (d *door) base() string { return strings.TrimSuffix(d.url, "/api/mcp") }

// lacks reports the texts that are not in the answer.
func (s shown) lacks(texts ...string) (missing []string) {
	for _, text := range texts {
		if !strings.Contains(s.body, text) {
			missing = append(missing, text)
		}
	}
	return missing
}

// start starts a workflow and returns its run.
func (p *place) start(name string, args ...string) string {
	p.Helper()
	return gjson.Get(p.must("pflow-exec", append([]string{"start", "--name", name}, args...)...), "run_id").Str
}

// hostile is a text that would be code on a page that does not escape it.
const hostileText = `</script><script>alert(1)</script><img src=x onerror=alert(1)>`

// TestWebPages holds what the pages show, that texts of workflows and runs stay texts on them, and that they allow nothing but themselves.
func TestWebPages(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("greet", `{"description":"`+strings.ReplaceAll(hostileText, `"`, `\"`)+`","inputs":{"who":{"type":"string","required":true,"description":"`+hostileText+`"},
		"count":{"type":"integer","default":3},"key":{"type":"string","secret":true,"required":false,"default":"hidden-default"},"sure":{"type":"boolean","default":true},"list":{"type":"array","required":false}},
		"nodes":[{"id":"say","type":"shell","purpose":"`+hostileText+`","params":{"command":"printf '%s' \"${who}\""}}],"outputs":{"said":{"source":"${say.stdout}"}}}`)
	p.draft("bad", chain("exit 3"))
	first, second, failed := p.start("greet", "who="+hostileText), p.start("greet", "who=Ada"), p.start("bad")
	for _, run := range []string{first, second, failed} {
		p.run("pflow-exec", "wait", run)
	}
	d := p.open("--toolsets", "core,runs")
	for path, tc := range map[string]struct {
		status int
		has    []string
		lacks  string
	}{
		"/":                      {200, []string{first, second, failed, "is-failed", "is-completed", `data-tools="run_resume run_cancel execute"`}, "<img"},
		"/?status=failed":        {200, []string{failed}, first},
		"/?workflow=greet&text=": {200, []string{first, second}, failed},
		"/?cursor=" + failed:     {200, []string{first, second}, `value="` + failed},
		"/?text=%00":             {400, nil, first},
		"/?status=" + url.QueryEscape(`"><script>`): {400, nil, `"><script>`},
		"/?cursor=none":                            {400, nil, first},
		"/workflows?cursor=none":                   {400, nil, "/workflows/greet"},
		"/workflows/none":                          {404, nil, "shell"},
		"/runs/" + first:                           {200, []string{`<article class="run" data-run="` + first, `data-status="completed"`, "&lt;script&gt;alert(1)"}, "<img src=x"},
		"/runs/rnothing":                           {404, nil, first},
		"/runs/--help":                             {404, nil, "Usage"},
		"/runs/%3Cscript%3E":                       {404, nil, "<script>\""},
		"/compare?a=" + first + "&b=" + second:     {200, []string{first, second, "&lt;img src=x", `Ada</pre>`}, "<img src=x"},
		"/compare?run=" + second + "&run=" + first: {200, []string{first}, "<img src=x"},
		"/compare?a=" + first:                      {400, nil, "is-completed"},
		"/compare?a=" + first + "&b=-x":            {404, nil, "is-completed"},
		"/workflows":                               {200, []string{`href="/workflows/greet"`, "draft"}, "<img src=x"},
		"/workflows?text=greet":                    {200, []string{"/workflows/greet"}, "/workflows/bad"},
		"/workflows/greet":                         {200, []string{`name="who" data-type="string"`, ` required`, `<input type="password" id=`, `name="key"`, `placeholder="3"`, `data-type="boolean"`, `data-type="array"`}, "hidden-default"},
		"/workflows/shell":                         {404, nil, "command"},
		"/workflows/..%2Fgreet":                    {404, nil, "shell"},
		"/workflows/greet/graph.svg":               {200, []string{"<svg", "say"}, "<script>alert"},
		"/workflows/none/graph.svg":                {404, nil, "<svg"},
		"/page.css":                                {200, []string{".pages"}, ""},
		"/page.js":                                 {200, []string{"EventSource"}, ""},
		"/page-stream.js":                          {200, []string{"EventSource"}, ""},
	} {
		got := d.visit(path, nil)
		if missing := got.lacks(tc.has...); got.status != tc.status || missing != nil || tc.lacks != "" && strings.Contains(got.body, tc.lacks) {
			t.Errorf("%s: %d, lacks %q or has %q:\n%.3000s", path, got.status, missing, tc.lacks, got.body)
		}
		policy := got.header.Get("Content-Security-Policy")
		if strings.Contains(policy, "unsafe-eval") || !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "script-src 'unsafe") ||
			got.header.Get("X-Content-Type-Options") != "nosniff" || got.header.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("%s: %v", path, got.header)
		}
	}
	if got := d.visit("/runs/last", nil); got.status != http.StatusSeeOther || got.header.Get("Location") != "/runs/"+failed {
		t.Errorf("%d %v", got.status, got.header)
	}
	if kept := regexp.MustCompile(`"(/page(?:-stream)?\.(?:css|js)\?v=[0-9a-f]{32})"`).FindAllStringSubmatch(d.visit("/", nil).body, -1); len(kept) != 3 {
		t.Errorf("the page names %q", kept)
	} else {
		for _, name := range kept {
			if got := d.visit(name[1], nil).header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
				t.Errorf("%s: %s", name[1], got)
			}
			if got := d.visit(name[1]+"0", nil).header.Get("Cache-Control"); got != "no-cache" {
				t.Errorf("another version: %s", got)
			}
		}
	}
	if got := d.visit("/page.js", nil, "If-None-Match", d.visit("/page.js", nil).header.Get("ETag")); got.status != http.StatusNotModified {
		t.Errorf("an unchanged script: %d", got.status)
	}
	flows := p.open()
	for _, path := range []string{"/", "/runs/" + first, "/workflows", "/api/runs/" + first + "/events"} {
		if got := flows.visit(path, nil); got.status != http.StatusNotFound || strings.Contains(got.body, first) {
			t.Errorf("without a toolset for runs, %s: %d %s", path, got.status, got.body)
		}
	}
}

// TestWebPagesTakeATokenOnce holds that a browser gives its token in a form and keeps it in a cookie that no script and no other site can use.
func TestWebPagesTakeATokenOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("greet", chain("echo hello"))
	run := p.start("greet")
	p.must("pflow-exec", "wait", run)
	bearer := p.token("browser")
	token := strings.TrimPrefix(bearer, "Bearer ")
	d := p.open("--toolsets", "core,runs", "--public-url", "https://flows.example.com")
	const own = "https://flows.example.com"
	for _, path := range []string{"/", "/runs/" + run, "/workflows", "/workflows/greet/graph.svg", "/compare?a=last&b=last"} {
		got := d.visit(path, nil)
		if missing := got.lacks(`action="/sign-in"`, `type="password"`); got.status != http.StatusUnauthorized || missing != nil || strings.Contains(got.body, "greet") && !strings.Contains(path, "greet") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if got := d.visit("/api/runs/"+run+"/events", nil); got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") == "" {
		t.Errorf("events: %d %v", got.status, got.header)
	}
	form := func(token, next string) url.Values { return url.Values{"token": {token}, "next": {next}} }
	for name, tc := range map[string]struct {
		form    url.Values
		headers []string
		status  int
	}{
		"a wrong token":    {form("pflow_wrong", "/"), []string{"Origin", own}, 401},
		"no token":         {form("", "/"), []string{"Origin", own}, 401},
		"a long form":      {form(strings.Repeat("x", 1<<16), "/"), []string{"Origin", own}, 401},
		"no origin":        {form(token, "/"), nil, 403},
		"a foreign origin": {form(token, "/"), []string{"Origin", "https://evil.example"}, 403},
	} {
		if got := d.visit("/sign-in", tc.form, tc.headers...); got.status != tc.status || got.header.Get("Set-Cookie") != "" || strings.Contains(got.body, token) {
			t.Errorf("%s: %d %v", name, got.status, got.header)
		}
	}
	for next, want := range map[string]string{"/runs/" + run: "/runs/" + run, "//evil.example/": "/", `/\evil.example`: "/", "https://evil.example/": "/", "": "/", "/a\r\nX-Evil: 1": "/"} {
		got := d.visit("/sign-in", form(" "+token+"\n", next), "Origin", own)
		cookie := got.header.Get("Set-Cookie")
		for _, attribute := range []string{"pflow_session=", "Path=/", "HttpOnly", "Secure", "SameSite=Strict"} {
			if !strings.Contains(cookie, attribute) || strings.Contains(cookie, token) {
				t.Errorf("the cookie lacks %s or has the token: %s", attribute, cookie)
			}
		}
		if location := strings.TrimPrefix(got.header.Get("Location"), own); got.status != http.StatusSeeOther || location != want || got.header.Get("X-Evil") != "" {
			t.Errorf("%q leads to %d %q", next, got.status, location)
		}
	}
	signIn := func() []string {
		set := d.visit("/sign-in", form(token, "/"), "Origin", own).header.Get("Set-Cookie")
		return []string{"Cookie", strings.SplitN(set, ";", 2)[0]}
	}
	cookie := signIn()
	with := func(headers ...string) []string { return append(headers, cookie...) }
	if got := d.visit("/runs/"+run, nil, cookie...); got.status != http.StatusOK || !strings.Contains(got.body, run) || strings.Contains(got.body, token) {
		t.Errorf("with the cookie: %d", got.status)
	}
	if got := d.visit("/api/runs/"+run+"/events", nil, cookie...); got.status != http.StatusOK || strings.Contains(got.body, token) {
		t.Errorf("events with the cookie: %d", got.status)
	}
	for name, tc := range map[string]struct {
		headers []string
		status  int
	}{
		"a page of the server": {with("Origin", own), 200}, "no origin": {with(), 403}, "another site": {with("Origin", "https://evil.example"), 403},
		"a bearer needs no origin": {[]string{"Authorization", bearer}, 200},
	} {
		if status, body := d.ask(listTools, tc.headers...); status != tc.status {
			t.Errorf("a call from %s: %d %s", name, status, body)
		}
	}
	if got := d.visit("/sign-out", url.Values{}, with("Origin", own)...); got.status != http.StatusSeeOther || !strings.Contains(got.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("sign-out: %d %v", got.status, got.header)
	}
	if got := d.visit("/", nil, cookie...); got.status != http.StatusUnauthorized {
		t.Errorf("a session that has ended: %d", got.status)
	}
	cookie = signIn()
	if got := d.visit("/", nil, cookie...); got.status != http.StatusOK {
		t.Errorf("another session: %d", got.status)
	}
	p.must("pflow-serve", "token", "remove", "browser")
	if got := d.visit("/", nil, cookie...); got.status != http.StatusUnauthorized || !strings.Contains(got.header.Get("Set-Cookie"), "Max-Age=0") || strings.Contains(got.body, token) {
		t.Errorf("a removed token: %d %v", got.status, got.header)
	}
}

// TestWebPagesOfALimitedToken holds that a token sees the runs and the workflows that it reaches, and of the others not even that they exist.
func TestWebPagesOfALimitedToken(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.saved("mine", chain("echo mine"))
	p.saved("theirs", chain("echo private-words"))
	mine, theirs := p.start("mine"), p.start("theirs")
	for _, run := range []string{mine, theirs} {
		p.must("pflow-exec", "wait", run)
	}
	d := p.open("--toolsets", "core,runs")
	limited := []string{"Authorization", p.token("limited", "--flows", "mine")}
	runsOnly := []string{"Authorization", p.token("follower", "--toolsets", "runs")}
	for _, path := range []string{"/", "/?workflow=theirs", "/?text=private", "/workflows", "/runs/" + mine, "/workflows/mine", "/compare?a=" + mine + "&b=" + mine, "/api/runs/" + mine + "/events"} {
		got := d.visit(path, nil, limited...)
		own := strings.ReplaceAll(got.body, "theirs&#34;", "")
		if got.status != http.StatusOK || strings.Contains(own, theirs) || strings.Contains(own, "private-words") || strings.Contains(own, "/workflows/theirs") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	unknown := "r" + strings.Repeat("0", len(theirs)-1)
	for _, path := range []string{"/runs/RUN", "/compare?a=" + mine + "&b=RUN", "/compare?a=RUN&b=" + mine, "/api/runs/RUN/events"} {
		got, none := d.visit(strings.ReplaceAll(path, "RUN", theirs), nil, limited...), d.visit(strings.ReplaceAll(path, "RUN", unknown), nil, limited...)
		if got.status != http.StatusNotFound || strings.ReplaceAll(got.body, theirs, unknown) != none.body {
			t.Errorf("%s: %d %s\n%s", path, got.status, got.body, none.body)
		}
	}
	for _, path := range []string{"/runs/last", "/runs/r", "/workflows/theirs", "/workflows/theirs/graph.svg", "/api/runs/last/events", "/api/runs/r/events"} {
		if got := d.visit(path, nil, limited...); got.status != http.StatusNotFound || strings.Contains(got.body, theirs) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if got := d.visit("/", nil, runsOnly...); got.status != http.StatusOK || !strings.Contains(got.body, `data-tools="run_resume run_cancel"`) || strings.Contains(got.body, "/workflows") {
		t.Errorf("a token for runs: %d %s", got.status, got.body)
	}
	if got := d.visit("/workflows/mine", nil, runsOnly...); got.status != http.StatusNotFound {
		t.Errorf("a token for runs sees a form: %d", got.status)
	}
	if got := d.visit("/", nil, "Authorization", p.token("other", "--toolsets", "flows,drafts")); got.status != http.StatusForbidden {
		t.Errorf("a token without runs: %d", got.status)
	}
}

// TestWebPagesHaveNoSecret holds that the value of a secret input is in no byte of the pages and streams of its run.
func TestWebPagesHaveNoSecret(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const secret = "canary-4f2a-secret"
	p.draft("keyed", `{"inputs":{"key":{"type":"string","secret":true}},"nodes":[{"id":"use","type":"shell","params":{"command":"echo \"${key}\"; echo \"${key}\" >&2; exit 3"}}]}`)
	d := p.open("--toolsets", "core,runs")
	call := d.content("execute", `{"name":"keyed","inputs":{"key":"`+secret+`"}}`)
	run := call.Get("checkpoint.run_id").Str
	if run == "" {
		t.Fatalf("%s", call)
	}
	for _, path := range []string{"/", "/runs/" + run, "/compare?a=" + run + "&b=" + run, "/workflows/keyed", "/api/runs/" + run + "/events"} {
		if got := d.visit(path, nil); got.status != http.StatusOK || strings.Contains(got.body, secret) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}
