package node

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/webserver"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
)

func TestHTTPCredentialsFollowToNoOtherHost(t *testing.T) {
	s := webserver.Start(t)
	withUser := strings.Replace(s.URL, "//", "//me:s3cret-user@", 1)
	other := url.QueryEscape(s.OtherURL + "/echo")
	named := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	back := url.QueryEscape(s.OtherURL + "/redirect?to=" + url.QueryEscape(s.URL+"/echo"))
	const kept = `"X-Plain":"plain","Accept":"a/b"`
	for name, c := range map[string]struct{ from, params string }{
		"token":             {s.URL + "/redirect?to=" + other, `"auth_token":"s3cret"`},
		"key":               {s.URL + "/redirect?to=" + other, `"api_key":"s3cret"`},
		"key in own header": {s.URL + "/redirect?to=" + other, `"api_key":"s3cret","api_key_header":"X-Mine"`},
		"token elsewhere":   {s.URL + "/redirect?to=" + other, `"auth_token":"s3cret","headers":{"X-Copy":"is s3cret too",` + kept + `}`},
		"user of the URL":   {withUser + "/redirect?to=" + other, ``},
		"headers":           {s.URL + "/redirect?to=" + other, `"headers":{"Authorization":"s3cret","Cookie":"a=s3cret","X-Auth":"s3cret","Private-Token":"s3cret","X-Session-ID":"s3cret","X-Who":"Basic s3cret",` + kept + `}`},
		"query":             {s.URL + "/redirect?to=" + other, `"params":{"api_key":"s3cret"}`},
		"kept method":       {s.URL + "/redirect?code=307&to=" + other, `"method":"POST","body":"b","auth_token":"s3cret"`},
		"another name":      {s.URL + "/redirect?to=" + url.QueryEscape(named+"/echo"), `"auth_token":"s3cret"`},
		"to TLS elsewhere":  {s.URL + "/redirect?to=" + url.QueryEscape(s.TLSURL+"/echo"), `"auth_token":"s3cret","verify_tls":false`},
		"without TLS":       {s.TLSURL + "/redirect?to=" + other, `"auth_token":"s3cret","verify_tls":false`},
		"through a page":    {s.URL + "/redirect?to=" + url.QueryEscape("/redirect?to="+other), `"auth_token":"s3cret"`},
		"and back again":    {s.URL + "/redirect?to=" + back, `"auth_token":"s3cret"`},
		"Host header":       {s.URL + "/redirect?to=" + other, `"headers":{"Host":"s3cret.test"}`},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(s.Requests())
			params := `{"url":"` + c.from + `"`
			if c.params != "" {
				params += "," + c.params
			}
			r := perform(t, task(t), "http", params+"}", nil)
			if output(t, r, "response.path") != "/echo" {
				t.Fatalf("%s", r.Outputs)
			}
			requests := s.Requests()[before:]
			if len(requests) < 2 || !strings.Contains(spelled(t, requests[0]), "s3cret") && !strings.Contains(spelled(t, requests[0]), "bWU6czNjcmV0LXVzZXI") {
				t.Fatalf("the first request had none: %+v", requests)
			}
			last := spelled(t, requests[len(requests)-1])
			if strings.Contains(last, "s3cret") || strings.Contains(last, "bWU6") {
				t.Errorf("credentials followed: %s", last)
			}
			if strings.Contains(c.params, kept) && !strings.Contains(last, `"X-Plain":["plain"]`) {
				t.Errorf("more than credentials was left out: %s", last)
			}
			if at := output(t, r, "url"); strings.Contains(at, "s3cret") || !strings.HasSuffix(at, "/echo") {
				t.Errorf("url %s", at)
			}
		})
	}
}

func TestHTTPCredentialsStayOnTheHost(t *testing.T) {
	s := webserver.Start(t)
	for _, to := range []string{"/auth", s.URL + "/auth"} {
		r := perform(t, task(t), "http", `{"url":"`+s.URL+`/redirect?to=`+url.QueryEscape(to)+`","auth_token":"s3cret"}`, nil)
		if output(t, r, "response.value") != "s3cret" {
			t.Errorf("%s: %s", to, r.Outputs)
		}
	}
	r := perform(t, task(t), "http", `{"url":"`+strings.Replace(s.URL, "//", "//me:pass@", 1)+`/redirect?to=`+url.QueryEscape(s.URL+"/echo")+`"}`, nil)
	if output(t, r, "response.headers.authorization") != "Basic bWU6cGFzcw==" || strings.Contains(string(r.Outputs), "me:pass@") {
		t.Errorf("%s", r.Outputs)
	}
}

func TestTrusted(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"http://a/", "http://a/x", true},
		{"http://a/", "http://A:80/x", true},
		{"https://a:443/", "https://a/", true},
		{"http://a/", "https://a/", true},
		{"https://a/", "http://a/", false},
		{"http://a:8080/", "https://a/", false},
		{"http://a/", "https://a:8443/", false},
		{"http://a/", "http://a:81/", false},
		{"http://a/", "http://b.a/", false},
		{"http://b.a/", "http://a/", false},
		{"http://[::1]/", "http://[::1]:80/", true},
	} {
		from, _ := url.Parse(c.from)
		to, _ := url.Parse(c.to)
		if got := sameOrigin(from, to); got != c.want {
			t.Errorf("%s to %s: %v", c.from, c.to, got)
		}
	}
}

