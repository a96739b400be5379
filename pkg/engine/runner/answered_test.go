package runner

import (
	"runtime"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

const coloured = `{"nodes": [{"id": "ask", "type": "shell", "approval": {"question": "Which?", "choices": ["red", "blue"]}, "params": {"command": "echo ${__answer__}"}},
	{"id": "after", "type": "shell", "params": {"command": "%s"}}], "edges": [{"from": "ask", "to": "after"}]}`

// A run that was given an answer takes no other one, whether it is live, has succeeded or has failed.
func TestAnAnswerIsNotReplaced(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{"live": "sleep 30", "succeeded": "true", "failed": "false"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			path := p.write("w.json", strings.Replace(coloured, "%s", command, 1))
			paused := p.run(Source{Workflow: path})
			if paused.Status != event.Paused {
				t.Fatal(paused.Status)
			}
			request := func(answer string, o Options) *Request {
				o.Dir, o.Jobs = p.dir, 1
				if answer != "" {
					o.Answers = map[string]engine.Answer{"ask": {Text: answer, By: "--approve"}}
				}
				r, err := Load(p.Host, Source{Workflow: path, Resume: paused.Run}, o)
				p.check(err)
				r.Once = true
				return r
			}
			ack, err := Detach(p.Host, request("red", Options{}), detached)
			p.check(err)
			run := p.find(ack.RunID)
			if name == "live" {
				p.await(run, "node_started after")
			} else {
				p.check(run.Follow(p.Context(), func([]byte) error { return nil }))
				for run.Held() { // its process has not quite ended
					runtime.Gosched()
				}
			}
			for _, again := range []*Request{request("blue", Options{}), request("", Options{Answer: "blue"})} {
				if name != "live" && again.Answer != "" {
					continue // it has no open question
				}
				l, err := Resolve(p.Context(), p.Host, again)
				if err == nil {
					l.Release()
				}
				isFault(t, err, fault.Usage, "ask", run.ID, "red")
			}
			for _, answer := range []string{"red", ""} {
				l, err := Resolve(p.Context(), p.Host, request(answer, Options{}))
				p.check(err)
				l.Release()
				if attached := l.Attach == run.ID; attached == (name == "failed") {
					t.Errorf("answered %q: attaches to %q", answer, l.Attach)
				}
			}
			if name == "live" {
				_, _, err := Cancel(p.Context(), p.Home, run.ID)
				p.check(err)
			}
		})
	}
}
