package mcpclient

import (
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/oauth"
)

// send sends a request, with the token of the login if there is one. If the server rejects the token, send renews it and sends
// the request again.
func (w *webClient) send(req *http.Request) (*http.Response, error) {
	if !w.toServer(req) {
		return w.next.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	for name, value := range w.headers {
		req.Header.Set(name, value)
	}
	if w.login == nil {
		return w.next.RoundTrip(req)
	}
	token, err := w.login.Token(req.Context())
	if err != nil {
		return nil, err
	}
	resp, err := w.next.RoundTrip(withToken(req, token))
	if err != nil || resp.StatusCode != http.StatusUnauthorized || req.Body != nil && req.GetBody == nil {
		return resp, err
	}
	fresh, err := w.login.Renew(req.Context(), token)
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	if fresh == "" {
		return resp, nil
	}
	_ = resp.Body.Close()
	if req.GetBody != nil {
		if req.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return w.next.RoundTrip(withToken(req, fresh))
}

// toServer reports whether a request goes to the server itself. No other may see its secrets.
func (w *webClient) toServer(req *http.Request) bool {
	return req.URL.Host == w.endpoint.Host && req.URL.Scheme == w.endpoint.Scheme
}

func withToken(req *http.Request, token string) *http.Request {
	if token == "" {
		return req
	}
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+token)
	return req
}

// unauthorized returns the fault of a request that the server refuses without a login (401), or because the login has too few scopes
// (403). It returns nil for any other response.
func (w *webClient) unauthorized(resp *http.Response) *fault.Fault {
	if w.login == nil || !w.toServer(resp.Request) {
		return nil
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		f := httpFault(resp.StatusCode, "")
		return oauth.Needed(w.server, f.Message).Suggest("%s", f.Suggestions[0]).Detail("http_status", resp.StatusCode)
	case http.StatusForbidden:
		challenges, _ := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
		for _, c := range challenges {
			if c.Scheme == "bearer" && c.Params["error"] == "insufficient_scope" {
				return w.moreScopes(strings.Fields(c.Params["scope"]))
			}
		}
	}
	return nil
}

// moreScopes returns the fault of a login with too few scopes.
func (w *webClient) moreScopes(wanted []string) *fault.Fault {
	granted := w.login.Scopes()
	missing := slices.DeleteFunc(slices.Clone(wanted), func(scope string) bool { return slices.Contains(granted, scope) })
	all := append(slices.Clone(granted), missing...)
	slices.Sort(all)
	flags := ""
	if len(missing) > 0 && !slices.ContainsFunc(all, unquotable) {
		flags = " --scope '" + strings.Join(slices.Compact(all), " ") + "'"
	}
	f := fault.New(fault.Execution, "Access forbidden (HTTP 403). The login to server %s does not have the scope %s", w.server, strings.Join(missing, " "))
	return f.Then(fault.ByPerson("Log in with it", "pflow-sync login %s%s", w.server, flags)).
		Detail("http_status", http.StatusForbidden).Detail("scope", strings.Join(wanted, " "))
}

// unquotable reports whether a scope from a server cannot stand between single quotes in a command.
func unquotable(scope string) bool {
	return strings.ContainsFunc(scope, func(r rune) bool { return r <= ' ' || r == '\'' || r >= 0x7f })
}
