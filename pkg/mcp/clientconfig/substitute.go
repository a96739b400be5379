package clientconfig

import (
	"path/filepath"
	"strings"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
)

// text translates what a client replaces in a text to what this suite replaces: ${NAME} and ${NAME:-default}, variables of the
// environment. It fails if the client replaces something that has no counterpart, and if this suite would replace something that
// the client does not.
func (t *translation) text(place, from string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(from, "$")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		from = after
		if name := leadingName(from); name != "" && t.client == gemini {
			b.WriteString("${" + name + "}")
			from = from[len(name):]
			continue
		}
		inner, rest, closed := strings.Cut(strings.TrimPrefix(from, "{"), "}")
		if !strings.HasPrefix(from, "{") || !closed {
			b.WriteByte('$')
			continue
		}
		if to, known := t.reference(place, inner); known {
			b.WriteString(to)
			from = rest
			continue
		}
		if refers("${" + inner + "}") {
			t.fail("%s has a ${…} that %s takes as it is, and that would be replaced here", place, t.client)
		}
		b.WriteByte('$')
	}
}

// reference translates what stands between ${ and }. It returns false if the client takes it as it is.
func (t *translation) reference(place, inner string) (to string, known bool) {
	same := "${" + inner + "}"
	kind, argument, _ := strings.Cut(inner, ":")
	switch t.client {
	case claudeCode:
		if inner == "CLAUDE_PROJECT_DIR" && t.project != "" {
			return t.literal(place, t.project), true
		}
		return same, kind != "env" && refers(same)
	case gemini:
		return same, kind != "env" && refers(same)
	case cursor, vscode:
	default:
		return "", false
	}
	switch kind {
	case "env":
		return t.variable(place, argument), true
	case "userHome":
		return "${HOME}", true
	case "pathSeparator", "/":
		return string(filepath.Separator), true
	case "workspaceFolder", "workspaceFolderBasename", "cwd":
		if t.project == "" || argument != "" {
			t.fail("%s has ${%s}, the folder that is open in the client", place, kind)
			return "", true
		}
		folder := t.project
		if kind == "workspaceFolderBasename" {
			folder = filepath.Base(folder)
		}
		return t.literal(place, folder), true
	case "input":
		return t.answer(place, argument), true
	case "config", "command", "file", "relativeFile", "fileBasename", "fileDirname", "selectedText", "execPath":
		t.fail("%s has ${%s}, which only the client knows", place, kind)
		return "", true
	}
	return "", false
}

// literal returns a text that must not be replaced here.
func (t *translation) literal(place, value string) string {
	if refers(value) {
		t.fail("%s has a ${…} in it, which would be replaced here", place)
	}
	return value
}

// refers reports whether this suite replaces anything in a text.
func refers(text string) (found bool) {
	mcpclient.Server{Command: text}.Expand(func(string) (string, bool) { found = true; return "", true })
	return found
}

// leadingName returns the name of a variable at the beginning of a text.
func leadingName(text string) string {
	rest := strings.TrimLeft(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789")
	if name := text[:len(text)-len(rest)]; refers("${" + name + "}") {
		return name
	}
	return ""
}
