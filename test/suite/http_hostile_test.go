package suite

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// raw sends bytes to the server as they are and returns the status of its answer, or 0 if it closes the connection without one.
func (d *door) raw(request string) (status int, answer string) {
	d.Helper()
	host := strings.TrimSuffix(strings.TrimPrefix(d.url, "http://"), "/api/mcp")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		d.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	go func() { _, _ = io.WriteString(conn, strings.ReplaceAll(request, "HOST", host)) }() // a long one may be refused before its end
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	var all bytes.Buffer
	_ = response.Header.Write(&all)
	_, _ = io.Copy(&all, io.LimitReader(response.Body, 1<<20))
	return response.StatusCode, all.String()
}

// TestHTTPHostileRequests plays a corpus of requests that no honest client sends. Each is refused, none repeats what it brings in a
// header, and the server goes on.
func TestHTTPHostileRequests(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	secret := p.token("desk")
	d := p.open("--toolsets", "core,flows")
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	post := func(headers, body string) string {
		return "POST /api/mcp HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nConnection: close\r\n" + headers + "\r\n" + body
	}
	get := func(path, id string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: HOST\r\nAccept: text/event-stream\r\nConnection: close\r\nLast-Event-ID: " + id + "\r\n\r\n"
	}
	length := "Content-Length: " + strconv.Itoa(len(ping)) + "\r\n"
	for name, tc := range map[string]struct {
		request string
		status  []int
	}{
		"honest":                    {post(length, ping), []int{200}},
		"rebinding":                 {strings.Replace(post(length, ping), "Host: HOST", "Host: evil.example:3000", 1), []int{403}},
		"an absolute address":       {strings.Replace(post(length, ping), "POST /api/mcp", "POST http://evil.example/api/mcp", 1), []int{403}},
		"no host":                   {strings.Replace(post(length, ping), "Host: HOST\r\n", "", 1), []int{400}},
		"no host, HTTP/1.0":         {"POST /api/mcp HTTP/1.0\r\nContent-Type: application/json\r\n" + length + "\r\n" + ping, []int{403}},
		"two hosts":                 {post("Host: evil.example\r\n"+length, ping), []int{400}},
		"a foreign origin":          {post("Origin: http://evil.example\r\n"+length, ping), []int{403}},
		"a null origin":             {post("Origin: null\r\n"+length, ping), []int{403}},
		"two origins":               {post("Origin: http://HOST\r\nOrigin: http://evil.example\r\n"+length, ping), []int{403}},
		"two lengths":               {post(length+"Content-Length: 5\r\n", ping), []int{400}},
		"a length and chunks":       {post(length+"Transfer-Encoding: chunked\r\n", "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: HOST\r\n\r\n"), []int{400}},
		"strange chunks":            {post("Transfer-Encoding: chunked, identity\r\n", ping), []int{400, 501}},
		"broken chunks":             {post("Transfer-Encoding: chunked\r\n", "zz\r\n"+ping), []int{400, 408}},
		"a negative length":         {post("Content-Length: -1\r\n", ping), []int{400}},
		"long headers":              {post("X-Long: "+strings.Repeat("x", 64<<10)+"\r\n"+length, ping), []int{431}},
		"many headers":              {post(strings.Repeat("X-Many: "+strings.Repeat("y", 100)+"\r\n", 1000)+length, ping), []int{431}},
		"a long body":               {post("Content-Length: 5000000\r\n", `"`+strings.Repeat("x", 4999998)+`"`), []int{413}},
		"long chunks":               {post("Transfer-Encoding: chunked\r\n", "4c4b40\r\n"+strings.Repeat("x", 5000000)+"\r\n0\r\n\r\n"), []int{413}},
		"a strange event id":        {get("/api/mcp", "../../etc/passwd"), []int{400}},
		"an event id of two lines":  {get("/api/mcp", "a\r\n b"), []int{400}},
		"two event ids":             {get("/api/mcp", "a\r\nLast-Event-ID: b"), []int{400}},
		"a long event id":           {get("/api/mcp", strings.Repeat("QUFB", 4000)), []int{400}},
		"another's event id":        {get("/api/mcp", "eyJyZXF1ZXN0IjoxLCJ0b29sIjoiZXhlY3V0ZSIsInBsYWNlIjoieCJ9"), []int{400}},
		"an event id of a run, -1":  {get("/api/runs/r0/events", "-1"), []int{400}},
		"an event id of a run, 9…":  {get("/api/runs/r0/events", strings.Repeat("9", 40)), []int{400}},
		"an event id, NUL":          {get("/api/mcp", "a\x00b"), []int{400}},
		"a control character":       {post("X-Bad: a\x00b\r\n"+length, ping), []int{400}},
		"a folded header":           {post("X-Bad: a\r\n folded\r\n"+length, ping), []int{200, 400}},
		"a strange method":          {strings.Replace(post(length, ping), "POST", "P\x01ST", 1), []int{400}},
		"a tunnel":                  {"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\nConnection: close\r\n\r\n", []int{403, 404, 405}},
		"a path upwards":            {"GET /api/mcp/outputs/../../../etc/passwd HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n", []int{301, 307, 404}},
		"a path with a line":        {"GET /api/mcp/outputs/job_AAAAAAAAAAAAAAAA/a%0d%0aX-Evil:%201 HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n", []int{400, 404}},
		"a redirect with a line":    {"GET /api/mcp/outputs//%0d%0aX-Evil:%201 HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n", []int{301, 307, 400, 404}},
		"no HTTP":                   {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("\xff", 500) + "\r\n\r\n", []int{0, 400}},
		"a bearer with a line":      {post("Authorization: Bearer a\tb\r\n"+length, ping), []int{401}},
		"a long bearer":             {post("Authorization: Bearer "+strings.Repeat("a", 20<<10)+"\r\n"+length, ping), []int{401}},
		"two bearers":               {post("Authorization: "+secret+"\r\nAuthorization: "+secret+"\r\n"+length, ping), []int{401}},
		"a bearer in the address":   {strings.Replace(post("X-Forwarded-For: 192.0.2.1\r\nContent-Length: 46\r\n", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), "/api/mcp", "/api/mcp?access_token="+strings.TrimPrefix(secret, "Bearer "), 1), []int{200}},
		"a last event id":           {post("Last-Event-ID: 1_1\r\n"+length, ping), []int{400}},
		"another address":           {"GET /api/mcp/admin HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n", []int{404}},
		"a session that is foreign": {post("Mcp-Session-Id: ../../x\r\n"+length, ping), []int{200}},
	} {
		status, answer := d.raw(tc.request)
		ok := false
		for _, want := range tc.status {
			ok = ok || status == want
		}
		if !ok || strings.Contains(answer, "\nX-Evil") || strings.Contains(answer, "execute") {
			t.Errorf("%s: %d %.300s", name, status, answer)
		}
	}
	if status, body := d.ask(ping); status != http.StatusOK {
		t.Errorf("after all that: %d %s", status, body)
	}
}

