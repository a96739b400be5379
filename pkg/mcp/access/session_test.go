package access_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/mcp/access"
)

// newToken returns a home with a token.
func newToken(t *testing.T) (h *home.Home, secret string) {
	t.Helper()
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	secret, _, err = access.Add(t.Context(), h, access.Token{Name: "browser"})
	if err != nil {
		t.Fatal(err)
	}
	return h, secret
}

// TestSessions holds that a session is of use at its server alone, for its time, until it ends or its token is removed, that the home does not
// have its id, and that a token has not endlessly many.
func TestSessions(t *testing.T) {
	h, secret := newToken(t)
	begin := func(server string) string {
		id, err := access.Begin(t.Context(), h, secret, server)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	goesOn := func(id, server string, after time.Duration) bool {
		tokens, err := access.List(h)
		if err != nil {
			t.Fatal(err)
		}
		found := access.FindSession(tokens, id, server, time.Now().Add(after))
		return found != nil && found.Name == "browser"
	}
	first, other := begin("a:1"), begin("a:2")
	for name, tc := range map[string]struct {
		id, server string
		after      time.Duration
		want       bool
	}{
		"its own": {first, "a:1", 0, true}, "the other": {other, "a:2", 0, true}, "another port": {first, "a:2", 0, false}, "no id": {"", "a:1", 0, false},
		"nearly over": {first, "a:1", 29 * 24 * time.Hour, true}, "over": {first, "a:1", 31 * 24 * time.Hour, false}, "the token": {secret, "a:1", 0, false},
	} {
		if got := goesOn(tc.id, tc.server, tc.after); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if content, err := os.ReadFile(h.Path(access.File)); err != nil || strings.Contains(string(content), first) {
		t.Errorf("the home has the id: %s %v", content, err)
	}
	if _, err := access.Begin(t.Context(), h, "pflow_wrong", "a:1"); err == nil {
		t.Error("a session begins without a token")
	}
	if err := access.End(t.Context(), h, first, "a:2"); err != nil || !goesOn(first, "a:1", 0) {
		t.Errorf("another server ends it: %v", err)
	}
	if err := access.End(t.Context(), h, first, "a:1"); err != nil || goesOn(first, "a:1", 0) || !goesOn(other, "a:2", 0) {
		t.Errorf("after its end: %v", err)
	}
	var last string
	for range 100 {
		last = begin("a:1")
	}
	if goesOn(other, "a:2", 0) || !goesOn(last, "a:1", 0) {
		t.Error("the oldest session does not make room")
	}
	if err := access.Remove(t.Context(), h, "browser"); err != nil || goesOn(last, "a:1", 0) {
		t.Errorf("after the token: %v", err)
	}
}

// TestWatchEndsWhatATokenHasOpen holds that what goes on by a token or a session ends with that, and nothing else does.
func TestWatchEndsWhatATokenHasOpen(t *testing.T) {
	h, secret := newToken(t)
	kept, _, err := access.Add(t.Context(), h, access.Token{Name: "kept"})
	if err != nil {
		t.Fatal(err)
	}
	session, err := access.Begin(t.Context(), h, kept, "a:1")
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("removed")
	watch := &access.Watch{Home: h}
	bind := func(find func([]access.Token) *access.Token) context.Context {
		ctx, end := watch.Bind(t.Context(), find, why)
		t.Cleanup(end)
		return ctx
	}
	byToken := func(secret string) context.Context {
		return bind(func(tokens []access.Token) *access.Token { return access.Find(tokens, secret) })
	}
	removed, other := byToken(secret), byToken(kept)
	browser := bind(func(tokens []access.Token) *access.Token {
		return access.FindSession(tokens, session, "a:1", time.Now())
	})
	if err := access.Remove(t.Context(), h, "browser"); err != nil {
		t.Fatal(err)
	}
	<-removed.Done()
	if got := context.Cause(removed); !errors.Is(got, why) || other.Err() != nil || browser.Err() != nil {
		t.Errorf("ended by %v; others: %v, %v", got, other.Err(), browser.Err())
	}
	if err := access.End(t.Context(), h, session, "a:1"); err != nil {
		t.Fatal(err)
	}
	if <-browser.Done(); other.Err() != nil {
		t.Errorf("the end of a session ends what its token has open: %v", other.Err())
	}
	if err := os.WriteFile(h.Path(access.File), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	<-other.Done()
}
