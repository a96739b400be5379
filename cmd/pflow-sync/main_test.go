package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pflow-sync": main, "fake-server": serveFake})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": exitStatus},
		Setup: func(env *testscript.Env) error {
			env.Setenv("PFLOW_HOME", env.WorkDir+"/home")
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
	})
}

// exitStatus runs pflow-sync, which must exit with the status of the first argument.
func exitStatus(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec("pflow-sync", args[1:]...)
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit status %d, want %s", code, args[0])
	}
}

// serveFake is an MCP server whose tools are read from the file that its argument names. Each tool returns its arguments,
// except that `say` returns the text of its argument, `blocks` its argument as content, `fail` fails, and `token` fails with
// $TOKEN.
func serveFake() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "fake-server: which tools?")
		os.Exit(1)
	}
	fmt.Println("fake-server is ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		req := gjson.ParseBytes(in.Bytes())
		answer := func(result string) {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", req.Get("id").Raw, result)
		}
		text := func(isError bool, s string) {
			quoted, _ := json.Marshal(s)
			answer(fmt.Sprintf(`{"isError":%v,"content":[{"type":"text","text":%s}]}`, isError, quoted))
		}
		switch req.Get("method").Str {
		case "initialize":
			answer(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}`)
		case "tools/list":
			tools, err := os.ReadFile(os.Args[1])
			if err != nil {
				fmt.Fprintln(os.Stderr, "fake-server: no tools with token", os.Getenv("TOKEN"))
				os.Exit(1)
			}
			answer(`{"tools":` + strings.ReplaceAll(string(tools), "\n", "") + `}`)
		case "tools/call":
			switch args := req.Get("params.arguments"); req.Get("params.name").Str {
			case "say":
				text(false, args.Get("text").Str)
			case "blocks":
				answer(`{"content":` + args.Get("blocks").Raw + `}`)
			case "fail":
				text(true, "out of paper")
			case "token":
				text(true, "bad token "+os.Getenv("TOKEN"))
			default:
				answer(`{"content":[{"type":"text","text":"same"},{"type":"resource_link","uri":"x:y","name":"n"}],"structuredContent":` + args.Raw + `}`)
			}
		}
	}
}
