package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func app(t *testing.T, stdin string) *App {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stdin")
	if err := os.WriteFile(path, []byte(stdin), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return &App{Name: "small", Stdin: f, Context: t.Context()}
}

func TestAssignments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]Assignment{
		"a=b": {Key: "a", Text: "b"}, "a=": {Key: "a"}, "a=b=c": {Key: "a", Text: "b=c"}, "a= x ": {Key: "a", Text: " x "}, "a=ü\n": {Key: "a", Text: "ü\n"}, "a=1": {Key: "a", Text: "1"},
		"a:=1": {Key: "a", JSON: []byte("1")}, `a:={"x": [1.10]}`: {Key: "a", JSON: []byte(`{"x": [1.10]}`)}, "a:=null": {Key: "a", JSON: []byte("null")}, "a:b=c": {Key: "a:b", Text: "c"},
		"a=@" + file: {Key: "a", Text: "from a file\n"}, "a=@-": {Key: "a", Text: "from stdin"}, "a=@@home": {Key: "a", Text: "@home"}, "a=x@y": {Key: "a", Text: "x@y"},
	} {
		got, err := app(t, "from stdin").Assignments([]string{arg})
		if err != nil || len(got) != 1 || got[0].Key != want.Key || got[0].Text != want.Text || string(got[0].JSON) != string(want.JSON) {
			t.Errorf("%s: %+v %v, want %+v", arg, got, err, want)
		}
	}
	for args, want := range map[string]string{
		"a": "KEY=VALUE", "=b": "KEY=VALUE", ":=1": "KEY=VALUE", "": "KEY=VALUE", "a:=x": "JSON", "a:=": "JSON", "a:=1 2": "JSON", "a=\xff": "UTF-8", "a:=\"\xff\"": "UTF-8",
		"a=1|a:=2": "a is given twice", "a=@/no/such": "no file /no/such", "a=@": "name of a file", "a=@-|b=@-": "standard input", "a=@" + filepath.Dir(file): "directory",
	} {
		_, err := app(t, "x").Assignments(strings.Split(args, "|"))
		f := fault.From(err)
		if f == nil || f.ExitStatus() != 2 || !strings.Contains(f.Message, want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
		if f != nil && strings.Count(f.Message, filepath.Dir(file)) > 1 {
			t.Errorf("%q: the path is repeated: %s", args, f)
		}
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "30s": 30 * time.Second, "1h30m": 90 * time.Minute, "5": 5 * time.Second, "0.25": 250 * time.Millisecond, "100ms": 100 * time.Millisecond} {
		if got, err := Duration(text); err != nil || got != want {
			t.Errorf("%q: %s %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "-5", "-5s", "0s", "soon", "NaN", "Inf", "1e300", "5 s", " ", "1e-12"} {
		if got, err := Duration(text); err == nil || fault.From(err).Type != fault.Usage || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %s %v", text, got, err)
		}
	}
}
