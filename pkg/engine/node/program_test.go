package node

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// ownProgram writes the program of a node type and returns the type.
func ownProgram(t *testing.T, text string) nodetype.Type {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pflow-node-own")
	syscall.ForkLock.RLock() // a child forked by a parallel test would hold the file open for writing: "text file busy"
	err := os.WriteFile(path, []byte(text), 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	return nodetype.Type{Name: "own", Program: path, ExtraOutputs: true, Actions: []string{"next", "retry", "x"}, Params: []nodetype.Param{
		{Name: "text", Type: "str"}, {Name: "count", Type: "int", Default: json.RawMessage("3")}, {Name: "any", Type: "any"},
	}}
}

// performProgram runs a node whose type is a program.
func performProgram(t *testing.T, on *Task, kind nodetype.Type, params string) *Result {
	t.Helper()
	return performIn(t.Context(), t, on, kind, params)
}

func performIn(ctx context.Context, t *testing.T, on *Task, kind nodetype.Type, params string) *Result {
	t.Helper()
	p, err := Prepare(&workflow.Node{ID: "n", Type: "own", Params: json.RawMessage(params)}, kind, &Binding{Scope: values{}.scope, Known: values{}.known})
	if err != nil {
		t.Fatal(err)
	}
	r := Run(ctx, p, on)
	if r.Outputs == nil || !json.Valid(r.Outputs) {
		t.Errorf("outputs %s", r.Outputs)
	}
	if r.Fault != nil {
		if r.Action != workflow.ActionError || len(r.Fault.Suggestions) == 0 {
			t.Errorf("action %q, %+v", r.Action, r.Fault)
		}
		if got := gjson.GetBytes(r.Outputs, "error").Str; got != r.Fault.Message {
			t.Errorf("the output error is %q, the fault %q", got, r.Fault.Message)
		}
	}
	return r
}

func TestProgramAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, action, outputs string }{
		"an object":                {`echo '{"a":1,"b":[1.50,null]}'`, "default", `{"a":1,"b":[1.50,null]}`},
		"an empty object":          {`echo '{}'`, "default", `{}`},
		"on many lines":            {`printf '{\n  "a": 1\n}\n\n'`, "default", "{\n  \"a\": 1\n}"},
		"no newline at the end":    {`printf '{"a":"%s"}' "$(seq -s, 3)"`, "default", `{"a":"1,2,3"}`},
		"an action":                {`echo '{"$action":"retry","a":1}'`, "retry", `{"a":1}`},
		"no action":                {`echo '{"a":1,"$action":null}'`, "default", `{"a":1}`},
		"keys with $":              {`echo '{"$blob":"sha256:00","a":{"$base64":"eA=="}}'`, "default", `{"$$blob":"sha256:00","a":{"$$base64":"eA=="}}`},
		"keys with $ and action":   {`echo '{"$action":"x","$blob":"sha256:00","a":{"$base64":"eA=="}}'`, "x", `{"$$blob":"sha256:00","a":{"$$base64":"eA=="}}`},
		"an output named error":    {`echo '{"error":"none","a":1}'`, "default", `{"error":"none","a":1}`},
		"standard error is apart":  {`echo oops >&2; echo '{"a":1}'`, "default", `{"a":1}`},
		"the request":              {`cat`, "default", `{"v":1,"params":{"any":null,"count":3,"text":"x <&> y"}}`},
		"stdin closed early":       {`exec <&-; echo '{}'`, "default", `{}`},
		"no progress inside":       {`printf '\n{"a":[\n{"progress":{"done":1}}\n]}'`, "default", "{\"a\":[\n{\"progress\":{\"done\":1}}\n]}"},
		"an output progress":       {`echo '{"progress":{"done":1},"a":1}'`, "default", `{"progress":{"done":1},"a":1}`},
		"progress of another form": {`echo '{"progress":"half"}'`, "default", `{"progress":"half"}`},
		"environment":              {`printf '{"at":"%s"}' "$(basename "$PWD"):$MARK:$#"`, "default", `{"at":"work:here:0"}`},
		"a child that stays":       {`sleep 1000 & echo '{"a":1}'`, "default", `{"a":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := task(t)
			on.Dir = filepath.Join(on.Dir, "work")
			if err := os.Mkdir(on.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			on.Env = append(on.Env, "MARK=here")
			r := performProgram(t, on, ownProgram(t, "#!/bin/sh\n"+c.script+"\n"), `{"text":"x <&> y","any":null}`)
			if r.Fault != nil || r.Action != c.action || string(r.Outputs) != c.outputs {
				t.Errorf("%s %s %v", r.Action, r.Outputs, r.Fault)
			}
		})
	}
}

func TestProgramFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script  string
		typ     fault.Type
		message string // what it contains
		outputs string // besides error
	}{
		"status":                 {`exit 3`, fault.Execution, "pflow-node-own failed with exit code 3", `{}`},
		"standard error":         {`echo no paper >&2; exit 3`, fault.Execution, "pflow-node-own failed with exit code 3: no paper", `{}`},
		"text on stdout":         {`echo no paper; exit 3`, fault.Execution, "pflow-node-own failed with exit code 3: no paper", `{}`},
		"outputs, then status":   {`echo '{"pages":2}'; echo no paper >&2; exit 1`, fault.Execution, "pflow-node-own failed with exit code 1: no paper", `{"pages":2}`},
		"error as text":          {`echo '{"error":"no paper","pages":2}'; exit 1`, fault.Execution, "no paper", `{"pages":2}`},
		"error as FAULT":         {`echo '{"error":{"type":"rate_limited","message":"wait","retryable":true,"suggestions":["Come back"],"node":"forged","line":7,"details":{"exit_code":9,"tray":2}}}'; exit 1`, fault.RateLimited, "wait", `{}`},
		"a type of its own":      {`echo '{"error":{"type":"PaperError","message":"no paper"}}'; exit 1`, fault.Execution, "no paper", `{}`},
		"a FAULT half right":     {`echo '{"error":{"type":7,"message":"no paper","suggestions":"add some","retryable":"yes"}}'; exit 1`, fault.Execution, "no paper", `{}`},
		"an error without words": {`echo '{"error":{"code":5}}'; echo no paper >&2; exit 1`, fault.Execution, "pflow-node-own failed with exit code 1: no paper", `{}`},
		"action error":           {`echo '{"$action":"error","error":"no paper","pages":2}'`, fault.Execution, "no paper", `{"pages":2}`},
		"action error alone":     {`echo '{"$action":"error"}'`, fault.Execution, `pflow-node-own ended with action "error"`, `{}`},
		"a signal":               {`echo '{"pages":2}'; kill -9 $$`, fault.Execution, "pflow-node-own was ended by signal: killed", `{"pages":2}`},
		"nothing":                {`:`, fault.Protocol, "pflow-node-own", `{}`},
		"nothing but words":      {`echo forgot the outputs >&2`, fault.Protocol, ": forgot the outputs", `{}`},
		"garbage":                {`echo hello`, fault.Protocol, ": hello", `{}`},
		"a list":                 {`echo '[1]'`, fault.Protocol, ": [1]", `{}`},
		"two objects":            {`echo '{"a":1}'; echo '{"b":2}'`, fault.Protocol, ": {\"a\":1}\n{\"b\":2}", `{}`},
		"half an object":         {`printf '{"a":'`, fault.Protocol, `: {"a":`, `{}`},
		"a log line first":       {`echo starting; echo '{"a":1}'`, fault.Protocol, ": starting", `{}`},
		"bytes":                  {`printf '{"a":"\377"}'`, fault.Protocol, "UTF-8", `{}`},
		"an action that is none": {`echo '{"$action":7}'`, fault.Protocol, "got 7", `{}`},
		"an empty action":        {`echo '{"$action":""}'`, fault.Protocol, `got ""`, `{}`},
		"an undeclared action":   {`echo '{"$action":"elsewhere"}'`, fault.Protocol, ": elsewhere", `{}`},
		"a key twice":            {`echo '{"a":1,"a":2}'`, fault.Protocol, `"a"`, `{}`},
		"endless words":          {`yes >&2`, fault.TooLarge, "pflow-node-own printed more than 128 MiB", `{}`},
		"endless":                {`yes`, fault.TooLarge, "pflow-node-own printed more than 128 MiB", `{}`},
		"endless on one line":    {`tr '\0' a < /dev/zero`, fault.TooLarge, "pflow-node-own printed more than 128 MiB", `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := performProgram(t, task(t), ownProgram(t, "#!/bin/sh\n"+c.script+"\n"), `{}`)
			if r.Fault == nil || r.Fault.Type != c.typ || !strings.Contains(r.Fault.Message, c.message) {
				t.Fatalf("%+v", r.Fault)
			}
			if r.Fault.Node != "" || r.Fault.Line != 0 || r.Fault.Retryable != (c.typ == fault.RateLimited) {
				t.Errorf("%+v", r.Fault)
			}
			if code, ok := r.Fault.Details["exit_code"]; ok && code == 9 {
				t.Errorf("details %v", r.Fault.Details)
			}
			outputs := map[string]json.RawMessage{}
			if err := json.Unmarshal(r.Outputs, &outputs); err != nil {
				t.Fatal(err)
			}
			delete(outputs, "error")
			if got, _ := json.Marshal(outputs); string(got) != c.outputs {
				t.Errorf("outputs %s", got)
			}
		})
	}
}

