package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Authority is the authorization server of an MCP server.
type Authority struct {
	// Issuer identifies it.
	Issuer string

	server   string
	resource string
	scopes   []string // of the challenge, or of the metadata
	meta     *oauthex.AuthServerMeta
	client   *http.Client
}

// Discover finds the authorization server of the MCP server at a URL. It asks the server without a token, with the given headers,
// and follows the answer: its WWW-Authenticate header or a well-known URL leads to the metadata of the resource (RFC 9728),
// which names the authorization server, whose own metadata is at a well-known URL (RFC 8414 or OpenID Connect Discovery). A server
// without metadata of the resource is taken for its own authorization server, as in MCP before 2025-06-18.
func Discover(ctx context.Context, server string, headers map[string]string) (*Authority, error) {
	u, err := url.Parse(server)
	if err != nil || !secure(u) {
		return nil, fault.New(fault.Validation, "A login needs a server at an https URL, or on this machine").
			Suggest("Tokens are not sent over a network unencrypted. Correct the server's url")
	}
	a := &Authority{server: server, client: newClient(ctx, u)}
	status, challenges, err := a.probe(ctx, headers)
	if err != nil {
		return nil, err
	}
	resource, err := a.findResource(ctx, u, param(challenges, "resource_metadata"))
	switch {
	case err != nil:
		return nil, err
	case resource == nil && status != http.StatusUnauthorized:
		return nil, fault.New(fault.Validation, "The server does not ask for a login: it answered HTTP %d, and has no OAuth metadata", status).
			Suggest("It may be used without a login, or with a token in its headers")
	case resource == nil:
		origin := url.URL{Scheme: u.Scheme, Host: u.Host}
		resource = &oauthex.ProtectedResourceMetadata{Resource: canonical(u), AuthorizationServers: []string{origin.String()}}
	}
	a.resource, a.Issuer = resource.Resource, resource.AuthorizationServers[0]
	a.scopes = strings.Fields(param(challenges, "scope"))
	if len(a.scopes) == 0 {
		a.scopes = resource.ScopesSupported
	}
	if a.meta, err = a.findMetadata(ctx); err != nil {
		return nil, err
	}
	a.Issuer = a.meta.Issuer
	return a, nil
}

// initialize is a request of MCP that every server knows.
const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
	`"clientInfo":{"name":"pflow","version":"1"}}}`

// probe asks the server without a token. It returns the status and the challenges of the answer.
func (a *Authority) probe(ctx context.Context, headers map[string]string) (int, []oauthex.Challenge, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.server, strings.NewReader(initialize))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return 0, nil, a.unreachable(ctx, "the MCP server", req.URL, err)
	}
	_ = resp.Body.Close()
	challenges, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		challenges = nil // the well-known URLs remain
	}
	return resp.StatusCode, challenges, nil
}

// param returns a parameter of the first Bearer challenge that has it, or "".
func param(challenges []oauthex.Challenge, name string) string {
	for _, c := range challenges {
		if c.Scheme == "bearer" && c.Params[name] != "" {
			return c.Params[name]
		}
	}
	return ""
}

// findResource returns the metadata of the MCP server, or nil if it has none. It is at the URL of the challenge. Behind a proxy that
// URL is often one that only the server can reach; then the well-known URLs are tried, as without a challenge.
func (a *Authority) findResource(ctx context.Context, server *url.URL, challenged string) (*oauthex.ProtectedResourceMetadata, error) {
	var failed error
	if challenged != "" {
		meta, err := a.readResource(ctx, server, challenged)
		if f, ok := errors.AsType[*fault.Fault](err); meta != nil || err != nil && (!ok || f.Type != fault.Unavailable) {
			return meta, err
		}
		if failed = err; err == nil {
			failed = metadataFault("There is no resource metadata at %s, which the server names", short(challenged))
		}
	}
	path := strings.TrimSuffix(server.EscapedPath(), "/")
	root := server.Scheme + "://" + server.Host + "/.well-known/oauth-protected-resource"
	for _, from := range slices.Compact([]string{root + path, root}) {
		meta, err := a.readResource(ctx, server, from)
		if err != nil || meta != nil {
			return meta, err
		}
	}
	return nil, failed
}

