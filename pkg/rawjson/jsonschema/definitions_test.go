//go:build !race

package jsonschema

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/cputime"
	"github.com/pflow-suite/pflow/internal/definitions"
)

// slowest is the most CPU time that the check of a call may take, by any schema that a server sends. The slowest take 100 ms.
const slowest = 5 * time.Second

// The input schemas of tools allow the arguments that they are meant for, and checking a call takes no time in which a person waits.
func TestForeignSchemasOfTools(t *testing.T) {
	for _, d := range definitions.Make(1, 2000) {
		checkCall(t, d.Tool, d.Arguments, true)
	}
}

func checkCall(t *testing.T, tool, arguments json.RawMessage, fits bool) {
	t.Helper()
	input := gjson.GetBytes(tool, "inputSchema")
	if !input.IsObject() {
		return
	}
	took := cputime.Of(func() {
		s := CompileForeign(json.RawMessage(input.Raw))
		if s == nil {
			return
		}
		if v := s.Check(arguments); v != nil && fits {
			t.Errorf("%s\ndoes not allow %s: %s must %s", input.Raw, arguments, v.Path, v.Must)
		}
		gjson.ParseBytes(arguments).ForEach(func(name, value gjson.Result) bool {
			if v := s.CheckMember(name.Str, json.RawMessage(value.Raw)); v != nil && fits {
				t.Errorf("%s\ndoes not allow %s in %s: %s must %s", input.Raw, name, arguments, v.Path, v.Must)
			}
			return true
		})
	})
	if took > slowest {
		t.Errorf("%.300s takes %v", tool, took)
	}
}

func FuzzForeignSchemaOfATool(f *testing.F) {
	for _, d := range definitions.Make(2, 200) {
		f.Add([]byte(d.Tool), []byte(d.Arguments))
	}
	f.Fuzz(func(t *testing.T, tool, arguments []byte) {
		if json.Valid(tool) && json.Valid(arguments) && len(arguments) < 1<<16 {
			checkCall(t, tool, arguments, false)
		}
	})
}
