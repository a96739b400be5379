package redact

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// maxLines limits the lines of a secret that are secrets by themselves.
const maxLines = 1000

// parts returns the texts in a secret that are secrets by themselves: its lines, of six bytes and more, and the credentials in
// it, such as the password of a connection string.
func parts(s secret) (found []secret) {
	value := s.value
	if !strings.Contains(value, "\n") {
		return passwords(s)
	}
	n := 0
	for line := range strings.SplitSeq(value, "\n") {
		line = strings.TrimSpace(line)
		if len(line) < inside || isArmor(line) {
			continue
		}
		if n++; n > maxLines {
			break
		}
		found = append(append(found, secret{s.name, line}), passwords(secret{s.name, line})...)
	}
	return found
}

// isArmor reports whether a line says nothing: the first or last of a key in PEM, or one without letters and digits.
func isArmor(line string) bool {
	return strings.HasPrefix(line, "-----BEGIN ") || strings.HasPrefix(line, "-----END ") ||
		!strings.ContainsFunc(line, func(r rune) bool {
			return r >= 0x80 || r < 0x80 && isNameByte(byte(r)) && r != '-' && r != '_' && r != '.'
		})
}

// passwords returns the credentials in a secret of one line.
func passwords(s secret) (found []secret) {
	var values []string
	for _, c := range credentialsIn(s.value, false) {
		values = append(values, c.value)
	}
	if !strings.Contains(s.value, "://") {
		values = append(values, accountPassword(s.value)...)
	}
	values = append(values, keywordPasswords(s.value)...)
	for _, value := range append(values, authorization(s.value)...) {
		found = append(found, secret{s.name, value})
	}
	return found
}

// authorization returns the credential in the value of an Authorization header, such as Bearer …, and the password in that of
// Basic … (RFC 9110, section 11.4; RFC 7617).
func authorization(value string) (found []string) {
	scheme, credential, ok := strings.Cut(value, " ")
	credential = strings.TrimSpace(credential)
	if !ok || credential == "" || strings.Contains(credential, " ") || isPlaceholder(credential) {
		return nil
	}
	for _, known := range [...]string{"Bearer", "Basic", "Token", "ApiKey", "DPoP"} {
		if strings.EqualFold(scheme, known) {
			found = append(found, credential)
		}
	}
	if strings.EqualFold(scheme, "Basic") {
		pair, err := base64.StdEncoding.DecodeString(credential)
		if _, password, ok := strings.Cut(string(pair), ":"); err == nil && ok {
			found = append(found, password)
		}
	}
	return found
}

// credentialsIn returns the credentials in a text as they are written, and unescaped. Of user and password in a URL it returns
// the password. They have the names under which Named shows them in that text. With cookies the whole text is the value of a
// Cookie or Set-Cookie header.
func credentialsIn(text string, cookies bool) (found []secret) {
	if !mayHaveCredentials(text) {
		return nil
	}
	for _, sp := range findCredentials(text, cookies).spans {
		credential, rest := text[sp.start:sp.end], text[sp.end:]
		if strings.HasPrefix(rest, "@") {
			credential = afterUser(credential)
		}
		found = append(found, secret{sp.name, credential})
		if plain, err := url.QueryUnescape(credential); err == nil && plain != credential {
			found = append(found, secret{sp.name, plain})
		}
		for range maxNested {
			plain, err := url.PathUnescape(credential)
			if err != nil || plain == credential {
				break
			}
			if credential = plain; strings.HasPrefix(rest, "%") { // an encoded @
				plain = afterUser(plain)
			}
			found = append(found, secret{sp.name, plain})
		}
	}
	return found
}

// afterUser returns the password of user:password, or a text without a colon itself.
func afterUser(userinfo string) string {
	if _, password, ok := strings.Cut(userinfo, ":"); ok {
		return password
	}
	return userinfo
}

// accountPassword returns the password of user:password@host, as in user:password@tcp(host)/database.
func accountPassword(value string) []string {
	at := strings.LastIndexByte(value, '@')
	if at < 0 || at+1 == len(value) || !isNameByte(value[at+1]) && value[at+1] != '[' && value[at+1] != '/' && value[at+1] != '(' {
		return nil
	}
	user, password, ok := strings.Cut(value[:at], ":")
	if !ok || password == "" || strings.ContainsAny(user, " \t\"'=;,/") || isPlaceholder(password) {
		return nil
	}
	return []string{password}
}

// keywordPasswords returns the passwords of Server=…;Password=…; and of host=… password=….
func keywordPasswords(value string) (found []string) {
	ends := " \t;"
	if strings.Contains(value, ";") {
		ends = ";"
	}
	for at := 0; at < len(value); {
		i := strings.IndexByte(value[at:], '=')
		if i < 0 {
			return found
		}
		name := value[at : at+i]
		if cut := strings.LastIndexAny(strings.TrimRight(name, " \t"), ends+"&?"); cut >= 0 {
			name = name[cut+1:]
		}
		at += i + 1
		for at < len(value) && value[at] == ' ' {
			at++
		}
		start, end := at, 0
		if at < len(value) && strings.IndexByte(`"'{`, value[at]) >= 0 {
			closing := value[at]
			if closing == '{' {
				closing = '}'
			}
			start++
			end = strings.IndexByte(value[start:], closing)
		} else {
			end = strings.IndexAny(value[start:], ends)
		}
		if end < 0 {
			end = len(value) - start
		}
		end += start
		at = end
		if password := value[start:end]; password != "" && isPasswordKeyword(strings.TrimSpace(name)) && !isPlaceholder(password) {
			found = append(found, password)
		}
	}
	return found
}

// isPasswordKeyword reports whether a keyword of a connection string has a password as its value.
func isPasswordKeyword(name string) bool {
	return SecretName(strings.ReplaceAll(name, " ", "_")) || strings.EqualFold(name, "pwd") || strings.EqualFold(name, "AccountKey")
}