// readResource returns the metadata of the MCP server at a URL, or nil if the URL has no metadata.
func (a *Authority) readResource(ctx context.Context, server *url.URL, from string) (*oauthex.ProtectedResourceMetadata, error) {
	u, err := url.Parse(from)
	if err != nil || !secure(u) {
		return nil, fault.New(fault.Unavailable, "The URL of the resource metadata is not an https URL: %s", short(from))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, a.unreachable(ctx, "the resource metadata", u, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, nil
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return nil, a.unreachable(ctx, "the resource metadata", u, err)
	}
	var meta oauthex.ProtectedResourceMetadata
	switch {
	case len(data) > maxDocument:
		return nil, fault.New(fault.TooLarge, "The resource metadata at %s has more than %d bytes", short(from), maxDocument)
	case json.Unmarshal(data, &meta) != nil:
		return nil, nil // a page for people, as some servers send for any path
	case !sameResource(server, meta.Resource):
		return nil, fault.New(fault.Security, "The resource metadata at %s is that of another server: %s", short(from), short(meta.Resource)).
			Suggest("Set the server's url to that of its metadata, if you trust it")
	case len(meta.AuthorizationServers) == 0:
		return nil, metadataFault("The resource metadata at %s names no authorization server", short(from))
	}
	return &meta, nil
}

// sameResource reports whether metadata of a resource is that of the server: of its URL, or of a part of its path on the same
// host, as many servers have only one document.
func sameResource(server *url.URL, resource string) bool {
	r, err := url.Parse(resource)
	if err != nil || origin(r) != origin(server) {
		return false
	}
	path := strings.TrimSuffix(r.Path, "/")
	return strings.HasPrefix(strings.TrimSuffix(server.Path, "/")+"/", path+"/")
}

// origin returns the scheme, the host and the port of a URL.
func origin(u *url.URL) string {
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[scheme]
	}
	return scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// canonical returns the identifier of a server without metadata: its URL without query and fragment.
func canonical(server *url.URL) string {
	u := url.URL{Scheme: strings.ToLower(server.Scheme), Host: strings.ToLower(server.Host), Path: server.Path, RawPath: server.RawPath}
	return strings.TrimSuffix(u.String(), "/")
}

// findMetadata returns the metadata of the authorization server. It must offer PKCE with S256.
func (a *Authority) findMetadata(ctx context.Context) (*oauthex.AuthServerMeta, error) {
	issuer, err := url.Parse(a.Issuer)
	if err != nil || !secure(issuer) {
		return nil, metadataFault("The authorization server is not at an https URL: %s", short(a.Issuer))
	}
	var failed error
	for _, at := range wellKnown(issuer) {
		meta, err := oauthex.GetAuthServerMeta(ctx, at, a.Issuer, a.client)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil && failed == nil:
			failed = err
		case meta == nil: // look at the next place
		case !slices.Contains(meta.CodeChallengeMethodsSupported, "S256"):
			failed = errors.New("it does not offer PKCE with S256")
		case meta.AuthorizationEndpoint == "" || meta.TokenEndpoint == "":
			failed = errors.New("it has no authorization_endpoint or no token_endpoint")
		default:
			return meta, nil
		}
	}
	if failed == nil {
		return nil, metadataFault("The authorization server %s has no metadata", short(a.Issuer))
	}
	return nil, metadataFault("The metadata of the authorization server %s cannot be used: %s", short(a.Issuer), short(failed.Error()))
}

// wellKnown returns the URLs at which the metadata of an issuer can be, in the order of the MCP specification.
func wellKnown(issuer *url.URL) []string {
	root := issuer.Scheme + "://" + issuer.Host
	path := strings.TrimSuffix(issuer.EscapedPath(), "/")
	at := []string{root + "/.well-known/oauth-authorization-server" + path, root + "/.well-known/openid-configuration" + path}
	if path != "" {
		at = append(at, root+path+"/.well-known/openid-configuration")
	}
	return at
}

// metadataFault returns the fault of metadata that permits no login.
func metadataFault(format string, args ...any) *fault.Fault {
	return fault.New(fault.Protocol, "%s", fmt.Sprintf(format, args...)).
		Suggest("If the server gives out tokens in another way, put one into its \"headers\"")
}

// unreachable returns the fault of a request without an answer.
func (a *Authority) unreachable(ctx context.Context, what string, at *url.URL, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return requestFault(what, at, err)
}

func requestFault(what string, at *url.URL, err error) *fault.Fault {
	place := url.URL{Scheme: at.Scheme, Host: at.Host, Path: at.Path} // the query may be secret
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	f := fault.New(fault.Unavailable, "Cannot reach %s at %s: %s", what, short(place.String()), short(err.Error()))
	f.Retryable = true
	return f
}
