package suitetools

import (
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/pflow-suite/pflow/internal/fakeprograms"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// fakes are programs of the suite as shell scripts, with the suite that starts them.
type fakes struct {
	*fakeprograms.Folder
	suite *suite.Programs
}

func newFakes(t *testing.T) *fakes {
	t.Helper()
	f := &fakes{Folder: fakeprograms.New(t)}
	f.suite = &suite.Programs{Dir: f.Dir, Env: f.Env(), Version: "1.0", Log: slog.New(slog.DiscardHandler)}
	return f
}

func (f *fakes) front() *Front { return &Front{Suite: f.suite} }

// call calls a tool and returns its answer.
func (f *fakes) call(front *Front, name, arguments string) (answer map[string]any, result *mcpserver.Result) {
	f.Helper()
	for _, tool := range front.Tools() {
		if tool.Name == name {
			result = tool.Call(f.Context(), &mcpserver.Call{Tool: name, Arguments: json.RawMessage(arguments)})
			if schema, bad := jsonschema.Compile(tool.OutputSchema); bad != nil {
				f.Errorf("the output schema of %s: %v", name, bad)
			} else if v := schema.Check(result.Structured); v != nil {
				f.Errorf("%s answers what its output schema does not allow: %v", name, v)
			}
		}
	}
	if result == nil {
		f.Fatalf("there is no tool %s", name)
	}
	if err := json.Unmarshal(result.Structured, &answer); err != nil {
		f.Fatalf("%s answers no JSON object: %v: %s", name, err, result.Structured)
	}
	return answer, result
}

// faultOf returns the type and the message of a failed call's error.
func faultOf(answer map[string]any) (kind, message string) {
	e, _ := answer["error"].(map[string]any)
	kind, _ = e["type"].(string)
	message, _ = e["message"].(string)
	return kind, message
}
