package redact

import (
	"net/url"
	"slices"
	"strings"
)

// Literal returns the value of a variable or a header of an entry as it may be shown: ${VAR} as it is written, with the scheme of
// authorization before it, and <redacted> in place of everything else, also of a default.
func Literal(value string) string { return replace(value, literals(value), plain) }

// isScheme reports whether a text is a scheme of authorization, which a credential follows (RFC 9110, section 11.4).
func isScheme(s string) bool {
	return slices.ContainsFunc([]string{"Bearer", "Basic", "ApiKey", "DPoP"}, func(known string) bool { return strings.EqualFold(known, s) })
}

// literals returns the parts of a text that are not references. A scheme of authorization at its beginning is not one of them.
func literals(text string) (found []span) {
	add := func(start, end int) {
		for start < end && strings.IndexByte(" \t\"'", text[start]) >= 0 {
			start++
		}
		for end > start && strings.IndexByte(" \t\"'", text[end-1]) >= 0 {
			end--
		}
		if start < end && !isMark(text[start:end]) {
			found = append(found, span{start: start, end: end, longest: end - start})
		}
	}
	at := len(text) - len(strings.TrimLeft(text, " \t\"'"))
	if scheme, _, ok := strings.Cut(text[at:], " "); ok && (isScheme(scheme) || strings.EqualFold(scheme, "Token")) {
		at += len(scheme)
	} else {
		at = 0
	}
	for from := at; ; {
		i := strings.Index(text[from:], "${")
		if i < 0 {
			add(at, len(text))
			return found
		}
		i += from
		name, end := reference(text, i+2)
		if end == 0 {
			from = i + 2
			continue
		}
		add(at, i)
		if fallback := i + 2 + len(name) + 2; end > fallback {
			add(fallback, end-1)
		}
		at, from = end, end
	}
}

// URL returns a URL with <redacted> in place of its user and password, the parameters with the names of credentials, the path of a
// webhook, and the segments of its path that look random: of 16 characters and more, with letters and digits.
func URL(text string) string {
	return replace(text, united(nil, append(urlSpans(text), defaults(text)...)), plain)
}

// defaults returns the defaults of the references in a text to variables with the names of credentials.
func defaults(text string) (found []span) {
	for at := 0; ; {
		i := strings.Index(text[at:], "${")
		if i < 0 {
			return found
		}
		at += i + 2
		name, end := reference(text, at)
		if from := at + len(name) + 2; end-1 > from && EntryName(name) {
			found = append(found, span{start: from, end: end - 1, name: name, longest: end - 1 - from})
		}
		at = max(at, end)
	}
}

// reference returns the name of the variable of a reference ${NAME} or ${NAME:-default}, with a prefix env:, and the end of the
// reference. Its name begins at text[start]. The end is 0 if it is not a reference.
func reference(text string, start int) (name string, end int) {
	n := start
	if strings.HasPrefix(text[n:], "env:") {
		n += len("env:")
	}
	from := n
	for n < len(text) && (upper(text[n]) || lower(text[n]) || text[n] == '_' || n > from && text[n] >= '0' && text[n] <= '9') {
		n++
	}
	name = text[start:n]
	switch rest := text[n:]; {
	case n == from:
	case strings.HasPrefix(rest, "}"):
		return name, n + 1
	case strings.HasPrefix(rest, ":-"):
		if i := strings.IndexByte(rest, '}'); i >= 0 {
			return name, n + i + 1
		}
	}
	return name, 0
}

// AddURL makes the credentials in a URL, as URL finds them, secrets.
func (r *Redactor) AddURL(text string) {
	r.AddCredentials(text)
	var found []secret
	for _, sp := range urlSpans(text) {
		if value := text[sp.start:sp.end]; len(value) >= minValue {
			found = append(found, secret{sp.name, value})
			if plain, err := url.PathUnescape(value); err == nil && plain != value {
				found = append(found, secret{sp.name, plain})
			}
		}
	}
	r.learn(found)
}

// urlSpans returns the credentials in the URLs of a text.
func urlSpans(text string) []span {
	spans := findCredentials(text, false).spans
	for at := 0; ; {
		i := strings.Index(text[at:], "://")
		if i < 0 {
			return spans
		}
		start := at + i + len("://")
		at = start + indexOrEnd(text[start:], endsWord)
		spans = append(spans, pathSpans(text, start, at)...)
	}
}

// pathSpans returns the credentials in the path and the query of a URL, whose authority begins at text[start].
func pathSpans(text string, start, end int) (spans []span) {
	add := func(name string, from, to int) {
		for _, sp := range literals(text[from:to]) {
			spans = append(spans, span{start: from + sp.start, end: from + sp.end, name: name, longest: sp.end - sp.start})
		}
	}
	query := start + indexOrEnd(text[start:end], func(c byte) bool { return c == '?' || c == '#' })
	for at := query; at < end; {
		at++
		to := at + indexOrEnd(text[at:end], func(c byte) bool { return c == '&' || c == '#' })
		if name, _, ok := strings.Cut(text[at:to], "="); ok && EntryName(name) {
			add(name, at+len(name)+1, to)
		}
		at = to
	}
	path := start + indexOrEnd(text[start:query], func(c byte) bool { return c == '/' })
	host := text[start+strings.LastIndexByte(text[start:path], '@')+1 : path]
	hook := slices.ContainsFunc(strings.FieldsFunc(host, func(r rune) bool { return r == '.' || r == ':' }), isHook)
	for at := path; at < query; {
		at++
		to := at + indexOrEnd(text[at:query], func(c byte) bool { return c == '/' })
		segment := text[at:to]
		switch {
		case hook:
			add("webhook", at, query)
			return spans
		case isHook(segment):
			hook = true
		case isRandom(segment):
			add("path", at, to)
		}
		at = to
	}
	return spans
}

func isHook(s string) bool {
	return slices.Contains([]string{"hook", "hooks", "webhook", "webhooks", "webhookb2"}, strings.ToLower(s))
}

// isRandom reports whether a segment of a path looks like a credential: a part between separators of 16 characters and more has
// letters and digits, or it is long and has digits, upper-case and lower-case letters, or it is a UUID or another long hexadecimal
// number.
func isRandom(segment string) bool {
	if len(segment) < 16 || strings.Contains(segment, "${") {
		return false
	}
	const digits = "0123456789"
	for _, part := range strings.FieldsFunc(segment, func(r rune) bool { return strings.ContainsRune("-_.:~@", r) }) {
		if len(part) >= 16 && strings.ContainsAny(part, digits) && strings.Trim(part, digits) != "" {
			return true
		}
	}
	if joined := strings.ToLower(strings.ReplaceAll(segment, "-", "")); len(joined) >= 32 && strings.Trim(joined, digits+"abcdef") == "" {
		return true
	}
	return len(segment) >= 20 && strings.ContainsAny(segment, digits) && strings.ToLower(segment) != segment && strings.ToUpper(segment) != segment
}
