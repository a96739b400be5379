package suitetools

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// fakes are programs of the suite as shell scripts, in a folder of their own. Each notes how it is called.
type fakes struct {
	*testing.T
	dir   string
	log   bytes.Buffer // what the suite logs
	suite *Suite
}

func newFakes(t *testing.T) *fakes {
	t.Helper()
	f := &fakes{T: t, dir: t.TempDir()}
	f.suite = &Suite{
		Dir: f.dir, Env: []string{"PATH=/usr/bin:/bin", "DIR=" + f.dir}, Version: "1.0",
		Log: slog.New(slog.NewTextHandler(&f.log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	return f
}

// program writes a program whose version is 1.0 and which otherwise does what the script says. The script does not
// see --hints=tools and --max-bytes=8192, which every call of a tool has.
func (f *fakes) program(name, script string) {
	f.Helper()
	f.at(f.dir, name, "1.0", script)
}

func (f *fakes) at(dir, name, version, script string) {
	f.Helper()
	text := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo " + name + " " + version + "; exit; fi\n" +
		"if [ \"$1\" = --hints=tools ]; then shift; echo " + name + " >> \"$DIR/addressed\"; fi\n" +
		"if [ \"$1\" = --max-bytes=8192 ]; then shift; echo " + name + " >> \"$DIR/limited\"; fi\n" +
		"echo " + name + " \"$*\" >> \"$DIR/calls\"\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
		f.Fatal(err)
	}
}

// calls returns the command lines of the programs that were started, except those that ask for a version.
func (f *fakes) calls() []string {
	f.Helper()
	b, err := os.ReadFile(filepath.Join(f.dir, "calls"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
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
