package suite

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/pflow-suite/pflow/internal/brief"
	"github.com/pflow-suite/pflow/internal/cases"
)

// allCases makes the test run every case in every place, in place of those of the sample. Each takes its time four times.
const allCases = "CASE_RUNNERS"

// sampleOfCases are few cases that have every kind of event, and what crosses a runner in a form of its own.
var sampleOfCases = []string{
	"approval-beforehand-no",      // a question, and nodes that are cancelled
	"batch-max-retries",           // items, and a node that fails and is tried again
	"branch-code-bash",            // actions, and nodes that are skipped
	"code-error-line",             // a place in the workflow's file
	"llm-prompt",                  // a program that is a node type, and the use of a model
	"loop-wait",                   // iterations
	"read-file-binary",            // bytes
	"shell-smart-ls-nomatch",      // a note
	"workflow-inputs-by-template", // a sub-workflow
}

// elsewhere are the places where the nodes of the cases run. Each is a function that returns the command of a runner, or skips the test.
var elsewhere = map[string]func(t *testing.T) func(p *place) string{
	"without the environment": emptied,
	"in namespaces":           namespaces,
	"over ssh":                overSSH,
}

// attempt is a command that executes an attempt with the home, the HOME and the PATH of the place.
func (p *place) attempt() string {
	p.Helper()
	words := []string{"exec", "env", "PFLOW_HOME=" + p.home, "HOME=" + p.dir, "PATH=" + bin + ":" + os.Getenv("PATH"), filepath.Join(bin, "pflow-exec"), "node"}
	return strings.Join(words, " ")
}

// TestCasesRunAnywhere runs cases with every node on this machine, and then with every node in each of the places. Their events are
// the same.
func TestCasesRunAnywhere(t *testing.T) {
	brief.Skip(t)
	all, err := cases.Read(filepath.Join("..", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(sampled(all), func(c cases.Case) bool { return differsByRunner[c.Name] })
	servers := caseServers(t)
	here := make([]string, len(all)) // the events of each case
	t.Run("here", func(t *testing.T) {
		for i, c := range all {
			t.Run(c.Name, func(t *testing.T) {
				besideOthers(t, &c)
				needs(t, c.Needs...)
				here[i] = caseEvents(newPlace(t), c, servers, "")
			})
		}
	})
	for _, kind := range []string{
		"run_started", "node_started", "node_completed", "node_failed", "node_skipped", "node_cancelled", "item_completed", "iteration_completed",
		"approval_requested", "approval_resolved", "run_finished",
	} {
		if sample := os.Getenv(allCases) == "" && !slices.Contains(here, ""); sample && !strings.Contains(strings.Join(here, "\n"), `"event":"`+kind+`"`) {
			t.Errorf("no case has an event %s", kind)
		}
	}
	for name, there := range elsewhere {
		t.Run(name, func(t *testing.T) {
			runner := there(t)
			for i, c := range all {
				t.Run(c.Name, func(t *testing.T) {
					besideOthers(t, &c)
					needs(t, c.Needs...)
					p := newPlace(t)
					got, want := caseEvents(p, c, servers, runner(p)), here[i]
					for tries := 1; got != want && c.Timed && tries < maxTimed; tries++ {
						p = newPlace(t)
						got = caseEvents(p, c, servers, runner(p))
					}
					if got != want {
						t.Errorf("there:\n%s\nhere:\n%s", got, want)
					}
				})
			}
		})
	}
}

// sampled returns a few of the cases, or all if that is asked for.
func sampled(all []cases.Case) []cases.Case {
	if os.Getenv(allCases) != "" {
		return all
	}
	return slices.DeleteFunc(all, func(c cases.Case) bool { return !slices.Contains(sampleOfCases, c.Name) })
}

// differsByRunner has the cases whose events depend on where their nodes run. In this one, what a node has put out before the limit of
// the run was reached is in its log only.
var differsByRunner = map[string]bool{"runtime-max-output": true}

// answersDifferently has the cases whose servers answer differently the second time.
var answersDifferently = map[string]bool{"http-retries": true, "llm-retries-off": true}

// maxTimed is how often a case with short time limits is run by a runner until its events are the same: logging in takes seconds on a
// machine under load.
const maxTimed = 5

// caseEvents runs a case, with the runner if it is not empty, and returns its events.
func caseEvents(p *place, c cases.Case, servers []string, runner string) string {
	p.Helper()
	if answersDifferently[c.Name] {
		servers = caseServers(p.T)
	}
	if runner != "" {
		workflow, err := sjson.SetBytes(c.Workflow, "runs_on", "far")
		if err != nil {
			p.Fatal(err)
		}
		c.Workflow, c.Args = workflow, append(slices.Clone(c.Args), "--runs-on", "far="+runner)
	}
	if runner != "" && c.Timed { // the events show whether it is as expected
		p.run("pflow-exec", append([]string{"run", "--format", "ndjson"}, p.setUp(&c, servers)...)...)
	} else {
		runCase(p, &c, servers)
	}
	return sameAnywhere(p)
}

// emptied returns a runner without the environment of its caller.
func emptied(*testing.T) func(p *place) string {
	return func(p *place) string { return "env -i sh -c '" + p.attempt() + "'" }
}

// namespaces returns a runner with processes, mounts and a host name of its own.
func namespaces(t *testing.T) func(p *place) string {
	t.Helper()
	needs(t, "unshare")
	command := "unshare --mount --uts --ipc --pid --fork --mount-proc"
	if os.Getuid() != 0 {
		command += " --user --map-current-user"
	}
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", command+" true").CombinedOutput(); err != nil { //nolint:gosec // it is the command above
		t.Skipf("this machine refuses namespaces: %s", out)
	}
	return func(p *place) string { return command + " sh -c '" + p.attempt() + "'" }
}

// overSSH starts a server for ssh and returns a runner that logs in to it, as this user.
func overSSH(t *testing.T) func(p *place) string {
	t.Helper()
	login, _ := sshServer(t)
	return func(p *place) string { return login + "127.0.0.1 '" + p.attempt() + "'" }
}

// sshServer starts a server for ssh on 127.0.0.1. It returns the beginning of a command that logs in to it, as this user, and the id of its
// process.
func sshServer(t *testing.T) (login string, pid int) {
	t.Helper()
	needs(t, "ssh", "ssh-keygen")
	server, err := exec.LookPath("sshd")
	if err != nil {
		server = "/usr/sbin/sshd"
	}
	if _, err := os.Stat(server); err != nil {
		t.Skip("there is no sshd here")
	}
	if _, err := os.Stat("/run/sshd"); err != nil && os.Getuid() == 0 {
		t.Skip("there is no folder /run/sshd, which sshd needs as root")
	}
	p := newPlace(t)
	for _, key := range []string{"host", "user"} {
		p.must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
	}
	p.write("authorized", p.read("user.pub"))
	port := freePort(t)
	config := p.write("sshd_config", fmt.Sprintf(`ListenAddress 127.0.0.1:%d
HostKey %[2]s/host
AuthorizedKeysFile %[2]s/authorized
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 1000
`, port, p.dir))
	known := p.write("known", fmt.Sprintf("[127.0.0.1]:%d %s", port, p.read("host.pub")))
	var said bytes.Buffer
	daemon := withTest(exec.Command(server, "-D", "-e", "-f", config)) //nolint:gosec // it is the server of this test
	daemon.Stderr = &said
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Kill()
		_ = daemon.Wait()
		if t.Failed() {
			t.Logf("%.10000s", said.String())
		}
	})
	p.eventually("sshd listens", func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return fmt.Sprintf("ssh -T -F none -o BatchMode=yes -o IdentitiesOnly=yes -o UserKnownHostsFile=%s -o StrictHostKeyChecking=yes -i %s -p %d ",
		known, filepath.Join(p.dir, "user"), port), daemon.Process.Pid
}

