package runner

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// restoreLiterals returns the definition that a run has stored with the secrets that are written in the workflow's file, which the
// run has not stored. It reads them from the same places of that file. The file may have changed elsewhere.
func restoreLiterals(host *Host, run string, stored []byte, from event.Workflow) ([]byte, error) {
	ref := from.Path
	if ref == "" {
		ref = from.Name
	}
	need := func(format string, args ...any) *fault.Fault {
		f := fault.New(fault.Usage, "Run %s needs a secret that was written in "+format, append([]any{run}, args...)...)
		f.File = ref
		return f.Suggest("Give a workflow that has the secret").Suggest(`For later runs, declare an input with "secret": true: its value can be given on a resume`).
			Then(fault.Step{Do: fault.DoResume, Run: run, Workflow: true})
	}
	if ref == "-" || ref == "" {
		return nil, need("a workflow from standard input")
	}
	file, _, err := library.Open(host.Home).Open(ref, from.Path == "", "", host.Read)
	if err != nil {
		cause := fault.From(err)
		if cause.Type == fault.Security {
			return nil, err
		}
		return nil, need("the workflow %s: %s", ref, cause.Message)
	}
	whole, path := restored(gjson.ParseBytes(stored), gjson.ParseBytes(file.JSON()), "")
	if whole == nil {
		f := need("the workflow %s, where %s has another value now", ref, path)
		f.Path = path
		return nil, f
	}
	return whole, nil
}

// restored returns a JSON value with the strings of another in place of those that have marks. If the other has no such string
// at the place of one, restored returns nil and the place.
func restored(stored, file gjson.Result, path string) (json.RawMessage, string) {
	switch {
	case !strings.Contains(stored.Raw, redact.Mark):
		return json.RawMessage(stored.Raw), ""
	case stored.IsObject() && file.IsObject():
		return restoredObject(stored, file, path)
	case stored.IsArray() && file.IsArray():
		return restoredList(stored, file, path)
	case stored.Type == gjson.String && file.Type == gjson.String && stoodFor(stored.Str, file.Str),
		stored.Str == redact.Mark && file.Type == gjson.Number:
		return json.RawMessage(file.Raw), ""
	}
	return nil, path
}

func restoredObject(stored, file gjson.Result, path string) (whole json.RawMessage, where string) {
	fresh := file.Map()
	whole = json.RawMessage("{")
	stored.ForEach(func(key, value gjson.Result) bool {
		name := key.Str
		if strings.Contains(name, redact.Mark) {
			for candidate := range fresh {
				if stoodFor(key.Str, candidate) {
					name = candidate
				}
			}
		}
		at := rawjson.JoinPath(path, name)
		var v json.RawMessage
		if v, where = restored(value, fresh[name], at); v == nil || strings.Contains(name, redact.Mark) && name == key.Str && !fresh[name].Exists() {
			whole = nil
			if where == "" {
				where = at
			}
			return false
		}
		if len(whole) > 1 {
			whole = append(whole, ',')
		}
		whole = append(append(append(whole, rawjson.Quote(name)...), ':'), v...)
		return true
	})
	if whole == nil {
		return nil, where
	}
	return append(whole, '}'), ""
}

// restoredList takes objects with an id, which nodes have, from the one with the same id, and other values from the same place.
func restoredList(stored, file gjson.Result, path string) (json.RawMessage, string) {
	fresh := file.Array()
	byID := map[string]gjson.Result{}
	for _, item := range fresh {
		if id := item.Get("id"); id.Type == gjson.String {
			byID[id.Str] = item
		}
	}
	whole := json.RawMessage("[")
	for i, item := range stored.Array() {
		other, ok := byID[item.Get("id").Str]
		if !ok && i < len(fresh) {
			other = fresh[i]
		}
		v, where := restored(item, other, fmt.Sprintf("%s[%d]", path, i))
		if v == nil {
			return nil, where
		}
		if i > 0 {
			whole = append(whole, ',')
		}
		whole = append(whole, v...)
	}
	return append(whole, ']'), ""
}

// stoodFor reports whether a text with marks is the other one with marks in place of literals.
func stoodFor(marked, text string) bool {
	parts := strings.Split(marked, redact.Mark)
	rest, ok := strings.CutPrefix(text, parts[0])
	for i, part := range parts[1:] {
		if !ok {
			return false
		}
		at := strings.Index(rest, part)
		if i == len(parts)-2 { // the last part is at the end
			at = len(rest) - len(part)
			ok = strings.HasSuffix(rest, part)
		}
		if at < 0 || !ok || at == 0 || strings.Contains(rest[:at], "${") {
			return false
		}
		rest = rest[at+len(part):]
	}
	return ok && rest == ""
}
