package runner

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
)

// readEnvFile reads a file of KEY=VALUE lines as variables for the environment of a run. It ignores blank lines, lines that
// begin with #, and the word export before a key. A value in single quotes is literal. In a value in double quotes \n, \t,
// \", \$ and \\ are escapes. Both may span several lines. A value without quotes ends at the end of its line, or before a
// # that follows a blank. Nothing is expanded.
func readEnvFile(host *Host, name string) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	content, err := host.Read(name, input.MaxDocument)
	if err != nil {
		return nil, err
	}
	return parseEnvFile(name, content)
}

func parseEnvFile(name string, content []byte) ([]string, error) {
	p := &envFile{name: name, rest: string(bytes.TrimPrefix(content, []byte("\ufeff"))), line: 1}
	if !utf8.Valid(content) || strings.ContainsRune(p.rest, 0) {
		return nil, fault.New(fault.Usage, "%s is not text", name).Suggest("Write one KEY=VALUE on each line")
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

// envFile is the rest of a file, and the number of the line that it begins with.
type envFile struct {
	name, rest string
	line       int
}

// next reads a line, and the lines that a quoted value spans, and returns KEY=VALUE. It returns "" for a line without a
// variable.
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
		return "", p.fault("is not KEY=VALUE")
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

// take skips n bytes, and a newline that follows them.
func (p *envFile) take(n int) {
	p.line += strings.Count(p.rest[:n], "\n")
	if p.rest = p.rest[n:]; strings.HasPrefix(p.rest, "\n") {
		p.rest = p.rest[1:]
		p.line++
	}
}

// quoted reads a value in quotes, and a comment that may follow it on its line.
func (p *envFile) quoted() (string, error) {
	quote := p.rest[0]
	var value strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == quote:
			after, _, _ := strings.Cut(p.rest[i+1:], "\n")
			if text := strings.TrimSpace(after); text != "" && text[0] != '#' {
				return "", p.fault("has text after the closing quote")
			}
			p.take(i + 1 + len(after))
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
	return "", p.fault("has an unclosed quote")
}

// fault returns the fault of a line. It does not repeat the line, which may hold a secret.
func (p *envFile) fault(what string) error {
	f := fault.New(fault.Usage, "Line %d of %s %s", p.line, p.name, what).Suggest("Write one KEY=VALUE on each line, and # before comments")
	f.File, f.Line = p.name, p.line
	return f
}

// envName reports whether s is the name of a variable.
func envName(s string) bool {
	for i, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9' || i == 0) {
			return false
		}
	}
	return s != ""
}
