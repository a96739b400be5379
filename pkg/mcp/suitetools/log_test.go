package suitetools

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/process"
)

// debugLog lets the suite of fakes log everything, with the given settings, and returns what it has logged.
func (f *fakes) debugLog(settings string) *bytes.Buffer {
	f.Helper()
	dir := filepath.Join(f.Dir, "home")
	if err := os.Mkdir(dir, 0o700); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(settings), 0o600); err != nil {
		f.Fatal(err)
	}
	var err error
	if f.suite.Home, err = home.Open(dir, f.Dir); err != nil {
		f.Fatal(err)
	}
	var log bytes.Buffer
	f.suite.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return &log
}

// TestTheCommandLineIsLogged holds the exact words, which a shell takes as they are.
func TestTheCommandLineIsLogged(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-lib", `echo '{"success":true}'`)
	var log bytes.Buffer
	f.debugLog(`{}`)
	f.suite.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == "time" {
			return slog.Attr{}
		}
		return a
	}}))
	f.call(f.front(), "save_to_library", `{"draft_name":"a","final_name":"b","description":"It's <two> words & $HOME"}`)
	want := f.Dir + `/pflow-lib --hints=tools:core --max-bytes=8192 --quiet save --format json '--description=It'\\''s <two> words & $HOME' -- a b`
	line := log.String()
	if got := strings.ReplaceAll(strings.ReplaceAll(line, `\u003c`, "<"), `\u003e`, ">"); !strings.Contains(strings.ReplaceAll(got, `\u0026`, "&"), want) {
		t.Errorf("logged %s", line)
	}
	command := `'--description=It'\''s <two> words & $HOME'`
	var out bytes.Buffer
	if _, err := process.Run(t.Context(), process.Command{Path: "/bin/sh", Args: []string{"-c", "printf %s " + command}, Stdout: &out}); err != nil || out.String() != "--description=It's <two> words & $HOME" {
		t.Errorf("a shell takes it as %s, %v", out.String(), err)
	}
}

// TestSecretsAreNotLogged holds that values of the settings and of the environment, and values with secret names, are not in
// the log, and neither is what a command reads.
func TestSecretsAreNotLogged(t *testing.T) {
	f := newFakes(t)
	for _, program := range []string{"pflow-lib", "pflow-exec", "pflow-sync"} {
		f.Program(program, `echo '{"success":true}'`)
	}
	f.suite.Env = append(f.suite.Env, "MY_TOKEN=canary-environment")
	log := f.debugLog(`{"env":{"anything":"canary-settings"}}`)
	front := &Front{Suite: f.suite, Toolsets: everyToolset()}
	for tool, arguments := range map[string]string{
		"browse_components": `{"query":"canary-settings and canary-environment"}`,
		"save_to_library":   `{"draft_name":"a","final_name":"b","description":"token=canary-named, \"api_key\": \"canary quoted\" password: canary-colon https://me:canary-url@h/?sid=1&access_token=canary-parameter"}`,
		"list_library":      `{"pattern":"{\"secret\":\"canary-json\"}"}`,
		"describe_workflow": `{"name":"--api-key=canary-flag"}`,
		"execute":           `{"name":"w","inputs":{"pin":"canary-input"}}`,
		"call_server_tool":  `{"server":"s","tool":"t","arguments":{"x":"canary-argument"}}`,
	} {
		f.call(front, tool, arguments)
	}
	if got := log.String(); strings.Contains(got, "canary") || strings.Count(got, "msg=starting") < 6 || !strings.Contains(got, "redacted") {
		t.Errorf("logged %s", got)
	}
}

// TestNothingIsLoggedWithBrokenSettings: without the settings, the secrets in a command line are not known.
func TestNothingIsLoggedWithBrokenSettings(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-lib", `echo '{"success":true}'`)
	log := f.debugLog(`{"env":{"anything":"canary-settings"`)
	f.call(f.front(), "browse_components", `{"query":"canary-settings"}`)
	if got := log.String(); strings.Contains(got, "canary") || !strings.Contains(got, "pflow-lib") {
		t.Errorf("logged %s", got)
	}
}
