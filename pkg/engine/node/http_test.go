package node

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// mirror responds with the request as JSON.
func mirror(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"method": r.Method, "uri": r.URL.RequestURI(), "host": r.Host, "headers": r.Header, "body": string(body),
	})
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// connections counts the connections to a server.
type connections struct{ n atomic.Int64 }

func serveCounted(t *testing.T, count *connections) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(mirror))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			count.n.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

func TestHTTPRequest(t *testing.T) {
	url := serve(t, mirror)
	v := values{"url": `"` + url + `"`, "object": `{"b": 1.0, "a": ["<&>", 12345678901234567890]}`}
	for name, c := range map[string]struct {
		params string
		want   map[string]string
	}{
		"get by default":    {`{"url":"${url}/p"}`, map[string]string{"method": "GET", "uri": "/p", "body": ""}},
		"post with a body":  {`{"url":"${url}","body":"a b"}`, map[string]string{"method": "POST", "body": "a b", "headers.Content-Type": ""}},
		"null is no body":   {`{"url":"${url}","body":null}`, map[string]string{"method": "GET"}},
		"method":            {`{"url":"${url}","method":"delete"}`, map[string]string{"method": "DELETE"}},
		"json body":         {`{"url":"${url}","body":"${object}"}`, map[string]string{"body": `{"b":1.0,"a":["<&>",12345678901234567890]}`, "headers.Content-Type.0": "application/json"}},
		"own content type":  {`{"url":"${url}","body":[1],"headers":{"content-type":"x/y"}}`, map[string]string{"headers.Content-Type.#": "1", "headers.Content-Type.0": "x/y"}},
		"headers":           {`{"url":"${url}","headers":{"X-Number":7,"X-True":true,"X-No":null}}`, map[string]string{"headers.X-Number.0": "7", "headers.X-True.0": "true", "headers.X-No": ""}},
		"user agent":        {`{"url":"${url}"}`, map[string]string{"headers.User-Agent.0": "pflow"}},
		"own user agent":    {`{"url":"${url}","headers":{"user-agent":"me/1"}}`, map[string]string{"headers.User-Agent.0": "me/1"}},
		"host":              {`{"url":"${url}","headers":{"Host":"example.org"}}`, map[string]string{"host": "example.org"}},
		"params":            {`{"url":"${url}/?q=0","params":{"z":null,"n":1000000,"big":12345678901234567890,"f":1.50,"l":["a",2],"t":"a&b ü","o":{"k":1}}}`, map[string]string{"uri": "/?q=0&big=12345678901234567890&f=1.50&l=a&l=2&n=1000000&o=%7B%22k%22%3A1%7D&t=a%26b+%C3%BC"}},
		"query as it is":    {`{"url":"${url}/?flag&a;b&x=%20"}`, map[string]string{"uri": "/?flag&a;b&x=%20"}},
		"token":             {`{"url":"${url}","auth_token":"s3"}`, map[string]string{"headers.Authorization.0": "Bearer s3"}},
		"key":               {`{"url":"${url}","api_key":"s3"}`, map[string]string{"headers.X-Api-Key.0": "s3"}},
		"key in own header": {`{"url":"${url}","api_key":"s3","api_key_header":"X-Mine"}`, map[string]string{"headers.X-Mine.0": "s3", "headers.X-Api-Key": ""}},
		"empty credentials": {`{"url":"${url}","api_key":"","auth_token":""}`, map[string]string{"headers.Authorization": "", "headers.X-Api-Key": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			r := perform(t, task(t), "http", c.params, v)
			if output(t, r, "status_code") != "200" || output(t, r, "response_headers.content-type") == "" || gjson.GetBytes(r.Outputs, "error").Exists() {
				t.Errorf("%s", r.Outputs)
			}
			for path, want := range c.want {
				if got := output(t, r, "response."+path); got != want {
					t.Errorf("%s is %q, want %q", path, got, want)
				}
			}
		})
	}
}

