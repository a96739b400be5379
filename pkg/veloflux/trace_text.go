package veloflux

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/pflow-suite/pflow/pkg/home/redact"
)

// secretName reports whether the name of an argument, a header or a parameter is that of a secret. In addition to secret
// headers it accepts names in camel case, and names that end in Key, such as AccountKey, except keys of tables.
func secretName(name string) bool {
	if redact.SecretName(name) {
		return true
	}
	name = name[strings.LastIndexByte(name, '.')+1:]
	var b strings.Builder
	for i := range len(name) {
		if i > 0 && unicode.IsUpper(rune(name[i])) && unicode.IsLower(rune(name[i-1])) {
			b.WriteByte('-')
		}
		b.WriteByte(name[i])
	}
	dashed := strings.Trim(strings.ReplaceAll(b.String(), "_", "-"), "- ")
	if before, ok := strings.CutSuffix(strings.ToLower(dashed), "key"); ok {
		switch strings.TrimRight(before, "-") {
		case "", "primary", "foreign", "partition", "routing", "sort", "row", "group", "message", "public":
			return false
		}
		return true
	}
	if strings.HasSuffix(strings.ToLower(strings.ReplaceAll(dashed, "-", "")), "sessionid") {
		return true
	}
	return secretHeader(dashed)
}

// maxSecret is the most bytes of a secret that is looked for. Looking for a longer one could take seconds, so the
// arguments that contain it are omitted.
const maxSecret = 4 << 10

// collect collects a secret, and the credentials in it if it is a header's value.
func (c *cleaner) collect(name, value string) {
	value = strings.TrimSpace(value)
	if value == "" || value == redact.Mark {
		return
	}
	if len(value) > maxSecret {
		c.omitted = true
		return
	}
	c.secrets = append(c.secrets, value)
	name = http.CanonicalHeaderKey(name)
	switch scheme, _, _ := strings.Cut(value, " "); strings.ToLower(scheme) {
	case "bearer", "basic", "token":
		c.secrets = append(c.secrets, secretParts(name, value)...)
	default:
		if name == "Cookie" {
			c.secrets = append(c.secrets, secretParts(name, value)...)
		}
	}
}

var (
	// pemBlock matches a PEM block, with or without its end.
	pemBlock = lazily(`(?s)-----BEGIN [^-]+-----.*?(?:-----END [^-]+-----|$)`)
	// schemeCredentials matches credentials after an authentication scheme.
	schemeCredentials = lazily(`(?i)\b(?:Bearer|Basic)[ \t]+([^\s;&,"'<>]+)`)
	// assignedValue matches the value after a name and = or :.
	assignedValue = lazily(`^[ \t]*(?:"((?:[^"\\]|\\.)*)|'([^']*)|\\+["']([^"'\\]*)|([^\s;&,"'\\]+))`)
	wordPattern   = lazily(`[\pL\pN_.-]+`)
)

func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func inWord(r rune) bool {
	return strings.ContainsRune("_.-", r) || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// text removes and collects what looks like a secret in a text.
func (c *cleaner) text(text string) string {
	if strings.Contains(text, "-----BEGIN ") {
		text = pemBlock().ReplaceAllString(text, redact.Mark)
	}
	if strings.Contains(text, "@") {
		text = c.userinfo(text)
	}
	if strings.ContainsAny(text, "=:") {
		text = c.assignments(text)
	}
	return c.schemes(text)
}

func (c *cleaner) schemes(text string) string {
	if !strings.ContainsAny(text, " \t") {
		return text
	}
	var b strings.Builder
	at := 0
	for _, m := range schemeCredentials().FindAllStringSubmatchIndex(text, -1) {
		c.collect("", text[m[2]:m[3]])
		b.WriteString(text[at:m[2]] + redact.Mark)
		at = m[3]
	}
	return b.String() + text[at:]
}

// assignments removes and collects the values of secret names in a text: after name= and "name": anywhere, and after
// name: at the beginning of a line, where the value is the rest of the line. In SQL only a quoted text is a value.
func (c *cleaner) assignments(text string) string {
	var b strings.Builder
	at := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '=' && text[i] != ':' {
			continue
		}
		before := strings.TrimRight(text[at:i], " \t")
		bare := strings.TrimRight(before, `\"'`)
		start := strings.LastIndexFunc(bare, func(r rune) bool { return !inWord(r) }) + 1
		name := bare[max(0, start):]
		header := text[i] == ':' && bare == before && (len(name) == len(bare) && at == 0 || strings.HasSuffix(bare[:len(bare)-len(name)], "\n"))
		if text[i] == ':' && bare == before && !header || !secretName(name) {
			continue
		}
		rest := text[i+1 : min(len(text), i+2+maxSecret)] // bounds the work for each name
		if c.sql && !strings.HasPrefix(strings.TrimLeft(rest, " \t\\"), `"`) && !strings.HasPrefix(strings.TrimLeft(rest, " \t\\"), "'") {
			continue
		}
		from, to := valueOf(rest, header)
		from, to = from+i+1, to+i+1
		if from == to || strings.HasPrefix(text[from:to], redact.Mark) {
			continue
		}
		c.collect(name, text[from:to])
		if plain, err := url.QueryUnescape(text[from:to]); err == nil {
			c.collect(name, plain)
		}
		b.WriteString(text[at:from] + redact.Mark)
		at, i = to, to-1
	}
	return b.String() + text[at:]
}

