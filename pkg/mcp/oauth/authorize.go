package oauth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Options are what a person decides about a login.
type Options struct {
	// Redirect is the URL to which the browser returns, see Listener.
	Redirect string
	// Port is the port that a person has chosen for Redirect, or 0.
	Port int
	// Scopes are those to ask for. Without any, they are those that the server names, and those of the previous login.
	Scopes []string
	// ClientID and ClientSecret are of a client that a person has registered. Without an id the client is that of the previous login,
	// if it was given too, or a new one is registered.
	ClientID, ClientSecret string
	// Previous is the login to the same URL so far, or nil.
	Previous *Login
}

// Attempt is a login that waits for a person.
type Attempt struct {
	// URL is what the person opens in a browser.
	URL string

	authority *Authority
	config    *oauth2.Config
	login     Login
	state     string
	verifier  string
}

// Begin registers this program as a client, if necessary, and begins a login.
func (a *Authority) Begin(ctx context.Context, o Options) (*Attempt, error) {
	previous := o.Previous
	if previous != nil && previous.Issuer != a.Issuer { // credentials belong to the server that issued them
		previous = nil
	}
	scopes := a.chooseScopes(o.Scopes, previous)
	client, err := a.chooseClient(ctx, o, scopes, previous)
	if err != nil {
		return nil, err
	}
	t := &Attempt{authority: a, state: rand.Text(), verifier: oauth2.GenerateVerifier()}
	t.login = Login{
		URL: a.server, Resource: a.resource, Issuer: a.Issuer, TokenEndpoint: a.meta.TokenEndpoint,
		RevocationEndpoint: a.meta.RevocationEndpoint, Client: client, Scopes: scopes,
	}
	t.config = &oauth2.Config{
		ClientID: client.ID, ClientSecret: client.Secret, RedirectURL: o.Redirect, Scopes: scopes,
		Endpoint: oauth2.Endpoint{AuthURL: a.meta.AuthorizationEndpoint, TokenURL: a.meta.TokenEndpoint, AuthStyle: client.style()},
	}
	params := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(t.verifier), oauth2.SetAuthURLParam("resource", a.resource)}
	if slices.Contains(scopes, offline) { // OpenID Connect ignores the scope without it
		params = append(params, oauth2.SetAuthURLParam("prompt", "consent"))
	}
	t.URL = t.config.AuthCodeURL(t.state, params...)
	return t, nil
}

// offline is the scope for a refresh token, in OpenID Connect.
const offline = "offline_access"

