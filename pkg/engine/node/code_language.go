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

// The runners. Each runs in the same process as the program and writes a report of how the program ended to descriptor 3.
var (
	//go:embed code/runner.py
	pythonRunner []byte
	//go:embed code/runner.js
	nodeRunner []byte
	//go:embed code/runner.sh
	bashRunner []byte
)

// The code on each interpreter's command line. It reads the runner and the program from standard input, which is then empty
// for the program.
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
	// One line only, so that bash counts the lines of the code from 1.
	bashStart = `__pflow_code=$(</dev/stdin); exec </dev/null; eval "$__pflow_code"; { eval "$__pflow_code"; } 3>&-; __pflow_report $? >&3`
)

// language is a language that a code node can use.
type language struct {
	// programs are the names of its interpreters, in order of preference, and install what to install if none is found.
	programs []string
	install  string
	// arguments are the command line of the interpreter.
	arguments []string
	// payload returns the interpreter's standard input.
	payload func(*codeProgram) ([]byte, *fault.Fault)
	// rawText is set if the result is text, not JSON.
	rawText bool
}

// languageOf returns a language by its name in the workflow.
func languageOf(name string) language {
	switch name {
	case "node":
		return language{[]string{"node"}, "Node.js", []string{"-e", nodeStart}, jsonPayload(nodeRunner), false}
	case "bash":
		return language{[]string{"bash"}, "bash", []string{"-c", bashStart, bashName}, bashPayload, true}
	}
	return language{[]string{"python3", "python"}, "Python 3", []string{"-c", pythonStart}, jsonPayload(pythonRunner), false}
}

// jsonPayload returns the payload of a runner that reads JSON: the runner's length, the runner, and the program as JSON.
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

// orEmpty returns an empty map instead of nil, which JSON would have as null.
func orEmpty(inputs map[string]json.RawMessage) map[string]json.RawMessage {
	if inputs == nil {
		return map[string]json.RawMessage{}
	}
	return inputs
}

// bashName is the name of the code in the messages of bash.
const bashName = "code"

// bashPayload returns the payload of bash: the variables of the runner, the runner, and the variables of the code.
func bashPayload(c *codeProgram) ([]byte, *fault.Fault) {
	var b bytes.Buffer
	b.WriteString("__pflow_requires=(" + shellWords(c.Requires) + ")\n")
	b.Write(bashRunner)
	for _, name := range slices.Sorted(maps.Keys(c.Inputs)) {
		value := template.AsText(c.Inputs[name])
		if strings.ContainsRune(value, 0) {
			return nil, fault.New(fault.Execution, "Input %q contains a NUL byte, which a bash variable cannot hold", name).
				Suggest("Pass it in a file, or use another language")
		}
		b.WriteString(name + "=" + shellWords([]string{value}) + "\n")
	}
	if strings.ContainsRune(c.Code.Code, 0) {
		return nil, fault.New(fault.Execution, "The code contains a NUL byte, which bash does not accept").Suggest("Remove it")
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
