package suitetools

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// A client that cancels a call ends its run, in whatever it is. A client that has only waited too long does not.
func TestACancelledCallEndsItsRunAtEachStage(t *testing.T) {
	t.Parallel()
	// At each stage one command says so through a gate, and goes on when there is a file. An answer through the gate could get lost in
	// a process that is just being started for another test.
	const begun = `echo begun > "$DIR/gate"; until [ -e "$DIR/go" ]; do sleep 0.02; done; `
	for stage, c := range map[string]struct{ arguments, before, then string }{
		"its run is started":         {`{"name":"w"}`, "start)", begun},
		"its run is waited for":      {`{"name":"w"}`, "wait)", `case "$*" in *--for=*) ` + begun + `esac; `},
		"an earlier run is attached": {`{"name":"w","resume":"r1"}`, "wait)", `case "$*" in *--for=*) ` + begun + `esac; `},
		"its progress is reported":   {`{"name":"w"}`, "wait)", `case "$*" in *--for=*) read x < "$DIR/never"; esac; `},
	} {
		for reason, ends := range map[string]bool{
			"": true, "enough": true, "the user pressed Escape": true,
			"Request timed out": false, "McpError: MCP error -32001: Maximum total timeout exceeded": false, "context deadline exceeded": false,
		} {
			t.Run(stage+", "+reason, func(t *testing.T) {
				t.Parallel()
				f := newFakes(t)
				gate := filepath.Join(f.Dir, "gate")
				for _, path := range []string{gate, filepath.Join(f.Dir, "never")} {
					if err := syscall.Mkfifo(path, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				script := strings.Replace(running, c.before, c.before+c.then, 1)
				f.Program("pflow-exec", strings.Replace(script, "cancel)", "events) "+begun+`echo '{"event":"run_finished"}';;`+"\ncancel)", 1))
				s := f.connect()
				meta := ""
				if stage == "its progress is reported" {
					meta = `"_meta":{"progressToken":"t"},`
				}
				s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + meta + `"name":"execute","arguments":` + c.arguments + `}}`)
				if said, err := os.ReadFile(gate); err != nil || string(said) != "begun\n" {
					t.Fatalf("%q, %v", said, err)
				}
				s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":` + strconv.Quote(reason) + `}}`)
				s.ping()
				if stage == "its run is started" { // which is not interrupted
					if err := os.WriteFile(filepath.Join(f.Dir, "go"), nil, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				r := <-s.called
				if cancelled := slices.Contains(f.Calls(), "pflow-exec --quiet cancel --format json -- r1"); cancelled != ends {
					t.Errorf("calls %q, answers %s", f.Calls(), r.Structured)
				}
			})
		}
	}
}

// A call that is cancelled before it could start a run starts none.
func TestACancelledCallThatWaitsForItsTurnStartsNothing(t *testing.T) {
	f := newFakes(t)
	var waited []suite.Command
	f.suite.Execute = func(ctx context.Context, c suite.Command) (*suite.Outcome, error) { // no command may start
		waited = append(waited, c)
		return nil, context.Cause(ctx)
	}
	ctx, end := context.WithCancelCause(t.Context())
	end(&mcpserver.Ended{By: mcpserver.Cancelled, Err: errors.New("it ended")})
	if r := f.front().callExecute(ctx, &mcpserver.Call{Arguments: json.RawMessage(`{"name":"w"}`)}); !r.IsError || len(waited) != 1 {
		t.Errorf("commands %+v, answers %s", waited, r.Structured)
	}
}

// Progress goes to a client that asked for it, all of it before the answer.
func TestExecuteReportsProgress(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-exec", strings.Replace(running, "cancel)", `events) echo '{"event":"run_started","nodes":["a","b"]}'; echo '{"event":"node_completed","node":"a"}'
	echo '{"event":"item_completed","node":"b","item":0}'; echo '{"event":"node_completed","node":"b"}';;`+"\ncancel)", 1))
	s := f.connect()
	for _, asked := range []bool{true, false} {
		meta := ""
		if asked {
			meta = `"_meta":{"progressToken":"t"},`
		}
		s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + meta + `"name":"execute","arguments":{"name":"w"}}}`)
		answer, notified := s.next("1")
		if answer.Get("result.structuredContent.run_id").Str != "r1" {
			t.Error(answer)
		}
		var got []string
		for _, n := range notified {
			got = append(got, n.Get("params.progressToken").Str+" "+n.Get("params.progress").Raw+"/"+n.Get("params.total").Raw+" "+n.Get("params.message").Str)
		}
		want := []string{"t 1/2 node_completed a", "t 1.5/2 item_completed b[0]", "t 2/2 node_completed b"}
		if !asked {
			want = nil
		}
		if !slices.Equal(got, want) {
			t.Errorf("asked %t: reports %q, not %q", asked, got, want)
		}
		<-s.called
	}
}
