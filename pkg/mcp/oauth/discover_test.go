package oauth

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/internal/authserver"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// TestDiscovery logs in to servers whose metadata is at every place of the specification.
func TestDiscovery(t *testing.T) {
	notFound := http.NotFound
	tests := map[string]struct {
		path  string
		setup func(s *authserver.Server)
		want  string // a request that must be made
	}{
		"challenge": {"/mcp", func(*authserver.Server) {}, "GET /.well-known/oauth-protected-resource/mcp"},
		"metadata at another place": {"/mcp", func(s *authserver.Server) {
			s.Handlers["/.well-known/oauth-protected-resource/mcp"] = notFound
			s.Handlers["/meta"] = func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, `{"resource":"`+s.URL+`","authorization_servers":["`+s.Issuer+`"]}`)
			}
			s.Handlers["/mcp"] = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("WWW-Authenticate", `Basic realm="x", Bearer scope="a b", resource_metadata="`+s.Issuer+`/meta"`)
				w.WriteHeader(http.StatusUnauthorized)
			}
		}, "GET /meta"},
		"a challenge that leads nowhere": {"/mcp", func(s *authserver.Server) {
			s.Handlers["/mcp"] = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="http://mcp.internal:8080/meta"`)
				w.WriteHeader(http.StatusUnauthorized)
			}
		}, "GET /.well-known/oauth-protected-resource/mcp"},
		"without a challenge": {"/a/mcp", func(s *authserver.Server) {
			s.Handlers["/a/mcp"] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
		}, "GET /.well-known/oauth-protected-resource/a/mcp"},
		"at the root": {"/a/mcp", func(s *authserver.Server) {
			s.Handlers["/a/mcp"] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
			s.Handlers["/.well-known/oauth-protected-resource/a/mcp"] = notFound
			s.Handlers["/.well-known/oauth-protected-resource"] = func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, `{"resource":"`+s.URL+`","authorization_servers":["`+s.Issuer+`"]}`)
			}
		}, "GET /.well-known/oauth-protected-resource"},
		"its own authorization server": {"/mcp", func(s *authserver.Server) {
			s.Handlers["/mcp"] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
			s.Handlers["/.well-known/oauth-protected-resource/mcp"] = notFound
		}, "GET /.well-known/oauth-authorization-server"},
		"issuer with a path": {"/mcp", func(s *authserver.Server) { s.Issuer += "/tenant" }, "GET /.well-known/oauth-authorization-server/tenant"},
		"OpenID Connect": {"/mcp", func(s *authserver.Server) {
			s.Issuer += "/tenant"
			s.Handlers["/.well-known/oauth-authorization-server/tenant"] = notFound
			s.Handlers["/tenant/.well-known/openid-configuration"] = func(w http.ResponseWriter, r *http.Request) {
				delete(s.Handlers, "/.well-known/oauth-authorization-server/tenant")
				r.URL.Path = "/.well-known/oauth-authorization-server/tenant"
				s.ServeHTTP(w, r)
			}
		}, "GET /tenant/.well-known/openid-configuration"},
		"a page for people at the first place": {"/mcp", func(s *authserver.Server) {
			s.Handlers["/.well-known/oauth-authorization-server"] = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				_, _ = io.WriteString(w, "<p>Welcome")
			}
			s.Handlers["/.well-known/openid-configuration"] = func(w http.ResponseWriter, r *http.Request) {
				delete(s.Handlers, "/.well-known/oauth-authorization-server")
				r.URL.Path = "/.well-known/oauth-authorization-server"
				s.ServeHTTP(w, r)
			}
		}, "GET /.well-known/openid-configuration"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := authserver.Start(t, tt.path)
			tt.setup(s)
			l, err := logIn(t, s.URL, Options{})
			if err != nil {
				t.Fatalf("%v after %q", err, s.Requests())
			}
			if l.AccessToken == "" || l.RefreshToken == "" || l.Resource != s.URL || l.Issuer != s.Issuer || !slices.Contains(s.Requests(), tt.want) {
				t.Errorf("%+v after %q", l, s.Requests())
			}
		})
	}
}

// TestServersThatBreakTheRules checks that no login comes about, in good time and before a secret is sent.
func TestServersThatBreakTheRules(t *testing.T) {
	set := func(key string, value any) func(map[string]any) {
		return func(document map[string]any) { document[key] = value }
	}
	unset := func(key string) func(map[string]any) { return func(document map[string]any) { delete(document, key) } }
	const metadata, resource = "/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp"
	tests := map[string]struct {
		setup func(s *authserver.Server)
		typ   fault.Type
		last  string // the last request
	}{
		"without PKCE":           {func(s *authserver.Server) { s.Metadata = unset("code_challenge_methods_supported") }, fault.Protocol, ""},
		"plain PKCE":             {func(s *authserver.Server) { s.Metadata = set("code_challenge_methods_supported", []string{"plain"}) }, fault.Protocol, ""},
		"other issuer":           {func(s *authserver.Server) { s.Metadata = set("issuer", "https://example.com") }, fault.Protocol, ""},
		"token endpoint http":    {func(s *authserver.Server) { s.Metadata = set("token_endpoint", "http://example.com/token") }, fault.Protocol, ""},
		"script as endpoint":     {func(s *authserver.Server) { s.Metadata = set("authorization_endpoint", "javascript:alert(1)") }, fault.Protocol, ""},
		"no endpoint":            {func(s *authserver.Server) { s.Metadata = unset("token_endpoint") }, fault.Protocol, ""},
		"no registration":        {func(s *authserver.Server) { s.Metadata = unset("registration_endpoint") }, fault.Validation, "GET " + metadata},
		"registration elsewhere": {func(s *authserver.Server) { s.Metadata = set("registration_endpoint", "http://example.com/register") }, fault.Protocol, ""},
		"resource of another":    {func(s *authserver.Server) { s.Resource = set("resource", "https://example.com/mcp") }, fault.Security, "GET " + resource},
		"resource of a sibling":  {func(s *authserver.Server) { s.Resource = set("resource", s.URL+"2") }, fault.Security, "GET " + resource},
		"no authority":           {func(s *authserver.Server) { s.Resource = unset("authorization_servers") }, fault.Protocol, "GET " + resource},
		"authority http":         {func(s *authserver.Server) { s.Resource = set("authorization_servers", []string{"http://example.com"}) }, fault.Protocol, "GET " + resource},
		"no metadata":            {func(s *authserver.Server) { s.Handlers[metadata] = http.NotFound }, fault.Protocol, ""},
		"huge resource":          {func(s *authserver.Server) { s.Resource = set("x", strings.Repeat("x", 2<<20)) }, fault.TooLarge, "GET " + resource},
		"huge metadata":          {func(s *authserver.Server) { s.Metadata = set("A", strings.Repeat("x", 2<<20)) }, fault.Protocol, ""},
		"endless redirects": {func(s *authserver.Server) {
			s.Handlers[resource] = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }
		}, fault.Unavailable, "GET " + resource},
		"redirect to http": {func(s *authserver.Server) {
			s.Handlers[resource] = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://example.com/", http.StatusFound)
			}
		}, fault.Unavailable, "GET " + resource},
		"redirected registration": {func(s *authserver.Server) {
			s.Handlers["/register"] = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			}
		}, fault.Protocol, "POST /register"},
		"refused registration": {func(s *authserver.Server) {
			s.Handlers["/register"] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }
		}, fault.Protocol, "POST /register"},
		"wrong issuer in the answer": {func(s *authserver.Server) {
			s.Redirect = func(answer url.Values) { answer.Set("iss", "https://example.com") }
		}, fault.Security, "GET /authorize"},
		"no issuer in the answer": {func(s *authserver.Server) { s.Redirect = func(answer url.Values) { answer.Del("iss") } }, fault.Security, "GET /authorize"},
		"refused": {func(s *authserver.Server) {
			s.Redirect = func(answer url.Values) { answer.Del("code"); answer.Set("error", "access_denied") }
		}, fault.Execution, "GET /authorize"},
		"no code":    {func(s *authserver.Server) { s.Redirect = func(answer url.Values) { answer.Del("code") } }, fault.Protocol, "GET /authorize"},
		"wrong code": {func(s *authserver.Server) { s.Redirect = func(answer url.Values) { answer.Set("code", "x") } }, fault.Execution, "POST /token authorization_code"},
		"redirected token request": {func(s *authserver.Server) {
			s.Handlers["/token"] = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			}
		}, fault.Execution, "POST /token authorization_code"},
		"token of another type": {func(s *authserver.Server) {
			s.Handlers["/token"] = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"access_token":"a","token_type":"DPoP"}`)
			}
		}, fault.Protocol, "POST /token authorization_code"},
		"garbage as token": {func(s *authserver.Server) {
			s.Handlers["/token"] = func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{")) }
		}, fault.Unavailable, "POST /token authorization_code"},
		"token with a line break": {func(s *authserver.Server) {
			s.Handlers["/token"] = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"access_token":"a\r\nX: y","token_type":"Bearer"}`)
			}
		}, fault.Protocol, "POST /token authorization_code"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := authserver.Start(t, "/mcp")
			tt.setup(s)
			l, err := logIn(t, s.URL, Options{})
			f, ok := errors.AsType[*fault.Fault](err)
			if l != nil || !ok || f.Type != tt.typ || len(f.Message) > 900 {
				t.Fatalf("%+v, %v (%+v)", l, err, f)
			}
			if requests := s.Requests(); tt.last != "" && requests[len(requests)-1] != tt.last {
				t.Errorf("it went on: %q", requests)
			}
		})
	}
}

// TestMetadataThatHangs checks that a login ends with its context, whatever does not answer.
func TestMetadataThatHangs(t *testing.T) {
	for _, path := range []string{"/mcp", "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server", "/register", "/token"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s := authserver.Start(t, "/mcp")
			reached := make(chan struct{})
			s.Handlers[path] = func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, "{")
				_ = http.NewResponseController(w).Flush()
				close(reached)
				<-r.Context().Done()
			}
			if path == "/mcp" { // its answer is not read
				s.Handlers[path] = func(_ http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client has gone
					close(reached)
					<-r.Context().Done()
				}
			}
			late := errors.New("late")
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() { <-reached; cancel(late) }()
			err := func() error {
				authority, err := Discover(ctx, s.URL, nil)
				if err != nil {
					return err
				}
				attempt, err := authority.Begin(ctx, Options{Redirect: "http://127.0.0.1:1/callback"})
				if err != nil {
					return err
				}
				_, err = attempt.Finish(ctx, url.Values{"state": {attempt.state}, "code": {"c"}, "iss": {s.Issuer}})
				return err
			}()
			if !errors.Is(err, late) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestSameResource(t *testing.T) {
	for _, tt := range []struct {
		server, resource string
		want             bool
	}{
		{"https://h/mcp", "https://h/mcp", true},
		{"https://h/mcp/", "https://H:443/mcp", true},
		{"https://h/mcp?key=x", "https://h/mcp/", true},
		{"https://h/a/mcp", "https://h/a", true},
		{"https://h/a/mcp", "https://h", true},
		{"https://h:8443/mcp", "https://h/mcp", false},
		{"https://h/mcp", "http://h/mcp", false},
		{"https://h/mcp", "https://h/mc", false},
		{"https://h/mcp", "https://h/mcp/more", false},
		{"https://h/mcp", "https://h.example.com/mcp", false},
		{"https://h/mcp", "", false},
	} {
		server, err := url.Parse(tt.server)
		if err != nil {
			t.Fatal(err)
		}
		if got := sameResource(server, tt.resource); got != tt.want {
			t.Errorf("%s for %s: %v", tt.resource, tt.server, got)
		}
	}
}

func TestLoginsNeedEncryption(t *testing.T) {
	for _, server := range []string{"http://example.com/mcp", "http://10.0.0.1/mcp", "ftp://127.0.0.1/mcp", "https:///mcp", "://"} {
		if _, err := Discover(t.Context(), server, nil); err == nil || fault.From(err).Type != fault.Validation {
			t.Errorf("%s: %v", server, err)
		}
	}
}

// TestAServerOnTheInternetReachesNoPrivateAddress uses an address of documentation, RFC 5737, as the server's.
func TestAServerOnTheInternetReachesNoPrivateAddress(t *testing.T) {
	s := authserver.Start(t, "/mcp")
	for host, reaches := range map[string]bool{"192.0.2.1": false, "127.0.0.1": true, "10.1.2.3": true} {
		resp, err := newClient(t.Context(), &url.URL{Scheme: "https", Host: host}).Get(s.Issuer + "/register")
		if err == nil {
			_ = resp.Body.Close()
		}
		if (err == nil) != reaches {
			t.Errorf("a server at %s: %v", host, err)
		}
	}
}