// chooseScopes returns the given scopes, or those that the server names with those of the previous login, so that a permission
// is not lost. offline_access is added if the authorization server knows it.
func (a *Authority) chooseScopes(given []string, previous *Login) []string {
	scopes := slices.Clone(given)
	if len(scopes) == 0 {
		scopes = slices.Clone(a.scopes)
		if previous != nil {
			scopes = append(scopes, previous.Scopes...)
		}
	}
	if slices.Contains(a.meta.ScopesSupported, offline) {
		scopes = append(scopes, offline)
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// byHand is the suggestion for an authorization server that does not register this program.
const byHand = "Register a client there by hand, with the redirect URL %s, and pass its id with --client-id; --port sets the port"

// chooseClient returns the client for a login: the given one, the given one of the previous login, or a new one.
func (a *Authority) chooseClient(ctx context.Context, o Options, scopes []string, previous *Login) (Client, error) {
	methods := a.meta.TokenEndpointAuthMethodsSupported
	switch {
	case o.ClientID != "":
		return Client{ID: o.ClientID, Secret: o.ClientSecret, Auth: authMethod(methods, o.ClientSecret != ""), Given: true, Port: o.Port}, nil
	case previous != nil && previous.Client.Given:
		return previous.Client, nil
	case a.meta.RegistrationEndpoint == "":
		return Client{}, fault.New(fault.Validation, "The authorization server %s registers no clients by itself", short(a.Issuer)).Suggest(byHand, o.Redirect)
	}
	metadata := &oauthex.ClientRegistrationMetadata{
		ClientName: "pflow", RedirectURIs: []string{o.Redirect}, ApplicationType: "native",
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		TokenEndpointAuthMethod: "none", Scope: strings.Join(scopes, " "),
	}
	if len(methods) > 0 && !slices.Contains(methods, "none") {
		metadata.TokenEndpointAuthMethod = authMethod(methods, true)
	}
	made, err := oauthex.RegisterClient(ctx, a.meta.RegistrationEndpoint, metadata, a.client)
	if _, refused := errors.AsType[*oauthex.ClientRegistrationError](err); refused && metadata.Scope != "" {
		metadata.Scope = "" // some servers refuse the scopes of a resource here
		made, err = oauthex.RegisterClient(ctx, a.meta.RegistrationEndpoint, metadata, a.client)
	}
	if err != nil {
		if ctx.Err() != nil {
			return Client{}, context.Cause(ctx)
		}
		return Client{}, fault.New(fault.Protocol, "The authorization server %s did not register this client: %s", short(a.Issuer), short(err.Error())).
			Suggest(byHand, o.Redirect)
	}
	auth := made.TokenEndpointAuthMethod
	if auth == "" {
		auth = authMethod(methods, made.ClientSecret != "")
	}
	return Client{ID: made.ClientID, Secret: made.ClientSecret, Auth: auth}, nil
}

// authMethod returns how a client authenticates at the token endpoint. RFC 8414: client_secret_basic is the default.
func authMethod(supported []string, secret bool) string {
	switch {
	case !secret:
		return "none"
	case slices.Contains(supported, "client_secret_post") && !slices.Contains(supported, "client_secret_basic"):
		return "client_secret_post"
	}
	return "client_secret_basic"
}

func (c Client) style() oauth2.AuthStyle {
	if c.Auth == "client_secret_basic" {
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleInParams
}

// Answers reports whether the parameters of a redirect answer this attempt. Others must be ignored.
func (t *Attempt) Answers(response url.Values) bool {
	return subtle.ConstantTimeCompare([]byte(response.Get("state")), []byte(t.state)) == 1
}

// Finish exchanges the answer of the authorization server, the parameters of a redirect, for tokens.
func (t *Attempt) Finish(ctx context.Context, response url.Values) (*Login, error) {
	a := t.authority
	if !t.Answers(response) {
		return nil, fault.New(fault.Security, "The answer is not to this login: its state is another one")
	}
	// RFC 9207: of an answer from another issuer nothing may be shown.
	if iss, given := response["iss"]; given && iss[0] != a.Issuer || !given && a.meta.AuthorizationResponseIssParameterSupported {
		return nil, fault.New(fault.Security, "The answer does not come from the authorization server %s", short(a.Issuer)).
			Suggest("Another server may have tried to get the login. Try again only if you trust the MCP server")
	}
	if code := response.Get("error"); code != "" {
		return nil, refusal("The authorization server %s refused the login: %s", a.Issuer, code, response.Get("error_description"))
	}
	if response.Get("code") == "" {
		return nil, fault.New(fault.Protocol, "The authorization server %s answered without a code", short(a.Issuer))
	}
	token, err := t.config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, a.client), response.Get("code"),
		oauth2.VerifierOption(t.verifier), oauth2.SetAuthURLParam("resource", a.resource))
	if err != nil {
		return nil, tokenFault(ctx, &t.login, err)
	}
	l := t.login
	if err := l.take(token); err != nil {
		return nil, err
	}
	return &l, nil
}

// take takes over the tokens of an answer.
func (l *Login) take(token *oauth2.Token) error {
	if kind := token.Type(); !strings.EqualFold(kind, "Bearer") {
		return fault.New(fault.Protocol, "The authorization server %s issued a token of type %s, not Bearer", short(l.Issuer), short(kind))
	}
	if strings.ContainsFunc(token.AccessToken, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return fault.New(fault.Protocol, "The authorization server %s issued a token that no header can have", short(l.Issuer))
	}
	l.AccessToken, l.Expires, l.Issued = token.AccessToken, token.Expiry, time.Now()
	if token.RefreshToken != "" {
		l.RefreshToken = token.RefreshToken
	}
	if scope, ok := token.Extra("scope").(string); ok && scope != "" {
		l.Scopes = strings.Fields(scope)
	}
	return nil
}

// tokenFault returns the fault of a request to the token endpoint.
func tokenFault(ctx context.Context, l *Login, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	answer, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		at, _ := url.Parse(l.TokenEndpoint)
		return requestFault("the token endpoint", at, err)
	}
	if answer.Response.StatusCode >= http.StatusInternalServerError || answer.Response.StatusCode == http.StatusTooManyRequests {
		f := fault.New(fault.Unavailable, "The authorization server %s answered HTTP %d", short(l.Issuer), answer.Response.StatusCode)
		f.Retryable = true
		return f
	}
	code := answer.ErrorCode
	if code == "" {
		code = answer.Response.Status
	}
	return refusal("The authorization server %s issued no token: %s", l.Issuer, code, answer.ErrorDescription)
}

func refusal(format, issuer, code, description string) *fault.Fault {
	if description != "" {
		code += ": " + description
	}
	return fault.New(fault.Execution, format, short(issuer), short(code))
}
