package oauth

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/internal/authserver"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
)

// logIn logs in to a server with a browser that follows redirects.
func logIn(t *testing.T, server string, o Options) (*Login, error) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Minute, errors.New("the login does not end"))
	defer cancel()
	authority, err := Discover(ctx, server, nil)
	if err != nil {
		return nil, err
	}
	listener, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	o.Redirect = listener.Redirect()
	attempt, err := authority.Begin(ctx, o)
	if err != nil {
		return nil, err
	}
	var browser sync.WaitGroup
	defer browser.Wait()
	browser.Go(func() {
		resp, err := http.Get(attempt.URL)
		if err == nil {
			_ = resp.Body.Close()
		}
		if err != nil || resp.StatusCode != http.StatusOK {
			cancel()
		}
	})
	answer, err := listener.Wait(ctx, attempt, nil, nil)
	if err != nil {
		return nil, err
	}
	return attempt.Finish(ctx, answer)
}

func newHome(t *testing.T) *home.Home {
	t.Helper()
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func newSource(h *home.Home, url string) *Source {
	return NewSource(h, "s", url, redact.New(), slog.New(slog.NewTextHandler(io.Discard, nil)))
}

func TestAnswersOfOtherLoginsAreIgnored(t *testing.T) {
	s := authserver.Start(t, "/mcp")
	s.Redirect = func(answer url.Values) { answer.Set("state", "other") }
	if l, err := logIn(t, s.URL, Options{}); l != nil || !errors.Is(err, context.Canceled) { // the browser got no 200
		t.Errorf("%+v, %v", l, err)
	}
	if slices.Contains(s.Requests(), "POST /token authorization_code") {
		t.Errorf("%q", s.Requests())
	}
}

func TestAPastedAnswer(t *testing.T) {
	s := authserver.Start(t, "/mcp")
	authority, err := Discover(t.Context(), s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	attempt, err := authority.Begin(t.Context(), Options{Redirect: listener.Redirect()})
	if err != nil {
		t.Fatal(err)
	}
	pasted, ignored := make(chan string, 3), 0
	pasted <- "what?"
	pasted <- attempt.URL + "%zz"
	pasted <- listener.Redirect() + "?code=c&state=" + attempt.state
	answer, err := listener.Wait(t.Context(), attempt, pasted, func(string) { ignored++ })
	if err != nil || answer.Get("code") != "c" || ignored != 2 {
		t.Errorf("%v, %v, %d ignored", answer, err, ignored)
	}
}

// TestScopesAndClients checks what is asked for, and as whom.
func TestScopesAndClients(t *testing.T) {
	s := authserver.Start(t, "/mcp")
	s.Metadata = func(document map[string]any) { document["scopes_supported"] = []string{"openid", offline} }
	first, err := logIn(t, s.URL, Options{Scopes: []string{"write", "read"}})
	if err != nil || !slices.Equal(first.Scopes, []string{offline, "read", "write"}) || first.Client.Given {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := logIn(t, s.URL, Options{Previous: first})
	if err != nil || !slices.Equal(again.Scopes, []string{offline, "read", "tools", "write"}) || again.Client.ID == first.Client.ID {
		t.Errorf("%+v, %v", again, err)
	}
	given, err := logIn(t, s.URL, Options{Previous: again, ClientID: "mine", ClientSecret: "secret"})
	if err != nil || given.Client != (Client{ID: "mine", Secret: "secret", Auth: "client_secret_basic", Given: true}) {
		t.Fatalf("%+v, %v", given, err)
	}
	if kept, err := logIn(t, s.URL, Options{Previous: given}); err != nil || kept.Client != given.Client {
		t.Errorf("%+v, %v", kept, err)
	}
	given.Issuer = "https://example.com" // the client is not one of this authorization server
	if other, err := logIn(t, s.URL, Options{Previous: given}); err != nil || other.Client.Given {
		t.Errorf("%+v, %v", other, err)
	}
}

func TestLoginsAreStoredForTheUserAlone(t *testing.T) {
	h := newHome(t)
	for _, server := range []string{"plain", "../../etc/Odd Name", ""} {
		l := &Login{URL: "https://example.com/mcp", AccessToken: "an-access-token", RefreshToken: "a-refresh-token"}
		if err := Store(t.Context(), h, server, l); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(h.Path(Folder, file(server))); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%q: %v, %v", server, info, err)
		}
		if got, err := Load(h, server, l.URL); err != nil || got == nil || got.AccessToken != l.AccessToken {
			t.Errorf("%q: %+v, %v", server, got, err)
		}
		if got, err := Load(h, server, "https://example.com/other"); err != nil || got != nil { // its URL has changed
			t.Errorf("%q: %+v, %v", server, got, err)
		}
	}
	r := redact.New()
	AddSecrets(h, r)
	if got := r.Text("an-access-token a-refresh-token"); got != "<redacted> <redacted>" {
		t.Error(got)
	}
	if _, found, err := Remove(t.Context(), h, "plain"); err != nil || !found {
		t.Errorf("%v, %v", found, err)
	}
	if _, found, err := Remove(t.Context(), h, "plain"); err != nil || found {
		t.Errorf("%v, %v", found, err)
	}
}
