// Package oauth logs in to MCP servers by OAuth, as the authorization part of the MCP specification describes it
// (revisions 2025-11-25 and 2026-07-28), and keeps the tokens.
//
// A login is begun by [Discover], which finds the authorization server of an MCP server. [Authority.Begin] returns the URL
// that a person opens in a browser, a [Listener] receives the answer, and [Attempt.Finish] exchanges it for a [Login], which
// is stored in the home. From then on a [Source] returns access tokens for requests to the server, and renews them.
package oauth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Folder is the folder of the home with one file for each login. Its files are for the user alone.
const Folder = "logins"

// Login holds the tokens for one server, and what is needed to renew them.
type Login struct {
	// URL is the server's URL at the time of the login. The tokens are sent to no other URL.
	URL string `json:"url"`
	// Resource is the identifier under which the authorization server knows the server, RFC 8707.
	Resource string `json:"resource"`
	// Issuer identifies the authorization server.
	Issuer             string   `json:"issuer"`
	TokenEndpoint      string   `json:"token_endpoint"`
	RevocationEndpoint string   `json:"revocation_endpoint,omitempty"`
	Client             Client   `json:"client"`
	Scopes             []string `json:"scopes,omitempty"`
	AccessToken        string   `json:"access_token,omitempty"`
	RefreshToken       string   `json:"refresh_token,omitempty"`
	// Expires is when the access token expires. It is zero if the authorization server did not say.
	Expires time.Time `json:"expires_at,omitzero"`
	// Issued is when this program got the access token. It is zero if that is not known.
	Issued time.Time `json:"issued_at,omitzero"`
}

// Client is what the authorization server knows this program by.
type Client struct {
	ID     string `json:"id"`
	Secret string `json:"secret,omitempty"`
	// Auth is how the client authenticates at the token endpoint: none, client_secret_post or client_secret_basic.
	Auth string `json:"auth"`
	// Given is true if a person has registered the client, and false if it was registered for one login.
	Given bool `json:"given,omitempty"`
	// Port is the port with which a person has registered it, or 0 for any.
	Port int `json:"port,omitempty"`
}

// The states of a login.
const (
	Active  = "active"
	Expired = "expired"
)

// State returns Expired if the access token has expired and cannot be renewed, else Active.
func (l *Login) State() string {
	if l.AccessToken == "" && l.RefreshToken == "" || l.RefreshToken == "" && l.stale() {
		return Expired
	}
	return Active
}

// margin is how long before its end an access token is renewed, but at most a tenth of its lifetime.
const margin = 10 * time.Second

// stale reports whether the access token must be renewed before its use.
func (l *Login) stale() bool {
	ahead := margin
	if !l.Issued.IsZero() { // a token that lives only seconds is not renewed for each request
		ahead = min(margin, l.Expires.Sub(l.Issued)/10)
	}
	return l.AccessToken == "" || !l.Expires.IsZero() && time.Until(l.Expires) < ahead
}

// Load returns the login to a server at a URL, or nil. The login to a server that had another URL does not count.
func Load(h *home.Home, server, url string) (*Login, error) {
	l, err := read(h, server)
	if err != nil || l == nil || l.URL != url {
		return nil, err
	}
	return l, nil
}

func read(h *home.Home, server string) (*Login, error) {
	data, err := h.Read(Folder, file(server))
	if err != nil || data == nil {
		return nil, err
	}
	var l Login
	if err := json.Unmarshal(data, &l); err != nil { // the error could quote a token
		return nil, fault.New(fault.Validation, "The stored login to server %s cannot be read", server).
			Then(fault.ByPerson("Replace it", "pflow-sync login %s", server))
	}
	return &l, nil
}

// Store stores the login to a server in place of an earlier one.
func Store(ctx context.Context, h *home.Home, server string, l *Login) error {
	return locked(ctx, h, server, func() error { return write(h, server, l) })
}

func write(h *home.Home, server string, l *Login) error {
	data, err := rawjson.Marshal(l)
	if err != nil {
		return err
	}
	var indented bytes.Buffer
	_ = json.Indent(&indented, data, "", "  ") // it is JSON
	return h.Write(append(indented.Bytes(), '\n'), 0o600, Folder, file(server))
}

// Remove removes the login to a server, and reports whether there was one. It returns the login, or nil if it could not be read.
func Remove(ctx context.Context, h *home.Home, server string) (old *Login, found bool, err error) {
	if _, err := os.Lstat(h.Path(Folder, file(server))); err != nil {
		return nil, false, nil //nolint:nilerr // there is no login
	}
	err = locked(ctx, h, server, func() error {
		old, _ = read(h, server)
		if err := os.Remove(h.Path(Folder, file(server))); err != nil && !os.IsNotExist(err) {
			return fault.New(fault.Internal, "Cannot remove the login to server %s: %v", server, fault.Reason(err))
		}
		return nil
	})
	return old, err == nil, err
}

// locked calls f while no other program changes the login to a server.
func locked(ctx context.Context, h *home.Home, server string, f func() error) error {
	return h.Lock(ctx, "login-"+file(server), f)
}

// file returns the name of the file for a server. A server whose name was written by hand may have one that is not a file's.
func file(server string) string {
	if home.CheckName("server", server) != nil {
		sum := sha256.Sum256([]byte(server))
		server = hex.EncodeToString(sum[:])
	}
	return server + ".json"
}

// AddSecrets adds the tokens of all logins to a Redactor.
func AddSecrets(h *home.Home, r *redact.Redactor) {
	entries, err := os.ReadDir(h.Path(Folder))
	if err != nil {
		return
	}
	for _, e := range entries {
		if data, err := h.Read(Folder, e.Name()); err == nil && filepath.Ext(e.Name()) == ".json" {
			var l Login
			if json.Unmarshal(data, &l) == nil {
				l.addSecrets(r)
			}
		}
	}
}

func (l *Login) addSecrets(r *redact.Redactor) {
	var values []string
	for _, value := range []string{l.AccessToken, l.RefreshToken, l.Client.Secret} {
		if value != "" {
			values = append(values, value)
		}
	}
	r.AddAll("login", values...)
}

// short returns the beginning of a text from another program, for a message.
func short(text string) string {
	const most = 300
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "?")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
