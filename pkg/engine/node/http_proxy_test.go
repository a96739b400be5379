package node

import (
	"net/url"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/internal/webserver"
	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestProxyChoice(t *testing.T) {
	const web, tls = "http://example.org/", "https://example.org/"
	for name, c := range map[string]struct {
		param string
		env   []string
		url   string
		want  string
	}{
		"nothing said":        {"", nil, web, ""},
		"http":                {"", []string{"HTTP_PROXY=http://p:1"}, web, "http://p:1"},
		"http is not https":   {"", []string{"HTTP_PROXY=http://p:1"}, tls, ""},
		"https":               {"", []string{"HTTPS_PROXY=http://p:1"}, tls, "http://p:1"},
		"https is not http":   {"", []string{"HTTPS_PROXY=http://p:1"}, web, ""},
		"lower case":          {"", []string{"https_proxy=http://p:1"}, tls, "http://p:1"},
		"upper case wins":     {"", []string{"http_proxy=http://q:1", "HTTP_PROXY=http://p:1"}, web, "http://p:1"},
		"empty is none":       {"", []string{"HTTP_PROXY=", "http_proxy=http://q:1"}, web, "http://q:1"},
		"last one counts":     {"", []string{"HTTP_PROXY=http://q:1", "HTTP_PROXY=http://p:1"}, web, "http://p:1"},
		"in a CGI program":    {"", []string{"HTTP_PROXY=http://p:1", "REQUEST_METHOD=GET"}, web, ""},
		"without a scheme":    {"", []string{"HTTP_PROXY=p:3128"}, web, "http://p:3128"},
		"socks":               {"", []string{"HTTP_PROXY=socks5://p:1080"}, web, "socks5://p:1080"},
		"with a password":     {"", []string{"HTTP_PROXY=http://u:p@p:1"}, web, "http://u:p@p:1"},
		"parameter":           {"http://q:2", []string{"HTTP_PROXY=http://p:1"}, web, "http://q:2"},
		"parameter for all":   {"q:2", []string{"NO_PROXY=*"}, tls, "http://q:2"},
		"parameter for local": {"q:2", nil, "http://localhost/", "http://q:2"},
		"none":                {"none", []string{"HTTP_PROXY=http://p:1"}, web, ""},
		"no proxy":            {"", []string{"HTTP_PROXY=http://p:1", "NO_PROXY=a.test,example.org"}, web, ""},
		"no proxy lower":      {"", []string{"HTTP_PROXY=http://p:1", "no_proxy=example.org"}, web, ""},
		"localhost":           {"", []string{"HTTP_PROXY=http://p:1"}, "http://localhost:8080/", ""},
		"loopback":            {"", []string{"HTTP_PROXY=http://p:1"}, "http://127.0.0.2/", ""},
		"loopback 6":          {"", []string{"HTTP_PROXY=http://p:1"}, "http://[::1]/", ""},
		"ftp proxy":           {"", []string{"HTTP_PROXY=ftp://u:s3cret@p:1"}, web, "error"},
		"broken":              {"", []string{"HTTP_PROXY=http://u:s3cret@%zz"}, web, "error"},
		"broken for others":   {"", []string{"HTTPS_PROXY=http://u:s3cret@%zz"}, web, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, f := proxiesFor(c.param, c.env)
			if f != nil {
				t.Fatal(f)
			}
			u, _ := url.Parse(c.url)
			got, err := p.proxyFor(u)
			switch {
			case c.want == "error":
				if err == nil || !strings.HasPrefix(err.Error(), "HTTP_PROXY: ") || strings.Contains(err.Error(), "s3cret") {
					t.Errorf("%v %v", got, err)
				}
			case err != nil, (got == nil) != (c.want == ""), got != nil && got.String() != c.want:
				t.Errorf("%v %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestExempt(t *testing.T) {
	for _, c := range []struct {
		list, host, port string
		want             bool
	}{
		{"", "example.org", "80", false},
		{"example.org", "example.org", "80", true},
		{"EXAMPLE.org", "Example.ORG", "80", true},
		{"example.org", "www.example.org", "80", true},
		{"example.org", "notexample.org", "80", false},
		{".example.org", "example.org", "80", false},
		{".example.org", "www.example.org", "80", true},
		{"*.example.org", "www.example.org", "80", true},
		{"*.example.org", "example.org", "80", false},
		{"example.org.", "example.org", "80", true},
		{"example.org", "example.org.", "80", true},
		{"a, example.org ,b", "example.org", "80", true},
		{"a example.org", "example.org", "80", true},
		{"*", "example.org", "80", true},
		{"example.org:8080", "example.org", "80", false},
		{"example.org:8080", "example.org", "8080", true},
		{"10.0.0.0/8", "10.1.2.3", "80", true},
		{"10.0.0.0/8", "11.1.2.3", "80", false},
		{"10.0.0.0/8", "ten.example.org", "80", false},
		{"10.1.2.3", "10.1.2.3", "80", true},
		{"10.1.2.3:81", "10.1.2.3", "80", false},
		{"2001:db8::1", "2001:db8::1", "80", true},
		{"[2001:db8::1]:80", "2001:db8::1", "80", true},
		{"[2001:db8::1]", "2001:db8:0::1", "80", true},
		{"2001:db8::/32", "2001:db8::1", "80", true},
		{"10.1.2.3", "::ffff:10.1.2.3", "80", true},
		{".", "example.org", "80", false},
		{",", "example.org", "80", false},
		{"", "LOCALHOST", "80", true},
		{"", "127.9.9.9", "80", true},
	} {
		if got := bypassesProxy(c.list, c.host, c.port); got != c.want {
			t.Errorf("NO_PROXY=%s, host %s, port %s: %v", c.list, c.host, c.port, got)
		}
	}
}

func FuzzProxies(f *testing.F) {
	f.Add("http://u:s3cret@p:1", "10.0.0.0/8, *.x.test:80,[::1]", "www.x.test")
	f.Add("socks5://s3cret@", "*", "")
	f.Fuzz(func(t *testing.T, proxy, list, host string) {
		p, f := proxiesFor("", []string{"HTTP_PROXY=" + proxy, "NO_PROXY=" + list})
		if f != nil {
			t.Fatal(f)
		}
		got, err := p.proxyFor(&url.URL{Scheme: "http", Host: host})
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v", err)
		}
		if got != nil && got.Hostname() == "" {
			t.Errorf("a proxy without a host of %q", proxy)
		}
	})
}

func TestHTTPThroughAProxy(t *testing.T) {
	s := webserver.Start(t)
	for name, c := range map[string]struct{ url, params, env string }{
		"parameter":      {"http://webserver.test", `"proxy":"` + s.ProxyURL + `"`, ""},
		"environment":    {"http://webserver.test", `"retries":0`, "http_proxy=" + s.ProxyURL},
		"TLS":            {"https://webserver.test", `"ca_file":"` + s.CAFile + `"`, "HTTPS_PROXY=" + s.ProxyURL},
		"with password":  {"http://webserver.test", `"proxy":"` + s.AuthProxyURL + `"`, ""},
		"password, TLS":  {"https://webserver.test", `"proxy":"` + s.AuthProxyURL + `","ca_file":"` + s.CAFile + `"`, ""},
		"over loopback":  {s.URL, `"proxy":"` + s.ProxyURL + `"`, ""},
		"posted by TLS":  {"https://webserver.test", `"method":"POST","body":"x","ca_file":"` + s.CAFile + `"`, "HTTPS_PROXY=" + s.ProxyURL},
		"through a name": {"http://other.test:99", `"proxy":"` + strings.TrimPrefix(s.ProxyURL, "http://") + `"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			on := task(t)
			on.Env = append(on.Env, c.env)
			before := s.Proxied()
			r := perform(t, on, "http", `{"url":"`+c.url+`/echo",`+c.params+`}`, nil)
			if output(t, r, "response.path") != "/echo" || s.Proxied() != before+1 {
				t.Errorf("%s, %d through the proxy", r.Outputs, s.Proxied()-before)
			}
			if plain, _, _ := strings.Cut(c.url, "://"); plain == "http" && output(t, r, "response.headers.via") == "" {
				t.Errorf("%s", r.Outputs)
			}
			if strings.Contains(string(r.Outputs), "pr0xy-passw0rd") {
				t.Errorf("the password is shown: %s", r.Outputs)
			}
		})
	}
	on := task(t)
	on.Env = append(on.Env, "HTTP_PROXY="+s.ProxyURL)
	before := s.Proxied()
	if r := perform(t, on, "http", `{"url":"`+s.URL+`/echo"}`, nil); r.Fault != nil || s.Proxied() != before {
		t.Errorf("loopback went through the proxy: %v", r.Fault)
	}
}

func TestHTTPWithAProxyThatFails(t *testing.T) {
	s := webserver.Start(t)
	wrong := strings.Replace(s.AuthProxyURL, "pr0xy", "s3cret", 1)
	for name, c := range map[string]struct {
		url, proxy string
		kind       fault.Type
		words      []string
		retryable  bool
	}{
		"nobody there":        {"http://webserver.test", "http://me:s3cret@127.0.0.1:1", fault.Unavailable, []string{"http://webserver.test/text", "proxy", "refused"}, true},
		"nobody there, socks": {"http://webserver.test", "socks5://me:s3cret@127.0.0.1:1", fault.Unavailable, []string{"http://webserver.test/text", "proxy"}, true},
		"wrong password":      {"http://webserver.test", wrong, fault.Execution, []string{"HTTP 407"}, false},
		"wrong password, TLS": {"https://webserver.test", wrong, fault.Unavailable, []string{"https://webserver.test/text", "HTTP 407"}, false},
		"no way there":        {"https://127.0.0.1:1", s.ProxyURL, fault.Unavailable, []string{"https://127.0.0.1:1/text", "HTTP 502"}, true},
		"no proxy":            {"https://webserver.test", strings.Replace(s.URL, "//", "//me:s3cret@", 1), fault.Unavailable, []string{"https://webserver.test/text", "HTTP "}, false},
		"not a URL":           {"http://webserver.test", "http://me:s3cret@%zz", fault.Execution, []string{"proxy: "}, false},
		"named in words":      {"http://127.0.0.1:1", "http://127.0.0.1:1", fault.Unavailable, []string{"proxy: connection refused"}, true},
		"another scheme":      {"http://webserver.test", "ftp://me:s3cret@127.0.0.1", fault.Execution, []string{"proxy: ", `"ftp"`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := perform(t, task(t), "http", `{"url":"`+c.url+`/text","retries":0,"proxy":"`+c.proxy+`"}`, nil)
			failedWith(t, r, c.kind, c.words...)
			if r.Fault.Retryable != c.retryable || strings.Contains(spelled(t, r), "s3cret") || len(r.Fault.Suggestions) == 0 || hasGoWords(r.Fault.Message) {
				t.Errorf("%+v %s", r.Fault, r.Outputs)
			}
		})
	}
}
