package redact

import (
	"slices"
	"strings"
)

// maxNameBytes is the length of the longest name of a parameter or a cookie that is looked at.
const maxNameBytes = 64

// maxAttribute is the number of bytes after a cookie that show whether one of its attributes follows.
const maxAttribute = 16

// credentials finds credentials by their place in a text: user and password in a URL, and the values of parameters and cookies
// whose names are those of credentials.
type credentials struct {
	text  string
	spans []span
	// open is where a credential may begin whose end is missing, or the length of the text.
	open int
	// word and value are the ends that were found last, so that a hostile text is searched in linear time.
	word, value reached
}

// reached is a part of a text without a byte that ends something, up to end.
type reached struct{ from, end int }

// endOf returns the index of the first byte from start on for which f returns true, or the length of the text.
func (r *reached) endOf(s string, start int, f func(c byte) bool) int {
	if start < r.from || start >= r.end {
		r.from, r.end = start, start+indexOrEnd(s[start:], f)
	}
	return r.end
}

// findCredentials searches a text. With cookies the whole text is the value of a Cookie or Set-Cookie header.
func findCredentials(s string, cookies bool) credentials { return searched(s, cookies, 0) }

// searched is findCredentials for a text that was percent-encoded depth times.
func searched(s string, cookies bool, depth int) credentials {
	c := credentials{text: s, open: len(s)}
	c.nested(depth)
	c.urls("://")
	c.urls(`:\/\/`)
	if strings.IndexByte(s, '=') < 0 {
		return c
	}
	if cookies {
		c.cookiePairs(0)
	} else {
		c.cookieHeaders("ookie")
		c.cookieHeaders("OOKIE")
	}
	c.parameters()
	return c
}

// mayHaveCredentials reports whether a text has a character without which there is no credential in it.
func mayHaveCredentials(s string) bool {
	return strings.IndexByte(s, '=') >= 0 || strings.IndexByte(s, '@') >= 0 || strings.IndexByte(s, '%') >= 0
}

// add adds a credential, unless it stands for one. An unterminated one may be longer than the text.
func (c *credentials) add(name string, start, end int) {
	if end == len(c.text) { // more may follow
		c.open = min(c.open, start)
	}
	if start < end && !isPlaceholder(c.text[start:end]) {
		c.spans = append(c.spans, span{start: start, end: end, name: name, longest: end - start})
	}
}

// maxUserinfo limits a user and a password with characters that a URL must escape.
const maxUserinfo = 512

// isPlaceholder reports whether a text stands for a credential: a template, a variable of a shell, a mark.
func isPlaceholder(s string) bool {
	return strings.Contains(s, "${") || strings.IndexByte("${<=", s[0]) >= 0 || strings.Trim(s, "*") == "" ||
		len(s) == 2 && s[0] == '%' || strings.Trim(s, ".") == "" || strings.HasPrefix(s, ellipsis)
}

// urls finds user and password in URLs, whose scheme ends with the given separator.
func (c *credentials) urls(separator string) {
	for at := 0; ; {
		i := strings.Index(c.text[at:], separator)
		if i < 0 {
			return
		}
		at += i + len(separator)
		c.userinfo(c.text[:at-len(separator)], at)
	}
}

// userinfo finds user and password at the beginning of a URL's authority. The scheme is at the end of before.
func (c *credentials) userinfo(before string, start int) {
	s := c.text
	end := start + indexOrEnd(s[start:], endsAuthority)
	at := strings.LastIndexByte(s[start:end], '@')
	if at < 0 && end < len(s) && strings.IndexByte("/?#", s[end]) >= 0 && !endsInPort(s[start:end]) {
		// A password with characters that a URL must escape.
		end = c.word.endOf(s, start, endsWord)
		at = strings.LastIndexByte(s[start:min(end, start+maxUserinfo)], '@')
	}
	if end == len(s) {
		c.open = min(c.open, start)
	}
	if at <= 0 {
		return
	}
	user, password, pair := strings.Cut(s[start:start+at], ":")
	switch {
	case pair && password != "" && !isPlaceholder(password) && (user == "" || !isMark(user)),
		!pair && isWeb(before) && !isPlaceholder(user): // a token instead of user and password
		c.spans = append(c.spans, span{start: start, end: start + at, name: "password", longest: at})
	}
}

