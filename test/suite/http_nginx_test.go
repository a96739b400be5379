package suite

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// publicName is the name under which clients reach the proxy of docs/http.md.
const publicName = "flows.example.com"

// certified makes a certificate for the public name, which signs itself, and returns what trusts it.
func (p *place) certified() (cert, key string, trusted *x509.CertPool) {
	p.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), DNSNames: []string{publicName},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		p.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		p.Fatal(err)
	}
	trusted = x509.NewCertPool()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	trusted.AppendCertsFromPEM(text)
	return p.write("cert.pem", string(text)), p.write("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))), trusted
}

// proxied starts nginx with the server of docs/http.md in front of a server, on a socket in place of port 443. It returns a client
// of the public name.
func (d *door) proxied() *http.Client {
	d.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "http.md"))
	if err != nil {
		d.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```nginx\n(.*?)```").FindSubmatch(page)
	if found == nil {
		d.Fatal("docs/http.md has no example for nginx")
	}
	cert, key, trusted := d.certified()
	socket := filepath.Join(d.dir, "nginx.socket")
	server := string(found[1])
	for old, with := range map[string]string{
		"listen 443 ssl;": "listen unix:" + socket + " ssl;", "/etc/ssl/flows.pem": cert, "/etc/ssl/flows.key": key,
		"http://127.0.0.1:3000;": strings.TrimSuffix(d.url, "/api/mcp") + ";",
	} {
		if !strings.Contains(server, old) {
			d.Fatalf("the example for nginx has no %q", old)
		}
		server = strings.ReplaceAll(server, old, with)
	}
	var temporary strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temporary.WriteString(kind + "_temp_path " + filepath.Join(d.dir, kind) + ";\n")
	}
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;\n"
	}
	config := d.write("nginx.conf", user+"daemon off;\nworker_processes 1;\npid "+filepath.Join(d.dir, "nginx.pid")+";\nevents {}\nhttp {\naccess_log off;\n"+temporary.String()+server+"}\n")
	cmd := exec.Command("nginx", "-p", d.dir, "-c", config, "-e", "stderr")
	var said strings.Builder
	cmd.Stderr = &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := withTest(cmd).Start(); err != nil {
		d.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	d.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); <-ended })
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	d.eventually("nginx listens", func() bool {
		select {
		case <-ended:
			d.Fatalf("nginx has ended: %s", said.String())
		default:
		}
		conn, err := dial(d.Context(), "", "")
		return err == nil && conn.Close() == nil
	})
	transport := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: trusted}}
	d.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestFlowsBehindNginx holds that flows work through the proxy that the documentation shows: with TLS, under the public name, and with
