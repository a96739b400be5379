package node

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// values are the names of a test's templates, with their values as JSON.
type values map[string]string

func (v values) known(root string) bool { _, ok := v[root]; return ok }

func (v values) scope(ref template.Ref) (json.RawMessage, template.Availability) {
	raw, ok := v[ref.Root]
	if !ok {
		return nil, template.Absent
	}
	return json.RawMessage(raw), template.Present
}

// prepared returns a node of a built-in type, ready to run.
func prepared(t *testing.T, kind, params string, v values) *Call {
	t.Helper()
	p, err := prepare(t, kind, params, v, false)
	if err != nil {
		t.Fatalf("%s %s: %v", kind, params, err)
	}
	return p
}

func prepare(t *testing.T, kind, params string, v values, permissive bool) (*Call, error) {
	t.Helper()
	typ, ok := nodetype.Builtin(kind)
	if !ok {
		t.Fatalf("no type %s", kind)
	}
	return Prepare(&workflow.Node{ID: "n", Type: kind, Params: json.RawMessage(params)}, typ, &Binding{Scope: v.scope, Known: v.known, Permissive: permissive})
}

// task returns a task in a folder of its own.
func task(t *testing.T) *Task {
	t.Helper()
	dir := t.TempDir()
	return &Task{
		Host:   Host{Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}},
		Node:   "n",
		Stdout: io.Discard, Stderr: io.Discard,
		Progress: func(float64, float64, string) {},
	}
}

// perform prepares and runs a node. It checks that the outputs are valid JSON and declared by the node type.
func perform(t *testing.T, on *Task, kind, params string, v values) *Result {
	t.Helper()
	r := Run(t.Context(), prepared(t, kind, params, v), on)
	declared(t, kind, r)
	return r
}

// declared checks that the node type declares all outputs of a result with their types, and that a success has all declared
// outputs.
func declared(t *testing.T, kind string, r *Result) {
	t.Helper()
	typ, _ := nodetype.Builtin(kind)
	if r.Fault == nil && r.Outputs == nil {
		t.Errorf("%s: a success without outputs", kind)
	}
	if r.Outputs == nil {
		return
	}
	plain, err := event.Plain(r.Outputs, nil)
	if err != nil || !json.Valid(plain) {
		t.Fatalf("%s: outputs %s: %v", kind, r.Outputs, err)
	}
	words := map[string][]string{
		"str": {"text"}, "int": {"a number"}, "float": {"a number"}, "duration": {"a number"}, "bool": {"true or false"}, "dict": {"an object"}, "list": {"a list"},
	}
	var given []string
	gjson.ParseBytes(plain).ForEach(func(key, value gjson.Result) bool {
		given = append(given, key.Str)
		o, ok := typ.Output(key.Str)
		if !ok {
			t.Errorf("%s gives %q, which its type does not declare", kind, key.Str)
		} else if want := words[o.Type]; want != nil && !slices.Contains(want, kindOf(value)) {
			t.Errorf("%s.%s is declared %s and came as %s", kind, key.Str, o.Type, value.Raw)
		}
		return true
	})
	for _, o := range typ.Outputs {
		if r.Fault == nil && o.Name != "error" && !strings.HasPrefix(o.Name, "smart_handled") && !slices.Contains(given, o.Name) {
			t.Errorf("%s declares %q and did not give it", kind, o.Name)
		}
	}
}

func kindOf(v gjson.Result) string {
	switch {
	case v.IsObject():
		return "an object"
	case v.IsArray():
		return "a list"
	case v.Type == gjson.String:
		return "text"
	case v.Type == gjson.Number:
		return "a number"
	case v.IsBool():
		return "true or false"
	}
	return "null"
}

// output returns one output of a success, as text.
func output(t *testing.T, r *Result, path string) string {
	t.Helper()
	if r.Fault != nil {
		t.Fatalf("it failed: %v", r.Fault)
	}
	return plainOutput(t, r, path)
}

func plainOutput(t *testing.T, r *Result, path string) string {
	t.Helper()
	plain, err := event.Plain(r.Outputs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return gjson.GetBytes(plain, path).String()
}

// failedWith checks a failure: its type, parts of its message, and that it has a suggestion.
func failedWith(t *testing.T, r *Result, kind fault.Type, words ...string) {
	t.Helper()
	if r.Fault == nil || r.Action != workflow.ActionError {
		t.Fatalf("it did not fail: %s %s", r.Action, r.Outputs)
	}
	text := r.Fault.Message
	if r.Fault.Type != kind {
		t.Errorf("type %s, want %s: %s", r.Fault.Type, kind, text)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not in %q", w, text)
		}
	}
}

