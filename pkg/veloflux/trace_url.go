package veloflux

import (
	"net/url"
	"strings"

	"github.com/pflow-suite/pflow/pkg/redact"
)

// userinfo takes the userinfo out of every URL in a text (RFC 3986, section 3.2.1), also of one in which a password holds
// characters that it should not: in doubt more is taken out.
func (c *cleaner) userinfo(text string) string {
	if !strings.ContainsAny(text, "@%") {
		return text
	}
	var b strings.Builder
	at := 0
	for from, first := 0, true; ; first = false {
		start, encoded := authority(text, from)
		if start < 0 {
			b.WriteString(text[at:])
			return b.String()
		}
		run := text[start:]
		if !first || !isURL(text[:start]) {
			run = run[:runEnd(run)]
		}
		n := lastAt(run, encoded)
		if !encoded {
			n = userinfoEnd(text[from:start], run)
		}
		switch {
		case n > 0:
			c.learnUserinfo(run[:n])
			b.WriteString(text[at:start])
			b.WriteString(redact.Mark)
			at, from = start+n, start+n
		case lastAt(run, true) >= 0:
			from = start
		case len(run) < maxURL:
			from = start + len(run)
		default:
			from = start + maxURL/2
		}
	}
}

// maxURL is how many bytes of a URL inside a text are looked at.
const maxURL = 4 << 10

// authority is where the next authority of a URL begins, and whether the URL is percent-encoded; -1 when there is none.
func authority(text string, from int) (start int, encoded bool) {
	for i := from; i < len(text); i++ {
		switch rest := text[i:]; {
		case strings.HasPrefix(rest, "//"):
			return i + 2, false
		case strings.HasPrefix(rest, `\/\/`):
			return i + 4, false
		case strings.HasPrefix(rest, "%2F%2F"), strings.HasPrefix(rest, "%2f%2f"):
			return i + 6, true
		}
	}
	return -1, false
}

// isURL says whether what stands before an authority is the scheme of a URL and nothing else.
func isURL(before string) bool {
	scheme, ok := strings.CutSuffix(before, "//")
	scheme = strings.TrimSuffix(strings.TrimSpace(scheme), ":")
	return ok && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.") == ""
}

// runEnd is where a URL inside a text ends: at space, quotes and brackets, and where the next of a list begins.
func runEnd(run string) int {
	if strings.HasPrefix(run, "/") { // no authority, as in file:///
		return 0
	}
	end := min(len(run), maxURL)
	run = run[:end]
	if i := strings.IndexAny(run, " \t\r\n\"'`<>"); i >= 0 {
		end = i
	}
	if next := strings.Index(run[:end], "://"); next >= 0 {
		if i := strings.LastIndexAny(run[:next], ",;|"); i >= 0 {
			end = i
		}
	}
	return end
}

// userinfoEnd is where the userinfo ends at the beginning of an authority and what follows it; 0 when there is none.
func userinfoEnd(scheme, run string) int {
	last := lastAt(run, false)
	if last < 0 {
		return 0
	}
	host := run
	if i := strings.IndexAny(run, `/?#\`); i >= 0 {
		host = run[:i]
	}
	if strings.Contains(host, "@") {
		return last
	}
	colon := strings.LastIndex(host, ":")
	if colon < 0 {
		return 0 // an @ in a path or a query
	}
	port := strings.Trim(host[colon+1:], "0123456789") == ""
	web := strings.HasSuffix(scheme, "http://") || strings.HasSuffix(scheme, "https://")
	if port && (web || strings.HasPrefix(host, "[")) {
		return 0
	}
	return last // what looks like host and port is a name and the beginning of a password
}

// lastAt is where the last @ is, or the last %40 too.
func lastAt(run string, encoded bool) int {
	last := strings.LastIndexByte(run, '@')
	if encoded {
		last = max(last, strings.LastIndex(run, "%40"))
	}
	return last
}

// learnUserinfo keeps the password of a userinfo as it is written and as it is meant, and one without a colon as a whole.
func (c *cleaner) learnUserinfo(info string) {
	for range 2 {
		c.learn(info)
		if _, password, ok := strings.Cut(info, ":"); ok {
			c.learn(password)
			if plain, err := url.PathUnescape(password); err == nil {
				c.learn(plain)
			}
		}
		plain, err := url.PathUnescape(info)
		if err != nil || plain == info {
			return
		}
		info = plain
	}
}

// namesPlace says whether a name is one under which a URL or a host stands.
func namesPlace(key string) bool {
	key = strings.ToLower(key)
	for _, word := range [...]string{"url", "uri", "broker", "server", "address", "addr", "dsn", "endpoint", "host"} {
		if strings.HasSuffix(key, word) {
			return true
		}
	}
	return false
}

// place takes the userinfo out of user:password@host, a URL without its scheme.
func (c *cleaner) place(text string) string {
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return text
	}
	if i := strings.IndexAny(text[:at], ":/?#"); i < 0 || text[i] != ':' {
		return text
	}
	c.learnUserinfo(text[:at])
	return redact.Mark + text[at:]
}

// parameters takes out the values of a URL's query whose names are secret names.
func (c *cleaner) parameters(text string) string {
	if !strings.ContainsAny(text, "?&") {
		return text
	}
	var b strings.Builder
	at := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '?' && text[i] != '&' {
			continue
		}
		end := i + 1
		for end < len(text) && strings.IndexByte("=?& ", text[end]) < 0 {
			end++
		}
		name := text[i+1 : end]
		if end == len(text) || text[end] != '=' || !redact.SecretName(name) {
			i = end - 1
			continue
		}
		rest := text[end+1:]
		value := rest
		if cut := strings.IndexAny(rest, "&# \t\r\n\"'`<>"); cut >= 0 {
			value = rest[:cut]
		}
		if value == "" {
			continue
		}
		c.learn(value)
		if plain, err := url.QueryUnescape(value); err == nil {
			c.learn(plain)
		}
		start := len(text) - len(rest)
		b.WriteString(text[at:start])
		b.WriteString(redact.Mark)
		at = start + len(value)
		i = at - 1
	}
	b.WriteString(text[at:])
	return b.String()
}
