package veloflux

import (
	"net/url"
	"slices"
	"sync"
)

// maxProxies is the most proxies that are remembered; the least recently used one is forgotten first.
const maxProxies = 16

// proxies holds the credentials for the proxies that requests went through. A proxy may repeat them in its response.
type proxies struct {
	mu    sync.Mutex
	users []url.Userinfo // without duplicates, the last used one last
}

// add records the user:password@ of a proxy that a request goes through. user may be nil.
func (p *proxies) add(user *url.Userinfo) {
	if user == nil || *user == (url.Userinfo{}) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := slices.Index(p.users, *user); at >= 0 {
		p.users = slices.Delete(p.users, at, at+1)
	}
	p.users = append(p.users, *user)
	if len(p.users) > maxProxies {
		p.users = slices.Delete(p.users, 0, 1)
	}
}

// appendSecrets appends the credentials, also in the form in which they are sent.
func (p *proxies) appendSecrets(values []string) []string {
	p.mu.Lock()
	users := slices.Clone(p.users)
	p.mu.Unlock()
	for i := range users {
		basic := authorization(&users[i])
		values = addSecret(values, basic)
		for _, part := range secretParts("Proxy-Authorization", basic) {
			values = addSecret(values, part)
		}
		values = appendUserSecrets(values, &users[i])
	}
	return values
}
