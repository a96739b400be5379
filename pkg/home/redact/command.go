package redact

import (
	"slices"
	"strings"
)

// maxShells limits how deep a text inside a text of a command line is split into words.
const maxShells = 4

// Command returns the words of a command line with <redacted> in place of the credentials in them: the values of environment
// flags (-e NAME=VALUE), of headers (--header 'Name: value') and of flags and assignments with the names of credentials, the
// credential behind Bearer and Basic, and those in URLs as URL finds them. The words of a word, as of that after sh -c, are
// searched too. ${VAR} stays as it is.
func Command(words []string) []string {
	out := slices.Clone(words)
	for i, spans := range searchCommand(words).spans {
		out[i] = replace(words[i], spans, plain)
	}
	return out
}

// AddCommand makes the credentials in a command line, as Command finds them, secrets.
func (r *Redactor) AddCommand(words []string) {
	c := searchCommand(words)
	var found []secret
	for i, spans := range c.spans {
		for _, sp := range spans {
			if sp.name != "" { // the value of a variable or a header with a harmless name would be found in texts about other things
				found = append(found, secret{sp.name, strings.Trim(words[i][sp.start:sp.end], `"'`)})
			}
		}
	}
	r.learn(found)
}

// EntryName reports whether a variable, header, flag or parameter of this name in the entry of a server has a credential. There are
// more such names than secret names, because an entry has few values that are something else.
func EntryName(name string) bool {
	name = strings.TrimRight(name, "0123456789_-.")
	if PlaceToken(name) {
		return false
	}
	if isCredentialName(name) || isSessionName(name) {
		return true
	}
	word, _ := lastWord(name)
	word = strings.ToLower(word)
	if slices.Contains([]string{"pat", "pass", "pwd", "key", "auth", "cookie", "cred", "creds", "jwt", "pin", "passcode", "sig", "signature", "dsn", "bearer"}, word) {
		return true
	}
	for _, end := range []string{"password", "passwd", "secret", "token", "apikey", "accesskey", "secretkey"} {
		if strings.HasSuffix(word, end) {
			return true
		}
	}
	return false
}

// word is a part of an argument of a command line.
type word struct{ arg, start, end int }

// command finds credentials in a command line.
type command struct {
	args  []string
	spans [][]span // of each argument
}

func searchCommand(args []string) *command {
	c := &command{args: args, spans: make([][]span, len(args))}
	words := make([]word, len(args))
	for i, arg := range args {
		words[i] = word{i, 0, len(arg)}
	}
	c.words(words, 0)
	for i := range c.spans {
		c.spans[i] = united(nil, c.spans[i])
	}
	return c
}

func (c *command) text(w word) string { return c.args[w.arg][w.start:w.end] }

// What the value of a flag is.
const (
	otherFlag = iota
	secretFlag
	headerFlag
	variableFlag
)

func kindOf(flag string) int {
	name := strings.TrimLeft(flag, "-")
	switch {
	case flag == "-H", strings.EqualFold(name, "header"), strings.EqualFold(name, "headers"):
		return headerFlag
	case flag == "-e", strings.EqualFold(name, "env"):
		return variableFlag
	case len(name) > 1 && EntryName(name):
		return secretFlag
	}
	return otherFlag
}

// isShellFlag reports whether a flag of a shell has a command as its value, as -c and -lc.
func isShellFlag(flag string) bool {
	return len(flag) > 1 && len(flag) < 6 && flag[0] == '-' && flag[1] != '-' && flag[len(flag)-1] == 'c'
}

