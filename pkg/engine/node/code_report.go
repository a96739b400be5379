package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
)

// maxReport is the most bytes of a report without the result.
const maxReport = 1 << 20

// report is a runner's report of how the program ended.
type report struct {
	Done bool   `json:"done"`
	Next string `json:"next"`
	// Kind is the reason of a failure: syntax, declare, input, requires, exception, exit, result or version.
	Kind    string `json:"kind"`
	Message string `json:"message"`
	// Line counts from 1 and is 0 if unknown. Column counts bytes from 0 and is absent or -1 if unknown.
	Line      int      `json:"line"`
	Column    *int     `json:"column"`
	Modules   []string `json:"modules"`
	Traceback string   `json:"traceback"`
	// NotJSON is the type of a value that JSON cannot represent.
	NotJSON string `json:"unfit"`

	result []byte
	// crash is what the interpreter itself wrote because of a signal.
	crash string
}

// report parses what a runner wrote: messages of the interpreter, if there are any, a line of JSON, and the result.
func (l *language) report(data []byte) report {
	var r report
	rest := data
	for len(rest) > 0 && rest[0] != '{' {
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	r.crash = string(data[:min(len(data)-len(rest), maxReport)])
	line, result, _ := bytes.Cut(rest, []byte("\n"))
	if len(line) > 0 && json.Unmarshal(line, &r) != nil {
		r.Done = false
	}
	r.result = result
	if !l.rawText {
		r.result, _, _ = bytes.Cut(result, []byte("\n"))
		return r
	}
	if next, value, ok := bytes.Cut(result, []byte{0}); ok && r.Done {
		r.Next, r.result = string(next), value
	}
	return r
}

// fault returns why the program failed; nil if it did not.
func (c *codeProgram) fault(r report, exit process.Exit, err error, stderr []byte) *fault.Fault {
	text := tailText(stderr)
	late, timedOut := errors.AsType[*TimeoutError](err)
	var f *fault.Fault
	switch {
	case timedOut:
		f = fault.New(fault.Timeout, "The code timed out after %s seconds", seconds(late.After)).
			Suggest("Give the node a longer \"timeout\", or make the code faster")
	case err != nil:
		return fault.From(err)
	case exit.Signal != "":
		f = fault.New(fault.Execution, "The code was ended by signal: %s", exit.Signal).Detail("exit_code", exit.Code)
		f.Suggest("A native library may have crashed, or the system may have run out of memory")
	case r.Done && exit.Code == 0:
		return nil
	default:
		f = c.reportedFault(&r, exit, text)
	}
	if r.Line == 0 {
		r.Line = c.lineIn(r.crash, text)
	}
	if r.Line == 0 && r.Kind == "result" {
		r.Line = lastAssignment(c.Code.Code)
	}
	c.locate(f, &r)
	if c.language.rawText || r.Kind == "" || r.Kind == "exit" { // no exception says why
		if text = c.last.text(c.stdout.Binary()); text != "" {
			f.Message += "\n  output: " + text
		}
	} else if text != "" {
		f.Message += "\n  stderr: " + text
	}
	if r.Traceback != "" {
		f.Detail("traceback", lastBytes(r.Traceback, maxTail))
	}
	return f
}

// reportedFault is the fault of a runner's report, or of a program that failed without one.
func (c *codeProgram) reportedFault(r *report, exit process.Exit, stderr string) *fault.Fault {
	f := fault.New(fault.Execution, "%s", r.Message)
	switch {
	case r.Kind == "version":
		f.Message = fmt.Sprintf("The code needs Python 3.8 or later, but %s is Python %s", c.interpreter, r.Message)
		return f.Suggest("Install a later Python 3, and put it first on PATH")
	case r.Done:
		f.Message = fmt.Sprintf("The code set its result but ended with exit status %d", exit.Code)
		f.Detail("exit_code", exit.Code).Suggest("End the code with exit status 0")
	case c.language.rawText && (r.Kind == "" || r.Kind == "exit"):
		f.Message = fmt.Sprintf("The code ended with exit status %d", exit.Code)
		f.Detail("exit_code", exit.Code).Suggest("Correct the code; its exit status must be 0")
	case r.Kind == "":
		f.Message = fmt.Sprintf("The code ended with exit status %d before its result could be read", exit.Code)
		f.Detail("exit_code", exit.Code).Suggest("Let the code run to its end, without os._exit, exec and the like")
	case len(r.Modules) > 0:
		c.suggestModules(f, r)
	default:
		f.Suggest("%s", r.suggestion(c.Language))
	}
	return f
}

// suggestion says what to do about a failure.
func (r *report) suggestion(language string) string {
	switch r.Kind {
	case "syntax":
		if strings.Contains(r.Message, "import statement") {
			return `Write const x = require("x"), or const x = await import("x"): the code is the body of an async function`
		}
		return "Correct the code; it is checked as a whole before it runs"
	case "declare":
		return "Declare each input and result with its type on a line of the code, such as: result: list = []"
	case "input":
		if strings.Contains(r.Message, "expects str but received list") || strings.Contains(r.Message, "expects str but received dict") {
			return "JSON text arrives parsed: declare list or dict, or pass it as text with ${NODE.KEY | trim}"
		}
		return "Give an input of that type, or declare another type in the code; Any accepts every value"
	case "exit":
		return "Let the code run to its end with a result, or handle the failure with an edge of action \"error\""
	case "result":
		return resultSuggestion(language, r)
	}
	return "Correct the code or its inputs, or handle this failure with an edge of action \"error\""
}

// resultSuggestion says what to do about a result that JSON cannot represent.
func resultSuggestion(language string, r *report) string {
	if language == "python" {
		switch kind := r.NotJSON; {
		case kind == "set", kind == "frozenset", kind == "generator", strings.HasPrefix(kind, "dict_"):
			return "Convert it to a list: list(value) or sorted(value)"
		case kind == "bytes", kind == "bytearray":
			return "Convert it to text: value.decode() or base64.b64encode(value).decode()"
		case strings.HasPrefix(kind, "datetime."):
			return "Convert it to text: value.isoformat() or str(value)"
		case strings.HasPrefix(kind, "numpy."):
			return "Convert it to a Python value: value.tolist()"
		case strings.HasPrefix(kind, "pandas."):
			return `Convert it to a list: value.to_dict("records") or value.tolist()`
		}
	}
	return "Assign a JSON value to result: text, numbers, true, false, null, and lists and objects of these"
}

// suggestModules adds how to install the missing modules.
func (c *codeProgram) suggestModules(f *fault.Fault, r *report) {
	f.Missing = r.Modules
	names := strings.Join(r.Modules, " ")
	switch c.Language {
	case "bash":
		f.Type = fault.Unavailable
		f.Suggest("Install %s, or add its folder to PATH", names)
		return
	case "node":
		f.Suggest("Install it where the workflow runs: npm install %s", names)
	default:
		packages := make([]string, len(r.Modules))
		for i, m := range r.Modules {
			packages[i] = packageOf(m)
		}
		f.Suggest("Install it: %s -m pip install %s", c.interpreter, strings.Join(packages, " "))
	}
	if r.Kind == "requires" {
		f.Type = fault.Unavailable
		return
	}
	f.Suggest(`Add it to "requires" to have it checked before the code runs`)
}

// packageOf returns the package that a Python module is installed from.
func packageOf(module string) string {
	module, _, _ = strings.Cut(module, ".")
	switch module {
	case "PIL":
		return "pillow"
	case "bs4":
		return "beautifulsoup4"
	case "cv2":
		return "opencv-python"
	case "dateutil":
		return "python-dateutil"
	case "dotenv":
		return "python-dotenv"
	case "sklearn":
		return "scikit-learn"
	case "yaml":
		return "PyYAML"
	}
	return module
}

// lineIn returns the line of the code that the interpreter named after a signal, or bash in a message; 0 if it named no line.
func (c *codeProgram) lineIn(crash, stderr string) int {
	pattern, text := `File "`+regexp.QuoteMeta(c.name)+`", line (\d+)`, crash
	if c.language.rawText {
		pattern, text = `(?m)^`+bashName+`: (?:eval: )?line (\d+): `, stderr
	}
	found := regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return 0
	}
	which := found[0] // the innermost frame
	if c.language.rawText {
		which = found[len(found)-1]
	}
	line, _ := strconv.Atoi(which[1])
	return line
}

// lastBytes returns the end of a text.
func lastBytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return "…" + strings.ToValidUTF8(text[len(text)-most:], "")
}
