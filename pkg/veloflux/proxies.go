package veloflux

import (
	"net/url"
	"slices"
	"sync"
)

// maxProxies is how many proxies are remembered, the last ones that were used.
const maxProxies = 16

// proxies are the credentials for the proxies that requests went through. A proxy can repeat them in its answer, as the
// Manager can repeat its own.
type proxies struct {
	mu    sync.Mutex
	users []url.Userinfo // without a double
}

// add remembers the user:password@ of a proxy that a request goes through.
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

// secrets adds what is secret in them, also as it is sent.
func (p *proxies) secrets(values []string) []string {
	p.mu.Lock()
	users := slices.Clone(p.users)
	p.mu.Unlock()
	for i := range users {
		basic := authorization(&users[i])
		values = addSecret(values, basic)
		for _, part := range secretParts("Proxy-Authorization", basic) {
			values = addSecret(values, part)
		}
		values = userSecrets(values, &users[i])
	}
	return values
}
