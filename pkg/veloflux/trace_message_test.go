package veloflux

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

func TestMessagesWithoutSQL(t *testing.T) {
	long := "SELECT " + strings.Repeat("a, ", 2000) + "b FROM user"
	tests := []struct {
		name, sql string
		failure   Error
		want      string
	}{
		{
			"the Manager's text", "SELCT 1",
			Error{Code: CodePlanner, Message: "POST /pipelines failed: HTTP 400: parse pipeline p sql: found: SELCT at Line: 1, Column 1", Details: map[string]any{"response": "parse pipeline p sql: found: SELCT at Line: 1, Column 1", "line": 1, "column": 1}},
			"POST /pipelines failed: HTTP 400: <redacted> at line 1, column 1",
		},
		{
			"its beginning", "SELECT 1",
			Error{Code: CodeManagerHTTP, Message: "it said: " + strings.Repeat("word ", 300) + "… and more", Details: map[string]any{"response": strings.Repeat("word ", 900)}},
			"it said: <redacted>… and more",
		},
		{
			"its beginning as a detail", "SELECT 1",
			Error{Code: CodeManagerHTTP, Message: "it said: " + strings.Repeat("word ", 400) + "end", Details: map[string]any{"response": strings.Repeat("word ", 400) + "…"}},
			"it said: <redacted>end",
		},
		{"the SQL", "SELECT a FROM user;", Error{Code: CodeToolFailed, Message: "I cannot read SELECT a FROM user; sorry"}, "I cannot read <redacted> sorry"},
		{"the SQL trimmed", "  SELECT a FROM user;\n", Error{Code: CodeToolFailed, Message: `not "SELECT a FROM user;"`}, `not "<redacted>"`},
		{"the SQL quoted", "SELECT\n\"a\" FROM user", Error{Code: CodeToolFailed, Message: `not "SELECT\n\"a\" FROM user"`}, `not "<redacted>"`},
		{"the SQL cut off", long, Error{Code: CodeToolFailed, Message: "not " + long[:100] + "… at all"}, "not <redacted>… at all"},
		{"short SQL", "a", Error{Code: CodeToolFailed, Message: "a sofa car: `a`"}, "<redacted> sofa car: `<redacted>`"},
		{"the planner in other words", "SELECT nosuch FROM user", Error{Code: CodePlanner, Message: "There is no column nosuch", Details: map[string]any{"response": "Column not found: nosuch", "line": json.Number("2")}}, "<redacted> at line 2"},
		{"nothing of it", "SELECT 1", Error{Code: CodeConflict, Message: "HTTP 409: p1 exists", Details: map[string]any{"line": 3}}, "HTTP 409: p1 exists"},
		{"short response", "SELECT 1", Error{Code: CodeManagerHTTP, Message: "HTTP 500: no", Details: map[string]any{"response": "no"}}, "HTTP 500: <redacted>"},
	}
	for _, tt := range tests {
		args := `{"sql":` + string(rawjson.Quote(tt.sql)) + `}`
		for _, mode := range []SQLMode{SQLHash, SQLRedact} {
			if got := messageOf(t, traced(t, mode, args, &tt.failure)); got != tt.want {
				t.Errorf("%s, %s\ngot  %s\nwant %s", tt.name, mode, got, tt.want)
			}
		}
		if got := messageOf(t, traced(t, SQLRaw, args, &tt.failure)); got != tt.failure.Message {
			t.Errorf("%s, raw: got %s", tt.name, got)
		}
	}
}
