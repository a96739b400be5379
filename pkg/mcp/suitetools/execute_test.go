package suitetools

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// running is a pflow-exec whose run ends at once.
const running = `case "$2" in
start) cat > "$DIR/stdin"; echo '{"run_id":"r1"}';;
wait) echo '{"success":true,"run_id":"r1","status":"completed","outputs":{"n":9007199254740993}}';;
cancel) echo '{"run_id":"r1","status":"cancelled"}';;
esac`

func TestExecute(t *testing.T) {
	const usual = "--for=45 --max-output-chars=2000"
	late := regexp.MustCompile(`--for=4[0-4]`) // on a slow machine
	for _, c := range []struct{ arguments, start, stdin, wait string }{
		{`{"name":"w"}`, "--name -- w", "", usual},
		{`{"name":"--force","max_output_chars":0}`, "--name -- --force", "", "--for=45 --max-output-chars=0 --max-bytes=0"},
		{`{"name":"w","inputs":{}}`, "--name --inputs=- -- w", "{}", usual},
		{`{"name":"w","inputs":{"n":9007199254740993,"x":1.10}}`, "--name --inputs=- -- w", `{"n":9007199254740993,"x":1.10}`, usual},
		{`{"name":"w","inputs":null}`, "--name -- w", "", usual},
		{`{"name":"w","resume":"r0"}`, "--name --resume=r0 -- w", "", usual},
		{`{"name":"w","resume":"-x","inputs":{"a":1}}`, "--name --resume=-x --inputs=- -- w", `{"a":1}`, usual},
		{`{"name":"w","idempotency_key":"-- k"}`, "--name --idempotency-key=-- k -- w", "", usual},
		{`{"name":"w","resume":"r0","answers":{"b":"no","a/c":"x=y"}}`, "--name --resume=r0 --approve=a/c=x=y --approve=b=no --by=execute -- w", "", usual},
		{`{"name":"w","wait_seconds":0}`, "--name -- w", "", "--for=0 --max-output-chars=2000"},
		{`{"name":"w","wait_seconds":45.5}`, "--name -- w", "", "--for=45.5 --max-output-chars=2000"},
	} {
		t.Run(c.arguments, func(t *testing.T) {
			f := newFakes(t)
			f.Program("pflow-exec", running)
			_, r := f.call(f.front(), "execute", c.arguments)
			if r.IsError || string(r.Structured) != `{"success":true,"run_id":"r1","status":"completed","outputs":{"n":9007199254740993}}` {
				t.Errorf("answers %s", r.Structured)
			}
			want := []string{
				"pflow-exec --quiet start --format json " + c.start,
				"pflow-exec --quiet wait --format json " + c.wait + " -- r1",
			}
			got := f.Calls()
			got[len(got)-1] = late.ReplaceAllString(got[len(got)-1], "--for=45")
			if !slices.Equal(got, want) {
				t.Errorf("calls %q, not %q", got, want)
			}
			if got, _ := os.ReadFile(filepath.Join(f.Dir, "stdin")); string(got) != c.stdin {
				t.Errorf("standard input is %q, not %q", got, c.stdin)
			}
		})
	}
}

func TestExecuteThatDoesNotBegin(t *testing.T) {
	for _, c := range []struct{ name, script, kind string }{
		{"refused", `echo '{"success":false,"error":{"type":"validation_error","message":"no"}}'; exit 2`, "validation_error"},
		{"no run id", `echo '{}'`, "protocol_error"},
		{"no JSON", `echo r1`, "protocol_error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFakes(t)
			f.Program("pflow-exec", c.script)
			a, r := f.call(f.front(), "execute", `{"name":"w"}`)
			if kind, _ := faultOf(a); !r.IsError || kind != c.kind || len(f.Calls()) != 1 {
				t.Errorf("%s after %q", r.Structured, f.Calls())
			}
		})
	}
}

