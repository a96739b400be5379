package redact

import (
	"slices"
	"strings"
)

// SecretName reports whether a value of this name is a secret: the last word of the name, split at "_", "-", "." and camelCase,
// is password, passwd, passphrase, secret, token, credential(s) or authorization, or key after api, private or access. So
// max_tokens and author are not secret names, nor is the name of a [PlaceToken].
func SecretName(name string) bool {
	if PlaceToken(name) {
		return false
	}
	word, rest := lastWord(name)
	for _, secret := range [...]string{"password", "passwd", "passphrase", "secret", "token", "credential", "credentials", "authorization"} {
		if strings.EqualFold(word, secret) {
			return true
		}
	}
	if !strings.EqualFold(word, "key") {
		return false
	}
	before, _ := lastWord(rest)
	return strings.EqualFold(before, "api") || strings.EqualFold(before, "private") || strings.EqualFold(before, "access")
}

// PlaceToken reports whether a name is that of a token for a place in a list or a stream, such as nextPageToken, by which the rest is
// asked for: its last word is token, after a word for such a place.
func PlaceToken(name string) bool {
	word, rest := lastWord(name)
	if !strings.EqualFold(word, "token") {
		return false
	}
	before, _ := lastWord(rest)
	return slices.Contains([]string{
		"next", "prev", "previous", "page", "paging", "pagination", "continuation", "continue", "cursor", "sync", "delta", "skip", "scroll", "offset",
	}, strings.ToLower(before))
}

// lastWord splits a name before its last word.
func lastWord(name string) (word, rest string) {
	name = strings.TrimRight(name, "_-.")
	i := len(name)
	for i > 0 && name[i-1] != '_' && name[i-1] != '-' && name[i-1] != '.' {
		i--
		if i > 0 && i < len(name) && upper(name[i]) && (!upper(name[i-1]) || i+1 < len(name) && lower(name[i+1])) {
			break // someWord, or the W of URLWord
		}
	}
	return name[i:], name[:i]
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }
func lower(c byte) bool { return c >= 'a' && c <= 'z' }
