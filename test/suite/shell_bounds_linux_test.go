package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pflow-suite/pflow/internal/brief"
)

// shellNode writes a workflow of one shell node.
func (p *place) shellNode(params string) {
	p.Helper()
	p.write("w.json", `{"nodes":[{"id":"a","type":"shell","params":`+params+`}]}`)
}

// shell runs a workflow of one shell node, and returns the run's answer and the node's outputs, also those of a failure. No
// process of the run may be left.
func (p *place) shell(params string) (answer, outputs map[string]any) {
	p.Helper()
	p.shellNode(params)
	o := p.run("pflow-exec", "run", "w.json", "--quiet", "--format", "json")
	answer = p.document(strings.SplitN(o.stdout, "\n", 2)[0])
	id, _ := answer["run_id"].(string)
	if left := processes("PFLOW_RUN_ID=" + id); id == "" || len(left) > 0 {
		p.Errorf("%s: processes are left: %v", o, left)
	}
	for line := range strings.Lines(p.must("pflow-exec", "events", id)) {
		e := p.document(line)
		if left, ok := e["outputs"].(map[string]any); ok && e["node"] == "a" {
			outputs = left
		}
	}
	return answer, outputs
}

func message(answer map[string]any) string {
	f, _ := answer["error"].(map[string]any)
	text, _ := f["message"].(string)
	return text
}

// A command that prints a gigabyte, or prints endlessly, is stopped when it has printed too much. Memory does not hold it.
func TestMuchOutputIsBounded(t *testing.T) {
	brief.Skip(t)
	needsLinux(t, "memory use is read from getrusage, in units of Linux")
	for name, params := range map[string]string{
		"a gigabyte":        `{"command":"head -c 1000000000 /dev/zero | tr '\\0' x"}`,
		"without end":       `{"command":"yes"}`,
		"on stderr":         `{"command":"yes >&2"}`,
		"deaf to a SIGTERM": `{"command":"trap '' TERM; yes"}`,
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.shellNode(params)
			out, mib, err := p.measured("pflow-exec", "run", "w.json", "--quiet", "--format", "json")
			answer := p.document(out)
			if f, _ := answer["error"].(map[string]any); err == nil || f["type"] != "too_large" || !strings.Contains(message(answer), "128 MiB") {
				t.Errorf("%v: %s", err, out)
			}
			if mib > 100 {
				t.Errorf("it had %d MiB in memory", mib)
			}
			_ = filepath.WalkDir(p.home, func(path string, d os.DirEntry, _ error) error {
				if info, err := d.Info(); err == nil && info.Size() > 200<<20 {
					t.Errorf("%s has %d bytes", path, info.Size())
				}
				return nil
			})
			if left := processes("PFLOW_HOME=" + p.home); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
		})
	}
}

// A process that holds a pipe or a terminal open is not waited for, and does not outlive the run.
func TestWhatHoldsTheOutputOpen(t *testing.T) {
	t.Parallel()
	needs(t, "setsid")
	for i, c := range []struct{ name, params, stdout string }{
		{"a child in a session of its own", `{"command":"setsid SLEEP & echo begun"}`, "begun"},
		{"its parent gone", `{"command":"(setsid sh -c 'SLEEP; true' &); echo begun"}`, "begun"},
		{"a background child", `{"command":"SLEEP & echo begun"}`, "begun"},
		{"deaf", `{"command":"sh -c 'trap \"\" TERM; echo begun; SLEEP; true' & read x </dev/null; sleep 0.2"}`, "begun"},
		{"a background child at a terminal", `{"command":"SLEEP & echo begun","tty":true}`, "begun"},
		{"a job at a terminal", `{"command":"set -m; SLEEP & echo begun","tty":true}`, "begun"},
		{"a child that left its terminal's session", `{"command":"setsid SLEEP & echo begun","tty":true}`, "begun"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			seconds := fmt.Sprintf("98764.%d%d", os.Getpid(), i)
			answer, outputs := p.shell(strings.ReplaceAll(c.params, "SLEEP", "sleep "+seconds))
			if answer["status"] != "completed" || outputs["stdout"] != c.stdout {
				t.Errorf("%v %v", answer, outputs)
			}
			commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, path := range commands {
				if command, _ := os.ReadFile(path); bytes.Contains(command, []byte(seconds)) {
					t.Errorf("%s is left: %q", path, command)
					if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
						_ = syscall.Kill(pid, syscall.SIGKILL)
					}
				}
			}
		})
	}
}

// Interactive programs end at a terminal like others.
func TestTerminalPrograms(t *testing.T) {
	t.Parallel()
	const getpass = `python3 -c "import getpass; print(len(getpass.getpass()))"`
	for _, c := range []struct{ needs, command, more, status, stdout string }{
		{"tput", "tput cols", "", "completed", "80"},
		{"python3", getpass, `,"stdin":"secret\n"`, "completed", "6"},
		{"python3", "sleep 1; " + getpass, `,"stdin":"secret"`, "completed", "6"},
		{"ssh-keygen", "ssh-keygen -q -t ed25519 -f key && ssh-keygen -y -f key | wc -l", `,"stdin":"open sesame\nopen sesame\nopen sesame\n"`, "completed", "1"},
		{"bash", "bash --norc -i", `,"stdin":"sleep 98763 &\necho $((6 * 7))\nexit\n"`, "completed", "exit"},
		{"less", "seq 1000 | less", `,"stdin":"q"`, "completed", ""},
		{"less", "seq 1000 | less", `,"timeout":1`, "failed", ""},
		{"top", "top", `,"timeout":1`, "failed", ""},
		{"yes", "yes", `,"timeout":1`, "failed", ""},
		{"cat", "cat", ``, "completed", ""},
		{"cat", "stty raw -echo; cat", `,"stdin":"a\u0003b","timeout":8`, "failed", "a\x03b"},
	} {
		t.Run(c.command+c.more, func(t *testing.T) {
			t.Parallel()
			needs(t, c.needs)
			p := newPlace(t)
			command, err := json.Marshal(c.command)
			if err != nil {
				t.Fatal(err)
			}
			answer, outputs := p.shell(`{"command":` + string(command) + `,"tty":true` + c.more + `}`)
			stdout, _ := outputs["stdout"].(string)
			if answer["status"] != c.status || !strings.HasSuffix(stdout, c.stdout) {
				t.Errorf("%v %q", answer, outputs)
			}
			if f, _ := answer["error"].(map[string]any); c.status == "failed" && f["type"] != "timeout" {
				t.Errorf("%v", answer)
			}
		})
	}
}

// A secret that is typed at a terminal and shown there is redacted.
func TestATypedSecretIsRedacted(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"inputs":{"api_key":{"type":"string","secret":true}},"nodes":[{"id":"a","type":"shell","params":{"command":"read -r x; echo got $x","tty":true,"stdin":"${api_key}"}}]}`)
	o := p.run("pflow-exec", "run", "w.json", "api_key=shibboleth-of-this-test", "--format", "ndjson")
	if o.exit != 0 || strings.Contains(o.stdout+o.stderr, "shibboleth") || !strings.Contains(o.stdout, "got <redacted>") {
		t.Error(o)
	}
	_ = filepath.WalkDir(p.home, func(path string, d os.DirEntry, _ error) error {
		if text, _ := os.ReadFile(path); bytes.Contains(text, []byte("shibboleth")) {
			t.Errorf("%s has it", path)
		}
		return nil
	})
}
