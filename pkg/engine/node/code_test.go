package node

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// coded returns the parameters of a code node: the given ones first, then the language and the code.
func coded(given, language, code string) string {
	return "{" + given + `"language":"` + language + `","code":` + string(rawjson.Quote(code)) + "}"
}

func needsProgram(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("there is no %s here", name)
	}
}

// jsonOf returns the JSON of an output.
func jsonOf(t *testing.T, r *Result, key string) string {
	t.Helper()
	if r.Fault != nil {
		t.Fatalf("it failed: %v", r.Fault)
	}
	var out map[string]json.RawMessage
	if err := json.Unmarshal(r.Outputs, &out); err != nil {
		t.Fatal(err)
	}
	return string(out[key])
}

func TestPython(t *testing.T) {
	needsProgram(t, "python3")
	on := task(t)
	script(t, filepath.Join(on.Dir, "local_module.py"), "answer = 42\n")
	script(t, filepath.Join(on.Dir, "json.py"), "raise SystemExit(9)\n") // which must not stand for Python's own
	v := values{"list": `"[1, 2.50, \"x\"]"`, "number": "42", "text": `"it's $HOME \\ ${list}"`, "no": "null"}
	for name, c := range map[string]struct{ given, code, want string }{
		"a value":                    {``, "result: int = 6 * 7", "42"},
		"printing is no result":      {``, "print('{}')\nresult: str = 'a'", `"a"`},
		"types are kept":             {`"inputs":{"a":"${list}","b":"${number}","c":"${text}","d":"${no}"},`, "a: list\nb: int\nc: str\nd: None\nresult: list = [a, b, c, d]", `[[1,2.5,"x"],42,"it's $HOME \\ ${list}",null]`},
		"code is no template":        {``, "result: str = '${number}'", `"${number}"`},
		"an integer as a float":      {`"inputs":{"x":2},`, "x: float\nresult: float = x / 4", "0.5"},
		"a union":                    {`"inputs":{"x":"a"},`, "x: int | str\nresult: Optional[str] = x", `"a"`},
		"from typing":                {`"inputs":{"x":[1]},`, "from typing import List, Union\nx: 'List[int]'\nresult: Union[int, None] = x[0]", "1"},
		"an unknown type":            {`"inputs":{"x":"[1]"},`, "x: Whatever\nresult: Any = x", `"[1]"`},
		"an object in text":          {`"inputs":{"x":"{\"a\":1}"},`, "x: dict[str, int]\nresult: int = x['a']", "1"},
		"text that is to be text":    {`"inputs":{"x":"[1]"},`, "x: str\nresult: str = x", `"[1]"`},
		"many digits":                {`"inputs":{"x":123456789012345678901234567890},`, "x: int\nresult: int = x * 10 ** 4400 // 10 ** 4399", "1234567890123456789012345678900"},
		"letters":                    {`"inputs":{"x":"é😀\u0000"},`, "x: str\nresult: str = x + 'ß'", `"é😀\u0000ß"`},
		"keys beginning with $":      {``, "result: dict = {'$blob': 1}", `{"$$blob":1}`},
		"keys that are numbers":      {``, "result: dict = {1: 'a', None: 2}", `{"1":"a","null":2}`},
		"a tuple":                    {``, "result: tuple = (1, (2,))", `[1,[2]]`},
		"null":                       {``, "result: None = None", `null`},
		"declared in a branch":       {``, "if 1 > 2:\n    result: int = 1\nelse:\n    result: str = 'b'\nresult = 2", `2`},
		"nothing to read":            {``, "import sys\nresult: list = [sys.stdin.read(), sys.argv[1:]]", `["",[]]`},
		"a module of the folder":     {``, "import local_module\nresult: int = local_module.answer", "42"},
		"sys.exit is an end":         {``, "import sys\nresult: int = 1\nsys.exit()", "1"},
		"as a main program":          {``, "result: str = __name__\nif __name__ == '__main__':\n    result += '!'", `"__main__!"`},
		"a function sees names":      {``, "n: int = 2\ndef f(): return n\nresult: int = f()", "2"},
		"a class with types":         {``, "import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\nresult: dict = dataclasses.asdict(P(1))", `{"x":1}`},
		"asynchronous":               {``, "import asyncio\nasync def f(): return 3\nresult: int = asyncio.run(f())", "3"},
		"a process of its own":       {``, "import os\nif os.fork() == 0:\n    result: str = 'child'\nelse:\n    os.wait()\n    result: str = 'parent'", `"parent"`},
		"a pool":                     {``, "import multiprocessing\ndef f(x): return x * x\nresult: list = []\nif True:\n    with multiprocessing.get_context('fork').Pool(2) as p:\n        result = p.map(f, [1, 2])", "[1,4]"},
		"others do not have it":      {``, "import subprocess\nresult: int = subprocess.call('echo forged >&3', shell=True, close_fds=False, stderr=-3)", "2"},
		"env and cwd":                {`"env":{"A":1},"cwd":"/",`, "import os\nresult: list = [os.environ['A'], os.getcwd()]", `["1","/"]`},
		"what is required":           {`"requires":["json","os.path"],`, "result: int = 1", "1"},
		"input with a tab and a CR":  {`"inputs":{"x":"a\tb\r\n"},`, "x: str\nresult: str = x", `"a\tb\r\n"`},
		"output after its end":       {``, "import atexit\natexit.register(print, 'later')\nresult: int = 1", "1"},
		"an input that it changes":   {`"inputs":{"x":[1]},`, "x: list\nx.append(2)\nresult: list = x", "[1,2]"},
		"a name of Python's for one": {`"inputs":{"list":[1]},`, "list: Any\nresult: Any = list", "[1]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := jsonOf(t, perform(t, on, "code", coded(c.given, "python", c.code), v), "result"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestJavaScript(t *testing.T) {
	needsProgram(t, "node")
	on := task(t)
	script(t, filepath.Join(on.Dir, "local.mjs"), "export const answer = 42\n")
	script(t, filepath.Join(on.Dir, "local.js"), "module.exports = 43\n")
	v := values{"list": `[1,"x"]`, "text": "\"it's `${x}` \\\\\""}
	for name, c := range map[string]struct{ given, code, want string }{
		"a value":               {``, "result = 6 * 7", "42"},
		"returned":              {``, "if (true) return {a: 1}\nresult = 2", `{"a":1}`},
		"an end before its end": {``, "result = 1; if (result) return\nresult = 2", `1`},
		"its own variable":      {``, "console.log('x'); const result = [1, null]", `[1,null]`},
		"types are kept":        {`"inputs":{"a":"${list}","b":2.5,"c":"${text}","d":null},`, "result = [a, b, c, d]", "[[1,\"x\"],2.5,\"it's `${x}` \\\\\",null]"},
		"an input again":        {`"inputs":{"a":1},`, "const b = a + 1; { const a = 5; result = a + b }", "7"},
		"a wait":                {``, "result = await new Promise(r => setTimeout(() => r('later'), 1))", `"later"`},
		"modules":               {``, "const p = require('path'); const {answer} = await import('./local.mjs'); result = [p.sep, answer, require('./local.js')]", `["/",42,43]`},
		"a date":                {``, "result = {d: new Date(0), u: undefined}", `{"d":"1970-01-01T00:00:00.000Z"}`},
		"process.exit":          {``, "result = 1\nprocess.exit()", `1`},
		"nothing to read":       {``, "result = require('fs').readFileSync(0, 'utf8')", `""`},
		"others do not have it": {``, "result = require('child_process').spawnSync('sh', ['-c', 'echo forged >&3'], {stdio: 'ignore'}).status", `2`},
		"env and cwd":           {`"env":{"A":1},"cwd":"/",`, "result = [process.env.A, process.cwd()]", `["1","/"]`},
		"what is required":      {`"requires":["fs","node:path"],`, "result = 1", "1"},
		"a comment at the end":  {``, "result = 1 // the end", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := perform(t, on, "code", coded(c.given, "node", c.code), v)
			if got := jsonOf(t, r, "result"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := jsonOf(t, r, "stderr"); got != `""` {
				t.Errorf("stderr %s", got)
			}
		})
	}
}

func TestBash(t *testing.T) {
	needsProgram(t, "bash")
	on := task(t)
	v := values{"text": `"it's \"$HOME\" $(touch pwned) \\ ${x}\n"`, "object": `{"a": [1, 2.50]}`}
	for name, c := range map[string]struct{ given, code, want string }{
		"a value":               {``, "result=$((6 * 7))", `"42"`},
		"inputs":                {`"inputs":{"a":"${text}","b":"${object}","c":1.50,"d":true,"e":null},`, `result="$a|$b|$c|$d|$e"`, `"it's \"$HOME\" $(touch pwned) \\ ${x}\n|{\"a\":[1,2.50]}|1.50|true|"`},
		"newlines stay":         {``, "result=$'a\\n\\n'", `"a\n\n"`},
		"nothing is a text too": {``, "result=", `""`},
		"bytes":                 {``, `result=$'\xff'`, `{"$base64":"/w=="}`},
		"an end before its end": {``, "result=a; exit\nresult=b", `"a"`},
		"an end in a subshell":  {``, "(result=x; exit 3)\nresult=$(echo b; exit 0)", `"b"`},
		"a trap of its own":     {``, "trap 'echo bye' EXIT\nresult=a\nexit 0", `"a"`},
		"options of its own":    {``, "set -euo pipefail\nx=$(false || echo 1)\nif false; then :; fi\nresult=$x", `"1"`},
		"nothing to read":       {``, "result=$(cat)", `""`},
		"others do not have it": {``, "sh -c 'echo forged >&3' 2>/dev/null || result=$?", `"2"`},
		"env and cwd":           {`"env":{"A":1},"cwd":"/",`, `result="$A $PWD"`, `"1 /"`},
		"what is required":      {`"requires":["ls","cd"],`, "result=a", `"a"`},
		"a child that stays":    {``, "sleep 300 &\nresult=a", `"a"`},
		"not from outside":      {`"env":{"next":"x"},`, `result="${next-none}"`, `"none"`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := jsonOf(t, perform(t, on, "code", coded(c.given, "bash", c.code), v), "result"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(on.Dir, "pwned")); err == nil {
		t.Error("a value became code")
	}
}

func TestCodeChoosesItsAction(t *testing.T) {
	for language, codes := range map[string]map[string]string{
		"python": {"next: str = 'go'\nresult: int = 1": "go", "result: int = 1\nnext = 'go'": "go", "def next(x): pass\nresult: int = 1": "default", "next: str = None\nresult: int = 1": "default"},
		"node":   {"next = 'go'; result = 1": "go", "let next = 'go'; result = 1": "go", "result = 1": "default"},
		"bash":   {"next=go; result=1": "go", "result=1": "default"},
	} {
		t.Run(language, func(t *testing.T) {
			needsProgram(t, strings.Replace(language, "python", "python3", 1))
			for code, want := range codes {
				if r := perform(t, task(t), "code", coded("", language, code), nil); r.Action != want || r.Fault != nil {
					t.Errorf("%q: action %s, %v", code, r.Action, r.Fault)
				}
			}
		})
	}
}

// A failure has its place in the code, to the byte if the interpreter knows it, and leaves behind what was printed.
func TestCodeFailures(t *testing.T) {
	for name, c := range map[string]struct {
		language, given, code string
		kind                  fault.Type
		at                    string
		words                 []string
	}{
		"python":            {"python", "", "print('out')\nimport sys\nsys.stderr.write('err')\nresult: int = sum([1, 'é', ''])", fault.Execution, "", []string{"TypeError", "at line 4", "in w.json, line 7", "stderr: err"}},
		"syntax":            {"python", "", "é = 1; x = )", fault.Execution, ")", []string{"SyntaxError", "at line 1: é = 1; x = )"}},
		"no result":         {"python", "", "import no_such_module", fault.Execution, "", []string{"must declare result"}},
		"javascript":        {"node", "", "result = 1; null.x", fault.Execution, "x", []string{"TypeError", "at line 1"}},
		"javascript syntax": {"node", "", "result = 1; let y = ;", fault.Execution, ";", []string{"SyntaxError"}},
		"bash":              {"bash", "", "echo out\n  false", fault.Execution, "false", []string{"exit status 1", "at line 2: false"}},
		"keyword":           {"python", `"inputs":{"class":1},`, "result: int = 1", fault.Execution, "", []string{`Input "class" is reserved in Python`}},
		"NUL in bash":       {"bash", `"inputs":{"x":"a\u0000"},`, "result=1", fault.Execution, "", []string{"NUL byte"}},
		"environment":       {"bash", `"env":{"A=B":1},`, "result=1", fault.Execution, "", []string{`"A=B"`}},
		"no folder":         {"bash", `"cwd":"/no/such",`, "result=1", fault.Execution, "", []string{"Working directory does not exist"}},
		"no program":        {"python", `"env":{"PATH":"/nowhere"},`, "result: int = 1", fault.Unavailable, "", []string{"python3 or python", "PATH"}},
		"requires":          {"node", `"requires":["no-such"],`, "result = 1", fault.Unavailable, "", []string{"not installed: no-such"}},
		"requires a name":   {"bash", `"requires":["a b"],`, "result=1", fault.Execution, "", []string{`"a b"`, "requires"}},
		"descriptor 3":      {"python", "", "import os\nresult: int = 1\nos.write(3, b'{\"done\":true}\\nnonsense\\n')\nos._exit(0)", fault.Execution, "", []string{"descriptor 3"}},
		"a half result":     {"python", "", "import os\nresult: int = 1\nos.write(3, b'{\"done\":true}\\n[1')\nos._exit(0)", fault.Execution, "", []string{"JSON"}},
	} {
		t.Run(name, func(t *testing.T) {
			needsProgram(t, strings.Replace(c.language, "python", "python3", 1))
			t.Parallel()
			on := task(t)
			at := -1
			on.Place = func(param string, offset int) (string, int, int) {
				if param != "code" {
					t.Errorf("asked for the place of %s", param)
				}
				at = offset
				return "w.json", 7, offset + 1
			}
			r := perform(t, on, "code", coded(c.given, c.language, c.code), nil)
			failedWith(t, r, c.kind, c.words...)
			if len(r.Fault.Suggestions) == 0 && name != "no folder" {
				t.Error("no suggestion")
			}
			if got := plainOutput(t, r, "error"); got != r.Fault.Message {
				t.Errorf("error %q", got)
			}
			if c.at != "" && (at < 0 || !strings.HasPrefix(c.code[at:], c.at)) {
				t.Errorf("at byte %d, want %q", at, c.at)
			}
		})
	}
	needsProgram(t, "python3")
	r := perform(t, task(t), "code", coded("", "python", "result: int = 0\nprint('out')\ndef f():\n    1/0\nf()"), nil)
	trace, _ := r.Fault.Details["traceback"].(string)
	if plainOutput(t, r, "stdout") != "out\n" || !strings.HasPrefix(trace, "Traceback") || !strings.Contains(trace, "line 5") || strings.Contains(trace, "main") {
		t.Errorf("stdout %q, traceback:\n%s", plainOutput(t, r, "stdout"), trace)
	}
}

func TestCodeThatIsStopped(t *testing.T) {
	needsProgram(t, "bash")
	ctx, cancel := context.WithCancelCause(t.Context())
	on := task(t)
	on.Stdout = writerFunc(func([]byte) { cancel(&TimeoutError{After: time.Minute}) })
	r := Run(ctx, prepared(t, "code", coded("", "bash", "echo begun; sleep 300; result=1"), nil), on)
	failedWith(t, r, fault.Timeout, "timed out after 60 seconds")
	if got := plainOutput(t, r, "stdout"); got != "begun\n" {
		t.Errorf("stdout %q", got)
	}
}

// Output that was printed before the failure is kept in a blob.
func TestCodeThatPrintsTooMuchIsStopped(t *testing.T) {
	for where, output := range map[string]string{"1": "stdout", "2": "stderr"} {
		var kept store
		on := task(t)
		on.Capture = kept.capture
		r := Run(t.Context(), prepared(t, "code", `{"language":"bash","timeout":120,"code":"yes >&`+where+`"}`, nil), on)
		failedWith(t, r, fault.TooLarge, "printed more than 128 MiB")
		if got := gjson.GetBytes(r.Outputs, output+".bytes").Int(); got != MaxOutput || kept != (store{0, 1}) {
			t.Errorf("%s: %d bytes are left, %+v", output, got, kept)
		}
	}
}

// A long result is complete.
func TestALongResultOfCode(t *testing.T) {
	needsProgram(t, "python3")
	r := perform(t, task(t), "code", coded("", "python", "result: list = ['x' * 1000] * 5000"), nil)
	if got := jsonOf(t, r, "result"); len(got) != 5000*1003+1 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestLinesOfCode(t *testing.T) {
	const text = "a\r\nbb\n\nc\rd\n\n"
	for wanted, want := range map[int]string{0: " 0 0", 1: "a 0 1", 2: "bb 3 2", 3: " 6 3", 4: "c 7 4", 5: "d 9 5", 6: "d 9 5", 99: "d 9 5"} {
		line, at, n := lineOf(text, wanted)
		if got := line + " " + strconv.Itoa(at) + " " + strconv.Itoa(n); got != want {
			t.Errorf("line %d: %q, want %q", wanted, got, want)
		}
	}
	if line, at, n := lineOf("", 1); line != "" || at != 0 || n != 1 {
		t.Error(line, at, n)
	}
}

func FuzzReportOfCode(f *testing.F) {
	for _, s := range []string{"", "{}", "{\"done\":true}\n1", "{\"done\":true}\nx\x00y", "Fatal\n{\"line\":-1}\n", "{\"line\":1e99}\n", "{\"done\":true,\"line\":\"x\"}\n1"} {
		f.Add([]byte(s), "a\nb")
	}
	f.Fuzz(func(t *testing.T, data []byte, code string) {
		for _, name := range []string{"python", "bash"} {
			l := languageOf(name)
			r := l.report(data)
			if !bytes.HasSuffix(data, r.result) && !bytes.Contains(data, r.result) {
				t.Errorf("a result without a report: %q", r.result)
			}
			c := &codeProgram{Code: nodetype.Code{Code: code, Language: name}, language: l, name: "c", task: &Task{Place: func(_ string, offset int) (string, int, int) {
				if offset < 0 || offset > len(code) {
					t.Errorf("byte %d of %d", offset, len(code))
				}
				return "w", 1, 1
			}}}
			r.Line = max(r.Line, c.lineIn(r.crash, code))
			c.locate(fault.New(fault.Execution, "x"), &r)
		}
	})
}
