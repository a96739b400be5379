package suite

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
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
	p := newPlace(t)
	secret := p.token("desk")
	d := p.open("--toolsets", "core,flows")
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	post := func(headers, body string) string {
		return "POST /api/mcp HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nConnection: close\r\n" + headers + "\r\n" + body
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
