package oauth

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Revoke asks the authorization server to end a login, RFC 7009. It returns false if the server cannot be asked, because it
// offers no such request or the login is nil or over.
func Revoke(ctx context.Context, l *Login) (bool, error) {
	if l == nil || l.RevocationEndpoint == "" {
		return false, nil
	}
	token, hint := l.RefreshToken, "refresh_token"
	if token == "" {
		token, hint = l.AccessToken, "access_token"
	}
	if token == "" {
		return false, nil
	}
	at, err := url.Parse(l.RevocationEndpoint)
	server, err2 := url.Parse(l.URL)
	if err != nil || err2 != nil || !secure(at) {
		return false, fault.New(fault.Protocol, "The revocation endpoint of %s is not an https URL", short(l.Issuer))
	}
	form := url.Values{"token": {token}, "token_type_hint": {hint}}
	if l.Client.Auth != "client_secret_basic" {
		form.Set("client_id", l.Client.ID)
		if l.Client.Secret != "" {
			form.Set("client_secret", l.Client.Secret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.RevocationEndpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if l.Client.Auth == "client_secret_basic" {
		req.SetBasicAuth(url.QueryEscape(l.Client.ID), url.QueryEscape(l.Client.Secret))
	}
	client := newClient(ctx, server)
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return false, requestFault("the revocation endpoint", at, err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return false, fault.New(fault.Execution, "The authorization server %s answered HTTP %d", short(l.Issuer), resp.StatusCode)
	}
	return true, nil
}
