package node

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/shell"
)

// bound prepares a node of a built-in type with a binding.
func bound(t *testing.T, kind, params string, b *Binding) (*Call, error) {
	t.Helper()
	typ, ok := nodetype.Builtin(kind)
	if !ok {
		t.Fatalf("no type %s", kind)
	}
	return Prepare(&workflow.Node{ID: "n", Type: kind, Params: json.RawMessage(params)}, typ, b)
}

func raws(pairs map[string]string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, value := range pairs {
		out[name] = json.RawMessage(value)
	}
	return out
}

// A node's inputs are names for its other templates. They take precedence over the item of its batch, and that over other
// nodes.
func TestTheNamesOfANode(t *testing.T) {
	v := values{"x": `"node"`, "y": `"other"`, "object": `{"a":"from an object"}`}
	for name, c := range map[string]struct {
		kind, params  string
		locals, carry map[string]string
		want          string
	}{
		"a node":                        {"echo", `{"message":"${x}"}`, nil, nil, `{"message":"node"}`},
		"an item wins over a node":      {"echo", `{"message":"${x}"}`, map[string]string{"x": `"item"`}, nil, `{"message":"item"}`},
		"an input wins over both":       {"echo", `{"message":"${x}","inputs":{"x":"mine"}}`, map[string]string{"x": `"item"`}, nil, `{"message":"mine"}`},
		"an input of an item":           {"echo", `{"message":"${z}","inputs":{"z":"<${x}>"}}`, map[string]string{"x": `"item"`}, nil, `{"message":"<item>"}`},
		"an input does not mean itself": {"echo", `{"message":"${x}","inputs":{"x":"<${x}>"}}`, nil, nil, `{"message":"<node>"}`},
		"nor another":                   {"echo", `{"message":"${z}","inputs":{"z":"${x}","x":"mine"}}`, nil, nil, `{"message":"node"}`},
		"inputs keep their types":       {"echo", `{"data":{"a":"${l}","b":"${n}"},"inputs":{"l":[1,"${x}"],"n":1.50}}`, nil, nil, `{"data":{"a":[1,"node"],"b":1.50}}`},
		"an object of them":             {"echo", `{"message":"${a}","inputs":"${object}"}`, nil, nil, `{"message":"from an object"}`},
		"what is carried wins":          {"echo", `{"message":"${x}${z}","inputs":{"x":"first","z":"-"}}`, nil, map[string]string{"x": `"${y}"`}, `{"message":"${y}-"}`},
		"no inputs, but carried":        {"echo", `{"message":"${x}"}`, nil, map[string]string{"x": `"carried"`}, `{"message":"carried"}`},
		"in a command":                  {"shell", `{"command":"echo \"${x}\" \"${y}\"","inputs":{"x":"mine"}}`, nil, nil, `{"${}":{"${x}":"mine","${y}":"other"},"command":"echo \"${x}\" \"${y}\""}`},
		"of a sub-workflow":             {"workflow", `{"workflow":"w","inputs":{"a":"${x}"}}`, nil, nil, `{"inputs":{"a":"node"},"workflow":"w"}`},
		"carried to a sub-workflow":     {"workflow", `{"workflow":"w","inputs":{"a":"${x}","b":2}}`, nil, map[string]string{"a": `"${y}"`}, `{"inputs":{"a":"${y}","b":2},"workflow":"w"}`},
		"by its other name":             {"workflow", `{"workflow":"w","param_mapping":{"a":"${x}","b":2}}`, nil, map[string]string{"a": `"${y}"`}, `{"param_mapping":{"a":"${y}","b":2},"workflow":"w"}`},
		"to what has its default":       {"workflow", `{"workflow":"w"}`, nil, map[string]string{"a": `1`}, `{"inputs":{"a":1},"workflow":"w"}`},
		"a workflow that stands there":  {"workflow", `{"workflow":{"nodes":[{"id":"a","type":"echo","params":{"message":"${x}"}}]},"inputs":{"a":"${x}"}}`, nil, nil, `{"inputs":{"a":"node"},"workflow":{"nodes":[{"id":"a","type":"echo","params":{"message":"${x}"}}]}}`},
		"by upstream's word":            {"workflow", `{"workflow_ir":{"nodes":[{"id":"a","type":"echo","params":{"message":"${x}"}}]}}`, nil, nil, `{"workflow_ir":{"nodes":[{"id":"a","type":"echo","params":{"message":"${x}"}}]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := bound(t, c.kind, c.params, &Binding{Scope: v.scope, Known: v.known, Locals: raws(c.locals), Carry: raws(c.carry)})
			if err != nil {
				t.Fatal(err)
			}
			if string(p.Params) != c.want {
				t.Errorf("got  %s\nwant %s", p.Params, c.want)
			}
		})
	}
}

func TestInputsThatLeadNowhere(t *testing.T) {
	v := values{"x": `{}`}
	for name, c := range map[string]struct{ params, path, missing string }{
		"in an input":         {`{"inputs":{"a":["${x.gone}"]}}`, "params.inputs.a[0]", "x.gone"},
		"in what reads it":    {`{"inputs":{"a":{"b":1}},"message":"${a.c}"}`, "params.message", "a.c"},
		"an input in another": {`{"inputs":{"a":1,"b":"${a}"}}`, "params.inputs.b", "a"},
	} {
		_, err := bound(t, "echo", c.params, &Binding{Scope: v.scope, Known: v.known})
		if f := fault.From(err); f == nil || f.Type != fault.Template || f.Path != c.path || strings.Join(f.Missing, " ") != c.missing {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestAValueOfANode(t *testing.T) {
	v := values{"x": `{"list":[1,2]}`}
	b := &Binding{Scope: v.scope, Known: v.known, Locals: raws(map[string]string{"item": `7`}), Permissive: true}
	n := &workflow.Node{ID: "n"}
	if got, err := b.Value(n, "batch.items", json.RawMessage(`["${item}","${x.list}"]`)); err != nil || string(got) != `[7,[1,2]]` {
		t.Errorf("%s %v", got, err)
	}
	_, err := b.Value(n, "loop.while", json.RawMessage(`"${x.gone}"`)) // what decides cannot be left standing
	if f := fault.From(err); f == nil || f.Type != fault.Template || f.Path != "loop.while" || f.Node != "n" {
		t.Errorf("%+v", f)
	}
}

// A value becomes code only if the author asks for it.
func TestUnsafeTemplates(t *testing.T) {
	v := values{"code": `"echo a; echo b"`, "word": `"w x"`}
	typ, _ := nodetype.Builtin("shell")
	run := func(unsafe bool, command string) string {
		n := &workflow.Node{ID: "n", Type: "shell", UnsafeTemplates: unsafe, Params: json.RawMessage(command)}
		p, err := Prepare(n, typ, &Binding{Scope: v.scope, Known: v.known})
		if err != nil {
			return fault.From(err).Message
		}
		return output(t, Run(t.Context(), p, task(t)), "stdout")
	}
	if got := run(true, `{"command":"${code} && printf '[%s]' ${word}"}`); got != "a\nb\n[w][x]" {
		t.Errorf("unsafe: %q", got)
	}
	if got := run(false, `{"command":"sh -c \"${code}\""}`); !strings.Contains(got, "${code}") {
		t.Errorf("safe: %q", got)
	}
	if got := run(true, `{"command":"sh -c \"${code}\""}`); got != "a\nb" {
		t.Errorf("unsafe: %q", got)
	}
}

// A value that the shell would misread is refused when it is known.
func TestValuesThatAreRefused(t *testing.T) {
	command := `{"command":"echo $(( ${n} + 1 ))"}`
	for value, want := range map[string]string{`41`: "", `"-7"`: "", `"a[$(touch pwned)]"`: "arithmetic", `1.5`: "arithmetic", `null`: "arithmetic", `"010"`: "arithmetic"} {
		p, err := prepare(t, "shell", command, values{"n": value}, false)
		f := fault.From(err)
		switch {
		case want != "" && (f == nil || f.Type != fault.Template || f.Path != "params.command" || !strings.Contains(f.Message, want)):
			t.Errorf("%s: %+v", value, f)
		case want == "" && f != nil:
			t.Errorf("%s: %v", value, f)
		case want == "":
			_ = output(t, Run(t.Context(), p, task(t)), "stdout")
		}
	}
	// A template that is left as it was written is not a number either.
	if _, err := prepare(t, "shell", strings.Replace(command, "${n}", "${n.gone}", 1), values{"n": "{}"}, true); err == nil || !strings.Contains(err.Error(), "arithmetic") {
		t.Errorf("permissive: %v", err)
	}
}

// Each value fits in a variable, but all of them together are too long.
func TestValuesThatAreTooMuchTogether(t *testing.T) {
	v := values{}
	command := "true"
	for i := range 50 {
		name := fmt.Sprintf("v%d", i)
		v[name] = `"` + strings.Repeat("x", 130_000) + `"`
		command += ` "${` + name + `}"`
	}
	raw, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	r := perform(t, task(t), "shell", string(raw), v)
	failedWith(t, r, fault.Template, strconv.Itoa(shell.MaxEnvironment))
	if len(r.Fault.Suggestions) == 0 || !strings.Contains(r.Fault.Suggestions[0], `"stdin": "${`) {
		t.Errorf("%q", r.Fault.Suggestions)
	}
}
