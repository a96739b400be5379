package suite

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/brief"
)

// wrong is a program that fails, the line on which it fails, and words of the failure.
type wrong struct {
	code  string
	line  int
	words string
	// params are further parameters of the node.
	params map[string]any
}

func wrongPython() map[string]wrong {
	given := func(inputs map[string]any) map[string]any { return map[string]any{"inputs": inputs} }
	return map[string]wrong{
		"a division":              {"a = 1\nb = 0\nresult: float = a / b", 3, "ZeroDivisionError: division by zero\n  at line 3: result: float = a / b", nil},
		"in a function":           {"def f(x):\n    return x['k']\n\nresult: int = f({})", 2, "KeyError: 'k'", nil},
		"in a library":            {"import json\n\nresult: dict = json.loads('{')", 3, "JSONDecodeError", nil},
		"an own exception":        {"class Bad(Exception):\n    pass\n\nraise Bad('why')\nresult: int = 1", 4, "Bad: why", nil},
		"one behind another":      {"result: int = 0\ntry:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('second') from e", 5, "ValueError: second", nil},
		"in a comprehension":      {"xs: list\nresult: list = [\n    x + 1\n    for x in xs\n]", 3, "TypeError", given(map[string]any{"xs": []any{1, "a"}})},
		"an assertion":            {"result: int = 1\nassert result == 2, 'not two'", 2, "AssertionError: not two", nil},
		"a name":                  {"result: int = 1\n\n\nprint(nothing)", 4, "NameError", nil},
		"a bracket":               {"result: int = 1\nx = )\n", 2, "SyntaxError: unmatched ')'", nil},
		"an indentation":          {"result: int = 1\n  x = 2", 2, "IndentationError", nil},
		"a tab":                   {"result: int = 1\nif result:\n        x = 1\n\ty = 2", 4, "TabError", nil},
		"return":                  {"result: int = 1\nreturn result", 2, "'return' outside function", nil},
		"a missing module":        {"result: int = 1\nimport no_such_module", 2, "ModuleNotFoundError", nil},
		"a missing package":       {"result: int = 1", 1, "no_such_module", map[string]any{"requires": []string{"json", "no_such_module"}}},
		"sys.exit":                {"import sys\nresult: int = 1\nsys.exit(3)", 3, "exit status 3", nil},
		"sys.exit with text":      {"import sys\nresult: int = 1\nif True:\n    sys.exit('no more')", 4, "no more", nil},
		"os._exit":                {"import os\nresult: int = 1\nos._exit(0)", 1, "exit status 0", nil},
		"recursion":               {"def f(n):\n    return f(n + 1)\nresult: int = f(0)", 2, "RecursionError", nil},
		"memory":                  {"result: int = 1\nx = [0] * (1 << 60)", 2, "MemoryError", nil},
		"an interrupt":            {"import os, signal\nresult: int = 1\nos.kill(os.getpid(), signal.SIGINT)\nimport time\ntime.sleep(9)", 3, "KeyboardInterrupt", nil},
		"a crash":                 {"import ctypes\nresult: int = 1\nctypes.string_at(0)", 3, "segmentation fault", nil},
		"a signal":                {"import os\nresult: int = 1\nos.kill(os.getpid(), 9)", 1, "signal: killed", nil},
		"no end":                  {"result: int = 1\nprint('begun')\nwhile True: pass", 3, "8 seconds", map[string]any{"timeout": 8}},
		"an end from outside":     {"import os\nresult: int = 1\n\nos.kill(os.getpid(), 15)", 4, "signal: terminated", nil},
		"no result":               {"x = 1\nif False:\n    result: int = 1", 3, "result", nil},
		"a result of other type":  {"x = 1\nresult: list = 'text'", 2, "list", nil},
		"an object":               {"x = object()\nresult: dict = {'a': [0, x]}", 2, "result.a[1]", nil},
		"not a number":            {"x = 1\nresult: list = [float('nan')]", 2, "nan", nil},
		"a circle":                {"x = []\nx.append(x)\nresult: list = x", 3, "result", nil},
		"an input of other type":  {"y: Any\nx: list\nresult: int = 1", 2, "Input 'x' expects list but received str", given(map[string]any{"x": "text", "y": 1})},
		"no action":               {"globals()['next'] = 5\nresult: int = 1", 1, "next", nil},
		"failure as an action":    {"result: int = 1\nnext: str = 'error'", 1, "action error", nil},
		"much on standard error":  {"import sys\nresult: int = 1\nsys.stderr.write('x' * 5000 + 'END')\nraise OSError('gone')", 4, "xEND", nil},
		"Windows' ends of a line": {"x = 1\r\nresult: int = 1\r\nx.y", 3, "AttributeError", nil},
		"letters of many bytes":   {"# ελληνικά\nresult: str = 'é' * 3\nresult.grüße()", 3, "AttributeError", nil},
	}
}

