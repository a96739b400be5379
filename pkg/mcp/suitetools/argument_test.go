package suitetools

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// TestArgumentsThatNoCommandLineCanHave are refused by name, before anything is started. What commands read from standard input has
// no such limits.
func TestArgumentsThatNoCommandLineCanHave(t *testing.T) {
	f := newFakes(t)
	for _, program := range []string{"pflow-lib", "pflow-exec", "pflow-sync"} {
		f.Program(program, `echo '{}'`)
	}
	front := &Front{Suite: f.suite, Toolsets: []string{"core", "drafts", "servers"}}
	called := func(tool, arguments string) *fault.Fault {
		for _, known := range front.Tools() {
			if known.Name == tool {
				var answer struct{ Error *fault.Fault }
				result := known.Call(t.Context(), &mcpserver.Call{Tool: tool, Arguments: json.RawMessage(arguments)})
				if err := json.Unmarshal(result.Structured, &answer); err != nil {
					t.Error(err)
				}
				return answer.Error
			}
		}
		t.Fatalf("there is no tool %s", tool)
		return nil
	}
	long := strings.Repeat("x", maxArgument+1)
	for _, c := range []struct {
		tool, arguments, path string
		kind                  fault.Type
	}{
		{"browse_components", `{"query":"a\u0000b"}`, "query", fault.Usage},
		{"browse_components", `{"query":"` + long + `"}`, "query", fault.TooLarge},
		{"describe_workflow", `{"name":"\u0000"}`, "name", fault.Usage},
		{"list_library", `{"pattern":"a","cursor":"c\u0000"}`, "cursor", fault.Usage},
		{"execute", `{"name":"x","idempotency_key":"\u0000"}`, "idempotency_key", fault.Usage},
		{"execute", `{"name":"x","resume":"last","answers":{"a":"y\u0000"}}`, "answers.a", fault.Usage},
		{"execute", `{"name":"x","resume":"last","answers":{"a\u0000":"y"}}`, "answers", fault.Usage},
		{"save_to_library", `{"draft_name":"x","final_name":"y","description":"\u0000"}`, "description", fault.Usage},
		{"write_draft", `{"name":"x\u0000","content":"\u0000"}`, "name", fault.Usage},
		{"call_server_tool", `{"server":"x","tool":"t\u0000","arguments":{"a":"\u0000"}}`, "tool", fault.Usage},
	} {
		if got := called(c.tool, c.arguments); got == nil || got.Type != c.kind || got.Path != c.path || len(got.Message) > 200 {
			t.Errorf("%s %.60s: %+v", c.tool, c.arguments, got)
		}
	}
	if got := f.Calls(); got != nil {
		t.Errorf("started %.200q", got)
	}
	for tool, arguments := range map[string]string{
		"write_draft":       `{"name":"x","content":"\u0000` + long + `"}`,
		"call_server_tool":  `{"server":"x","tool":"t","arguments":{"a":"\u0000"}}`,
		"browse_components": `{"query":"\\u0000"}`,
	} {
		if got := called(tool, arguments); got != nil {
			t.Errorf("%s: %+v", tool, got)
		}
	}
	for _, prompt := range front.Prompts("/home/drafts") {
		for _, argument := range prompt.Arguments {
			_, err := prompt.Get(t.Context(), map[string]string{argument.Name: "a\x00"})
			if got := fault.From(err); got == nil || got.Type != fault.Usage || got.Path != argument.Name {
				t.Errorf("%s: %+v", prompt.Name, got)
			}
		}
	}
}

// TestFaultsOfStartsNameTheProgram, not where it is.
func TestFaultsOfStartsNameTheProgram(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-lib", "")
	for _, arg := range []string{"\x00", strings.Repeat("x", 1<<20)} {
		_, err := f.suite.Run(t.Context(), suite.Command{Program: "pflow-lib", Args: []string{arg}})
		if err == nil || strings.Contains(err.Error(), f.Dir) || !strings.Contains(err.Error(), "pflow-lib") {
			t.Errorf("%v", err)
		}
	}
}
