package suite

import (
	"errors"
	"io"
	"os/exec"
	"testing"

	"github.com/tidwall/gjson"
)

// TestAStartInTheForeground holds that the process of start --foreground executes the run itself: standard output ends with the answer,
// while the run goes on, and the exit status is that of the run.
func TestAStartInTheForeground(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"inputs":{"status":{"type":"integer"}},"nodes":[{"id":"a","type":"shell","params":{"command":"until test -e go; do sleep 0.01; done; exit ${status}"}}]}`)
	for _, c := range []struct {
		status string
		exit   int
		ends   string
	}{{"0", 0, "completed"}, {"3", 1, "failed"}} {
		start := p.command("pflow-exec", "start", "--foreground", "w.json", "status:="+c.status)
		stdout, err := start.StdoutPipe()
		if err == nil {
			err = start.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(stdout)
		id := gjson.GetBytes(answer, "run_id").Str
		if err != nil || id == "" {
			t.Fatalf("%v: %s", err, answer)
		}
		if got := gjson.Get(p.must("pflow-exec", "status", id), "status").Str; got != "running" {
			t.Errorf("after the answer the run is %s", got)
		}
		p.write("go", "")
		err = start.Wait()
		if exit, _ := errors.AsType[*exec.ExitError](err); c.exit == 0 && err != nil || c.exit > 0 && (exit == nil || exit.ExitCode() != c.exit) {
			t.Errorf("%v, expected the exit status %d", err, c.exit)
		}
		if got := gjson.Get(p.must("pflow-exec", "status", id), "status").Str; got != c.ends {
			t.Errorf("%s, expected %s", got, c.ends)
		}
		p.must("rm", "go")
	}
	if o := p.run("pflow-exec", "start", "--foreground", "w.json"); o.exit != 2 || gjson.Get(o.stdout, "error.path").Str != "inputs.status" {
		t.Errorf("without its input: %s", o)
	}
}

// TestAForegroundStartInANodeOutlivesTheRun holds that a node cannot take the run with it: the run gets a process of its own.
func TestAForegroundStartInANodeOutlivesTheRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("apart.json", chain("until test -e go; do sleep 0.01; done"))
	p.write("outer.json", chain("pflow-exec start --foreground apart.json"))
	p.must("pflow-exec", "run", "outer.json")
	o := p.must("pflow-exec", "list", "--format", "json")
	id := gjson.Get(o, `#(workflow="apart.json").run_id`).Str
	if got := gjson.Get(o, `#(workflow="apart.json").status`).Str; got != "running" {
		t.Fatalf("%s", o)
	}
	p.write("go", "")
	p.must("pflow-exec", "wait", id)
}