// Names of secrets elsewhere in the suite are credential names here too.
func TestCredentialNamesAreSecretNames(t *testing.T) {
	words := []string{"password", "passwd", "passphrase", "secret", "token", "credential", "credentials", "authorization", "api-key", "private_key", "AccessKey", "X", "max", "id"}
	rapid.Check(t, func(t *rapid.T) {
		name := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 3).Draw(t, "words"), rapid.SampledFrom([]string{"-", "_", "."}).Draw(t, "between"))
		if redact.SecretName(name) && !isCredentialName(name) {
			t.Errorf("%s", name)
		}
	})
	for _, name := range []string{"Accept", "User-Agent", "Content-Type", "X-Request-ID", "Range", "If-None-Match"} {
		if isCredentialName(name) {
			t.Errorf("%s is left out", name)
		}
	}
}

// See RFC 9110, 15.4; browsers and curl do the same.
func TestHTTPMethodAfterARedirect(t *testing.T) {
	s := webserver.Start(t)
	for _, c := range []struct {
		code, method, want string
		body               bool
	}{
		{"301", "POST", "GET", false}, {"302", "POST", "GET", false}, {"303", "POST", "GET", false}, {"307", "POST", "POST", true}, {"308", "POST", "POST", true},
		{"301", "PUT", "PUT", true}, {"302", "PUT", "PUT", true}, {"303", "PUT", "GET", false}, {"307", "PUT", "PUT", true},
		{"303", "DELETE", "GET", false}, {"302", "DELETE", "DELETE", true}, {"302", "GET", "GET", true}, {"303", "GET", "GET", false}, {"308", "PATCH", "PATCH", true},
	} {
		r := perform(t, task(t), "http", `{"url":"`+s.URL+`/redirect?code=`+c.code+`&to=/echo?q=1","method":"`+c.method+`","body":{"k":1},"headers":{"Content-Language":"en"}}`, nil)
		body, kind := output(t, r, "response.body"), output(t, r, "response.headers.content-type")
		if output(t, r, "response.method") != c.want || (body == `{"k":1}`) != c.body || (kind == "application/json") != c.body || (output(t, r, "response.headers.content-language") == "en") != c.body {
			t.Errorf("%s %s: %s", c.method, c.code, r.Outputs)
		}
		if output(t, r, "response.query") != "q=1" || output(t, r, "url") != s.URL+"/echo?q=1" {
			t.Errorf("%s %s: %s", c.method, c.code, r.Outputs)
		}
	}
	r := perform(t, task(t), "http", `{"url":"`+s.URL+`/redirect?code=303&to=/echo","method":"HEAD"}`, nil)
	if requests := s.Requests(); requests[len(requests)-1].Method != "HEAD" || output(t, r, "status_code") != "200" {
		t.Errorf("%s", r.Outputs)
	}
}

func TestHTTPRedirectThatIsNotFollowed(t *testing.T) {
	s := webserver.Start(t)
	r := perform(t, task(t), "http", `{"url":"`+s.URL+`/redirect?to=/echo","max_redirects":0}`, nil)
	if output(t, r, "status_code") != "302" || output(t, r, "response_headers.location") != "/echo" || output(t, r, "response") != "" {
		t.Errorf("%s", r.Outputs)
	}
	for name, c := range map[string]struct {
		query string
		kind  fault.Type
		word  string
	}{
		"no place":       {"", fault.Execution, "HTTP 302"},
		"no redirect":    {"code=304&to=/echo", fault.Execution, "HTTP 304"},
		"another scheme": {"to=file:///etc/passwd", fault.Security, " file URL"},
		"no URL":         {"to=http://%25zz:s3cret@x", fault.Protocol, "/redirect?"},
		"no such port":   {"to=http://127.0.0.1:99999/", fault.Protocol, "99999"},
		"no host":        {"to=http:///x", fault.Security, "/redirect?"},
	} {
		r := perform(t, task(t), "http", `{"url":"`+s.URL+`/redirect?`+c.query+`"}`, nil)
		failedWith(t, r, c.kind, c.word)
		if r.Fault.Retryable || gjson.GetBytes(r.Outputs, "status_code").Int()/100 != 3 || strings.Contains(spelled(t, r), "s3cret") && name != "no URL" {
			t.Errorf("%s: %+v %s", name, r.Fault, r.Outputs)
		}
	}
	r = perform(t, task(t), "http", `{"url":"`+s.URL+`/redirect?to=/redirect?to=/echo","max_redirects":1}`, nil)
	failedWith(t, r, fault.Execution, "1 redirects: ", s.URL+"/redirect?to=/redirect?to=/echo → ", " → "+s.URL+"/echo")
	if chain, ok := r.Fault.Details["redirects"].([]string); !ok || len(chain) != 3 || !slices.Contains(chain, s.URL+"/echo") {
		t.Errorf("%+v", r.Fault.Details)
	}
}

// A failure after a redirect to another origin says that credentials were not sent there.
func TestHTTPSaysThatCredentialsDidNotFollow(t *testing.T) {
	s := webserver.Start(t)
	r := perform(t, task(t), "http", `{"url":"`+s.URL+`/redirect?to=`+url.QueryEscape(s.OtherURL+"/auth")+`","auth_token":"s3cret"}`, nil)
	failedWith(t, r, fault.Execution, "HTTP 401 Unauthorized from GET "+s.OtherURL)
	if !strings.Contains(strings.Join(r.Fault.Suggestions, " "), "from "+s.URL+"/redirect") {
		t.Errorf("%+v", r.Fault)
	}
}
