package suitetools

import (
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

func TestNamingRuns(t *testing.T) {
	for text, want := range map[string]string{
		`"Call execute with name \"w\" and resume \"r01\" to wait"`:              `"Call run_resume with run_id \"r01\" to wait"`,
		`"call execute with the same name, resume \"r01\" and answers {}"`:       `"call run_resume with run_id \"r01\" and answers {}"`,
		`"call execute with the same name and resume \"r01\" to wait"`:           `"call run_resume with run_id \"r01\" to wait"`,
		`"Call execute with resume \"r01\" to get its result"`:                   `"Call run_wait with run_id \"r01\" to get its result"`,
		`"For a new run of w, call execute with another idempotency_key"`:        `"For a new run of w, call its tool with another pflow/idempotency_key in _meta"`,
		`"Call execute without resume: a new run has the folder of pflow-serve"`: `"Call the workflow's tool: a new run has the folder of pflow-serve"`,
	} {
		if got := namingRuns(text); got != want {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}

// Outputs are a workflow's own, and a server with execute names execute.
func TestOnlyOwnTextsAreReworded(t *testing.T) {
	const answer = `{"outputs":{"x":"Call execute with resume \"r01\""},"next":"Call execute with resume \"r01\""}`
	for toolsets, want := range map[string]string{
		"runs": `{"outputs":{"x":"Call execute with resume \"r01\""},"next":"Call run_resume with run_id \"r01\""}`, "core,runs": answer,
	} {
		f := &Front{Toolsets: strings.Split(toolsets, ",")}
		if got := f.forRuns(&mcpserver.Result{Structured: []byte(answer)}); string(got.Structured) != want {
			t.Errorf("%s: %s", toolsets, got.Structured)
		}
	}
}

// A suggestion that names a tool which is not served is of no use.
func TestSuggestionsNameServedToolsOnly(t *testing.T) {
	const answer = `{"error":{"message":"x","suggestions":["Did you mean \"shell\"?","browse_components finds node types by words"],"errors":[{"suggestions":["Call execute with name \"w\"","Write it"]}]}}`
	f := &Front{Toolsets: []string{"workflows"}}
	want := `{"error":{"message":"x","suggestions":["Did you mean \"shell\"?"],"errors":[{"suggestions":["Write it"]}]}}`
	if got := f.forRuns(&mcpserver.Result{Structured: []byte(answer)}); string(got.Structured) != want {
		t.Errorf("%s", got.Structured)
	}
}