// endsInPort reports whether the authority of a URL has no colon, or only one before a port.
func endsInPort(authority string) bool {
	if strings.HasPrefix(authority, "[") {
		return true
	}
	_, port, ok := strings.Cut(authority, ":")
	return !ok || strings.Trim(port, "0123456789") == ""
}

// isWeb reports whether a text ends in the scheme http or https.
func isWeb(before string) bool {
	before = strings.ToLower(before[max(0, len(before)-5):])
	return strings.HasSuffix(before, "http") || before == "https"
}

// parameters finds the values of parameters in query strings and forms, and of a cookie that is set.
func (c *credentials) parameters() {
	s := c.text
	for k := 0; k < len(s); k++ {
		i := strings.IndexByte(s[k:], '=')
		if i < 0 {
			return
		}
		if k += i; k == 0 || strings.IndexByte("dentlsyDENTLSY", s[k-1]) < 0 {
			continue // no such name ends so
		}
		from := k
		for from > 0 && k-from <= maxNameBytes && isNameByte(s[from-1]) {
			from--
		}
		name := s[from:k]
		inQuery := c.inQuery(&name, from)
		if !isCredentialName(name) {
			continue
		}
		start := k + 1
		end := c.value.endOf(s, start, endsParameter)
		switch rest := s[end:]; {
		case inQuery || isForm(rest) || isCookie(rest):
			c.add(name, start, end)
			k = max(k, end-1)
		case rest == "", rest[0] == ';' && len(rest) < maxAttribute, rest[0] == '&' && len(rest) < maxNameBytes && indexOrEnd(rest, endsWord) == len(rest):
			// What follows decides.
			c.open = min(c.open, start)
		}
	}
}

// inQuery reports whether the name that begins at s[from] is behind the separator of a query string. It removes the rest of an
// escape from the name.
func (c *credentials) inQuery(name *string, from int) bool {
	before := c.text[:from]
	if before == "" {
		return false
	}
	switch before[from-1] {
	case '?', '&':
		return true
	case ';':
		return strings.HasSuffix(before, "&amp;")
	case '\\':
		for _, escape := range [...]string{"u0026", "u003f", "u003F"} { // & and ?
			if rest, ok := strings.CutPrefix(*name, escape); ok {
				*name = rest
				return true
			}
		}
		*name = strings.TrimLeft((*name)[:1], "nrt") + (*name)[1:]
	}
	return false
}

// isForm reports whether a text goes on with another parameter of a form.
func isForm(s string) bool {
	if !strings.HasPrefix(s, "&") {
		return false
	}
	n := 1
	for n < len(s) && isNameByte(s[n]) {
		n++
	}
	return n > 1 && n < len(s) && s[n] == '='
}

// isCookie reports whether a text goes on with an attribute of a cookie.
func isCookie(s string) bool {
	if !strings.HasPrefix(s, ";") {
		return false
	}
	s = strings.ToLower(strings.TrimLeft(s[1:min(len(s), maxAttribute)], " "))
	for _, attribute := range [...]string{"path=", "expires=", "max-age=", "domain=", "secure", "httponly", "samesite="} {
		if strings.HasPrefix(s, attribute) {
			return true
		}
	}
	return false
}

// cookieHeaders finds the cookies in headers, and in assignments to a name that ends in the given part of cookie.
func (c *credentials) cookieHeaders(part string) {
	s := c.text
	for at, parsed := 0, 0; ; {
		i := strings.Index(s[at:], part)
		if i < 0 {
			return
		}
		at += i + len(part)
		if at < parsed {
			continue
		}
		if i = at - len(part) - 1; i < 0 || s[i]|0x20 != 'c' {
			continue
		}
		i = at
		if i < len(s) && s[i]|0x20 == 's' {
			i++
		}
		from := i
		for i < len(s) && i-from < 16 && strings.IndexByte(":= \t\"'[\\", s[i]) >= 0 {
			i++
		}
		if strings.ContainsAny(s[from:i], ":='\"") {
			parsed = c.cookiePairs(i)
		}
	}
}

