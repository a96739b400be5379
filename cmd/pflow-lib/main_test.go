package main

import (
	"encoding/json"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

var update = flag.Bool("update", false, "write what the programs printed into the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pflow-lib": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireExplicitExec: true, RequireUniqueNames: true, UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PFLOW_HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each program takes a second longer under -race
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"json": checkJSON},
	})
}

// checkJSON is the command json PATH [VALUE]. It checks that stdout has this JSON value at a gjson path, or none if VALUE is
// missing.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: json PATH [VALUE]")
	}
	out := strings.TrimSpace(ts.ReadFile("stdout"))
	if !json.Valid([]byte(out)) {
		ts.Fatalf("stdout is no JSON document: %s", out)
	}
	got, want := gjson.Get(out, args[0]).Raw, ""
	if len(args) == 2 {
		want = args[1]
	}
	if (got == want) == neg {
		ts.Fatalf("%s is %s", args[0], got)
	}
}
