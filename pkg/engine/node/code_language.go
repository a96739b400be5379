package node

import (
	"bytes"
	_ "embed" // the runners
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// The runners: each runs in the process of the program, and tells on descriptor 3 how it ended.
var (
	//go:embed code/runner.py
	pythonRunner []byte
	//go:embed code/runner.js
	nodeRunner []byte
	//go:embed code/runner.sh
	bashRunner []byte
)

// What an interpreter is given on its command line: it reads the runner and the program from its standard input, and the
// program finds that empty.
const (
	pythonStart = `import sys
if sys.version_info < (3, 8):
    import os
    os.write(3, ('{"kind":"version","message":"%d.%d.%d"}\n' % sys.version_info[:3]).encode())
    os._exit(1)
exec(sys.stdin.buffer.read(int(sys.stdin.buffer.readline())))
`
	nodeStart = `{const f=require("node:fs"),b=f.readFileSync(0),n=b.indexOf(10)+1,e=n+ +b.subarray(0,n);` +
		`f.closeSync(0);f.openSync("/dev/null");(0,eval)(b.toString("utf8",n,e))(JSON.parse(b.toString("utf8",e)))}`
	// It is one line, so that bash counts the lines of the code from one.
	bashStart = `__pflow_code=$(</dev/stdin); exec </dev/null; eval "$__pflow_code"; { eval "$__pflow_code"; } 3>&-; __pflow_report $? >&3`
)

// language is one in which a code node's program can be.
type language struct {
	// programs are the names of what runs it, the best first, and install what to install where there is none.
	programs []string
	install  string
	// arguments are those of the interpreter.
	arguments []string
	// payload is what it reads.
	payload func(*codeProgram) ([]byte, *fault.Fault)
	// text says that the result is text as it is and not JSON.
	text bool
}

func languageOf(name string) language {
	switch name {
	case "node":
		return language{[]string{"node"}, "Node.js", []string{"-e", nodeStart}, jsonPayload(nodeRunner), false}
	case "bash":
		return language{[]string{"bash"}, "bash", []string{"-c", bashStart, bashName}, bashPayload, true}
	}
	return language{[]string{"python3", "python"}, "Python 3", []string{"-c", pythonStart}, jsonPayload(pythonRunner), false}
}

// jsonPayload is the runner's length, the runner, and the program as JSON.
func jsonPayload(runner []byte) func(*codeProgram) ([]byte, *fault.Fault) {
	return func(c *codeProgram) ([]byte, *fault.Fault) {
		job, err := rawjson.Marshal(map[string]any{
			"name": c.name, "code": c.Code.Code, "inputs": orEmpty(c.Inputs), "requires": append([]string{}, c.Requires...),
		})
		if err != nil {
			return nil, fault.From(err)
		}
		return slices.Concat([]byte(strconv.Itoa(len(runner))+"\n"), runner, job), nil
	}
}

func orEmpty(inputs map[string]json.RawMessage) map[string]json.RawMessage {
	if inputs == nil {
		return map[string]json.RawMessage{}
	}
	return inputs
}

// bashName is what bash calls the code in its messages.
const bashName = "code"

// bashPayload is the runner between the variables that it reads and those that the code does.
func bashPayload(c *codeProgram) ([]byte, *fault.Fault) {
	var b bytes.Buffer
	b.WriteString("__pflow_requires=(" + shellWords(c.Requires) + ")\n")
	b.Write(bashRunner)
	for _, name := range slices.Sorted(maps.Keys(c.Inputs)) {
		value := template.AsText(c.Inputs[name])
		if strings.ContainsRune(value, 0) {
			return nil, fault.New(fault.Execution, "Input %q has a NUL byte, which no variable of bash can hold", name).
				Suggest("Give it in a file, or use another language")
		}
		b.WriteString(name + "=" + shellWords([]string{value}) + "\n")
	}
	if strings.ContainsRune(c.Code.Code, 0) {
		return nil, fault.New(fault.Execution, "The code has a NUL byte, which bash does not take").Suggest("Take it out")
	}
	b.WriteString("__pflow_code=" + shellWords([]string{c.Code.Code}) + "\n")
	return b.Bytes(), nil
}

// shellWords quotes words for bash.
func shellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}