// A program's fault that names a parameter of its node gets its place in the workflow file.
func TestPlaceOfAProgramsFault(t *testing.T) {
	t.Parallel()
	on := task(t)
	on.Place = func(param string, offset int) (string, int, int) { return param, 7, offset }
	type where struct {
		path, file string
		column     int
	}
	for fields, want := range map[string]where{
		`"path":"params.text","details":{"offset":4}`:                  {"params.text", "text", 4},
		`"path":"params.text"`:                                         {"params.text", "text", -1},
		`"path":"params.text","details":{"offset":"4"}`:                {"params.text", "text", -1},
		`"path":"params.text","details":{"offset":1e300}`:              {"params.text", "text", -1},
		`"path":"params.count","details":{"offset":4}`:                 {"params.count", "count", -1}, // which comes from a template
		`"path":"params.any.key[1]","details":{"offset":4}`:            {"params.any.key[1]", "any.key[1]", -1},
		`"path":"params.nope","details":{"offset":4}`:                  {},
		`"path":"nodes[0].params.text","details":{"offset":4}`:         {},
		`"file":"forged","line":9,"column":9,"details":{"offset":4}`:   {},
		`"path":"params.text","file":"forged","line":9,"node":"other"`: {"params.text", "text", -1},
	} {
		kind := ownProgram(t, "#!/bin/sh\necho '{\"error\":{\"message\":\"wrong\","+"'$SAID'"+"}}'\nexit 1\n")
		on := *on
		on.Env = append(slices.Clone(on.Env), "SAID="+fields)
		v := values{"n": "5"}
		p, err := Prepare(&workflow.Node{ID: "n", Type: "own", Params: json.RawMessage(`{"text":"$not \u0061 template","count":"${n}","any":{"key":[1,2]}}`)}, kind,
			&Binding{Scope: v.scope, Known: v.known})
		if err != nil {
			t.Fatal(err)
		}
		f := Run(t.Context(), p, &on).Fault
		if f == nil || f.Message != "wrong" || (where{f.Path, f.File, f.Column}) != want || (f.Line == 7) != (want.file != "") || f.Node != "" {
			t.Errorf("%s: %+v", fields, f)
		}
		on.Place = nil
		if f := Run(t.Context(), p, &on).Fault; f.Path != want.path || f.File != "" || f.Line != 0 {
			t.Errorf("%s, of no file: %+v", fields, f)
		}
	}
}

