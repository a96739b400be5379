package suite

import (
	"testing"

	"github.com/tidwall/gjson"
)

// An answer to a live run that has not asked is refused, with how to wait for the question. The same answers as the run has are not.
func TestAnAnswerBeforeTheQuestion(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.draft("late", `{"nodes":[{"id":"wait","type":"shell","params":{"command":"cat `+g.path+`"}},{"id":"drop","type":"echo","approval":true,"params":{"message":"dropped"}}],"edges":[{"from":"wait","to":"drop"}]}`)
	run := gjson.Get(p.must("pflow-exec", "start", "--name", "late", "--idempotency-key", "once"), "run_id").Str
	open := g.reached()
	for _, line := range [][]string{
		{"start", "--name", "--resume", run, "--approve", "drop=yes", "late"},
		{"start", "--name", "--idempotency-key", "once", "--approve", "drop=yes", "late"},
		{"resume", run, "--approve", "yes", "--format", "json"},
		{"resume", run, "--approve", "drop=no", "--format", "json"},
	} {
		o := p.run("pflow-exec", line...)
		if e := gjson.Get(o.stdout, "error"); o.exit != 1 || e.Get("type").Str != "conflict" || e.Get("retryable").Bool() != true {
			t.Errorf("%v: %s", line, o)
		}
	}
	c := p.connect("pflow-serve")
	if answer, failed := c.call("execute", `{"name":"late","resume":"`+run+`","answers":{"drop":"yes"}}`); !failed || answer["error"].(map[string]any)["node"] != "drop" {
		t.Error(answer)
	}
	c.leave()
	open()
	if o := p.run("pflow-exec", "wait", run); o.exit != 4 {
		t.Error(o)
	}
	if o := p.run("pflow-exec", "resume", run, "--approve", "drop=yes", "--format", "json"); o.exit != 0 {
		t.Error(o)
	}
	// A run that was given the answer beforehand is attached to.
	first := gjson.Get(p.must("pflow-exec", "start", "--name", "late", "--idempotency-key", "twice", "--approve", "drop=yes"), "run_id").Str
	open = g.reached()
	if second := gjson.Get(p.must("pflow-exec", "start", "--name", "late", "--idempotency-key", "twice", "--approve", "drop=yes"), "run_id").Str; second != first {
		t.Errorf("%s and %s", first, second)
	}
	open()
	p.must("pflow-exec", "wait", first)
}