func wrongJavaScript() map[string]wrong {
	return map[string]wrong{
		"thrown":           {"result = 1\nthrow new Error('why')", 2, "Error: why", nil},
		"in a function":    {"function f() {\n  return null.x\n}\nresult = f()", 2, "TypeError", nil},
		"syntax":           {"result = 1\nlet x = ;", 2, "SyntaxError", nil},
		"later":            {"result = 1\nsetTimeout(() => {\n  undefined.x\n}, 1)", 3, "TypeError", nil},
		"a rejection":      {"result = 1\n\nPromise.reject(new Error('lost'))", 3, "Error: lost", nil},
		"after a wait":     {"await null\nresult = nothing", 2, "ReferenceError", nil},
		"process.exit":     {"result = 1\nprocess.exit(3)", 2, "exit status 3", nil},
		"a missing module": {"result = 1\nrequire('no-such-module')", 2, "Cannot find module", nil},
		"a function":       {"const x = 1\nresult = {a: [() => x]}", 2, "result.a[0]", nil},
		"no result":        {"const x = 1", 1, "result", nil},
	}
}

func wrongBash() map[string]wrong {
	return map[string]wrong{
		"exit":        {"result=1\nexit 3", 2, "exit status 3", nil},
		"the last":    {"result=1\n\nfalse", 3, "exit status 1", nil},
		"in between":  {"set -e\nresult=1\nf() {\n  false\n}\nf\ntrue", 4, "exit status 1", nil},
		"no command":  {"result=1\nno_such_command", 2, "command not found", nil},
		"unset":       {"set -u\nresult=$nothing\ntrue", 2, "unbound variable", nil},
		"syntax":      {"result=1\nif true; then\n  fi\nresult=2", 3, "syntax error", nil},
		"not closed":  {"result=1\nif true; then\n  true\n", 3, "syntax error", nil},
		"no result":   {"echo 1", 1, "result", nil},
		"not on PATH": {"result=1", 1, "no_such_command", map[string]any{"requires": []string{"ls", "no_such_command"}}},
	}
}

// The failure of a program has its line in the workflow file. Every other program is in the JSON form, the others in the
// Markdown form.
func TestAFaultOfCodeNamesTheLineOfTheFile(t *testing.T) {
	t.Parallel()
	for language, programs := range map[string]map[string]wrong{"python": wrongPython(), "node": wrongJavaScript(), "bash": wrongBash()} {
		tool := map[string]string{"python": "python3"}[language]
		if tool == "" {
			tool = language
		}
		t.Run(language, func(t *testing.T) {
			needs(t, tool)
			for i, name := range brief.Part(slices.Sorted(maps.Keys(programs)), 3) {
				w := programs[name]
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					p := newPlace(t)
					if i%2 == 0 || strings.Contains(w.code, "\r") { // Markdown would turn it into a newline
						source, at := w.json(t, language)
						w.fails(p, "w.json", source, at)
						return
					}
					source, at := w.markdown(t, language)
					w.fails(p, "w.pflow.md", source, at)
				})
			}
		})
	}
}

func (w wrong) all(language string) map[string]any {
	params := map[string]any{"language": language}
	maps.Copy(params, w.params)
	return params
}

func (w wrong) json(t *testing.T, language string) (source string, at func(line, column int) int) {
	t.Helper()
	params := w.all(language)
	params["code"] = w.code
	node, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	source = "{\"nodes\": [\n  {\"id\": \"before\", \"type\": \"echo\"},\n  {\"id\": \"c\", \"type\": \"code\", \"params\":\n" + string(node) + "}]}\n"
	return source, func(line, column int) int {
		text := strings.Split(source, "\n")[line-1]
		begin := strings.Index(text, `"code":"`)
		if line != 4 || begin < 0 || column <= begin {
			return 0
		}
		return 1 + strings.Count(text[begin:column-1], `\n`)
	}
}

func (w wrong) markdown(t *testing.T, language string) (source string, at func(line, column int) int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Wrong\n\nIt fails.\n\n## Steps\n\n### c\n\nRun it.\n\n- type: code\n")
	for k, v := range w.all(language) {
		value, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("- " + k + ": " + string(value) + "\n")
	}
	b.WriteString("\n```" + language + " code\n")
	before := strings.Count(b.String(), "\n")
	return b.String() + w.code + "\n```\n", func(line, _ int) int { return line - before }
}

// fails runs a workflow and checks the error of its last event. at returns the line of the code at a place in the file.
func (w wrong) fails(p *place, name, source string, at func(line, column int) int) {
	p.Helper()
	p.write(name, source)
	o := p.run("pflow-exec", "run", name, "--format", "ndjson")
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	end := gjson.Parse(lines[len(lines)-1])
	f := end.Get("error")
	if end.Get("event").Str != "run_finished" || o.exit != 1 || f.Get("file").Str != name || f.Get("line").Int() < 1 {
		p.Fatalf("%s: %s", name, o)
	}
	if got := at(int(f.Get("line").Int()), int(f.Get("column").Int())); got != w.line {
		p.Errorf("%s: line %d of the code, want %d: %s", name, got, w.line, f.Raw)
	}
	if !strings.Contains(f.Get("message").Str+strings.Join(strs(f.Get("missing")), " "), w.words) || len(f.Get("suggestions").Array()) == 0 {
		p.Errorf("%s: %q and what to do are not in %s", name, w.words, f.Raw)
	}
}

func strs(list gjson.Result) (texts []string) {
	for _, v := range list.Array() {
		texts = append(texts, v.Str)
	}
	return texts
}