func TestProgramThatCannotStart(t *testing.T) {
	t.Parallel()
	good := "#!/bin/sh\necho '{}'\n"
	for name, c := range map[string]struct {
		text    string
		spoil   func(path string) error
		message string
		advice  string
	}{
		"gone":              {good, os.Remove, "%s", "pflow-sync nodes"},
		"not executable":    {good, func(path string) error { return os.Chmod(path, 0o600) }, "%s", "chmod +x"},
		"a folder":          {good, func(path string) error { _ = os.Remove(path); return os.Mkdir(path, 0o700) }, "%s", "chmod +x"},
		"no first line":     {"echo '{}'\n", nil, "%s", "#!"},
		"no interpreter":    {"#!/no/such/interpreter -x\n", nil, "#!/no/such/interpreter -x", ""},
		"no working folder": {good, nil, "Working directory does not exist: ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, on := ownProgram(t, c.text), task(t)
			if c.spoil != nil {
				if err := c.spoil(kind.Program); err != nil {
					t.Fatal(err)
				}
			}
			if name == "no working folder" {
				on.Dir = filepath.Join(on.Dir, "nowhere")
			}
			p, err := Prepare(&workflow.Node{ID: "n", Params: json.RawMessage("{}")}, kind, &Binding{Scope: values{}.scope, Known: values{}.known})
			if err != nil {
				t.Fatal(err)
			}
			r := Run(t.Context(), p, on)
			want := strings.ReplaceAll(c.message, "%s", kind.Program)
			if r.Fault != nil {
				r.Fault.Address(fault.Shell)
			}
			if r.Fault == nil || !strings.Contains(r.Fault.Message, want) || !strings.Contains(strings.Join(r.Fault.Suggestions, " "), c.advice) || r.Fault.Retryable {
				t.Errorf("%+v", r.Fault)
			}
		})
	}
}