// cookiePairs finds the credentials in NAME=VALUE; NAME=VALUE from s[i] to the end of the header, which it returns.
func (c *credentials) cookiePairs(i int) int {
	s := c.text
	for i < len(s) {
		for i < len(s) && strings.IndexByte("; ,\t", s[i]) >= 0 {
			i++
		}
		from := i
		for i < len(s) && i-from <= maxNameBytes && isNameByte(s[i]) {
			i++
		}
		if i < len(s) && s[i] == '=' {
			name := s[from:i]
			i++
			for i < len(s) && (s[i] == '"' || s[i] == '\\') {
				i++
			}
			end := i + indexOrEnd(s[i:], endsCookie)
			if isCredentialName(name) || isSessionName(name) {
				c.add(name, i, end)
			}
			i = end
		}
		for i < len(s) && strings.IndexByte(";,\r\n\"'", s[i]) < 0 { // the rest of a value with spaces
			if s[i] == ':' && i > 0 && (upper(s[i-1]) || lower(s[i-1])) {
				return i // another header
			}
			i++
		}
		if i < len(s) && (s[i] == '"' || s[i] == '\'') { // the next text of a list
			rest := strings.TrimLeft(s[i+1:min(len(s), i+8)], " ;")
			if !strings.HasPrefix(rest, `,"`) && !strings.HasPrefix(rest, `, "`) && !strings.HasPrefix(s[i:], `";`) && !strings.HasPrefix(s[i:], `",`) {
				return i
			}
			i++
			for i < len(s) && strings.IndexByte(", \"", s[i]) >= 0 {
				i++
			}
		}
		if i < len(s) && (s[i] == '\r' || s[i] == '\n') {
			return i
		}
	}
	return i
}

// isCredentialName reports whether the value of a parameter or cookie of this name is a secret.
func isCredentialName(name string) bool {
	word, _ := lastWord(name)
	return SecretName(name) || strings.EqualFold(word, "sid") || strings.EqualFold(name, "key") || strings.EqualFold(word, "apikey")
}

// isSessionName reports whether the value of a cookie of this name is a secret, although that of a parameter is not.
func isSessionName(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "session") || strings.HasSuffix(name, "sessionid") || strings.HasSuffix(name, "sessid") || strings.HasSuffix(name, "jwt")
}

func isNameByte(c byte) bool {
	return upper(c) || lower(c) || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}

// indexOrEnd returns the index of the first byte for which f returns true, or the length of the text.
func indexOrEnd(s string, f func(c byte) bool) int {
	for i := range len(s) {
		if f(s[i]) {
			return i
		}
	}
	return len(s)
}

func endsWord(c byte) bool {
	return c <= ' ' || c == '"' || c == '\'' || c == '<' || c == '>' || c == '\\' || c == '`' || c == 0x7f
}

func endsAuthority(c byte) bool { return c == '/' || c == '?' || c == '#' || endsWord(c) }

func endsParameter(c byte) bool {
	return c == '&' || c == '#' || c == ',' || c == ';' || c == ')' || endsWord(c) && c != '<'
}

func endsCookie(c byte) bool { return c == ';' || c == ',' || endsWord(c) && c != '<' }

// united returns the spans of secrets and of credentials in order, and unites those that overlap.
func united(spans, more []span) []span {
	if len(more) == 0 {
		return spans
	}
	all := slices.Concat(spans, more)
	slices.SortStableFunc(all, func(a, b span) int { return a.start - b.start })
	var out []span
	for _, sp := range all {
		out = unite(out, sp)
	}
	return out
}
