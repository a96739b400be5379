package cli

import (
	"os"
	"strings"
)

// texted is a part of a document with texts that may name files. MapTexts replaces each by what edit returns for it.
type texted interface {
	MapTexts(edit func(string) string)
}

// withoutPaths returns a function that replaces paths of this machine in a text for a reader with tools, who cannot open them: those
// in pflow's home begin with $PFLOW_HOME, those in the working directory are relative, and those in the user's folder begin with ~.
func (a *App) withoutPaths() func(string) string {
	if !a.Reader.HasTools() {
		return nil
	}
	type folder struct{ path, name string }
	var folders []folder
	add := func(path, name string) {
		if path = strings.TrimRight(path, "/"); strings.Contains(strings.TrimPrefix(path, "/"), "/") { // not / and not /tmp
			folders = append(folders, folder{path, name})
		}
	}
	user, pflow := a.Getenv("HOME"), a.Getenv("PFLOW_HOME")
	if pflow == "" && user != "" {
		pflow = user + "/.pflow"
	}
	add(pflow, "$PFLOW_HOME")
	if dir, err := os.Getwd(); err == nil {
		add(dir, ".")
	}
	add(user, "~")
	return func(text string) string {
		for _, f := range folders {
			text = renameFolder(text, f.path, f.name)
		}
		return text
	}
}

// renameFolder replaces the path of a folder in a text, where it is a path or the beginning of one. The name . is left out before
// what is inside the folder.
func renameFolder(text, path, name string) string {
	var out strings.Builder
	rest := text
	for {
		before, after, found := strings.Cut(rest, path)
		if !found {
			break
		}
		out.WriteString(before)
		written := out.String()
		switch {
		case written != "" && inPath(written[len(written)-1]) || after != "" && after[0] != '/' && inPath(after[0]) && !sentenceEnd(after):
			out.WriteString(path) // the end or the beginning of another name
		case name == "." && len(after) > 1 && after[0] == '/' && inPath(after[1]):
			after = after[1:]
		default:
			out.WriteString(name)
		}
		rest = after
	}
	out.WriteString(rest)
	return out.String()
}

// inPath reports whether a byte belongs to a path rather than ends it.
func inPath(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 || strings.IndexByte("/._-+~", c) >= 0
}

// sentenceEnd reports whether a text begins with the full stop of a sentence.
func sentenceEnd(text string) bool {
	return text[0] == '.' && (len(text) == 1 || text[1] == ' ' || text[1] == '\n')
}