func TestHTTPResponseBody(t *testing.T) {
	var kind, body string
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	})
	for name, c := range map[string]struct{ kind, body, want string }{
		"json":             {"application/json", ` {"n": 12345678901234567890, "f": 1.10, "$base64": "x"} ` + "\n", `{"n":12345678901234567890,"f":1.10,"$$base64":"x"}`},
		"json by suffix":   {"application/problem+json; a=b", `[1, 2]`, `[1,2]`},
		"broken json":      {"application/json", `{"a":`, `"{\"a\":"`},
		"empty json":       {"application/json", ``, `""`},
		"json in no UTF-8": {"application/json", "{\"a\":\"\xff\"}", `{"$base64":"eyJhIjoi/yJ9"}`},
		"text":             {"text/plain", `{"a":1} <b>`, `"{\"a\":1} <b>"`},
		"bytes":            {"image/png", "\x89PNG\xff", `{"$base64":"iVBORw=="}`},
	} {
		t.Run(name, func(t *testing.T) {
			kind, body = c.kind, c.body
			if name == "bytes" {
				body = "\x89PNG"
			}
			r := perform(t, task(t), "http", `{"url":"`+url+`"}`, nil)
			if r.Fault != nil {
				t.Fatal(r.Fault)
			}
			if got := gjson.GetBytes(r.Outputs, "response").Raw; got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := gjson.GetBytes(r.Outputs, "response_is_binary").Bool(); got != strings.Contains(c.want, `{"$base64"`) {
				t.Errorf("response_is_binary %v", got)
			}
		})
	}
}

func TestHTTPStatus(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"why":"because"}`)
	})
	for status, want := range map[int]struct {
		kind      fault.Type
		retryable bool
	}{
		304: {fault.Execution, false}, 400: {fault.Execution, false}, 401: {fault.Execution, false}, 404: {fault.Execution, false}, 500: {fault.Execution, false},
		429: {fault.RateLimited, true}, 502: {fault.Unavailable, true}, 503: {fault.Unavailable, true}, 504: {fault.Unavailable, true}, 599: {fault.Execution, false},
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			r := perform(t, task(t), "http", fmt.Sprintf(`{"url":"%s/%d","method":"put"}`, strings.Replace(url, "//", "//me:s3cret@", 1), status), nil)
			failedWith(t, r, want.kind, fmt.Sprintf("HTTP %d", status), "from PUT http://")
			if status != 304 { // which has no body
				failedWith(t, r, want.kind, `: {"why":"because"}`)
			}
			if r.Fault.Retryable != want.retryable || r.Fault.Details["status"] != status || len(r.Fault.Suggestions) == 0 {
				t.Errorf("%+v", r.Fault)
			}
			if plainOutput(t, r, "status_code") != fmt.Sprint(status) || plainOutput(t, r, "error") != r.Fault.Message || status != 304 && plainOutput(t, r, "response.why") != "because" {
				t.Errorf("%s", r.Outputs)
			}
			if strings.Contains(spelled(t, r), "s3cret") {
				t.Errorf("the password is shown: %s", spelled(t, r))
			}
		})
	}
}

func TestHTTPRefusesARequest(t *testing.T) {
	for name, params := range map[string]string{
		"other scheme": `{"url":"ftp://me:s3cret@127.0.0.1/x"}`,
		"no scheme":    `{"url":"me:s3cret@127.0.0.1/x"}`,
		"@ in it":      `{"url":"me:p@s3cret@127.0.0.1/x"}`,
		"no host":      `{"url":"http:///x"}`,
		"no URL":       `{"url":"http://me:s3cret@[::1/%zz"}`,
		"method":       `{"url":"http://127.0.0.1:1/","method":"G T"}`,
		"header name":  `{"url":"http://127.0.0.1:1/","headers":{"a b":"s3cret"}}`,
		"header value": `{"url":"http://127.0.0.1:1/","headers":{"a":"s3cret\nX: y"}}`,
		"both":         `{"url":"http://127.0.0.1:1/","auth_token":"s3cret","api_key":"s3cret"}`,
		"query":        `{"url":"example.org/?token=s3cret"}`,
		"query with @": `{"url":"example.org/?token=a@s3cret"}`,
		"fragment":     `{"url":"example.org/#s3cret"}`,
		"? in it":      `{"url":"me:s3cret?s3cret@127.0.0.1/x"}`,
		"port":         `{"url":"http://127.0.0.1:99999/?token=s3cret"}`,
		"port 0":       `{"url":"http://127.0.0.1:0/"}`,
		"max_size":     `{"url":"http://127.0.0.1:1/","max_size":-1}`,
		"redirects":    `{"url":"http://127.0.0.1:1/","max_redirects":-1}`,
		"retries":      `{"url":"http://127.0.0.1:1/","retries":-1}`,
		"proxy's port": `{"url":"http://127.0.0.1:1/","proxy":"127.0.0.1:99999"}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := perform(t, task(t), "http", params, nil)
			failedWith(t, r, fault.Execution)
			if r.Fault.Retryable || strings.Contains(spelled(t, r), "s3cret") || len(r.Fault.Suggestions) == 0 || hasGoWords(r.Fault.Message) {
				t.Errorf("%+v", r.Fault)
			}
		})
	}
}

