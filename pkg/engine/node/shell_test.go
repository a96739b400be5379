package node

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestShell(t *testing.T) {
	on := task(t)
	if err := os.Mkdir(filepath.Join(on.Dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	script(t, filepath.Join(on.Dir, "plain"), "echo plain $1") // no first line that names an interpreter
	script(t, filepath.Join(on.Dir, "sh"), "#!/bin/sh\nprintf %s \"$#:$*\"")
	v := values{
		"evil":   `"$(touch pwned); ` + "`touch pwned`" + ` ' \" \\ * && rm -rf x\nsecond"`,
		"object": `{"a": [1, 2.50, "<x>"], "big": 12345678901234567890}`, "number": "42", "no": "null", "yes": "true",
	}
	evil := gjson.Parse(v["evil"]).Str
	for name, c := range map[string]struct{ params, want string }{
		"output":                     {`{"command":"echo a; echo b"}`, "a\nb"},
		"newlines kept":              {`{"command":"printf 'a\\n\\n'","strip_newline":false}`, "a\n\n"},
		"spaces at the end are kept": {`{"command":"printf 'a \\n\\r\\n'"}`, "a "},
		"cwd":                        {`{"command":"basename \"$PWD\"","cwd":"sub"}`, "sub"},
		"cwd in the home":            {`{"command":"basename \"$PWD\"","cwd":"~/sub"}`, "sub"},
		"absolute cwd":               {`{"command":"pwd","cwd":"/"}`, "/"},
		"env with numbers":           {`{"command":"echo $A $B $C $D","env":{"A":1,"B":1.50,"C":true,"D":"x y","E":null}}`, "1 1.50 true x y"},
		"env replaces":               {`{"command":"printenv HOME","env":{"HOME":"/elsewhere"}}`, "/elsewhere"},
		"env does not touch values":  {`{"command":"echo ${number}","env":{"PFLOW_T1":"forged"}}`, "42"},
		"stdin text":                 {`{"command":"cat","stdin":"a\n b"}`, "a\n b"},
		"stdin object":               {`{"command":"cat","stdin":"${object}"}`, `{"a":[1,2.50,"<x>"],"big":12345678901234567890}`},
		"stdin number":               {`{"command":"cat","stdin":7.0}`, "7.0"},
		"stdin null":                 {`{"command":"cat","stdin":null}`, ""},
		"no stdin":                   {`{"command":"cat"}`, ""},
		"ignored status":             {`{"command":"echo out; exit 3","ignore_errors":true}`, "out"},
		"unquoted":                   {`{"command":"printf '[%s]' ${number} ${no} ${yes}"}`, "[42][true]"},
		"value in double quotes":     {`{"command":"printf %s \"${evil}\""}`, evil},
		"value in single quotes":     {`{"command":"printf %s '${evil}'"}`, evil},
		"value in a here-document":   {`{"command":"cat <<'EOF'\n${evil}\nEOF"}`, evil},
		"value as a command":         {`{"command":"${evil} 2>/dev/null || echo none"}`, "none"},
		"object in a command":        {`{"command":"printf %s \"${object}\""}`, `{"a":[1,2.50,"<x>"],"big":12345678901234567890}`},
		"directly":                   {`{"command":"./sh a --b=c d/e"}`, "3:a --b=c d/e"},
		"no interpreter line":        {`{"command":"./plain word"}`, "plain word"},
		"no program, but a shell's":  {`{"command":"command -v cd"}`, "cd"},
		"a number as a command":      {`{"command":5,"ignore_errors":true}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := output(t, perform(t, on, "shell", c.params, v), "stdout"); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(on.Dir, "pwned")); err == nil {
		t.Error("a value became code")
	}
}

func script(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestShellFailures(t *testing.T) {
	on := task(t)
	script(t, filepath.Join(on.Dir, "lost"), "#!/no/such/interpreter\n")
	for name, c := range map[string]struct {
		params string
		kind   fault.Type
		code   string
		words  []string
	}{
		"exit status":    {`{"command":"echo out; echo why >&2; exit 3"}`, fault.Execution, "3", []string{"exit code 3: out\nwhy"}},
		"signal":         {`{"command":"kill -KILL $$"}`, fault.Execution, "137", []string{"ended by signal: killed"}},
		"no program":     {`{"command":"no-such-program --x"}`, fault.Execution, "127", []string{"exit code 127", "no-such-program"}},
		"no interpreter": {`{"command":"./lost"}`, fault.Execution, "127", []string{"lost"}},
		"not executable": {`{"command":"/etc/passwd"}`, fault.Execution, "126", []string{"exit code 126"}},
		"no folder":      {`{"command":"true","cwd":"nowhere"}`, fault.Execution, "-1", []string{"Working directory does not exist", "nowhere"}},
		"shell syntax":   {`{"command":"eval if"}`, fault.Execution, "2", []string{"exit code 2", "yntax"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := perform(t, on, "shell", c.params, nil)
			failedWith(t, r, c.kind, c.words...)
			if got := plainOutput(t, r, "exit_code"); got != c.code {
				t.Errorf("exit_code %s, want %s", got, c.code)
			}
			if got := plainOutput(t, r, "error"); got != r.Fault.Message {
				t.Errorf("error %q", got)
			}
			if len(r.Fault.Suggestions) == 0 || r.Fault.Retryable {
				t.Errorf("%v, retryable %v", r.Fault.Suggestions, r.Fault.Retryable)
			}
		})
	}
	r := perform(t, on, "shell", `{"command":"echo out; seq 100000 >&2; exit 3"}`, nil)
	if got := plainOutput(t, r, "stdout"); got != "out" || len(r.Fault.Message) > 2100 || !strings.HasSuffix(r.Fault.Message, "100000") || r.Fault.Details["exit_code"] != 3 {
		t.Errorf("stdout %q, message of %d bytes, %v", got, len(r.Fault.Message), r.Fault.Details)
	}
}

func TestShellRefusesWhatNoProcessTakes(t *testing.T) {
	for name, params := range map[string]string{
		"NUL in env":  `{"command":"true","env":{"A":"a\u0000b"}}`,
		"= in a name": `{"command":"true","env":{"A=B":"x"}}`,
		"empty name":  `{"command":"true","env":{"":"x"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := perform(t, task(t), "shell", params, nil)
			failedWith(t, r, fault.Execution)
			if plainOutput(t, r, "error") != r.Fault.Message || plainOutput(t, r, "exit_code") != "-1" || len(r.Fault.Suggestions) == 0 {
				t.Errorf("%s %v", r.Outputs, r.Fault.Suggestions)
			}
		})
	}
	r := perform(t, task(t), "shell", `{"command":"true","env":{"A":"`+strings.Repeat("x", 200_000)+`"}}`, nil)
	failedWith(t, r, fault.TooLarge)
	for name, value := range map[string]string{"too long": `"` + strings.Repeat("x", 140_000) + `"`, "NUL": `"a\u0000b"`} {
		t.Run(name, func(t *testing.T) {
			v := values{"v": value}
			_, err := prepare(t, "shell", `{"command":"echo \"${v}\""}`, v, false)
			f := fault.From(err)
			if f == nil || f.Type != fault.Template || len(f.Suggestions) != 1 || !strings.Contains(f.Suggestions[0], `"stdin": "${v}"`) {
				t.Fatalf("%+v", f)
			}
			r := perform(t, task(t), "shell", `{"command":"wc -c","stdin":"${v}"}`, v) // as the suggestion says
			if got := strings.TrimSpace(output(t, r, "stdout")); got != strconv.Itoa(len(gjson.Parse(value).Str)) {
				t.Errorf("%s bytes", got)
			}
		})
	}
	_, err := prepare(t, "shell", `{"command":"eval \"${v}\""}`, values{"v": `"x"`}, false)
	if f := fault.From(err); f == nil || f.Type != fault.Validation || f.Path != "params.command" {
		t.Errorf("%+v", f)
	}
}

// TestShellRunsBash runs commands in the syntax of bash, which are not given to another shell if their templates could then
// be code.
func TestShellRunsBash(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	v := values{"v": `"touch x"`, "n": `3`}
	if got := output(t, perform(t, task(t), "shell", `{"command":"[[ a == x || ${v} == t* ]] && echo yes"}`, v), "stdout"); got != "yes" {
		t.Errorf("%q", got)
	}
	if got := output(t, perform(t, task(t), "shell", `{"command":"[ ${n} -gt 2 ] && eval \"echo ${n}\""}`, v), "stdout"); got != "3" {
		t.Errorf("%q", got)
	}
	failedWith(t, perform(t, task(t), "shell", `{"command":"[[ a == x || ${v} == t* ]]","env":{"PATH":"/nowhere"}}`, v), fault.NotFound, "bash")
	failedWith(t, perform(t, task(t), "shell", `{"command":"[[ a == x ]]; exit 3","env":{"PATH":"/nowhere"}}`, v), fault.Execution)
	for command, want := range map[string]string{`[[ ${v} ]]`: "bash", `[ "${v}" ]`: "sh"} {
		if program, _, variables := prepared(t, "shell", `{"command":`+strconv.Quote(command)+`}`, v).Shell(); program != want || len(variables) != 1 {
			t.Errorf("%s: %s %q", command, program, variables)
		}
	}
}

func TestShellBinaryOutput(t *testing.T) {
	r := perform(t, task(t), "shell", `{"command":"printf '\\377\\n'; printf '\\376' >&2"}`, nil)
	if got := string(r.Outputs); !strings.Contains(got, `"stdout":{"$base64":"/wo="},"stdout_is_binary":true,"stderr":{"$base64":"/g=="},"stderr_is_binary":true`) {
		t.Errorf("%s", got) // the newline at the end is one of the bytes
	}
	r = perform(t, task(t), "shell", `{"command":"printf '\\000a\\n'"}`, nil)
	if got := string(r.Outputs); !strings.Contains(got, `"stdout":"\u0000a","stdout_is_binary":false`) {
		t.Errorf("%s", got)
	}
}

func TestShellLogsWhatItPrints(t *testing.T) {
	on := task(t)
	var out, errs bytes.Buffer
	on.Stdout, on.Stderr = &out, &errs
	r := perform(t, on, "shell", `{"command":"echo a; echo b >&2"}`, nil)
	if out.String() != "a\n" || errs.String() != "b\n" || output(t, r, "stderr") != "b\n" {
		t.Errorf("%q %q %s", out.String(), errs.String(), r.Outputs)
	}
	on.Stdout = failing{}
	if got := output(t, perform(t, on, "shell", `{"command":"echo a"}`, nil), "stdout"); got != "a" {
		t.Errorf("a log that cannot be written changed the output: %q", got)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestShellTimeoutTakesTheGroupDown(t *testing.T) {
	t.Parallel()
	on := task(t)
	r := perform(t, on, "shell", `{"command":"sleep 1000 & echo $! > pid; echo begun; wait","timeout":"${t}"}`, values{"t": "3"})
	failedWith(t, r, fault.Timeout, "after 3 seconds")
	if plainOutput(t, r, "exit_code") != "-1" || plainOutput(t, r, "stdout") != "begun" || plainOutput(t, r, "error") != r.Fault.Message {
		t.Errorf("%s", r.Outputs)
	}
	b, err := os.ReadFile(filepath.Join(on.Dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	if !gone(pid) {
		t.Errorf("process %d of the command is left", pid)
	}
}

// gone reports whether a process has ended; a zombie has.
func gone(pid int) bool {
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for deadline := time.After(5 * time.Minute); ; {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err == nil && strings.Contains(string(b), ") Z ") || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return true
		}
		select {
		case <-poll.C:
		case <-deadline:
			return false
		}
	}
}

func TestShellIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := fault.New(fault.Conflict, "enough")
	on := task(t)
	on.Stdout = writerFunc(func([]byte) { cancel(why) })
	r := Run(ctx, prepared(t, "shell", `{"command":"echo begun; sleep 100"}`, nil), on)
	if r.Fault != why {
		t.Errorf("%v", r.Fault)
	}
	declared(t, "shell", r)
	r = Run(ctx, prepared(t, "http", `{"url":"http://127.0.0.1:1/"}`, nil), on)
	if r.Fault != why {
		t.Errorf("http: %v", r.Fault)
	}
}

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

func TestValuesOfTheStreamComeBack(t *testing.T) {
	r := perform(t, task(t), "shell", `{"command":"printf '{\"$blob\":1}'"}`, nil)
	plain, err := event.Plain(r.Outputs, nil)
	if err != nil || gjson.GetBytes(plain, "stdout").Str != `{"$blob":1}` {
		t.Errorf("%s %v", plain, err)
	}
}