// valueOf returns where the value at the beginning of a text begins and ends. line means that it extends to the end of
// the line.
func valueOf(text string, line bool) (from, to int) {
	if line {
		end := strings.IndexAny(text, "\r\n")
		if end < 0 {
			end = len(text)
		}
		return end - len(strings.TrimLeft(text[:end], " \t")), end
	}
	m := assignedValue().FindStringSubmatchIndex(text)
	for i := 2; i < len(m); i += 2 {
		if m[i] >= 0 {
			return m[i], m[i+1]
		}
	}
	return 0, 0
}

// userinfo removes and collects the text between // and the last @ before the next space or quote (RFC 3986, section
// 3.2.1), because a password may contain characters that it should not. If the text begins with a URL, everything up to
// the last @ is removed.
func (c *cleaner) userinfo(text string) string {
	var b strings.Builder
	for first := true; ; first = false {
		start := authority(text)
		if start < 0 {
			return b.String() + text
		}
		run := text[start:]
		if !first || !isScheme(text[:start]) {
			if end := strings.IndexAny(run, " \t\r\n\"'`<>"); end >= 0 {
				run = run[:end]
			}
		}
		b.WriteString(text[:start])
		if n := strings.LastIndexByte(run, '@'); n > 0 {
			c.collectUserinfo(run[:n])
			b.WriteString(redact.Mark)
			text = run[n:] + text[start+len(run):]
			continue
		}
		b.WriteString(run)
		text = text[start+len(run):]
	}
}

// authority returns where the authority of the first URL in a text begins, or -1. The URL may have \/ for /.
func authority(text string) int {
	plain, escaped := strings.Index(text, "//"), strings.Index(text, `\/\/`)
	if escaped >= 0 && (plain < 0 || escaped < plain) {
		return escaped + len(`\/\/`)
	}
	if plain < 0 {
		return plain
	}
	return plain + len("//")
}

// isScheme reports whether the text before an authority is only the scheme of a URL.
func isScheme(before string) bool {
	return plainWord(strings.TrimRight(strings.TrimSpace(before), `:/\`))
}

// collectUserinfo collects a userinfo and its password. It may be that of a list of URLs.
func (c *cleaner) collectUserinfo(info string) {
	list := strings.FieldsFunc(info, func(r rune) bool { return strings.ContainsRune(",;|", r) })
	for _, part := range append(list, info) {
		if start := authority(part); start >= 0 {
			part = part[start:]
		}
		c.collectPassword(part)
		if at := strings.LastIndexByte(part, '@'); at >= 0 {
			c.collectPassword(part[:at])
		}
	}
}

// collectPassword collects a userinfo and its password, both as they are and percent-decoded.
func (c *cleaner) collectPassword(info string) {
	plain, err := url.PathUnescape(info)
	if err != nil {
		plain = info
	}
	for _, form := range slices.Compact([]string{info, plain}) {
		c.collect("", form)
		if _, password, ok := strings.Cut(form, ":"); ok {
			c.collect("", password)
		}
	}
}

// hostText cleans a text. If the key is that of a URL or a host, it also removes the userinfo of user:password@host, a URL
// without its scheme.
func (c *cleaner) hostText(key, text string) string {
	key = strings.ToLower(key)
	for _, word := range [...]string{"url", "uri", "broker", "brokers", "server", "servers", "address", "addr", "dsn", "endpoint", "host", "hosts"} {
		if !strings.HasSuffix(key, word) || strings.Contains(text, "//") {
			continue
		}
		if i := strings.IndexAny(text, ":/?#@"); i >= 0 && text[i] == ':' {
			text = strings.TrimPrefix(c.userinfo("//"+text), "//")
		}
	}
	return c.text(text)
}

// untilSecretName returns a text up to the first secret name in it, because the end of the secret after it is unknown.
func untilSecretName(text string) string {
	for _, at := range wordPattern().FindAllStringIndex(text, -1) {
		if at[1] < len(text) && secretName(text[at[0]:at[1]]) {
			return text[:at[1]] + redact.Mark
		}
	}
	return text
}