func TestProgramOfTheSuite(t *testing.T) {
	t.Parallel()
	kind := ownProgram(t, "#!/bin/sh\necho '{\"a\":1}'\n")
	on := task(t)
	on.Suite = filepath.Dir(kind.Program)
	kind.Program = filepath.Base(kind.Program)
	if r := performProgram(t, on, kind, `{}`); string(r.Outputs) != `{"a":1}` {
		t.Errorf("beside: %s %v", r.Outputs, r.Fault)
	}
	on.Env = append(on.Env, "PATH=/nowhere:"+on.Suite)
	on.Suite = ""
	if r := performProgram(t, on, kind, `{}`); string(r.Outputs) != `{"a":1}` {
		t.Errorf("on PATH: %s %v", r.Outputs, r.Fault)
	}
	on.Env = append(on.Env, "PATH=/nowhere")
	if r := performProgram(t, on, kind, `{}`); r.Fault == nil || r.Fault.Type != fault.Unavailable {
		t.Errorf("nowhere: %s %v", r.Outputs, r.Fault)
	}
}

func TestProgramTellsItsProgress(t *testing.T) {
	t.Parallel()
	on := task(t)
	var reported []string
	on.Progress = func(done, total float64, message string) {
		reported = append(reported, fmt.Sprint(done, total, message))
	}
	r := performProgram(t, on, ownProgram(t, `#!/bin/sh
echo '{"progress":{"done":1,"total":3,"message":"one"}}'
echo ' { "progress" : {"done":1.5, "unit":"pages"}}'
printf '{"progress":{"do'; printf 'ne":2}}\n{\n'
printf '"progress":{"done":9}}'
`), `{}`)
	if got := strings.Join(reported, "|"); got != "1 3one|1.5 0|2 0" {
		t.Errorf("progress %q", got)
	}
	if string(r.Outputs) != "{\n\"progress\":{\"done\":9}}" {
		t.Errorf("%s %v", r.Outputs, r.Fault)
	}
}

func TestProgramIsStopped(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"never reads stdin": `echo up >&2; sleep 1000`,
		"ignores SIGTERM":   `trap '' TERM; echo up >&2; while :; do sleep 1000; done`,
		"in a child":        `(sleep 1000; sleep 1000) & echo up >&2; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			on := task(t)
			var pid int
			up := func() { cancel(&TimeoutError{After: 2 * time.Second}) }
			on.Stderr = writeFunc(func(p []byte) {
				if _, err := fmt.Sscanf(string(p), "up %d", &pid); err != nil {
					t.Errorf("%q: %v", p, err)
				}
				up()
			})
			big := strings.Repeat("x", 1<<20) // more than a pipe holds
			r := performIn(ctx, t, on, ownProgram(t, "#!/bin/sh\n"+strings.Replace(script, "echo up", "echo up $$", 1)+"\n"), `{"text":"`+big+`"}`)
			if r.Fault == nil || r.Fault.Type != fault.Timeout || !strings.HasPrefix(r.Fault.Message, "pflow-node-own timed out after 2 seconds") {
				t.Errorf("%+v", r.Fault)
			}
			if pid == 0 || syscall.Kill(-pid, 0) == nil {
				t.Errorf("the group of %d is left", pid)
			}
		})
	}
}

// writeFunc is a writer that calls a function.
type writeFunc func(p []byte)

func (w writeFunc) Write(p []byte) (int, error) { w(p); return len(p), nil }