// Each declared parameter is decoded by its name into a field of its own, and no other is.
func TestDeclaredParametersAreDecoded(t *testing.T) {
	samples := map[string]string{"str": `"x"`, "int": `7`, "float": `7`, "duration": `7`, "bool": `true`, "dict": `{"k":"v"}`, "list": `["x"]`, "any": `{"k":"v"}`}
	decoders := map[string]func(*Call) (any, *fault.Fault){
		"shell":       func(p *Call) (any, *fault.Fault) { return decodeAny[nodetype.Shell](p) },
		"http":        func(p *Call) (any, *fault.Fault) { return decodeAny[nodetype.HTTP](p) },
		"read-file":   func(p *Call) (any, *fault.Fault) { return decodeAny[nodetype.ReadFile](p) },
		"write-file":  func(p *Call) (any, *fault.Fault) { return decodeAny[nodetype.WriteFile](p) },
		"echo":        func(p *Call) (any, *fault.Fault) { return decodeAny[nodetype.Echo](p) },
		"code":        func(p *Call) (any, *fault.Fault) { return decodeAny[nodetype.Code](p) },
		"jq":          func(p *Call) (any, *fault.Fault) { return decodeAny[nodetype.JQ](p) },
		"copy-file":   func(p *Call) (any, *fault.Fault) { return decodeAny[nodetype.CopyFile](p) },
		"move-file":   func(p *Call) (any, *fault.Fault) { return decodeAny[nodetype.MoveFile](p) },
		"delete-file": func(p *Call) (any, *fault.Fault) { return decodeAny[nodetype.DeleteFile](p) },
		"llm":         func(p *Call) (any, *fault.Fault) { return decodeAny[nodetype.LLM](p) },
		"agent":       func(p *Call) (any, *fault.Fault) { return decodeAny[nodetype.Agent](p) },
	}
	for _, name := range nodetype.BuiltinNames() {
		if name == workflow.SubType { // the engine runs it
			continue
		}
		decoder, ok := decoders[name]
		if !ok {
			t.Errorf("%s is not tested", name)
			continue
		}
		typ, _ := nodetype.Builtin(name)
		without, f := decoder(&Call{Params: json.RawMessage("{}"), kind: typ})
		if f != nil {
			t.Fatal(f)
		}
		for _, p := range typ.Params {
			value := samples[p.Type]
			if string(p.Default) == value {
				value = "false"
			}
			with, f := decoder(&Call{Params: json.RawMessage(`{"` + p.Name + `":` + value + `}`), kind: typ})
			if f != nil {
				t.Errorf("%s.%s: %v", name, p.Name, f)
				continue
			}
			if spelled(t, with) == spelled(t, without) {
				t.Errorf("%s.%s changes nothing", name, p.Name)
			}
		}
	}
}

// Each parameter of a sub-workflow's node is read by the code that runs it.
func TestParametersOfASubWorkflowAreRead(t *testing.T) {
	typ, _ := nodetype.Builtin(workflow.SubType)
	for _, p := range typ.Params {
		params := json.RawMessage(`{"` + p.Name + `":{"x":"y"}}`)
		_, names := workflow.SubOf(params)
		if !names && workflow.SubInputs(params) == nil && string(workflow.SubOutputs(params, json.RawMessage(`{"x":1}`))) == `{"x":1}` &&
			!slices.Contains(workflow.SubParams, p.Name) {
			t.Errorf("%s changes nothing", p.Name)
		}
	}
	r := Run(t.Context(), &Call{Params: json.RawMessage("{}"), kind: typ}, task(t))
	failedWith(t, r, fault.Execution, `runs node type "workflow"`)
}

func decodeAny[T any](p *Call) (any, *fault.Fault) { return decode[T](p) }

