package runner

import (
	"testing"

	"github.com/pflow-suite/pflow/pkg/engine"
)

const counted = `{"inputs": {"n": {"type": "int", "default": 1}, "token": {"type": "string", "secret": true, "required": false, "default": "none"}},
	"nodes": [{"id": "a", "type": "shell", "params": {"command": "echo ${n} ${token}"}}]}`

// A request to answer once attaches to a run that has ended if it asks for nothing else.
func TestOnceAttachesToAnEndedRun(t *testing.T) {
	t.Parallel()
	const changed = `{"inputs": {"n": {"type": "int", "default": 1}, "token": {"type": "string", "secret": true, "required": false, "default": "none"}},
		"nodes": [{"id": "a", "type": "shell", "params": {"command": "echo ${n} again ${token}"}}]}`
	const renamed = `{"inputs": {"n": {"type": "int", "default": 1}, "token": {"type": "string", "secret": true, "required": false, "default": "none"}},
		"nodes": [{"id": "a", "type": "shell", "params": {"command": "echo ${n} ${token}"}}], "outputs": {"text": {"source": "${a.stdout}"}}}`
	for name, c := range map[string]struct {
		first, second string
		given, again  Inputs
		answers       map[string]engine.Answer
		attaches      bool
	}{
		"the same":                      {first: counted, second: counted, attaches: true},
		"the same input":                {first: counted, second: counted, given: values("n", "2"), again: values("n", "2"), attaches: true},
		"the input of the run":          {first: counted, second: counted, given: values("n", "2"), attaches: true},
		"another input":                 {first: counted, second: counted, given: values("n", "2"), again: values("n", "3")},
		"the same secret":               {first: counted, second: counted, given: values("token", "abcdefgh"), again: values("token", "abcdefgh"), attaches: true},
		"a secret that is not repeated": {first: counted, second: counted, given: values("token", "abcdefgh"), attaches: true},
		"another secret":                {first: counted, second: counted, given: values("token", "abcdefgh"), again: values("token", "12345678"), attaches: true}, // going on would reuse all
		"another command":               {first: counted, second: changed},
		"other outputs":                 {first: counted, second: renamed},
		"a failed run":                  {first: twice, second: twice},
		"a paused run":                  {first: asking, second: asking, attaches: true},
		"an answered run":               {first: asking, second: asking, answers: map[string]engine.Answer{"a": {Text: "yes"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			path := p.write("w.json", c.first)
			run := p.run(Source{Workflow: path, Inputs: c.given}).Run
			p.write("w.json", c.second)
			for _, once := range []bool{true, false} {
				r, err := Load(p.Host, Source{Workflow: path, Inputs: c.again, Resume: run}, Options{Dir: p.dir, Jobs: 1, Answers: c.answers})
				p.check(err)
				r.Once = once
				l, err := Resolve(p.Context(), p.Host, r)
				if err != nil && name == "a secret that is not repeated" && !once {
					continue
				}
				p.check(err)
				l.Release()
				want := ""
				if once && c.attaches {
					want = run
				}
				if l.Attach != want {
					t.Errorf("once %t: attaches to %q, not %q", once, l.Attach, want)
				}
			}
		})
	}
}
