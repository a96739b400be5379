package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// order is what is sent to another machine.
type order struct {
	Type, Command, Dir string
	Params             json.RawMessage
	Env                []string
}

// An attempt has all that another machine needs to know, as data.
func TestAttemptsRunElsewhere(t *testing.T) {
	b := newBench(t)
	orders, answers := make(chan []byte), make(chan []byte)
	defer close(orders)
	go func() { // the other machine, which gets bytes alone
		for sent := range orders {
			var o order
			if err := json.Unmarshal(sent, &o); err != nil {
				t.Error(err)
			}
			var out, said bytes.Buffer
			c := exec.Command("sh", "-c", o.Command)
			c.Dir, c.Env, c.Stdout, c.Stderr = o.Dir, o.Env, &out, &said
			if err := c.Run(); err != nil || o.Type != "shell" {
				t.Errorf("%s: %v: %s", sent, err, said.String())
			}
			answers <- out.Bytes()
		}
	}()
	var attempts []engine.Attempt
	p := b.play(t.Context(), `{"nodes":[{"id":"a","type":"echo","params":{"data":"it's; $(false)"}},
		{"id":"b","type":"shell","params":{"command":"printf %s-%s \"${item}\" \"${a.data}\"; pwd >&2; test $PFLOW_ITEM = \"${__index__}\""},"timeout":{"attempt":30},"batch":{"items":["x","y"]}}]}`,
		func(c *engine.Config) {
			here := engine.Local(c.Host)
			c.Execute = func(ctx context.Context, a engine.Attempt) engine.Result {
				attempts = append(attempts, a)
				if a.Type.Name == "echo" {
					return here(ctx, a)
				}
				o := order{Type: a.Type.Name, Dir: a.Dir, Params: a.Call.Params}
				var variables []string
				_, o.Command, variables = a.Call.Shell()
				o.Env = append(a.Env, variables...)
				sent, err := rawjson.Marshal(o)
				if err != nil {
					t.Error(err)
				}
				orders <- sent
				return engine.Result{Outputs: json.RawMessage(`{"stdout":` + string(event.String(<-answers)) + `}`)}
			}
		})
	p.ended(t, event.Completed)
	if got := p.get("b.results.#.stdout"); got != `["x-it's; $(false)","y-it's; $(false)"]` {
		t.Errorf("%s", got)
	}
	last := attempts[len(attempts)-1]
	if last.RunID != p.id || last.Node != "b" || last.Number != 1 || last.Item != 1 || last.Iteration != 0 || last.Timeout != 30*time.Second || last.Dir != b.dir {
		t.Errorf("%+v", last)
	}
	for _, mark := range last.Marks {
		if !strings.Contains(strings.Join(last.Env, "\n"), mark) {
			t.Errorf("%s is not in the environment", mark)
		}
	}
}