// streams that come as they are written.
func TestFlowsBehindNginx(t *testing.T) {
	t.Parallel()
	needs(t, "nginx")
	p := newPlace(t)
	gate := p.gate("gate")
	token := p.shared("gated", `{"nodes":[{"id":"a","type":"shell","params":{"command":`+quote("read x < "+gate.path+"; printf '%03000d' 7")+`}}],"outputs":{"long text":{"source":"${a.stdout}"}}}`)
	client := p.open("--public-url", "https://"+publicName).proxied()
	const endpoint = "https://" + publicName + "/api/mcp"
	send := func(method, address, body string, headers ...string) *http.Response {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		if host := request.Header.Get("Host"); host != "" {
			request.Host = host
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		return response
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_flow","arguments":{"token":"` + token + `"}}}`
	stream := send(http.MethodPost, endpoint, call, "Accept", "text/event-stream")
	if stream.StatusCode != http.StatusOK || stream.Header.Get("Content-Type") != "text/event-stream" || stream.TLS == nil {
		t.Fatalf("%d %v", stream.StatusCode, stream.Header)
	}
	// The run waits, so all that comes has come as it was written.
	in, heard := bufio.NewReader(stream.Body), ""
	for _, want := range []string{`"message":"Flow: running"`, `"message":"a: running"`, ": heartbeat\n"} {
		for !strings.Contains(heard, want) {
			line, err := in.ReadString('\n')
			if heard += line; err != nil {
				t.Fatalf("no %s: %v in %s", want, err, heard)
			}
		}
	}
	gate.reached()()
	rest, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	result := gjson.GetBytes(rest[strings.LastIndex(string(rest), "data: ")+6:], "result.structuredContent")
	link := result.Get("outputs.long text.uri").Str
	if result.Get("status").Str != "completed" || !strings.HasPrefix(link, endpoint+"/outputs/"+result.Get("job_id").Str+"/") {
		t.Errorf("%s", rest)
	}
	part := send(http.MethodGet, link, "", "Range", "bytes=-4")
	if text, err := io.ReadAll(part.Body); err != nil || part.StatusCode != http.StatusPartialContent || string(text) != "0007" || part.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d %q %v", part.StatusCode, text, part.Header)
	}
	for name, tc := range map[string]struct {
		response *http.Response
		status   int
	}{
		"health":           {send(http.MethodGet, endpoint, ""), 200},
		"its own origin":   {send(http.MethodPost, endpoint, listTools, "Origin", "https://"+publicName), 200},
		"a foreign host":   {send(http.MethodPost, endpoint, listTools, "Host", "evil.example"), 403},
		"a foreign origin": {send(http.MethodPost, endpoint, listTools, "Origin", "https://evil.example"), 403},
		"a long body":      {send(http.MethodPost, endpoint, strings.Repeat(" ", 5<<20)), 413},
		"cleanup":          {send(http.MethodPost, endpoint+"/cleanup", ""), 401},
		"another path":     {send(http.MethodGet, "https://"+publicName+"/", ""), 404},
	} {
		if tc.response.StatusCode != tc.status {
			t.Errorf("%s: %d", name, tc.response.StatusCode)
		}
	}
}

// TestPagesBehindNginx holds that the pages, the form for a token and the streams of runs work through the proxy that the documentation shows.
func TestPagesBehindNginx(t *testing.T) {
	t.Parallel()
	needs(t, "nginx")
	p := newPlace(t)
	gate := p.gate("gate")
	p.draft("gated", gated())
	token := strings.TrimPrefix(p.token("browser"), "Bearer ")
	d := p.open("--toolsets", "core,runs", "--public-url", "https://"+publicName)
	client := d.proxied()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	const own = "https://" + publicName
	send := func(method, path, body string, headers ...string) *http.Response {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, own+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		return response
	}
	form := func(origin string) *http.Response {
		return send(http.MethodPost, "/sign-in", "token="+token+"&next=/workflows", "Content-Type", "application/x-www-form-urlencoded", "Origin", origin)
	}
	signed := form(own)
	cookie := signed.Header.Get("Set-Cookie")
	if signed.StatusCode != http.StatusSeeOther || signed.Header.Get("Location") != "/workflows" || !strings.Contains(cookie, "; Secure") || !strings.Contains(cookie, "HttpOnly") {
		t.Fatalf("sign-in: %d %v", signed.StatusCode, signed.Header)
	}
	session := []string{"Cookie", strings.SplitN(cookie, ";", 2)[0]}
	run := p.start("gated")
	open := gate.reached()
	stream := send(http.MethodGet, "/api/runs/"+run+"/events", "", session...)
	in, heard := bufio.NewReader(stream.Body), ""
	for !strings.Contains(heard, `"event":"node_started"`) { // the run waits, so this has come as it was written
		line, err := in.ReadString('\n')
		if heard += line; err != nil {
			t.Fatalf("%v in %s", err, heard)
		}
	}
	for name, tc := range map[string]struct {
		response *http.Response
		status   int
		has      string
	}{
		"sign-in from elsewhere": {form("https://evil.example"), 403, ""},
		"without a token":        {send(http.MethodGet, "/", ""), 401, `name="token"`},
		"the list":               {send(http.MethodGet, "/", "", session...), 200, run},
		"a run":                  {send(http.MethodGet, "/runs/"+run, "", session...), 200, `data-live="true"`},
		"the style":              {send(http.MethodGet, "/page.css", ""), 200, ".pages"},
		"the script":             {send(http.MethodGet, "/page.js", ""), 200, "EventSource"},
		"the graph":              {send(http.MethodGet, "/workflows/gated/graph.svg", "", session...), 200, "<svg"},
		"a forwarded host":       {send(http.MethodGet, "/", "", append(session, "X-Forwarded-Host", "evil.example")...), 200, run},
		"events without a token": {send(http.MethodGet, "/api/runs/"+run+"/events", ""), 401, ""},
		"a call":                 {send(http.MethodPost, "/api/mcp", listTools, append(session, "Origin", own, "Content-Type", "application/json")...), 200, "run_cancel"},
		"a call without origin":  {send(http.MethodPost, "/api/mcp", listTools, append(session, "Content-Type", "application/json")...), 403, ""},
	} {
		text, err := io.ReadAll(tc.response.Body)
		if err != nil || tc.response.StatusCode != tc.status || !strings.Contains(string(text), tc.has) || name == "a forwarded host" && strings.Contains(string(text), "evil.example") || strings.Contains(string(text), token) {
			t.Errorf("%s: %d %v %.2000s", name, tc.response.StatusCode, err, text)
		}
	}
	open()
	rest, err := io.ReadAll(in)
	if err != nil || !strings.Contains(string(rest), `"event":"run_finished"`) {
		t.Errorf("%v %s", err, rest)
	}
}
