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

// secretName says whether a name, of an argument, a header or a parameter, is one under which a secret stands. Beyond
// what is a secret header these are names in camel case, and those that end in a word before Key, such as AccountKey, but
// for keys of tables.
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

// maxSecret is how many bytes a secret has at most that is looked for: for a longer one that could take seconds, so the
// arguments are left out.
const maxSecret = 4 << 10

// learn keeps a secret, and the credentials in it when it is a header's value.
func (c *cleaner) learn(name, value string) {
	value = strings.TrimSpace(value)
	if value == "" || value == redact.Mark {
		return
	}
	if len(value) > maxSecret {
		c.unread = true
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
	// pemBlock is a PEM block, also one whose end is missing.
	pemBlock = lazily(`(?s)-----BEGIN [^-]+-----.*?(?:-----END [^-]+-----|$)`)
	// schemed is the value of a header without its name.
	schemed = lazily(`(?i)\b(?:Bearer|Basic)[ \t]+([^\s;&,"'<>]+)`)
	// assigned is what follows the = or : behind a name.
	assigned = lazily(`^[ \t]*(?:"((?:[^"\\]|\\.)*)|'([^']*)|\\+["']([^"'\\]*)|([^\s;&,"'\\]+))`)
	words    = lazily(`[\pL\pN_.-]+`)
)

func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func inWord(r rune) bool {
	return strings.ContainsRune("_.-", r) || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// text takes out of a text what is a secret by its form, and keeps it.
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
	for _, m := range schemed().FindAllStringSubmatchIndex(text, -1) {
		c.learn("", text[m[2]:m[3]])
		b.WriteString(text[at:m[2]] + redact.Mark)
		at = m[3]
	}
	return b.String() + text[at:]
}

// assignments takes out what follows a secret name and = in a text, "name": anywhere, and name: at the beginning of a
// line, of which the rest is taken then. In SQL only a text in quotes is taken for a secret.
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
		rest := text[i+1 : min(len(text), i+2+maxSecret)] // so that many a name costs no more than so much each
		if c.sql && !strings.HasPrefix(strings.TrimLeft(rest, " \t\\"), `"`) && !strings.HasPrefix(strings.TrimLeft(rest, " \t\\"), "'") {
			continue
		}
		from, to := valueOf(rest, header)
		from, to = from+i+1, to+i+1
		if from == to || strings.HasPrefix(text[from:to], redact.Mark) {
			continue
		}
		c.learn(name, text[from:to])
		if plain, err := url.QueryUnescape(text[from:to]); err == nil {
			c.learn(name, plain)
		}
		b.WriteString(text[at:from] + redact.Mark)
		at, i = to, to-1
	}
	return b.String() + text[at:]
}

// valueOf is where the value begins and ends with which a text begins.
func valueOf(text string, line bool) (from, to int) {
	if line {
		end := strings.IndexAny(text, "\r\n")
		if end < 0 {
			end = len(text)
		}
		return end - len(strings.TrimLeft(text[:end], " \t")), end
	}
	m := assigned().FindStringSubmatchIndex(text)
	for i := 2; i < len(m); i += 2 {
		if m[i] >= 0 {
			return m[i], m[i+1]
		}
	}
	return 0, 0
}

// userinfo takes out what stands between // and the last @ before the next space or quote (RFC 3986, section 3.2.1): a
// password may hold characters that it should not. Of a text that begins as a URL all up to the last @ is taken.
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
			c.learnUserinfo(run[:n])
			b.WriteString(redact.Mark)
			text = run[n:] + text[start+len(run):]
			continue
		}
		b.WriteString(run)
		text = text[start+len(run):]
	}
}

// authority is where the authority of a URL begins, also of one with \/ for /.
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

// isScheme says whether what stands before an authority is the scheme of a URL and nothing else.
func isScheme(before string) bool {
	return plainWord(strings.TrimRight(strings.TrimSpace(before), `:/\`))
}

// learnUserinfo keeps a userinfo and its password, and those of a list of URLs.
func (c *cleaner) learnUserinfo(info string) {
	list := strings.FieldsFunc(info, func(r rune) bool { return strings.ContainsRune(",;|", r) })
	for _, part := range append(list, info) {
		if start := authority(part); start >= 0 {
			part = part[start:]
		}
		c.learnPassword(part)
		if at := strings.LastIndexByte(part, '@'); at >= 0 {
			c.learnPassword(part[:at])
		}
	}
}

// learnPassword keeps a userinfo and its password, as they are written and as they are meant.
func (c *cleaner) learnPassword(info string) {
	plain, err := url.PathUnescape(info)
	if err != nil {
		plain = info
	}
	for _, form := range slices.Compact([]string{info, plain}) {
		c.learn("", form)
		if _, password, ok := strings.Cut(form, ":"); ok {
			c.learn("", password)
		}
	}
}

// place is a text without the userinfo of user:password@host too, which is a URL without its scheme, where the key says
// that a URL or a host stands there.
func (c *cleaner) place(key, text string) string {
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

// untilSecretName is a text up to the first secret name in it: nobody knows where the secret behind it ends.
func untilSecretName(text string) string {
	for _, at := range words().FindAllStringIndex(text, -1) {
		if at[1] < len(text) && secretName(text[at[0]:at[1]]) {
			return text[:at[1]] + redact.Mark
		}
	}
	return text
}
