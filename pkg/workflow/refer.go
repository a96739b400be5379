package workflow

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Reference is a value in a workflow that stands for the content of a file.
type Reference struct {
	// Path is the JSON path of the value, such as nodes[1].params.prompt, and Node the id of its node. Node is empty for an output.
	Path string
	Node string
	// Ref is the value, a path that is relative to the folder of the workflow's file.
	Ref string
	// Command is set for a command: an executable file, or one that does not exist, is not read but run.
	Command bool
	// Data is set if the file holds YAML or JSON. The content of any other file is text.
	Data bool
	// Plain is set for a path that does not begin with ./ or ../, which is text. A file may have been meant.
	Plain bool
}

// referring lists the parameters that can refer to a file, and reports for each whether the file holds data.
var referring = map[string]bool{
	"command": false, "code": false, "prompt": false, "stdin": false, "source": false, "headers": true, "output_schema": true,
}

// References lists the values of a workflow, and of workflows inside it, that refer to files, in the order of the file.
func (f *File) References() []Reference {
	w := gjson.ParseBytes(f.JSON())
	if f.Wrapped {
		w = w.Get("ir")
	}
	return referencesIn(w, "", nil)
}

func referencesIn(w gjson.Result, prefix string, refs []Reference) []Reference {
	if strings.Count(prefix, ".params.") > MaxDepth {
		return refs
	}
	add := func(r Reference, value gjson.Result) {
		r.Ref = value.Str
		if r.Plain = !isReference(value.Str); value.Type == gjson.String && (!r.Plain || mayBeReference(value.Str)) {
			refs = append(refs, r)
		}
	}
	i := -1
	w.Get("nodes").ForEach(func(_, node gjson.Result) bool {
		i++
		at := item(prefix+"nodes", i)
		id := node.Get("id").Str
		add(Reference{Path: at + ".batch", Node: id, Data: true}, node.Get("batch"))
		params := node.Get("params")
		if !params.Exists() {
			params = node.Get("parameters")
		}
		params.ForEach(func(key, value gjson.Result) bool {
			path := rawjson.JoinPath(at+".params", key.Str)
			if data, ok := referring[key.Str]; ok {
				add(Reference{Path: path, Node: id, Command: key.Str == "command", Data: data}, value)
			}
			if value.IsObject() && node.Get("type").Str == SubType && slices.Contains(SubParams, key.Str) {
				refs = referencesIn(value, path+".", refs)
			}
			return true
		})
		return true
	})
	w.Get("outputs").ForEach(func(key, output gjson.Result) bool {
		add(Reference{Path: rawjson.JoinPath(prefix+"outputs", key.Str) + ".source"}, output.Get("source"))
		return true
	})
	return refs
}

// isReference reports whether a value refers to a file: it begins with ./ or ../ and has no template and no white space.
func isReference(value string) bool {
	return (strings.HasPrefix(value, "./") || strings.HasPrefix(value, "../")) && !strings.Contains(value, "${") &&
		!strings.ContainsFunc(value, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}

// mayBeReference reports whether a value could be the path of a file that lacks the ./ before it, as in prompts/first.md.
func mayBeReference(value string) bool {
	return strings.ContainsAny(value, "/.") && !strings.HasPrefix(value, "/") && len(value) < 256 && isReference("./"+value)
}