func TestHTTPCannotBeReached(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	r := perform(t, task(t), "http", `{"url":"http://me:s3cret@`+address+`/","retries":0}`, nil)
	failedWith(t, r, fault.Unavailable, "Could not connect to http://me:xxxxx@"+address, "refused")
	if !r.Fault.Retryable || strings.Contains(spelled(t, r), "s3cret") || hasGoWords(r.Fault.Message) {
		t.Errorf("%+v", r.Fault)
	}
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { // it goes away in the middle of its answer
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "part")
	})
	r = perform(t, task(t), "http", `{"url":"`+url+`","retries":0}`, nil)
	failedWith(t, r, fault.Unavailable, "The response of "+url+" ended after 4 of 100 bytes")
}

func TestHTTPTimeout(t *testing.T) {
	done := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			_, _ = io.WriteString(w, "begun")
			_ = http.NewResponseController(w).Flush()
		}
		<-done
	})
	defer close(done)
	for _, path := range []string{"/head", "/body"} {
		r := perform(t, task(t), "http", `{"url":"`+strings.Replace(url, "//", "//me:s3cret@", 1)+path+`","timeout":0.1}`, nil)
		failedWith(t, r, fault.Timeout, "timed out after 0.1 seconds")
		if !r.Fault.Retryable || strings.Contains(spelled(t, r), "s3cret") {
			t.Errorf("%s: %+v", path, r.Fault)
		}
	}
}

func TestHTTPRedirects(t *testing.T) {
	other := serve(t, mirror)
	url := ""
	url = serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/away":
			http.Redirect(w, r, other, http.StatusTemporaryRedirect)
		case "/here":
			http.Redirect(w, r, url+"/end", http.StatusTemporaryRedirect)
		default:
			mirror(w, r)
		}
	})
	r := perform(t, task(t), "http", `{"url":"`+url+`/loop"}`, nil)
	failedWith(t, r, fault.Execution, "redirected in a loop", "stopped after 10 redirects")
	if r.Fault.Retryable {
		t.Error("a loop will not be gone the next time")
	}
	credentials := `"api_key":"k3y","api_key_header":"X-Mine","headers":{"Authorization":"Basic s3cret","Cookie":"s3cret","x-api-key":"s3cret","X-Plain":"plain"},"body":"kept"`
	r = perform(t, task(t), "http", `{"url":"`+url+`/away",`+credentials+`}`, nil)
	if output(t, r, "response.body") != "kept" || output(t, r, "response.headers.X-Plain.0") != "plain" || strings.Contains(string(r.Outputs), "s3cret") || strings.Contains(string(r.Outputs), "k3y") {
		t.Errorf("credentials went to another host: %s", r.Outputs)
	}
	r = perform(t, task(t), "http", `{"url":"`+url+`/here",`+credentials+`}`, nil)
	if output(t, r, "response.headers.X-Mine.0") != "k3y" || output(t, r, "response.headers.Authorization.0") != "Basic s3cret" {
		t.Errorf("credentials were lost on the same host: %s", r.Outputs)
	}
}