// TestWebPagesHostileRequests plays such requests at the pages, the streams of runs and the form for a token. None is shown what is behind the token, none
// comes back as code or in a header, and the server goes on.
func TestWebPagesHostileRequests(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("greet", chain("echo private-words"))
	run := p.start("greet")
	p.must("pflow-exec", "wait", run)
	token := strings.TrimPrefix(p.token("browser"), "Bearer ")
	removed := strings.TrimPrefix(p.token("gone"), "Bearer ")
	p.must("pflow-serve", "token", "remove", "gone")
	d := p.open("--toolsets", "core,runs")
	const proxied = "X-Forwarded-For: 192.0.2.1\r\n" // so that a token is needed
	get := func(path, headers string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n" + proxied + headers + "\r\n"
	}
	post := func(path, headers, body string) string {
		return "POST " + path + " HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n" + proxied + headers + "\r\n" + body
	}
	const own = "Origin: http://HOST\r\n"
	signed := d.visit("/sign-in", url.Values{"token": {token}}, "Origin", d.base())
	name, session, ok := strings.Cut(strings.SplitN(signed.header.Get("Set-Cookie"), ";", 2)[0], "=")
	if !ok {
		t.Fatalf("%d %v", signed.status, signed.header)
	}
	cookie := "Cookie: " + name + "=" + session + "\r\n"
	events := "/api/runs/" + run + "/events"
	for name, tc := range map[string]struct {
		request string
		status  []int
	}{
		"events without a token":             {get(events, ""), []int{401}},
		"events with a removed token":        {get(events, "Authorization: Bearer "+removed+"\r\n"), []int{401}},
		"events with a token as the session": {get(events, "Cookie: "+name+"="+token+"\r\n"), []int{401}},
		"events with two cookies":            {get(events, "Cookie: "+name+"=x; "+name+"="+session+"\r\n"), []int{401}},
		"a cookie of another name":           {get("/", "Cookie: "+strings.ToUpper(name)+"="+session+"\r\n"), []int{401}},
		"a long cookie":                      {get("/", "Cookie: "+name+"="+strings.Repeat("a", 20<<10)+"\r\n"), []int{401}},
		"a cookie with quotes":               {get("/", "Cookie: "+name+`="`+"\"; Path=/evil\r\n"), []int{401}},
		"a bearer beside the cookie":         {get("/", "Authorization: Bearer wrong\r\n"+cookie), []int{401}},
		"rebinding":                          {strings.Replace(get("/", cookie), "Host: HOST", "Host: evil.example:3000", 1), []int{403}},
		"rebinding of events":                {strings.Replace(get(events, cookie), "Host: HOST", "Host: evil.example", 1), []int{403}},
		"events for another site":            {get(events, "Origin: https://evil.example\r\n"+cookie), []int{403}},
		"an id with a line":                  {get(events, "Last-Event-ID: 1%0d%0aX-Evil: 1\r\n"+cookie), []int{400}},
		"a long id":                          {get(events, "Last-Event-ID: "+strings.Repeat("9", 1000)+"\r\n"+cookie), []int{400}},
		"a run with a line":                  {get("/api/runs/r%0d%0aX-Evil:%201/events", cookie), []int{404}},
		"a run upwards":                      {get("/api/runs/..%2f..%2fetc/events", cookie), []int{404}},
		"a run that is an option":            {get("/runs/--format=json", cookie), []int{404}},
		"a script as a run":                  {get("/runs/%3Cscript%3Ealert(1)%3C%2Fscript%3E", cookie), []int{404}},
		"a script as a workflow":             {get("/workflows/%3Cscript%3Ealert(1)%3C%2Fscript%3E", cookie), []int{404}},
		"a script as a filter":               {get("/?workflow=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&text=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", cookie), []int{200}},
		"a long filter":                      {get("/?text="+strings.Repeat("x", 20<<10), cookie), []int{200, 400}},
		"many filters":                       {get("/?"+strings.Repeat("text=a&", 3000), cookie), []int{200, 400}},
		"a filter that is an option":         {get("/?text=--help", cookie), []int{200}},
		"a broken query":                     {get("/?text=%zz;text=%00", cookie), []int{200, 400}},
		"a script as the next page":          {get("/runs/x?next=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", ""), []int{401}},
		"sign-in without an origin":          {post("/sign-in", "", "token="+token), []int{403}},
		"sign-in from another site":          {post("/sign-in", "Origin: https://evil.example\r\n", "token="+token), []int{403}},
		"sign-in from nowhere":               {post("/sign-in", "Origin: null\r\n", "token="+token), []int{403}},
		"sign-in with a wrong token":         {post("/sign-in", own, "token=%3Cscript%3Ealert(1)%3C/script%3E&next=%22%3E%3Cscript%3Ealert(1)%3C/script%3E"), []int{401}},
		"sign-in with lines":                 {post("/sign-in", own, "token="+token+"%0d%0aX-Evil:%201&next=/"), []int{401}},
		"sign-in with a huge form":           {post("/sign-in", own, "token="+token+"&next="+strings.Repeat("x", 64<<10)), []int{303, 400, 401, 413}},
		"sign-in to another site":            {post("/sign-in", own, "token="+token+"&next=//evil.example/"), []int{303}},
		"sign-in to a strange path":          {post("/sign-in", own, "token="+token+"&next=/%0d%0aX-Evil:%201"), []int{303}},
		"sign-in by its address":             {get("/sign-in?token="+token, ""), []int{404, 405}},
		"sign-in by another's cookie":        {post("/sign-in", own+cookie, "token=wrong"), []int{401}},
		"sign-out from another site":         {post("/sign-out", "Origin: https://evil.example\r\n"+cookie, ""), []int{403}},
		"sign-out by an address":             {get("/sign-out", cookie), []int{404, 405}},
		"a page that is posted":              {post("/", own+cookie, ""), []int{404, 405}},
		"a stream that is posted":            {post(events, own+cookie, ""), []int{404, 405}},
		"a call that is no JSON":             {post("/api/mcp", own+cookie, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), []int{400, 415}},
		"a call from another page":           {post("/api/mcp", "Origin: http://HOST.evil.example\r\n"+cookie, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), []int{403}},
		"a request within another one":       {"GET / HTTP/1.1\r\nHost: HOST\r\n" + proxied + "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + get("/", cookie), []int{400, 401}},
	} {
		status, answer := d.raw(tc.request)
		if !slices.Contains(tc.status, status) {
			t.Errorf("%s: %d %.300s", name, status, answer)
		}
		for _, evil := range []string{"\nX-Evil", "<script>alert", "Location: //", "Location: http", "Path=/evil", token} {
			if strings.Contains(answer, evil) {
				t.Errorf("%s: the answer has %q: %.1000s", name, evil, answer)
			}
		}
		if status != http.StatusOK && strings.Contains(answer, "private-words") {
			t.Errorf("%s: the answer shows the run: %.1000s", name, answer)
		}
	}
	if got := d.visit("/", nil); got.status != http.StatusOK || !strings.Contains(got.body, run) {
		t.Errorf("after all that: %d %s", got.status, got.body)
	}
}