// TestExecuteThatIsStopped: a call that is cancelled cancels its run; the end of the server or of the client does not.
func TestExecuteThatIsStopped(t *testing.T) {
	for name, by := range map[string]mcpserver.End{"the call": mcpserver.Cancelled, "the client": mcpserver.Gone, "the server": mcpserver.Stopping} {
		t.Run(name, func(t *testing.T) {
			f := newFakes(t)
			gate := filepath.Join(f.Dir, "gate")
			if err := syscall.Mkfifo(gate, 0o600); err != nil {
				t.Fatal(err)
			}
			f.Program("pflow-exec", strings.Replace(running, "wait)", `wait) case "$*" in *--for=*) read x < "$DIR/gate"; esac;`, 1))
			ctx, end := context.WithCancelCause(t.Context())
			defer end(nil)
			front := &Front{Suite: f.suite}
			answers := make(chan *mcpserver.Result)
			go func() {
				answers <- front.callExecute(ctx, &mcpserver.Call{Arguments: json.RawMessage(`{"name":"w"}`)})
			}()
			writer, err := os.OpenFile(gate, os.O_WRONLY, 0) // waits until the run is waited for
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = writer.Close() }()
			end(&mcpserver.Ended{By: by, Err: errors.New("it ended")})
			r := <-answers
			server := by != mcpserver.Cancelled
			cancelled := slices.Contains(f.Calls(), "pflow-exec --quiet cancel --format json -- r1")
			if cancelled == server {
				t.Errorf("calls %q", f.Calls())
			}
			if server && (!r.IsError || !strings.Contains(string(r.Structured), "run r1 goes on")) {
				t.Errorf("answers %s", r.Structured)
			}
			if !server && !strings.Contains(string(r.Structured), `"run_id":"r1"`) {
				t.Errorf("answers %s", r.Structured)
			}
		})
	}
}

// TestExecuteThatIsCancelledAtOnce: the run that is just being started is cancelled too.
func TestExecuteThatIsCancelledAtOnce(t *testing.T) {
	f := newFakes(t)
	gate := filepath.Join(f.Dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	f.Program("pflow-exec", strings.Replace(running, `echo '{"run_id":"r1"}'`, `trap '' TERM; echo begun > "$DIR/gate"; read x < "$DIR/gate"; echo '{"run_id":"r1"}'`, 1))
	ctx, end := context.WithCancelCause(t.Context())
	answers := make(chan *mcpserver.Result)
	go func() {
		answers <- f.front().callExecute(ctx, &mcpserver.Call{Arguments: json.RawMessage(`{"name":"w"}`)})
	}()
	if said, err := os.ReadFile(gate); err != nil || string(said) != "begun\n" {
		t.Fatalf("%q, %v", said, err)
	}
	end(&mcpserver.Ended{By: mcpserver.Cancelled, Err: errors.New("it ended")})
	if err := os.WriteFile(gate, []byte("go on\n"), 0o600); err != nil { // waits until it is read
		t.Fatal(err)
	}
	r := <-answers
	if !slices.Contains(f.Calls(), "pflow-exec --quiet cancel --format json -- r1") {
		t.Errorf("the run goes on: calls %q, answers %s", f.Calls(), r.Structured)
	}
}

func TestLinksOfAnAnswer(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-exec", strings.Replace(running, `"n":9007199254740993`, `"short":"x","long":{"$blob":"sha256:a","bytes":5000,"mime":"text/plain","output":"long","uri":"pflow://runs/r1/outputs/long"},"deep":[{"$blob":"sha256:b"},{"a":{"$blob":"sha256:c","bytes":7,"output":"deep","uri":"pflow://runs/r1/outputs/deep"}}]`, 1))
	_, r := f.call(f.front(), "execute", `{"name":"w"}`)
	want := []mcpserver.Link{
		{URI: "pflow://runs/r1/outputs/long", Name: "long", MIMEType: "text/plain", Size: 5000},
		{URI: "pflow://runs/r1/outputs/deep", Name: "deep", Size: 7},
	}
	if !slices.Equal(r.Links, want) {
		t.Errorf("%+v, not %+v", r.Links, want)
	}
}
