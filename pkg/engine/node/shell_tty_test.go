package node

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestShellAtATerminal(t *testing.T) {
	on := task(t)
	script(t, filepath.Join(on.Dir, "plain"), "stty size; echo plain") // no first line that names an interpreter
	on.Env = append(on.Env, "COLUMNS=7", "LINES=7", "TERM=dumb")
	for params, want := range map[string]string{
		`{"command":"tput cols","tty":true}`:                                                                  "80",
		`{"command":"echo $TERM; tput lines","tty":true}`:                                                     "xterm-256color\n24",
		`{"command":"echo $TERM","tty":true,"env":{"TERM":"vt100"}}`:                                          "vt100",
		`{"command":"test -t 0 -a -t 1 && echo yes >&2","tty":true}`:                                          "yes",
		`{"command":"./plain","tty":true}`:                                                                    "24 80\nplain",
		`{"command":"stty -echo; printf 'Password: '; read x; echo; echo ${v} $x","tty":true,"stdin":"${v}"}`: "Password: \nsecret secret",
		`{"command":"cat","tty":true,"cwd":"/"}`:                                                              "",
		`{"command":"printf 'a\\n\\n'","tty":true,"strip_newline":false}`:                                     "a\n\n",
	} {
		r := perform(t, on, "shell", params, values{"v": `"secret"`})
		if r.Fault != nil {
			t.Errorf("%s: %v", params, r.Fault)
			continue
		}
		if got := output(t, r, "stdout"); got != want || output(t, r, "stderr") != "" {
			t.Errorf("%s: got %q, want %q", params, got, want)
		}
	}
	r := perform(t, on, "shell", `{"command":"echo why >&2; exit 3","tty":true}`, nil)
	failedWith(t, r, fault.Execution, "exit code 3: why")
}

func TestShellAtATerminalIsEnded(t *testing.T) {
	t.Parallel()
	on := task(t)
	r := perform(t, on, "shell", `{"command":"sleep 1000 & echo $! > pid; stty raw; echo begun; wait","tty":true,"timeout":3}`, nil)
	failedWith(t, r, fault.Timeout, "after 3 seconds")
	if got := plainOutput(t, r, "stdout"); got != "begun" {
		t.Errorf("%q", got)
	}
	b, err := os.ReadFile(filepath.Join(on.Dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err != nil || !gone(pid) {
		t.Errorf("process %s of the command is left", b)
	}
}
