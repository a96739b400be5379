package oauth

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
)

// Source returns the access tokens of the login to a server. Programs that run at the same time share the login: only one of them
// renews a token, and the others take over what it has stored. A Source is safe for concurrent use.
type Source struct {
	home     *home.Home
	server   string
	url      string
	redactor *redact.Redactor
	log      *slog.Logger

	mu    sync.Mutex
	known bool // the file was read
	login *Login
}

// NewSource returns a source of tokens for the server at a URL. It makes the tokens known to the Redactor.
func NewSource(h *home.Home, server, url string, r *redact.Redactor, log *slog.Logger) *Source {
	return &Source{home: h, server: server, url: url, redactor: r, log: log}
}

// Token returns an access token, or "" without a login to the server's URL. It renews an expired one.
func (s *Source) Token(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known {
		if err := s.load(); err != nil {
			return "", err
		}
	}
	if s.login == nil {
		return "", nil
	}
	if s.login.stale() && s.login.RefreshToken != "" {
		if err := s.renew(ctx, s.login.AccessToken); err != nil {
			return "", err
		}
	}
	if s.login == nil {
		return "", nil
	}
	return s.login.AccessToken, nil
}

// Renew returns another access token than the one that the server has rejected, or "" if no other can be had.
func (s *Source) Renew(ctx context.Context, rejected string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.login == nil || s.login.AccessToken == rejected {
		if err := s.renew(ctx, rejected); err != nil {
			return "", err
		}
	}
	if s.login == nil || s.login.AccessToken == rejected {
		return "", nil
	}
	return s.login.AccessToken, nil
}

// Settle waits until no token is being renewed.
func (s *Source) Settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
}

// Scopes returns the scopes of the login, as far as it was used.
func (s *Source) Scopes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.login == nil {
		return nil
	}
	return s.login.Scopes
}

// load reads the stored login.
func (s *Source) load() error {
	l, err := Load(s.home, s.server, s.url)
	if err != nil {
		return err
	}
	s.known, s.login = true, l
	if l != nil {
		l.addSecrets(s.redactor)
	}
	return nil
}

// renew takes over the login that another program has stored, or renews the access token if it is still the old one. An authorization
// server that rotates refresh tokens takes each only once and ends the login if it sees one twice. So the lock is held until the new
// one is stored, and the request has time to be answered when ctx ends.
func (s *Source) renew(ctx context.Context, old string) error {
	if ctx.Err() != nil { // it may have waited for another request to renew the token
		return context.Cause(ctx)
	}
	if l, err := Load(s.home, s.server, s.url); err == nil && l == nil {
		s.known, s.login = true, nil
		return nil
	}
	return locked(ctx, s.home, s.server, func() error {
		if err := s.load(); err != nil {
			return err
		}
		l := s.login
		if l == nil || l.RefreshToken == "" || l.AccessToken != old && !l.stale() {
			return nil
		}
		patient, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		defer context.AfterFunc(ctx, func() { time.AfterFunc(refreshPatience, cancel) })()
		fresh, err := refresh(patient, l)
		if err != nil {
			return s.failed(err)
		}
		s.login = fresh
		fresh.addSecrets(s.redactor)
		if err := write(s.home, s.server, fresh); err != nil { // the token is good all the same, for this program
			s.log.Warn("The renewed login could not be stored, and will have to be repeated", "server", s.server, "error", err)
		}
		return nil
	})
}

// failed returns the fault of a renewal. If the authorization server has ended the login, it removes the refresh token.
func (s *Source) failed(err error) error {
	if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok && answer.ErrorCode == "invalid_grant" {
		ended := *s.login
		ended.AccessToken, ended.RefreshToken = "", ""
		s.login = &ended
		if err := write(s.home, s.server, &ended); err != nil {
			s.log.Warn("The end of the login could not be stored", "server", s.server, "error", err)
		}
		return Needed(s.server, "The login to server "+s.server+" has expired or was revoked")
	}
	f := fault.From(tokenFault(context.Background(), s.login, err))
	if f.Retryable {
		return f
	}
	return Needed(s.server, f.Message)
}

// Needed returns the fault of a server that wants a new login.
func Needed(server, message string) *fault.Fault {
	return fault.New(fault.Execution, "%s", message).
		Then(fault.ByPerson("Log in", "pflow-sync login %s", server))
}

// refresh returns the login with new tokens. The authorization server may keep the refresh token or replace it.
func refresh(ctx context.Context, l *Login) (*Login, error) {
	server, err := url.Parse(l.URL)
	if err != nil {
		return nil, err
	}
	// oauth2.Config cannot add the resource to the request (RFC 8707), which MCP demands.
	config := clientcredentials.Config{
		ClientID: l.Client.ID, ClientSecret: l.Client.Secret, TokenURL: l.TokenEndpoint, AuthStyle: l.Client.style(),
		EndpointParams: url.Values{"grant_type": {"refresh_token"}, "refresh_token": {l.RefreshToken}, "resource": {l.Resource}},
	}
	client := newClient(ctx, server)
	client.Timeout = refreshTimeout
	defer client.CloseIdleConnections()
	token, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
	if err != nil {
		return nil, err
	}
	fresh := *l
	return &fresh, fresh.take(token)
}
