package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"veloflux-mcp": main})
}

// managerKey is the key of a script's Manager.
type managerKey struct{}

// TestScripts runs the program. Each script has its own Manager at $MANAGER, which the program uses by default. $SLOW never
// answers, $BUSY answers 409, and nothing listens at $NOBODY. "exits N COMMAND…" is exec with the expected exit status;
// "requests FILE" writes the requests that the Manager received to a file, each followed by its headers.
func TestScripts(t *testing.T) {
	slow, busy := velofluxserver.Start(t), velofluxserver.Start(t)
	slow.On("", "", velofluxserver.Fault{Hang: true})
	busy.On("", "", velofluxserver.Fault{Status: 409, Body: "pipeline p is busy processing another command"})
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			manager, err := velofluxserver.Listen()
			if err != nil {
				return err
			}
			env.Defer(manager.Close)
			env.Values[managerKey{}] = manager
			env.Setenv("MANAGER", manager.URL)
			env.Setenv("VELOFLUX_MANAGER_URL", manager.URL)
			env.Setenv("SLOW", slow.URL)
			env.Setenv("BUSY", busy.URL)
			env.Setenv("NOBODY", "http://127.0.0.1:1")
			env.Setenv("PFLOW_HOME", env.WorkDir+"/home")
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "requests": requests},
	})
}

// exits runs a command and asserts its exit status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("the exit status is %d, not %d", got, want)
	}
}

// requests writes the requests so far to a file, and forgets them.
func requests(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: requests FILE")
	}
	manager := ts.Value(managerKey{}).(*velofluxserver.Server) //nolint:forcetypeassert // set above
	var b strings.Builder
	for _, r := range manager.Requests() {
		_, _ = fmt.Fprintf(&b, "%s %s\n", r.Method, r.Path)
		_ = r.Header.Write(&b)
	}
	manager.Reset()
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}
