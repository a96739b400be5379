package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestShellTakesNoFindingForNoFailure(t *testing.T) {
	on := task(t)
	if err := os.WriteFile(filepath.Join(on.Dir, "file"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for params, reason := range map[string]string{
		`{"command":"echo x | grep zzz"}`:                  "grep found no match",
		`{"command":"grep zzz file"}`:                      "grep found no match",
		`{"command":"grep \"${v}\" file"}`:                 "grep found no match",
		`{"command":"ls *.nope"}`:                          "no file matches *.nope",
		`{"command":"which no-such-program"}`:              "which did not find no-such-program",
		`{"command":"command -v no-such-program"}`:         "command did not find no-such-program",
		`{"command":"type no-such-program"}`:               "type did not find no-such-program",
		`{"command":"grep zzz file","tty":true}`:           "grep found no match",
		`{"command":"ls file"}`:                            "",
		`{"command":"grep zzz file","ignore_errors":true}`: "",
	} {
		r := perform(t, on, "shell", params, values{"v": `"zzz"`})
		if r.Fault != nil {
			t.Errorf("%s: %v", params, r.Fault)
			continue
		}
		plain, err := event.Plain(r.Outputs, nil)
		if err != nil {
			t.Fatal(err)
		}
		if handled, said := smart(plain); handled != (reason != "") || said != reason {
			t.Errorf("%s: %s", params, plain)
		}
		if code := plainOutput(t, r, "exit_code"); reason != "" && code == "0" {
			t.Errorf("%s: exit_code %s", params, code)
		}
	}
	for _, command := range []string{
		"grep zzz missing", "if grep zzz file; then :; else false; fi", "set -e; grep zzz file", "false 'grep x file'", "test -f missing && grep x file", "ls missing", "diff /dev/null file", "cmp /dev/null file",
	} {
		failedWith(t, perform(t, on, "shell", `{"command":"`+command+`"}`, nil), fault.Execution)
	}
	failedWith(t, perform(t, on, "shell", `{"command":"grep zzz missing","tty":true}`, nil), fault.Execution, "missing")
}

func TestShellRefusesDestruction(t *testing.T) {
	v := values{"dir": `""`, "fine": `"/no/such/folder"`}
	for _, command := range []string{`rm -rf / --no-such-option-so-that-this-fails`, `rm -rf ${dir}/ --no-such-option`, `false && rm -rf '${dir}'/`} {
		_, err := prepare(t, "shell", `{"command":"`+command+`"}`, v, false)
		if f := fault.From(err); err == nil || f.Type != fault.Security || f.Path != "params.command" || len(f.Suggestions) == 0 || f.Message[:len("Dangerous command pattern detected: rm -rf /")] != "Dangerous command pattern detected: rm -rf /" {
			t.Errorf("%s: %+v", command, err)
		}
	}
	if got := output(t, perform(t, task(t), "shell", `{"command":"false && rm -rf \"${fine}/\"; echo 'rm -rf /'"}`, v), "stdout"); got != "rm -rf /" {
		t.Errorf("%q", got)
	}
}

func smart(outputs []byte) (handled bool, reason string) {
	return gjson.GetBytes(outputs, "smart_handled").Bool(), gjson.GetBytes(outputs, "smart_handled_reason").Str
}
