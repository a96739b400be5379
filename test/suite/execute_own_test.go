package suite

import (
	"fmt"
	"strings"
	"testing"
)

// A draft that failed, was corrected and saved goes on from its run under its new name. Another workflow does not.
func TestExecuteResumesOnlyItsOwnRuns(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("report", chain("echo a >> ran.txt; echo first", "exit 1"))
	p.draft("other", chain("echo other >> ran.txt", "exit 1"))
	c := p.connect("pflow-serve")
	failure, _ := c.call("execute", `{"name":"report"}`)
	_, run := statusOf(failure)
	refused, failed := c.call("execute", `{"name":"other","resume":"`+run+`"}`)
	said := fmt.Sprint(refused["error"])
	if !failed || !strings.Contains(said, "usage_error") || !strings.Contains(said, run) || !strings.Contains(said, "report") {
		t.Errorf("another workflow: %v", refused)
	}
	if o := p.run("pflow-exec", "start", "other", "--name", "--resume", run); o.exit != 2 || !strings.Contains(o.stderr, "report") {
		t.Errorf("on the command line: %d %s", o.exit, o.stderr)
	}
	p.draft("report", chain("echo a >> ran.txt; echo first", "echo b >> ran.txt; echo second"))
	if saved, failed := c.call("save_to_library", `{"draft_name":"report","final_name":"line-report","description":"Reports lines"}`); failed {
		t.Fatal(saved)
	}
	if done, failed := c.call("execute", `{"name":"line-report","resume":"`+run+`"}`); failed || done["status"] != "completed" || fmt.Sprint(done["outputs"]) != "map[last:second]" {
		t.Errorf("under its new name it answers %v", done)
	}
	if got := p.read("ran.txt"); got != "a\nb\n" {
		t.Errorf("%q ran", got)
	}
	c.leave()
}
