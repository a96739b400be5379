package oauth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/pflow-suite/pflow/internal/authserver"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// loggedIn returns a home with a login to a server, and the login.
func loggedIn(t *testing.T, s *authserver.Server) (*home.Home, *Login) {
	t.Helper()
	h := newHome(t)
	l, err := logIn(t, s.URL, Options{})
	if err != nil {
		t.Fatal(err)
	}
	store(t, h, *l)
	return h, l
}

func store(t *testing.T, h *home.Home, l Login) {
	t.Helper()
	if err := Store(t.Context(), h, "s", &l); err != nil {
		t.Fatal(err)
	}
}

// refreshes returns how often tokens were renewed.
func refreshes(s *authserver.Server) int { return s.Count("POST /token refresh_token") }

func TestTokens(t *testing.T) {
	s := authserver.Start(t, "/mcp")
	h, l := loggedIn(t, s)
	source := newSource(h, s.URL)
	if token, err := source.Token(t.Context()); err != nil || token != l.AccessToken || refreshes(s) != 0 {
		t.Errorf("%q, %v", token, err)
	}
	if token, err := newSource(h, s.URL+"2").Token(t.Context()); err != nil || token != "" { // the server's URL has changed
		t.Errorf("%q, %v", token, err)
	}
	l.Issued, l.Expires = time.Now().Add(-time.Hour), time.Now().Add(margin/2)
	store(t, h, *l)
	source = newSource(h, s.URL)
	fresh, err := source.Token(t.Context())
	if err != nil || fresh == "" || fresh == l.AccessToken || refreshes(s) != 1 {
		t.Errorf("%q, %v", fresh, err)
	}
	if got := source.redactor.Text(fresh + " and " + source.login.RefreshToken); got != "<redacted> and <redacted>" {
		t.Error(got)
	}
	again, err := source.Renew(t.Context(), fresh)
	if err != nil || again == "" || again == fresh || refreshes(s) != 2 {
		t.Errorf("%q, %v", again, err)
	}
	if other, err := source.Renew(t.Context(), fresh); err != nil || other != again || refreshes(s) != 2 { // another request renewed it
		t.Errorf("%q, %v", other, err)
	}
	if other, err := newSource(h, s.URL).Renew(t.Context(), fresh); err != nil || other != again || refreshes(s) != 2 { // another program did
		t.Errorf("%q, %v", other, err)
	}
	l.RefreshToken = ""
	store(t, h, *l)
	if token, err := newSource(h, s.URL).Renew(t.Context(), l.AccessToken); err != nil || token != "" || l.State() != Expired {
		t.Errorf("%q, %v", token, err)
	}
	if _, _, err := Remove(t.Context(), h, "s"); err != nil {
		t.Fatal(err)
	}
	if token, err := source.Renew(t.Context(), again); err != nil || token != "" {
		t.Errorf("after a logout: %q, %v", token, err)
	}
}

// TestARotatingTokenIsUsedOnce has sources of several programs, each with several requests, renew a token at the same time. The
// server reports a refresh token that is used twice.
func TestARotatingTokenIsUsedOnce(t *testing.T) {
	s := authserver.Start(t, "/mcp")
	h, l := loggedIn(t, s)
	for round := 1; round <= 5; round++ {
		s.EndAccess()
		rejected := l.AccessToken
		var requests sync.WaitGroup
		for range 4 {
			source := newSource(h, s.URL)
			for range 4 {
				requests.Go(func() {
					if token, err := source.Renew(t.Context(), rejected); err != nil || token == "" || token == rejected {
						t.Errorf("%q, %v", token, err)
					}
				})
			}
		}
		requests.Wait()
		if refreshes(s) != round {
			t.Fatalf("%d renewals in round %d", refreshes(s), round)
		}
		var err error
		if l, err = Load(h, "s", s.URL); err != nil {
			t.Fatal(err)
		}
	}
}

