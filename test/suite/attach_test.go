package suite

import (
	"strings"
	"testing"
)

const patient = `{"inputs":{"i":{"type":"int","default":1}},"nodes":[{"id":"a","type":"shell","params":{"command":"sleep 1000; echo ${i}"}}]}`

// Several cancellations of a run do not end it the hard way.
func TestARunIsCancelledOnceByAll(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", patient)
	id := p.started("w.json")
	answers := make(chan outcome)
	for range 4 {
		go func() { answers <- p.run("pflow-exec", "cancel", id) }()
	}
	for range 4 {
		if o := <-answers; o.exit != 0 || !strings.Contains(o.stdout, `"status":"cancelled"`) {
			t.Errorf("%d %s %s", o.exit, o.stdout, o.stderr)
		}
	}
}

// A command attaches to a live run only if it asks for the same workflow and inputs, and only until its timeout.
func TestALiveRunIsNoOther(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", patient)
	id := p.started("w.json", "--idempotency-key", "k", "i=2")
	for line, want := range map[string]struct {
		exit int
		said string
	}{
		"resume " + id + " i=3":                                           {2, `input "i"`},
		"run w.json i=3 --idempotency-key k":                              {2, `input "i"`},
		"run w.json i:=2 --idempotency-key k --timeout 0.2 --format json": {124, "200ms"},
		"resume " + id + " --timeout 0.2 --format json":                   {124, "200ms"},
		"run w.json --approve yes":                                        {2, "--resume"},
		"run w.json --idempotency-key=":                                   {2, "idempotency key"},
	} {
		o := p.run("pflow-exec", strings.Fields(line)...)
		if o.exit != want.exit || !strings.Contains(o.stderr, want.said) {
			t.Errorf("%s: %d %s %s", line, o.exit, o.stdout, o.stderr)
		}
	}
	p.must("pflow-exec", "cancel", id)
}
