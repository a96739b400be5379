package suite

import (
	"encoding/json"
	"fmt"
	"os"
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
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"json": checkJSON},
	})
}

// checkJSON is the command json FILE PATH VALUE. It checks that the last line of a file, stdout for example, has this JSON value at a
// gjson path.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE PATH VALUE")
	}
	text := strings.TrimSpace(ts.ReadFile(args[0]))
	last := text[strings.LastIndexByte(text, '\n')+1:]
	if json.Valid([]byte(text)) {
		last = text // one document of several lines
	}
	if !json.Valid([]byte(last)) {
		ts.Fatalf("%s does not end with a JSON document: %s", args[0], last)
	}
	if got := gjson.Get(last, args[1]).Raw; (got == args[2]) == neg {
		ts.Fatalf("%s is %s in %s", args[1], got, last)
	}
}