// TestARenewalIsStoredWhoeverWaits ends the request that renews a token while the authorization server answers.
func TestARenewalIsStoredWhoeverWaits(t *testing.T) {
	s := authserver.Start(t, "/mcp")
	h, l := loggedIn(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	s.Handlers["/token"] = func(w http.ResponseWriter, r *http.Request) {
		delete(s.Handlers, "/token")
		cancel()
		s.ServeHTTP(w, r)
	}
	_, _ = newSource(h, s.URL).Renew(ctx, l.AccessToken)
	fresh, err := Load(h, "s", s.URL)
	if err != nil || fresh.RefreshToken == l.RefreshToken {
		t.Fatalf("%+v, %v", fresh, err)
	}
	if token, err := newSource(h, s.URL).Renew(t.Context(), fresh.AccessToken); err != nil || token == "" {
		t.Errorf("%q, %v", token, err)
	}
}

func TestALoginThatIsOver(t *testing.T) {
	s := authserver.Start(t, "/mcp")
	h, l := loggedIn(t, s)
	s.EndLogins()
	for range 2 {
		source := newSource(h, s.URL)
		token, err := source.Renew(t.Context(), l.AccessToken)
		f, ok := errors.AsType[*fault.Fault](err)
		if ok && (f.Retryable || len(f.Next) == 0 || f.Next[0].Call(fault.Shell) != "pflow-sync login s") || !ok && token != "" {
			t.Errorf("%q, %+v", token, f)
		}
	}
	over, err := Load(h, "s", s.URL)
	if err != nil || over.State() != Expired || over.RefreshToken != "" || refreshes(s) != 1 {
		t.Errorf("%+v, %v, %d renewals", over, err, refreshes(s))
	}
}

// TestARenewalThatFailsKeepsTheLogin checks failures that another attempt may not have.
func TestARenewalThatFailsKeepsTheLogin(t *testing.T) {
	s := authserver.Start(t, "/mcp")
	h, l := loggedIn(t, s)
	for _, status := range []int{http.StatusBadGateway, http.StatusTooManyRequests, http.StatusNotFound} {
		s.Handlers["/token"] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
		_, err := newSource(h, s.URL).Renew(t.Context(), l.AccessToken)
		f, ok := errors.AsType[*fault.Fault](err)
		if !ok || f.Retryable != (status != http.StatusNotFound) {
			t.Errorf("HTTP %d: %v", status, err)
		}
	}
	delete(s.Handlers, "/token")
	if token, err := newSource(h, s.URL).Renew(t.Context(), l.AccessToken); err != nil || token == "" {
		t.Errorf("%q, %v", token, err)
	}
}

func TestAStoredLoginThatCannotBeRead(t *testing.T) {
	h := newHome(t)
	store(t, h, Login{})
	if err := h.Write([]byte(`{"access_token":"secret-token`), 0o600, Folder, file("s")); err != nil {
		t.Fatal(err)
	}
	_, err := newSource(h, "https://example.com").Token(t.Context())
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Type != fault.Validation || strings.Contains(f.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func TestRevoke(t *testing.T) {
	s := authserver.Start(t, "/mcp")
	_, l := loggedIn(t, s)
	if revoked, err := Revoke(t.Context(), l); err != nil || !revoked || s.Count("POST /revoke") != 1 {
		t.Errorf("%v, %v", revoked, err)
	}
	if _, err := refresh(t.Context(), l); err == nil {
		t.Error("the refresh token still works")
	}
	s.Handlers["/revoke"] = http.NotFound
	if revoked, err := Revoke(t.Context(), l); err == nil || revoked {
		t.Errorf("%v, %v", revoked, err)
	}
	l.RevocationEndpoint = "http://example.com/revoke"
	if revoked, err := Revoke(t.Context(), l); err == nil || revoked {
		t.Errorf("%v, %v", revoked, err)
	}
	l.RevocationEndpoint = ""
	if revoked, err := Revoke(t.Context(), l); err != nil || revoked {
		t.Errorf("%v, %v", revoked, err)
	}
}

// TestAnInterruptedRenewalEndsSoon has an authorization server that never answers.
func TestAnInterruptedRenewalEndsSoon(t *testing.T) {
	t.Parallel()
	s := authserver.Start(t, "/mcp")
	h, l := loggedIn(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	s.Handlers["/token"] = func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() }
	token, err := newSource(h, s.URL).Renew(ctx, l.AccessToken)
	if err == nil || token != "" || !strings.Contains(err.Error(), context.Canceled.Error()) { // at refreshTimeout it would be another error
		t.Errorf("got %q, %v, want that it is cancelled", token, err)
	}
	if kept, err := Load(h, "s", s.URL); err != nil || kept.RefreshToken != l.RefreshToken {
		t.Errorf("%+v, %v", kept, err)
	}
}

// TestATokenOfSecondsIsUsed takes tokens whose lifetime is short, and one that is nearly over.
func TestATokenOfSecondsIsUsed(t *testing.T) {
	for lifetime, stale := range map[time.Duration]bool{margin / 2: false, time.Hour: false, 0: true} {
		l := &Login{}
		if err := l.take(&oauth2.Token{AccessToken: "a", TokenType: "Bearer", Expiry: time.Now().Add(lifetime)}); err != nil {
			t.Fatal(err)
		}
		if l.stale() != stale {
			t.Errorf("a token for %v: stale is %v", lifetime, l.stale())
		}
	}
	l := &Login{AccessToken: "a", Issued: time.Now().Add(-time.Hour), Expires: time.Now().Add(margin / 2)}
	if !l.stale() {
		t.Error("a token of an hour is not renewed ahead")
	}
}