// words searches a list of words.
func (c *command) words(list []word, depth int) {
	pairs := false // the value of a header or a variable is the word behind its name
	for i := 0; i < len(list); i++ {
		w := list[i]
		text := c.text(w)
		pairs = pairs || strings.Contains(text, "mcp-proxy")
		next := func() (word, bool) {
			if i+1 == len(list) || strings.HasPrefix(c.text(list[i+1]), "--") {
				return word{}, false
			}
			i++
			return list[i], true
		}
		bare := strings.Trim(text, `"':\`)
		switch {
		case isScheme(bare), strings.HasSuffix(text, ":") && EntryName(bare), strings.HasSuffix(text, `":`) && EntryName(bare):
			if i+1 < len(list) && !isScheme(strings.Trim(c.text(list[i+1]), `"'\`)) {
				if value, ok := next(); ok {
					c.hide(bare, value)
				}
			}
			continue
		case i > 0 && depth < maxShells && isShellFlag(c.text(list[i-1])):
			if parts := c.split(w); len(parts) > 1 {
				c.words(parts, depth+1)
				continue
			}
			fallthrough
		case !strings.HasPrefix(text, "-"):
			c.free(w, depth)
			continue
		}
		flag, _, assigned := strings.Cut(text, "=")
		value := word{w.arg, w.start + len(flag) + 1, w.end}
		kind := kindOf(flag)
		switch { // -eNAME=VALUE, -HName: value
		case kind == otherFlag && strings.HasPrefix(text, "-e") && assigned && flag == strings.ToUpper(flag[:1])+"e"+strings.ToUpper(flag[2:]):
			kind, value.start = variableFlag, w.start+2
		case kind == otherFlag && strings.HasPrefix(text, "-H") && strings.Contains(text, ":"):
			kind, assigned, value.start = headerFlag, true, w.start+2
		}
		if kind == otherFlag {
			c.free(w, depth)
			continue
		}
		if !assigned {
			var ok bool
			if value, ok = next(); !ok {
				continue
			}
		}
		switch kind {
		case secretFlag:
			c.hide(strings.TrimLeft(flag, "-"), value)
		case headerFlag, variableFlag:
			separators := "="
			if kind == headerFlag {
				separators = ":="
			}
			at := strings.IndexAny(c.text(value), separators)
			switch name := c.text(value); {
			case strings.HasPrefix(name, "{"):
				c.free(value, depth)
			case at >= 0:
				c.named(strings.Trim(name[:at], `"'`), word{value.arg, value.start + at + 1, value.end})
			case pairs:
				if value, ok := next(); ok {
					c.named(name, value)
				}
			default:
				c.free(value, depth)
			}
		}
	}
}

// free searches a word that is not the value of a flag.
func (c *command) free(w word, depth int) {
	text := c.text(w)
	for _, sp := range defaults(text) {
		c.add(w, sp)
	}
	if strings.Contains(text, "://") {
		for _, sp := range urlSpans(text) {
			c.add(w, sp)
		}
	}
	quotes := len(text) - len(strings.TrimLeft(text, `"'\-`))
	n := quotes
	for n < len(text) && isNameByte(text[n]) {
		n++
	}
	if name := text[quotes:n]; name != "" {
		at := n + len(text[n:]) - len(strings.TrimLeft(text[n:], `"'\`))
		if at < len(text) && (text[at] == '=' || text[at] == ':') && EntryName(name) && at+1 < len(text) {
			c.hide(name, word{w.arg, w.start + at + 1, w.end})
			return
		}
	}
	if depth == maxShells {
		return
	}
	parts := c.split(w)
	if len(parts) > 1 || len(parts) == 1 && parts[0] != w {
		c.words(parts, depth+1)
	} else if name, value, ok := strings.Cut(text, "="); ok && strings.ContainsAny(value, " {:=") {
		c.words([]word{{w.arg, w.start + len(name) + 1, w.end}}, depth+1)
	}
}

// split returns the words of a text, as a shell and JSON separate them, without the quotes around them.
func (c *command) split(w word) (parts []word) {
	text := c.text(w)
	ends := " \t\r\n;|&()<>"
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || strings.HasPrefix(text, `\{`) {
		ends = " \t\r\n{}[],"
	}
	if strings.Contains(text, "://") && !strings.ContainsAny(text, " \t\r\n\"'") {
		return nil // the & of a query
	}
	for i := 0; i < len(text); {
		if strings.IndexByte(ends, text[i]) >= 0 {
			i++
			continue
		}
		start := i
		var quote byte
		for ; i < len(text) && (quote != 0 || strings.IndexByte(ends, text[i]) < 0); i++ {
			switch b := text[i]; {
			case b == '\\' && quote != '\'':
				i++
			case quote == 0 && (b == '"' || b == '\'' || b == '`'):
				quote = b
			case b == quote:
				quote = 0
			}
		}
		i = min(i, len(text))
		end := i
		if q := text[start]; end-start > 1 && strings.IndexByte("\"'`", q) >= 0 && strings.IndexByte(text[start+1:end], q) == end-start-2 {
			start, end = start+1, end-1
		}
		parts = append(parts, word{w.arg, w.start + start, w.start + end})
	}
	return parts
}

// named hides the value of a variable or a header. Only one with the name of a credential, or with one in it, is a secret.
func (c *command) named(name string, value word) {
	if !EntryName(name) && len(passwords(secret{name, strings.Trim(strings.TrimSpace(c.text(value)), `"'`)})) == 0 {
		name = ""
	}
	c.hide(name, value)
}

// hide hides a value, except the references in it.
func (c *command) hide(name string, value word) {
	for _, sp := range literals(c.text(value)) {
		text := strings.Trim(c.text(value)[sp.start:sp.end], `"'`)
		sp.name = name
		if !SecretName(name) && (len(text) < minValue || strings.ContainsAny(text[:1], "/.~")) { // such as true, or the path of a key
			sp.name = ""
		}
		c.add(value, sp)
	}
}

func (c *command) add(w word, sp span) {
	sp.start, sp.end = sp.start+w.start, sp.end+w.start
	sp.longest = sp.end - sp.start
	c.spans[w.arg] = append(c.spans[w.arg], sp)
}
