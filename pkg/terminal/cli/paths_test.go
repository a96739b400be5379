package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestRenameFolder(t *testing.T) {
	for in, want := range map[string]string{
		"no /a/b/x here":              "no $H/x here",
		"/a/b":                        "$H",
		"it is in /a/b.":              "it is in $H.",
		"/a/b/c: no; '/a/b/d'":        "$H/c: no; '$H/d'",
		"/x/a/b/c":                    "/x/a/b/c",
		"/a/bc and /a/b-c and /a/b.c": "/a/bc and /a/b-c and /a/b.c",
		"file:///a/b/c":               "file:///a/b/c",
		"(/a/b)":                      "($H)",
		"none":                        "none",
	} {
		if got := renameFolder(in, "/a/b", "$H"); got != want {
			t.Errorf("%q becomes %q, not %q", in, got, want)
		}
	}
	if got := renameFolder("in /a/b/c and /a/b", "/a/b", "."); got != "in c and ." {
		t.Errorf("%q", got)
	}
}

func TestPathsInFaultsForTools(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	failed := func() *fault.Fault {
		f := fault.New(fault.Execution, "no %s/work and %s/home/nodes/x", dir, dir).Suggest("chmod +x '%s/home/nodes/x'", dir).Detail("stderr", "in "+dir+"/deep/er").Detail("code", 3)
		f.Errors = []*fault.Fault{fault.New(fault.Execution, "%s/inner", dir)}
		return f
	}
	for reader, want := range map[fault.Reader]string{
		fault.Tools: `{"success":false,"error":{"type":"execution_error","message":"no work and $PFLOW_HOME/nodes/x","suggestions":["chmod +x '$PFLOW_HOME/nodes/x'"],` +
			`"errors":[{"type":"execution_error","message":"inner"}],"details":{"code":3,"stderr":"in deep/er"}}}`,
		fault.Shell: string(mustMarshal(t, failure{Error: failed()})),
	} {
		app := &App{Reader: reader, Env: []string{"HOME=/home/someone", "PFLOW_HOME=" + dir + "/home"}}
		raw, err := app.addressed(failure{Error: failed()})
		if err != nil || string(raw) != want {
			t.Errorf("for %s: %v\n%s\nwant\n%s", reader, err, raw, want)
		}
	}
	if strings.Contains(dir, "'") {
		t.Fatal("the folder has a quote")
	}
}

func mustMarshal(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
