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

// An answer that cannot be taken because a secret input is absent is refused. The question stays open.
func TestAnAnswerWithoutASecretIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	path := p.write("w.json", `{"inputs": {"token": {"type": "string", "secret": true}}, "nodes": [{"id": "ask", "type": "shell", "approval": {}, "params": {"command": "echo ${token}"}}]}`)
	secret := values("token", "s3cret-value")
	paused := p.run(Source{Workflow: path, Inputs: secret})
	if paused.Status != event.Paused {
		t.Fatal(paused.Status)
	}
	resolve := func(answers map[string]engine.Answer, answer string, inputs Inputs) (*Launch, error) {
		r, err := Load(p.Host, Source{Workflow: path, Resume: paused.Run, Inputs: inputs}, Options{Dir: p.dir, Jobs: 1, Answers: answers, Answer: answer})
		p.check(err)
		r.Once = true
		l, err := Resolve(p.Context(), p.Host, r)
		if err == nil {
			l.Release()
		}
		return l, err
	}
	yes := map[string]engine.Answer{"ask": {Text: "yes", By: "--approve"}}
	_, err := resolve(yes, "", Inputs{})
	isFault(t, err, fault.Usage, "token", paused.Run)
	_, err = resolve(nil, "yes", Inputs{})
	isFault(t, err, fault.Usage, "token", paused.Run)
	l, err := resolve(nil, "", Inputs{})
	if p.check(err); l.Attach != paused.Run {
		t.Errorf("without an answer it attaches to %q", l.Attach)
	}
	l, err = resolve(yes, "", secret)
	if p.check(err); l.Attach != "" {
		t.Errorf("with the secret it attaches to %q", l.Attach)
	}
}
