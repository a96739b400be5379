package suitetools

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// forRuns names the tools of runs in an answer of a server without execute where it would name execute. Commands name only the tools of
// the default toolset. Suggestions that name other tools which are not served are left out. Outputs are not touched.
func (f *Front) forRuns(r *mcpserver.Result) *mcpserver.Result {
	if f.serves(DefaultToolset) {
		return r
	}
	for _, field := range []string{"next", "resume", "error"} {
		text := gjson.GetBytes(r.Structured, field).Raw
		reworded := f.servedOnly(json.RawMessage(namingRuns(text)))
		if text == "" || string(reworded) == text || !json.Valid(reworded) {
			continue
		}
		if changed, err := sjson.SetRawBytes(r.Structured, field, reworded); err == nil {
			r.Structured = changed
		}
	}
	return r
}

// serves reports whether a toolset is served.
func (f *Front) serves(name string) bool {
	return slices.ContainsFunc(f.chosen(), func(t toolset) bool { return t.name == name })
}

// servedOnly returns a fault without the suggestions that name a tool of the default toolset.
func (f *Front) servedOnly(fault json.RawMessage) json.RawMessage {
	suggestions := gjson.GetBytes(fault, "suggestions")
	if !suggestions.IsArray() {
		return fault
	}
	kept := []string{}
	for _, s := range suggestions.Array() {
		if !slices.ContainsFunc(f.core(), func(tool mcpserver.Tool) bool { return slices.Contains(strings.FieldsFunc(s.Str, notName), tool.Name) }) {
			kept = append(kept, s.Str)
		}
	}
	changed, err := sjson.SetBytes(fault, "suggestions", kept)
	if err != nil {
		return fault
	}
	for i, inner := range gjson.GetBytes(fault, "errors").Array() {
		if next, err := sjson.SetRawBytes(changed, "errors."+strconv.Itoa(i), f.servedOnly(json.RawMessage(inner.Raw))); err == nil {
			changed = next
		}
	}
	return changed
}

// notName reports whether a character cannot be in the name of a tool.
func notName(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }

// namingRuns replaces in JSON text what calls execute by what calls run_resume, or the workflow's own tool.
func namingRuns(text string) string {
	for _, p := range executePhrases() {
		text = p.phrase.ReplaceAllString(text, p.instead)
	}
	return text
}

type phrase struct {
	phrase  *regexp.Regexp
	instead string
}

// resuming is how commands name a call of execute that goes on from a run.
const resuming = `execute with (?:(?:the same name|name \\"[^"\\]*\\"),? (?:and )?)?resume \\"(r[0-9a-z]+)\\"`

// executePhrases are the phrases with which commands name execute, as JSON text.
var executePhrases = sync.OnceValue(func() []phrase {
	return []phrase{
		{regexp.MustCompile(resuming + ` (to wait for its end|to get its result)`), `run_wait with run_id \"$1\" $2`},
		{regexp.MustCompile(resuming), `run_resume with run_id \"$1\"`},
		{regexp.MustCompile(`execute with another idempotency_key`), `its tool with another pflow/idempotency_key in _meta`},
		{regexp.MustCompile(`of an answer of execute`), `of an answer`},
		{regexp.MustCompile(`, leave out the run to go on from`), `, call its tool`},
		{regexp.MustCompile(`execute without resume`), `the workflow's tool`},
	}
})
