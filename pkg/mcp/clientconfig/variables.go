package clientconfig

import (
	"fmt"
	"path/filepath"
	"strings"
)

// question is an input of VS Code, which asks the user for it when the server starts.
type question struct {
	ID          string `json:"id"`
	Type        string `json:"type"`
	Description string `json:"description"`
	Default     string `json:"default"`
	Password    bool   `json:"password"`
}

// answer returns a variable in place of the answer to a question of VS Code. Its default is that of the question.
func (t *translation) answer(place, id string) string {
	for _, q := range t.inputs {
		if q.ID != id {
			continue
		}
		if q.Type == "command" {
			t.fail("%s has an input of type command", place)
		}
		name := variableName(id)
		set := "the client asks for " + id + ", which is the variable " + name + " here: pflow-lib settings set-env"
		if q.Default == "" || q.Password {
			t.differs(set)
			return "${" + name + "}"
		}
		if strings.Contains(q.Default, "}") {
			t.fail("the default of the input %s has a }", id)
		}
		t.differs(set + ", in place of its default")
		return "${" + name + ":-" + q.Default + "}"
	}
	t.fail("%s has an input that the file does not define", place)
	return ""
}

// variableName returns a name for the variable of an input, such as GITHUB_TOKEN for github-token.
func variableName(id string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, id)
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

// variablesFile returns the variables of a file: a line NAME=VALUE each. The values are those of now.
func (t *translation) variablesFile(path string) map[string]string {
	if t.entry.Fault != nil {
		return nil
	}
	if refers(path) {
		t.fail("its envFile depends on the environment")
		return nil
	}
	if !filepath.IsAbs(path) {
		if t.project == "" {
			t.fail("its envFile is relative to the folder that is open in the client")
			return nil
		}
		path = filepath.Join(t.project, path)
	}
	data, err := t.read(path)
	if err != nil {
		t.fail("its envFile cannot be read: %v", err)
		return nil
	}
	values := map[string]string{}
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(name, " \t'\"") {
			t.fail("line %d of its envFile is not NAME=VALUE", number)
			return nil
		}
		if value, ok = unquoted(strings.TrimSpace(value)); !ok {
			t.fail("line %d of its envFile has a quote that does not end", number)
			return nil
		}
		values[name] = t.literal(fmt.Sprintf("line %d of its envFile", number), value)
	}
	t.differs("the variables of its envFile are copied as they are now")
	return values
}

// unquoted returns a value without its quotes, or without the comment behind it.
func unquoted(value string) (string, bool) {
	if value == "" {
		return "", true
	}
	quote := value[0]
	if quote != '"' && quote != '\'' && quote != '`' {
		value, _, _ = strings.Cut(value, " #")
		return strings.TrimSpace(value), true
	}
	value, rest, ok := strings.Cut(value[1:], string(quote))
	if rest = strings.TrimSpace(rest); !ok || rest != "" && rest[0] != '#' {
		return "", false
	}
	if quote == '"' {
		value = strings.NewReplacer(`\n`, "\n", `\r`, "\r").Replace(value)
	}
	return value, true
}
