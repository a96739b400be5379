package suite

import (
	"testing"

	"github.com/tidwall/gjson"
)

// wait --resumed ends when another run continues the run, also if that came before, and its time can be limited.
func TestWaitUntilARunIsResumed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", asksOnly)
	paused := gjson.Get(p.run("pflow-exec", "run", "w.json", "--format", "json").stdout, "run_id").Str
	if o := p.run("pflow-exec", "wait", paused, "--resumed", "--timeout", "0.1"); o.exit != 124 || gjson.Get(o.stdout, "error.type").Str != "timeout" {
		t.Error(o)
	}
	if o := p.run("pflow-exec", "wait", paused, "--resumed", "--for", "1"); o.exit != 2 {
		t.Error(o)
	}
	waiting := make(chan outcome)
	go func() { waiting <- p.run("pflow-exec", "wait", paused, "--resumed") }()
	next := gjson.Get(p.must("pflow-exec", "resume", paused, "--approve", "yes", "--format", "json"), "run_id").Str
	if o := <-waiting; o.exit != 0 || gjson.Get(o.stdout, "run_id").Str != next {
		t.Error(o, next)
	}
	if o := p.run("pflow-exec", "wait", paused, "--resumed"); gjson.Get(o.stdout, "run_id").Str != next {
		t.Error(o, next)
	}
}