func spelled(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestParametersThatDoNotFit(t *testing.T) {
	for name, c := range map[string]struct {
		kind, params string
		want         string
	}{
		"missing":           {"shell", `{}`, `"command"`},
		"null":              {"shell", `{"command":null}`, `"command" of node "n" is required`},
		"resolved to null":  {"read-file", `{"file_path":"${nothing}"}`, `"file_path" of node "n" is required`},
		"wrong type":        {"shell", `{"command":"true","timeout":"soon"}`, `must be of type duration, got text: "soon"`},
		"no time":           {"shell", `{"command":"true","timeout":0}`, "more than 0 seconds"},
		"no time, as text":  {"code", `{"code":"result=1","timeout":"0s"}`, "more than 0 seconds"},
		"time is past":      {"http", `{"url":"http://127.0.0.1","timeout":-1}`, `must be of type duration, got a number: -1`},
		"no time of others": {"echo", `{"timeout":"${list}"}`, "must be a duration of more than 0 seconds, got a list from ${list}: [1,2]"},
		"0 of others":       {"echo", `{"timeout":0}`, "must be a duration of more than 0 seconds"},
		"resolved wrong":    {"echo", `{"count":"${list}"}`, `must be of type int, got a list from ${list}: [1,2]`},
		"out of range":      {"shell", `{"command":"true","timeout":1e999}`, `must be of type duration`},
		"list for a dict":   {"http", `{"url":"http://127.0.0.1","headers":"${list}"}`, `"headers"`},
		"everything at one": {"http", `{"headers":3,"timeout":[]}`, "3 errors"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := prepare(t, c.kind, c.params, values{"nothing": "null", "list": "[1,2]"}, false)
			f := fault.From(err)
			if f == nil || !strings.Contains(f.Error(), c.want) || f.Type != fault.Execution || f.Node != "n" {
				t.Errorf("%+v, want %q", f, c.want)
			}
			if f != nil && (strings.Contains(f.Error(), "Go ") || strings.Contains(f.Error(), "nodetype")) {
				t.Errorf("shows Go: %s", f)
			}
		})
	}
}

func TestParametersAreMadeToFit(t *testing.T) {
	p := prepared(t, "http", `{"url":"${n}","timeout":"${text}","headers":"${object}","body":"${nothing}"}`,
		values{"n": "12345678901234567890", "text": `" 2.50 "`, "object": `"{\"a\": 1}"`, "nothing": "null"})
	if got := string(p.Params); got != `{"body":null,"headers":{"a":1},"timeout":2.50,"url":"12345678901234567890"}` {
		t.Errorf("%s", got)
	}
}

func TestUnresolvedTemplates(t *testing.T) {
	params := `{"message":"a ${node.missing} b ${node.gone[0]} ${node.missing}"}`
	_, err := prepare(t, "echo", params, values{"node": `{"there":1}`}, false)
	f := fault.From(err)
	if f == nil || f.Type != fault.Template || f.Node != "n" || f.Path != "params.message" || strings.Join(f.Missing, " ") != "node.missing node.gone[0]" ||
		!strings.Contains(f.Message, "${node} has no key missing, only there; and node.gone[0]") || len(f.Suggestions) == 0 {
		t.Errorf("strict: %+v", f)
	}
	p, err := prepare(t, "echo", params, values{"node": `{"there":1}`}, true)
	if err != nil || len(p.Unresolved) != 3 {
		t.Fatalf("permissive: %v %+v", err, p)
	}
	r := Run(t.Context(), p, task(t))
	if got := output(t, r, "echo"); got != "a ${node.missing} b ${node.gone[0]} ${node.missing}" {
		t.Errorf("permissive: %s", got)
	}
	p, err = prepare(t, "shell", `{"command":"printf %s \"${node.missing}\""}`, values{"node": `{}`}, true)
	if err != nil || len(p.Unresolved) != 1 {
		t.Fatalf("permissive shell: %v %+v", err, p)
	}
	if got := output(t, Run(t.Context(), p, task(t)), "stdout"); got != "${node.missing}" {
		t.Errorf("permissive shell: %s", got)
	}
}

func TestUnknownTypeIsAFault(t *testing.T) {
	r := Run(t.Context(), &Call{Params: json.RawMessage("{}"), kind: nodetype.Type{Name: "nope"}}, task(t))
	failedWith(t, r, fault.Execution, `"nope"`)
}

func TestEcho(t *testing.T) {
	r := perform(t, task(t), "echo", `{}`, nil)
	if got := output(t, r, "echo"); got != "Hello, World!" || output(t, r, "metadata.modified") != "false" {
		t.Errorf("%s", r.Outputs)
	}
	r = perform(t, task(t), "echo", `{"message":"<a> & b","count":2,"prefix":"(","suffix":")","uppercase":true,"data":"${v}"}`,
		values{"v": `{"n": 12345678901234567890, "f": 1.10, "$blob": "x", "h": "<&>"}`})
	if got := output(t, r, "echo"); got != "(<A> & B) (<A> & B)" {
		t.Errorf("%s", got)
	}
	if !strings.Contains(string(r.Outputs), `"data":{"n":12345678901234567890,"f":1.10,"$$blob":"x","h":"<&>"}`) {
		t.Errorf("the value was changed: %s", r.Outputs)
	}
	if got := output(t, perform(t, task(t), "echo", `{"count":-3}`, nil), "echo"); got != "" {
		t.Errorf("count -3: %q", got)
	}
	failedWith(t, perform(t, task(t), "echo", `{"count":1000000000}`, nil), fault.Execution, "count", "1000, ", "1000000000")
}
