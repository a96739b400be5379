package veloflux

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// maxRedirects is the most redirects that one request follows.
const maxRedirects = 5

// wrongRedirect returns the reason why a redirect is not followed, or "". Only GET is redirected, and only below the
// Manager's URL: other places must not see the credentials, and their responses are not the Manager's.
func (a address) wrongRedirect(next *http.Request, via []*http.Request) string {
	switch {
	case via[0].Method != http.MethodGet:
		return "which is followed only for GET"
	case len(via) > maxRedirects:
		return fmt.Sprintf("but at most %d redirects are followed", maxRedirects)
	case next.URL.User != nil || !sameOrigin(next.URL, a.url):
		return "which is another server and is not followed"
	case hasDotSegment(next.URL.EscapedPath()) || !strings.HasPrefix(next.URL.EscapedPath(), a.url.EscapedPath()+"/"):
		return "which is outside the Manager's URL and is not followed"
	}
	return ""
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// placeOf returns the target of a redirect without its query and credentials, which may be secret.
func placeOf(resp *http.Response) string {
	place, err := resp.Location()
	if err != nil {
		return "an invalid URL"
	}
	return (&url.URL{Scheme: place.Scheme, Host: place.Host, Path: place.Path, RawPath: place.RawPath}).String()
}
