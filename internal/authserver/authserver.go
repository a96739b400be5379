// Package authserver is an MCP server for tests that wants a login, together with its authorization server. It keeps to the rules
// unless a test breaks them. It listens on the loopback interface only.
package authserver

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Server is a running server. Change changes its fields.
type Server struct {
	// URL is that of the MCP server, and Issuer identifies the authorization server.
	URL, Issuer string
	// Handlers answer requests for paths in place of the server.
	Handlers map[string]http.HandlerFunc
	// Metadata and Resource change the metadata of the authorization server and of the MCP server.
	Metadata, Resource func(document map[string]any)
	// Redirect changes the answer with which the browser is sent back.
	Redirect func(answer url.Values)
	// Scope is what each call of a tool needs.
	Scope string
	// OneCall makes a call of a tool the last request for which an access token is accepted.
	OneCall bool
	// Lifetime is how many seconds an access token is said to live, by default an hour. It does not end by itself.
	Lifetime int

	http *httptest.Server

	mu       sync.Mutex
	counter  int
	codes    map[string]url.Values // the parameters of the authorization request
	access   map[string]string     // the scopes of each access token that is accepted
	refresh  map[string]string     // the scopes of each refresh token that is accepted
	used     []string              // refresh tokens that were given out and are not accepted any more
	requests []string
	problems []string
}

// Start starts a server that ends with the test. Path is the path of the MCP server, such as /mcp. At the end it reports requests
// that break the rules.
func Start(t testing.TB, path string) *Server {
	t.Helper()
	s := &Server{
		Handlers: map[string]http.HandlerFunc{}, codes: map[string]url.Values{}, access: map[string]string{}, refresh: map[string]string{},
	}
	s.http = httptest.NewUnstartedServer(s)
	s.Issuer = "http://" + s.http.Listener.Addr().String()
	s.URL = s.Issuer + path
	s.http.Start()
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
		for _, problem := range s.problems {
			t.Error(problem)
		}
	})
	return s
}

// Change changes the server's fields between two requests.
func (s *Server) Change(change func(s *Server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// Requests returns the requests so far, such as "GET /.well-known/…" and "POST /token refresh_token".
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Count returns the number of requests so far that are equal to one.
func (s *Server) Count(request string) (n int) {
	for _, r := range s.Requests() {
		if r == request {
			n++
		}
	}
	return n
}

// EndAccess makes the MCP server reject all access tokens that were given out.
func (s *Server) EndAccess() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
}

// EndLogins ends all logins.
func (s *Server) EndLogins() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
	clear(s.refresh)
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	name := r.Method + " " + r.URL.Path
	if grant := r.PostForm.Get("grant_type"); grant != "" {
		name += " " + grant
	}
	s.mu.Lock()
	s.requests = append(s.requests, name)
	s.mu.Unlock()
	s.mu.Lock()
	h, ok := s.Handlers[r.URL.Path]
	s.mu.Unlock()
	if ok {
		h(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.TrimPrefix(s.URL, s.http.URL)
	switch r.URL.Path {
	case path:
		s.serveMCP(w, r)
	case "/.well-known/oauth-protected-resource" + path:
		s.document(w, s.Resource, map[string]any{"resource": s.URL, "authorization_servers": []string{s.Issuer}, "scopes_supported": []string{"tools"}})
	case "/.well-known/oauth-authorization-server" + strings.TrimPrefix(s.Issuer, s.http.URL):
		at := s.http.URL
		s.document(w, s.Metadata, map[string]any{
			"issuer": s.Issuer, "authorization_endpoint": at + "/authorize", "token_endpoint": at + "/token",
			"registration_endpoint": at + "/register", "revocation_endpoint": at + "/revoke",
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
			"authorization_response_iss_parameter_supported": true,
		})
	case "/register":
		w.WriteHeader(http.StatusCreated)
		s.document(w, nil, map[string]any{"client_id": s.next("client"), "token_endpoint_auth_method": "none"})
	case "/authorize":
		s.authorize(w, r)
	case "/token":
		s.token(w, r)
	case "/revoke":
		delete(s.refresh, r.PostForm.Get("token"))
	default:
		http.NotFound(w, r)
	}
}

// next returns a text that was not used before.
func (s *Server) next(kind string) string {
	s.counter++
	return fmt.Sprintf("%s-%d-of-the-test", kind, s.counter)
}

func (s *Server) problem(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

func (s *Server) document(w http.ResponseWriter, change func(map[string]any), document map[string]any) {
	if change != nil {
		change(document)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(document)
}

// authorize answers as the server does when a person has agreed.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	request := r.URL.Query()
	if request.Get("resource") != s.URL || request.Get("code_challenge_method") != "S256" || request.Get("response_type") != "code" {
		s.problem("the authorization request is %v", request)
	}
	code := s.next("code")
	s.codes[code] = request
	answer := url.Values{"code": {code}, "state": {request.Get("state")}, "iss": {s.Issuer}}
	if s.Redirect != nil {
		s.Redirect(answer)
	}
	http.Redirect(w, r, request.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
}

// token issues tokens for a code, or for a refresh token. It accepts each of them only once.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	if r.PostForm.Get("resource") != s.URL {
		s.problem("the resource of the token request is %q", r.PostForm.Get("resource"))
	}
	scope, ok := "", false
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		request := s.codes[r.PostForm.Get("code")]
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		ok = request != nil && base64.RawURLEncoding.EncodeToString(sum[:]) == request.Get("code_challenge") &&
			r.PostForm.Get("redirect_uri") == request.Get("redirect_uri")
		scope = request.Get("scope")
		delete(s.codes, r.PostForm.Get("code"))
	case "refresh_token":
		token := r.PostForm.Get("refresh_token")
		if slices.Contains(s.used, token) {
			s.problem("the refresh token %s was used twice", token)
		}
		scope, ok = s.refresh[token]
		delete(s.refresh, token)
		s.used = append(s.used, token)
	}
	if !ok {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant","error_description":"it is over"}`))
		return
	}
	access, refresh := s.next("access"), s.next("refresh")
	s.access[access], s.refresh[refresh] = scope, scope
	lifetime := s.Lifetime
	if lifetime == 0 {
		lifetime = 3600
	}
	s.document(w, nil, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": lifetime, "refresh_token": refresh, "scope": scope})
}

// serveMCP answers as an MCP server with one tool, whoami.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	scope, ok := s.access[token]
	challenge := fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource%s"`, s.http.URL, strings.TrimPrefix(s.URL, s.http.URL))
	if !ok {
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var message struct {
		ID     json.RawMessage
		Method string
	}
	_ = json.NewDecoder(r.Body).Decode(&message)
	if r.Method != http.MethodPost || message.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	var result string
	switch message.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"guarded","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"whoami","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		if s.Scope != "" && !slices.Contains(strings.Fields(scope), s.Scope) {
			w.Header().Set("WWW-Authenticate", challenge+`, error="insufficient_scope", scope="`+s.Scope+`"`)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		result = `{"content":[{"type":"text","text":"you are known"}]}`
		if s.OneCall {
			delete(s.access, token)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, message.ID, result)
}
