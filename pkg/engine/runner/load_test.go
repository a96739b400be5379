package runner

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// piped has the host read standard input from a file with a text, as from a pipe.
func (p *place) piped(text string) {
	p.Helper()
	r, w, err := os.Pipe()
	p.check(err)
	p.Cleanup(func() { _ = r.Close() })
	_, err = w.WriteString(text)
	p.check(err)
	p.check(w.Close())
	p.Stdin = r
}

// Where the values of inputs come from: each source goes before those below it.
func TestSourcesOfInputs(t *testing.T) {
	p := newPlace(t)
	path := p.write("w.json", `{"inputs": {
		"n": {"type": "number", "default": 1}, "list": {"type": "array", "default": []},
		"name": {"type": "string", "required": false}, "text": {"type": "string", "stdin": true, "required": false}},
		"nodes": [{"id": "a", "type": "echo", "params": {"message": "${n} ${list} ${name} ${text}"}}]}`)
	file := p.write("inputs.json", `{"n": 2.50, "list": ["file"], "name": "file"}`)
	for name, c := range map[string]struct {
		given    Inputs
		env      []string
		options  Options
		settings string
		stdin    string
		want     string
	}{
		"defaults":          {want: `{"n":1,"list":[],"name":null,"text":null}`},
		"the settings":      {settings: `{"env": {"name": "set", "n": "3"}}`, want: `{"n":3,"list":[],"name":"set","text":null}`},
		"the environment":   {settings: `{"env": {"name": "set"}}`, env: []string{"name=first", "name=last"}, want: `{"n":1,"list":[],"name":"last","text":null}`},
		"an env file":       {options: Options{EnvFile: p.write("env", "name='from file'\n")}, env: []string{"name=env"}, want: `{"n":1,"list":[],"name":"from file","text":null}`},
		"a file":            {given: Inputs{File: file}, env: []string{"name=env"}, want: `{"n":2.50,"list":["file"],"name":"file","text":null}`},
		"text that is cast": {given: values("n", "4e2", "list", `["a"]`), want: `{"n":4e2,"list":["a"],"name":null,"text":null}`},
		"values over a file": {
			given: Inputs{File: file, Values: map[string]workflow.Given{"list": {JSON: json.RawMessage(`[1,2]`)}, "name": {Text: ""}}},
			want:  `{"n":2.50,"list":[1,2],"name":"","text":null}`,
		},
		"standard input":         {stdin: "two\nlines\r\n", want: `{"n":1,"list":[],"name":null,"text":"two\nlines"}`},
		"a value over the stdin": {given: values("text", "given"), stdin: "piped", want: `{"n":1,"list":[],"name":null,"text":"given"}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := &place{T: t, Host: newHost(p.Home, append(slices.Clip(p.Env), c.env...)), dir: p.dir}
			p.check(p.Home.Write([]byte(cmp.Or(c.settings, "{}")), 0o600, "settings.json"))
			if c.stdin != "" {
				p.piped(c.stdin)
			}
			c.options.Dir = p.dir
			r, err := Load(p.Host, Source{Workflow: path, Inputs: c.given}, c.options)
			p.check(err)
			l, err := Resolve(t.Context(), p.Host, r)
			p.check(err)
			for name, want := range fields(t, c.want) {
				if got := string(l.inputs[name]); got != want {
					t.Errorf("%s is %s, want %s", name, got, want)
				}
			}
		})
	}
	for name, c := range map[string]struct {
		given Inputs
		stdin string
		want  fault.Type
	}{
		"a file that is not an object": {given: Inputs{File: p.write("list.json", `[1]`)}, want: fault.Usage},
		"null":                         {given: Inputs{File: p.write("null.json", `null`)}, want: fault.Usage},
		"an unknown input":             {given: values("nme", "x"), want: fault.Validation},
		"a value of another type":      {given: values("n", "many"), want: fault.Validation},
		"bytes":                        {stdin: "\xff", want: fault.Usage},
	} {
		p.Stdin = nil
		if c.stdin != "" {
			p.piped(c.stdin)
		}
		_, err := p.resolve(Source{Workflow: path, Inputs: c.given})
		if f := fault.From(err); err == nil || f.Type != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A fault of missing inputs names the first node that needs one.
func TestMissingInput(t *testing.T) {
	p := newPlace(t)
	_, err := p.resolve(Source{Workflow: p.write("w.json", `{"inputs": {"who": {"type": "string"}},
		"nodes": [{"id": "a", "type": "echo"}, {"id": "b", "type": "echo", "params": {"message": "${who}"}}]}`)})
	isFault(t, err, fault.Template, "${who}")
	if f := fault.From(err); f.Node != "b" {
		t.Errorf("%+v", f)
	}
}

// A request is the same after it has crossed to another process.
func TestARequestCrosses(t *testing.T) {
	p := newPlace(t)
	p.piped("piped")
	path := p.write("w.json", `{"inputs": {"text": {"type": "string", "stdin": true}, "n": {"type": "number", "default": 1}},
		"nodes": [{"id": "a", "type": "echo", "params": {"message": "${text}"}}], "outputs": {"text": {"source": "${a.echo}"}}}`)
	key := "k"
	r, err := Load(p.Host, Source{Workflow: path, Key: &key, Inputs: values("n", "")}, Options{Dir: p.dir, EnvFile: p.write("env", "A=1"), Timeout: 1})
	p.check(err)
	text, err := json.Marshal(r)
	p.check(err)
	var crossed Request
	p.check(json.Unmarshal(text, &crossed))
	again, err := json.Marshal(&crossed)
	p.check(err)
	if string(again) != string(text) || crossed.Events != "" || crossed.Stdin == nil || *crossed.Stdin != "piped" {
		t.Errorf("%s\n%s", text, again)
	}
	if g := crossed.Inputs["n"]; !g.IsText() || g.Text != "" {
		t.Errorf("%+v", g)
	}
}

// Paths of a request are absolute, so that it does not matter where it is executed.
func TestPathsOfARequest(t *testing.T) {
	p := newPlace(t)
	t.Chdir(p.dir)
	p.write("w.json", `{"nodes": [{"id": "a", "type": "shell", "params": {"command": "pwd"}}], "outputs": {"dir": {"source": "${a.stdout}"}}}`)
	p.check(os.Mkdir("below", 0o700))
	dir, err := os.Getwd()
	p.check(err)
	r, err := Load(p.Host, Source{Workflow: "w.json"}, Options{Dir: "below"})
	p.check(err)
	if r.Path != filepath.Join(dir, "w.json") || r.Dir != filepath.Join(dir, "below") || r.Folder != dir {
		t.Errorf("%+v", r)
	}
	l, err := Resolve(t.Context(), p.Host, r)
	p.check(err)
	last, err := l.Execute(t.Context(), Observer{})
	p.check(err)
	if last.Status != event.Completed || !strings.Contains(string(last.Outputs), r.Dir) {
		t.Errorf("%s %s", last.Status, last.Outputs)
	}
	// The run that goes on from it stays there, unless another folder is asked for.
	for given, want := range map[string]string{"": r.Dir, dir: dir} {
		r, err := LoadRun(p.Host, last.Run, values(), Options{Dir: given})
		p.check(err)
		r.Stored = false // or it would be attached to
		l, err := Resolve(t.Context(), p.Host, r)
		p.check(err)
		if l.dir != want {
			t.Errorf("it runs in %s, want %s", l.dir, want)
		}
		l.Release()
	}
	p.check(os.Remove("below"))
	if r, err = LoadRun(p.Host, last.Run, values(), Options{}); err == nil {
		r.Stored = false
		_, err = Resolve(t.Context(), p.Host, r)
	}
	isFault(t, err, fault.Usage, last.Run)
	_, err = Load(p.Host, Source{Workflow: "w.json"}, Options{Dir: "below"})
	isFault(t, err, fault.Usage, "below")
}

// fields returns the values of a JSON object.
func fields(t *testing.T, object string) map[string]string {
	t.Helper()
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &raw); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for name, v := range raw {
		values[name] = string(v)
	}
	return values
}
