package cli

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/terminal/completion"
)

// With an environment variable the test program runs the small program.
func TestMain(m *testing.M) {
	if os.Getenv("CLI_TEST_PROGRAM") == "" {
		os.Exit(m.Run())
	}
	os.Exit(Main("small", "A small program.", &grammar{}, System{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit,
	}))
}

// call runs the small program in this process with files as its streams.
func call(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	return callOf(t, &grammar{}, args...)
}

// callOf is call for a program with another grammar.
func callOf(t *testing.T, g Grammar, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	errs, err := os.Create(filepath.Join(dir, "err"))
	if err != nil {
		t.Fatal(err)
	}
	status = Main("small", "A small program.", g, System{Args: args, Stdout: out, Stderr: errs, Exit: func(int) { t.Error("Exit was called") }})
	if err := errors.Join(out.Close(), errs.Close()); err != nil {
		t.Fatal(err)
	}
	return status, read(t, out.Name()), read(t, errs.Name())
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// child returns the small program as a process of its own.
func child(args ...string) (*exec.Cmd, *strings.Builder) {
	c := exec.Command(os.Args[0], args...)
	c.Env = []string{"CLI_TEST_PROGRAM=1", "GOCOVERDIR=" + os.TempDir()}
	var stderr strings.Builder
	c.Stderr = &stderr
	return c, &stderr
}

func TestAnswers(t *testing.T) {
	for args, want := range map[string]string{
		"say <hi>":                "{\"word\":\"<hi>\"}\n",
		"--format json say hi":    "{\"word\":\"hi\"}\n",
		"say hi --format=ndjson":  "{\"word\":\"hi\"}\n",
		"say hi --format text":    "word: hi\n",
		"list 2":                  "\"<0>\"\n\"<1>\"\n",
		"list 2 --format ndjson":  "\"<0>\"\n\"<1>\"\n",
		"list 2 --format json":    "[\"<0>\",\"<1>\"]\n",
		"list 2 --format text":    "2 items\n",
		"list 0":                  "",
		"list 0 --format json":    "[]\n",
		"--version":               "small " + Version + "\n",
		"--version --format text": "small " + Version + "\n", // the slow way
	} {
		t.Run(args, func(t *testing.T) {
			status, stdout, stderr := call(t, append(strings.Fields(args), "-q")...)
			if strings.HasPrefix(args, "--version") {
				status, stdout, stderr = call(t, strings.Fields(args)...)
			}
			if status != 0 || stdout != want || stderr != "" {
				t.Errorf("status %d, stdout %q, want %q, stderr %q", status, stdout, want, stderr)
			}
		})
	}
}

func TestFlagsMayStandBetweenArguments(t *testing.T) {
	for args, want := range map[string]string{
		"join a b --with - c":        "a-b-c",
		"join a --with=- b c":        "a-b-c",
		"join a -w - b -l c":         "A-B-C",
		"join a -lw - b c":           "A-B-C",
		"join a -w- b c -l":          "A-B-C",
		"join -l a --no-loud b":      "a,b",
		"join a --mark x b --mark y": "a,b,x,y",
		"-q join a -q b":             "a,b",
		"glue a -q join":             "a,join",
		"join join -q join":          "join,join",
		"join a -l b -- -l --with c": "A,B,-L,--WITH,C",
		"join a -w - b -- -w":        "a-b--w",
		"join a --format json b":     "a,b",
		"--format json join a -l b":  "A,B",
		"join a - -q b":              "a,-,b",
		"join a=1 --with -- b":       "", // no value
		"join a -z b":                "",
		"join a --with":              "",
	} {
		status, stdout, stderr := call(t, strings.Fields(args)...)
		var text string
		if status == 0 {
			if err := json.Unmarshal([]byte(stdout), &text); err != nil {
				t.Fatal(err)
			}
		}
		if text != want || (status == 0) != (want != "") {
			t.Errorf("%s: %d %q %s", args, status, stdout, stderr)
		}
	}
}

func TestAnArgumentTooManyIsNamedWithoutItsValue(t *testing.T) {
	status, stdout, stderr := call(t, "say", "a", "tok=hush=hush")
	if status != 2 || strings.Contains(stdout+stderr, "hush") || !strings.Contains(stderr, "unexpected argument tok=") {
		t.Errorf("%d %q %q", status, stdout, stderr)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range []string{"--help", "say --help"} {
		status, stdout, stderr := call(t, strings.Fields(args)...)
		if status != 0 || !strings.Contains(stdout, "Usage: small") || stderr != "" {
			t.Errorf("%s: %d %q %q", args, status, stdout, stderr)
		}
	}
}

func TestExitStatusAndFailure(t *testing.T) {
	for how, c := range map[string]struct {
		status int
		kind   string // none: nothing is said
	}{
		"usage_error": {2, "usage_error"}, "validation_error": {2, "validation_error"}, "security_error": {2, "security_error"}, "not_found": {2, "not_found"},
		"already_exists": {2, "already_exists"}, "execution_error": {1, "execution_error"}, "timeout": {1, "timeout"}, "conflict": {1, "conflict"},
		"plain": {1, "internal_error"}, "several": {2, "validation_error"}, "cancelled": {1, "internal_error"}, "status": {7, ""}, "interrupted": {143, ""},
	} {
		t.Run(how, func(t *testing.T) {
			status, stdout, stderr := call(t, "fail", how)
			if status != c.status {
				t.Errorf("status %d, want %d", status, c.status)
			}
			if c.kind == "" {
				if stdout+stderr != "" {
					t.Errorf("said %q %q", stdout, stderr)
				}
				return
			}
			if !json.Valid([]byte(stdout)) || gjson.Get(stdout, "success").Raw != "false" || gjson.Get(stdout, "error.type").Str != c.kind || !strings.HasPrefix(stderr, "small: error: ") {
				t.Errorf("stdout %q, stderr %q", stdout, stderr)
			}
			status, stdout, again := call(t, "fail", how, "--format", "text")
			if status != c.status || stdout != "" || again != stderr {
				t.Errorf("as text: %d, stdout %q, stderr %q, want %q", status, stdout, again, stderr)
			}
		})
	}
	_, stdout, stderr := call(t, "fail", "several")
	want := "small: error: w.json: 2 errors\nsmall: error: w.json:3:4: a <b>\nsmall: hint: mend a\nsmall: error: c\nsmall: hint: mend c\n"
	if stderr != want || !strings.Contains(stdout, "a <b>") {
		t.Errorf("%q, want %q; %s", stderr, want, stdout)
	}
	_, stdout, stderr = call(t, "fail", "alike")
	if want := "small: error: a is missing\nsmall: error: b is missing\n"; stderr != want || !strings.Contains(gjson.Get(stdout, "error.message").Str, "2 errors") {
		t.Errorf("%q, want %q; %s", stderr, want, stdout)
	}
}

func TestUsageErrors(t *testing.T) {
	for args, asked := range map[string]string{
		"": "", "nope": "", "say": "say ", "say a b": "say ", "say a --lud": "say ", "list many": "list ", "say a --format xml": "say ",
		"say a --log-level loud": "say ", "completion ksh": "completion ",
		"set word": "set word ", "set word a b": "set word ", "set": "set ",
	} {
		t.Run(args, func(t *testing.T) {
			status, stdout, stderr := call(t, strings.Fields(args)...)
			if status != 2 || gjson.Get(stdout, "error.type").Str != "usage_error" || gjson.Get(stdout, "error.message").Str == "" || gjson.Get(stdout, "error.suggestions.0").Str == "" {
				t.Errorf("%d %q %q", status, stdout, stderr)
			}
			if !strings.HasPrefix(stderr, "small: error: ") || !strings.Contains(stderr, " small "+asked+"--help") {
				t.Errorf("%q", stderr)
			}
		})
	}
	for _, args := range []string{"--format text say", "say --format=text --lud", "--format=text nope"} {
		if status, stdout, stderr := call(t, strings.Fields(args)...); status != 2 || stdout != "" || !strings.HasPrefix(stderr, "small: error: ") {
			t.Errorf("%s: %d %q %q", args, status, stdout, stderr)
		}
	}
}

func TestLogAndWarnings(t *testing.T) {
	_, _, stderr := call(t, "say", "hi")
	if !strings.HasPrefix(stderr, "small: warning: about to say hi\ntime=") || !strings.Contains(stderr, "level=WARN msg=saying word=hi") {
		t.Errorf("%q", stderr)
	}
	_, _, stderr = call(t, "say", "hi", "--log-format", "json", "--log-level", "info")
	_, log, _ := strings.Cut(stderr, "\n")
	if gjson.Get(log, "word").Str != "hi" {
		t.Errorf("%q", stderr)
	}
	for _, flag := range []string{"--quiet", "-q"} {
		if _, _, stderr = call(t, "say", "hi", flag); stderr != "" {
			t.Errorf("%s: %q", flag, stderr)
		}
	}
}

func TestCompletion(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for shell, word := range map[string]string{"bash": "complete -o bashdefault -o default -F _small small\n", "zsh": "compdef _small small\n", "fish": "complete -c small -f\n"} {
		if status, stdout, stderr := call(t, "completion", shell); status != 0 || !strings.Contains(stdout, word) || !strings.Contains(stdout, self) || stderr != "" {
			t.Errorf("%s: %d %q %q", shell, status, stdout, stderr)
		}
	}
	for line, want := range map[string]string{"small sa": "say", "small say --lo": "--log-format --log-level --loud", "small comp": "completion", "small zz": ""} {
		words := strings.Fields(line)
		c, stderr := child(line, words[len(words)-1])
		c.Env = append(c.Env, completion.Variable+"=bash")
		out, err := c.Output()
		if got := strings.Join(slices.Sorted(slices.Values(strings.Fields(string(out)))), " "); err != nil || got != want || stderr.Len() > 0 {
			t.Errorf("%q: %q, want %q; %v %s", line, got, want, err, stderr)
		}
	}
}
