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
	scheme, _, _ := strings.Cut(strings.ToLower(value), " ")
	if scheme == "bearer" || scheme == "basic" || scheme == "token" || name == "Cookie" {
		c.secrets = append(c.secrets, secretParts(name, value)...)
	}
}

func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var (
	// userinfoPattern matches the userinfo of a URL (RFC 3986, section 3.2.1), in which an @ may stand too, up to its @. The
	// slashes may be those of JSON.
	userinfoPattern = lazily(`(?:/|\\/){2}[^\s/\\?#"'<>` + "`" + `]+@`)
	wordPattern     = lazily(`[\pL\pN_.-]+`)
)

func inWord(r rune) bool {
	return strings.ContainsRune("_.-", r) || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// text removes and collects the userinfo of URLs in a text. Nothing else in a text is taken for a secret: raw means raw.
func (c *cleaner) text(text string) string {
	if !strings.Contains(text, "@") {
		return text
	}
	return userinfoPattern().ReplaceAllStringFunc(text, func(found string) string {
		info := strings.TrimLeft(found, `/\`)
		c.collectPassword(info[:len(info)-1])
		return found[:len(found)-len(info)] + redact.Mark + "@"
	})
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

// untilSecretName returns a text, of JSON that breaks off, up to the first secret name in it, because the end of the secret
// after it is unknown.
func untilSecretName(text string) string {
	for _, at := range wordPattern().FindAllStringIndex(text, -1) {
		if at[1] < len(text) && secretName(text[at[0]:at[1]]) {
			return text[:at[1]] + redact.Mark
		}
	}
	return text
}
