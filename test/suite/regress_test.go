package suite

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

// TestRegressions runs the scripts of test/regress. Each begins with what is right, and shows it by the smallest input that once went
// wrong. A script that begins with "[short] skip" takes long, and one may ask for a program by "[!exec:NAME] skip".
func TestRegressions(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("..", "regress"), RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("PFLOW_HOME", home)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
			env.Setenv("LC_ALL", "C")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each program takes a second longer under -race
			env.Defer(func() {
				noProcessIsLeft(home, func(format string, args ...any) { env.T().Fatal("at the end: " + fmt.Sprintf(format, args...)) })
			})
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "endless" { // whether there is a regular file whose reading does not end
				return false, fmt.Errorf("there is no condition %q", name)
			}
			f, err := os.Open("/proc/kmsg")
			if err == nil {
				_ = f.Close()
			}
			return err == nil, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"json": checkJSON, "let": letJSON, "serve": serveHTTP, "get": getHTTP, "call": callTool, "edit": editFile,
		},
	})
}

// checkJSON is the command json FILE PATH VALUE. It checks that the last line of a file, stdout for example, has this JSON value at a
// gjson path.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE PATH VALUE")
	}
	document := lastDocument(ts, args[0])
	if got := document.Get(args[1]).Raw; (got == args[2]) == neg {
		ts.Fatalf("%s is %s in %s", args[1], got, document)
	}
}

// letJSON is the command let NAME FILE PATH. It sets a variable to the value at a gjson path in the last line of a file.
func letJSON(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: let NAME FILE PATH")
	}
	value := lastDocument(ts, args[1]).Get(args[2])
	if !value.Exists() {
		ts.Fatalf("%s has no %s", args[1], args[2])
	}
	ts.Setenv(args[0], value.String())
}

// editFile is the command edit FILE OLD NEW. It replaces a text that is in the file.
func editFile(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not contain %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o600))
}

// lastDocument returns the JSON document in the last line of a file, or in all of it.
func lastDocument(ts *testscript.TestScript, file string) gjson.Result {
	text := strings.TrimSpace(ts.ReadFile(file))
	if !json.Valid([]byte(text)) { // not one document of several lines
		text = text[strings.LastIndexByte(text, '\n')+1:]
	}
	if !json.Valid([]byte(text)) {
		ts.Fatalf("%s does not end with a JSON document: %s", file, text)
	}
	return gjson.Parse(text)
}

// serveHTTP is the command serve ARG…. It starts pflow-serve http on a free port until the end of the script, and sets URL.
func serveHTTP(ts *testscript.TestScript, _ bool, args []string) {
	server := exec.Command(filepath.Join(bin, "pflow-serve"), append([]string{"http", "--listen", "127.0.0.1:0"}, args...)...)
	server.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "PFLOW_HOME", "GORACE"} {
		server.Env = append(server.Env, name+"="+ts.Getenv(name))
	}
	server.Stderr = ts.Stderr()
	out, err := server.StdoutPipe()
	ts.Check(err)
	ts.Check(server.Start())
	ts.Defer(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		ts.Fatalf("pflow-serve http has not started: %v", err)
	}
	ts.Setenv("URL", strings.TrimSuffix(gjson.Get(line, "url").Str, "/api/mcp"))
}

// getHTTP is the command get URL [NAME:VALUE…]. It sends a request with headers and writes the response, its head included, to the file
// response.
func getHTTP(ts *testscript.TestScript, neg bool, args []string) {
	request, err := http.NewRequest(http.MethodGet, args[0], nil)
	ts.Check(err)
	respond(ts, neg, request, args[1:])
}

// callTool is the command call TOOL ARGUMENTS [NAME:VALUE…]. It calls a tool of the server that serve has started, and writes its structured
// content, or a response without any, to the file response.
func callTool(ts *testscript.TestScript, neg bool, args []string) {
	request, err := http.NewRequest(http.MethodPost, ts.Getenv("URL")+"/api/mcp",
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+args[0]+`","arguments":`+args[1]+`,"_meta":{"progressToken":"p"}}}`))
	ts.Check(err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream") // without progress, a flow is answered before it ends
	request.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	response := respond(ts, neg, request, args[2:])
	line, _, _ := strings.Cut(response[strings.LastIndex(response, `{"jsonrpc"`):], "\n")
	message := gjson.Parse(strings.TrimSpace(line))
	document := message.Get("result.structuredContent")
	if !document.Exists() {
		document = message
	}
	ts.Check(os.WriteFile(ts.MkAbs("response"), []byte(document.Raw), 0o600))
}

// respond sends a request, and returns the response as it stands in the file response. It fails unless the status is that of a success, or
// neg is set.
func respond(ts *testscript.TestScript, neg bool, request *http.Request, headers []string) string {
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	ts.Check(err)
	defer func() { _ = response.Body.Close() }()
	text, err := httputil.DumpResponse(response, true)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("response"), text, 0o600))
	if failed := response.StatusCode >= http.StatusBadRequest; failed != neg {
		ts.Fatalf("%s", text)
	}
	return string(text)
}