// freePort returns a port that was free a moment ago.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	address, _ := l.Addr().(*net.TCPAddr)
	return address.Port
}

// sameAnywhere returns the events of a place's run without what differs from run to run, and without where the nodes run.
func sameAnywhere(p *place) string {
	p.Helper()
	paths := p.journals()
	if len(paths) == 0 {
		return ""
	}
	b, err := os.ReadFile(paths[len(paths)-1])
	if err != nil {
		p.Fatal(err)
	}
	return withoutPlaces(p, string(b))
}

// withoutPlaces returns events without what differs from run to run, and without where the nodes run.
func withoutPlaces(p *place, text string) string {
	text = strings.ReplaceAll(text, p.dir, "/place")
	var events []string
	for line := range strings.Lines(text) {
		e := gjson.Parse(line)
		if e.Get("event").Str == "node_progress" {
			continue
		}
		for _, path := range []string{"seq", "time", "run", "runs_on", "workflow", "trace_id", "span_id", "parent_span_id", "duration_ms", "input_digest", "checkpoint.completed_nodes", "warnings"} {
			line, _ = sjson.Delete(line, path)
		}
		line = changing.ReplaceAllString(line, "…")
		events = append(events, strings.TrimSpace(line))
	}
	slices.Sort(events) // nodes that run at the same time end in any order
	return strings.Join(events, "\n")
}

// changing matches what differs from run to run inside of outputs: ids, times, sizes in time, and ports.
var changing = regexp.MustCompile(`r01[0-9a-z]{24}|20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z|"[a-z_]*_ms":[0-9.]+|"response_time":[0-9.]+|"date":"[^"]*"|"retry_in_ms":[0-9.]+|sha256:[0-9a-f]{64}(\.[0-9a-f]{16})?|\b[0-9a-f]{32}\b|127\.0\.0\.1:[0-9]+|\\?"(duration|elapsed|port)\\?":[0-9.]+`)
