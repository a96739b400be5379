package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"slices"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

const (
	// sessionTime is how long a session lasts.
	sessionTime = 30 * 24 * time.Hour
	// maxSessions is the most sessions of a token. The oldest one makes room for another.
	maxSessions = 100
)

// Session is a browser in which a token was given. It is of use at one server alone, because a browser sends what it keeps for one to all
// ports of that host.
type Session struct {
	// Server is the server as the browser names it.
	Server    string    `json:"server"`
	CreatedAt time.Time `json:"created_at"`
	// Hash is the SHA-256 of the session's id in hexadecimal digits.
	Hash string `json:"hash"`
}

// lasts reports whether a session goes on.
func (s *Session) lasts(now time.Time) bool { return now.Sub(s.CreatedAt) < sessionTime }

// Begin begins a session at a server by a token, and returns its id.
func Begin(ctx context.Context, h *home.Home, secret, server string) (id string, err error) {
	id = rand.Text()
	now := time.Now().UTC().Truncate(time.Millisecond)
	return id, change(ctx, h, func(tokens []Token) ([]Token, error) {
		t := Find(tokens, secret)
		if t == nil {
			return nil, fault.New(fault.NotFound, "There is no such token")
		}
		t.Sessions = slices.DeleteFunc(t.Sessions, func(s Session) bool { return !s.lasts(now) })
		t.Sessions = append(t.Sessions[max(0, len(t.Sessions)-maxSessions+1):], Session{server, now, hash(id)})
		return tokens, nil
	})
}

// FindSession returns the token by which a session at a server goes on, or nil.
func FindSession(tokens []Token, id, server string, now time.Time) *Token {
	wanted := []byte(hash(id))
	for i := range tokens {
		for _, s := range tokens[i].Sessions {
			if subtle.ConstantTimeCompare(wanted, []byte(s.Hash)) == 1 && s.Server == server && s.lasts(now) {
				return &tokens[i]
			}
		}
	}
	return nil
}

// End ends a session at a server. One that does not go on is no error.
func End(ctx context.Context, h *home.Home, id, server string) error {
	tokens, err := List(h)
	if err != nil || FindSession(tokens, id, server, time.Now()) == nil {
		return err // whoever makes a session up has nothing written
	}
	ended := hash(id)
	return change(ctx, h, func(tokens []Token) ([]Token, error) {
		for i := range tokens {
			tokens[i].Sessions = slices.DeleteFunc(tokens[i].Sessions, func(s Session) bool { return s.Hash == ended })
		}
		return tokens, nil
	})
}
