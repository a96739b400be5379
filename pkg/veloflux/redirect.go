package veloflux

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// maxRedirects is how many redirects one request follows.
const maxRedirects = 5

// wrongRedirect says why a redirect is not followed, or nothing. Only reading is sent on, and only inside the Manager:
// elsewhere nobody may see a credential, and no answer would be the Manager's.
func (a address) wrongRedirect(next *http.Request, via []*http.Request) string {
	switch {
	case via[0].Method != http.MethodGet:
		return "which is followed for GET alone"
	case len(via) > maxRedirects:
		return fmt.Sprintf("which is one redirect more than the %d that are followed", maxRedirects)
	case next.URL.User != nil || !sameOrigin(next.URL, a.url):
		return "which is another server and is not followed"
	case hasDotSegment(next.URL.EscapedPath()) || !strings.HasPrefix(next.URL.EscapedPath(), a.url.EscapedPath()+"/"):
		return "which is outside of the Manager's URL and is not followed"
	}
	return ""
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "https":
		return "443"
	default:
		return "80"
	}
}

// placeOf is where a redirect leads, without what may be secret in it.
func placeOf(resp *http.Response) string {
	place, err := resp.Location()
	if err != nil {
		return "a place that is no URL"
	}
	return (&url.URL{Scheme: place.Scheme, Host: place.Host, Path: place.Path, RawPath: place.RawPath}).String()
}
