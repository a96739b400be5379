package veloflux

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

func TestMessagesWithoutSQL(t *testing.T) {
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
			"its beginning and more", "SELECT 1",
			Error{Code: CodeManagerHTTP, Message: "it said: " + strings.Repeat("word ", 300) + "… and more", Details: map[string]any{"response": strings.Repeat("word ", 900)}},
			"it said: <redacted>",
		},
		{"none of it", "SELECT 1", Error{Code: CodeManagerHTTP, Message: "the answer is no list", Details: map[string]any{"response": "SELECT 1"}}, "the answer is no list"},
		{"the planner in other words", "SELECT nosuch FROM user", Error{Code: CodePlanner, Message: "There is no column nosuch", Details: map[string]any{"response": "Column not found: nosuch", "line": json.Number("2")}}, "<redacted> at line 2"},
		{"the planner alone", "SELECT nosuch FROM user", Error{Code: CodePlanner, Message: "There is no column nosuch"}, "<redacted>"},
		{"the arguments", "SELECT 1", Error{Code: CodeInvalidParams, Message: `pipelines.create has no argument "SELECT 1"`}, "<redacted>"},
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
