package runner

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// readEnvFile reads the variables of a file of KEY=VALUE lines, for the environment of a run. Blank lines and those that
// begin with # say nothing, and an export before the key is passed over. A value in single quotes is what stands between
// them; in double quotes \n, \t, \", \$ and \\ are what they are in a shell; both may go over several lines. One without
// quotes ends with its line, or before a # that follows a blank. Nothing is expanded.
func readEnvFile(host *Host, name string) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	content, err := host.Read(name)
	if err != nil {
		return nil, err
	}
	return parseEnvFile(name, content)
}

func parseEnvFile(name string, content []byte) ([]string, error) {
	p := &envFile{name: name, rest: string(bytes.TrimPrefix(content, []byte("\ufeff"))), line: 1}
	if !utf8.Valid(content) || strings.ContainsRune(p.rest, 0) {
		return nil, fault.New(fault.Usage, "%s is no text", name).Suggest("An environment file has a KEY=VALUE a line")
	}
	var env []string
	for p.rest != "" {
		kv, err := p.next()
		if err != nil {
			return nil, err
		}
		if kv != "" {
			env = append(env, kv)
		}
	}
	return env, nil
}

// envFile is what is left of a file, and the number of its first line.
type envFile struct {
	name, rest string
	line       int
}

// next takes a line, and those that a quoted value goes on over. It is empty for a line that says nothing.
func (p *envFile) next() (string, error) {
	line, _, _ := strings.Cut(p.rest, "\n")
	text := strings.TrimLeft(line, " \t")
	if bare := strings.TrimRight(text, "\r \t"); bare == "" || bare[0] == '#' {
		p.take(len(line))
		return "", nil
	}
	if rest, ok := strings.CutPrefix(text, "export "); ok {
		text = strings.TrimLeft(rest, " \t")
	}
	key, value, ok := strings.Cut(text, "=")
	if key = strings.TrimRight(key, " \t"); !ok || !envName(key) {
		return "", p.fault("is no KEY=VALUE")
	}
	value = strings.TrimLeft(value, " \t")
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		p.take(len(line) - len(value))
		value, err := p.quoted()
		return key + "=" + value, err
	}
	p.take(len(line))
	if i := strings.Index(" "+strings.ReplaceAll(value, "\t", " "), " #"); i >= 0 {
		value = value[:max(0, i-1)]
	}
	return key + "=" + strings.TrimRight(value, "\r \t"), nil
}

// take passes over so many bytes, and the end of the line when that is there.
func (p *envFile) take(n int) {
	p.line += strings.Count(p.rest[:n], "\n")
	if p.rest = p.rest[n:]; strings.HasPrefix(p.rest, "\n") {
		p.rest = p.rest[1:]
		p.line++
	}
}

// quoted takes a value in quotes, and what may stand behind it on its line.
func (p *envFile) quoted() (string, error) {
	quote := p.rest[0]
	var value strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == quote:
			behind, _, _ := strings.Cut(p.rest[i+1:], "\n")
			if said := strings.TrimSpace(behind); said != "" && said[0] != '#' {
				return "", p.fault("has something behind the closing quote")
			}
			p.take(i + 1 + len(behind))
			return value.String(), nil
		case c == '\\' && quote == '"' && i+1 < len(p.rest):
			i++
			switch c := p.rest[i]; c {
			case 'n':
				value.WriteByte('\n')
			case 't':
				value.WriteByte('\t')
			case '"', '\\', '$', '`':
				value.WriteByte(c)
			default:
				value.WriteString(`\` + string(c))
			}
		default:
			value.WriteByte(c)
		}
	}
	return "", p.fault("has a quote that is not closed")
}

// fault says what is wrong with a line, but not what stands there: it may be a secret.
func (p *envFile) fault(what string) error {
	f := fault.New(fault.Usage, "Line %d of %s %s", p.line, p.name, what).Suggest("An environment file has a KEY=VALUE a line, and # before what is only said")
	f.File, f.Line = p.name, p.line
	return f
}

// envName says whether a text is the name of a variable.
func envName(s string) bool {
	for i, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9' || i == 0) {
			return false
		}
	}
	return s != ""
}
