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

// maxReport is how many bytes a report may have besides the result.
const maxReport = 1 << 20

// report is what a runner tells of how the program ended.
type report struct {
	Done bool   `json:"done"`
	Next string `json:"next"`
	// Kind is why it failed: syntax, declare, input, requires, exception, exit, result or version.
	Kind    string `json:"kind"`
	Message string `json:"message"`
	// Line counts from 1, and is 0 when it is not known; Column counts bytes from 0, and is absent or -1 when it is not.
	Line      int      `json:"line"`
	Column    *int     `json:"column"`
	Modules   []string `json:"modules"`
	Traceback string   `json:"traceback"`
	// Unfit is the type of what JSON cannot hold.
	Unfit string `json:"unfit"`

	result []byte
	// crash is what the interpreter itself wrote, on a signal.
	crash string
}

// report reads what a runner wrote: what the interpreter had to say, if anything, then a line of JSON, then the result.
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
	if !l.text {
		r.result, _, _ = bytes.Cut(result, []byte("\n"))
		return r
	}
	if next, value, ok := bytes.Cut(result, []byte{0}); ok && r.Done {
		r.Next, r.result = string(next), value
	}
	return r
}

// fault is why the program failed, or nil.
func (c *codeProgram) fault(r report, exit process.Exit, err error, stderr []byte) *fault.Fault {
	said := saidAtEnd(stderr)
	late, timedOut := errors.AsType[*TimeoutError](err)
	var f *fault.Fault
	switch {
	case timedOut:
		f = fault.New(fault.Timeout, "The code timed out after %s seconds", seconds(late.After)).
			Suggest("Give the node a longer \"timeout\" (in seconds), or make the code finish sooner")
	case err != nil:
		return fault.From(err)
	case exit.Signal != "":
		f = fault.New(fault.Execution, "The code was ended by signal: %s", exit.Signal).Detail("exit_code", exit.Code)
		f.Suggest("A library in native code may have crashed, or the system may have ended it for its use of memory")
	case r.Done && exit.Code == 0:
		return nil
	default:
		f = c.told(&r, exit, said)
	}
	if r.Line == 0 {
		r.Line = c.lineIn(r.crash, said)
	}
	if r.Line == 0 && r.Kind == "result" {
		r.Line = assigned(c.Code.Code)
	}
	c.locate(f, &r)
	if said != "" {
		f.Message += "\n  stderr: " + said
	}
	if r.Traceback != "" {
		f.Detail("traceback", end(r.Traceback, maxSaid))
	}
	return f
}

// told is the fault that a runner told, or that there was none to tell of a program that failed.
func (c *codeProgram) told(r *report, exit process.Exit, said string) *fault.Fault {
	f := fault.New(fault.Execution, "%s", r.Message)
	switch {
	case r.Kind == "version":
		f.Message = fmt.Sprintf("Python 3.8 or later is needed, and %s is Python %s", c.interpreter, r.Message)
		return f.Suggest("Install a later Python 3, and put it first on PATH")
	case r.Done:
		f.Message = fmt.Sprintf("The code set its result, and ended with exit status %d", exit.Code)
		f.Detail("exit_code", exit.Code).Suggest("Let it end with exit status 0")
	case c.language.text && (r.Kind == "" || r.Kind == "exit"):
		f.Message = fmt.Sprintf("The code ended with exit status %d", exit.Code)
		f.Detail("exit_code", exit.Code).Suggest("Correct the code; its exit status must be 0")
	case r.Kind == "":
		f.Message = fmt.Sprintf("The code ended with exit status %d before its result could be taken", exit.Code)
		f.Detail("exit_code", exit.Code).Suggest("Let the code come to its end, without os._exit, exec and their like")
	case len(r.Modules) > 0:
		c.suggestModules(f, r)
	default:
		f.Suggest("%s", r.next(c.Language))
	}
	return f
}

// next is what to do about a failure.
func (r *report) next(language string) string {
	switch r.Kind {
	case "syntax":
		if strings.Contains(r.Message, "import statement") {
			return `Write const x = require("x"), or const x = await import("x"): the code is the body of an async function`
		}
		return "Correct the code there: the whole text of the code is checked before it runs"
	case "declare":
		return "Declare each input and result with its type on a line of the code, such as: result: list = []"
	case "input":
		return "Give an input of that type, or declare another type in the code; Any takes every value"
	case "exit":
		return "Let the code come to its end with a result, or take the failure with an edge of action \"error\""
	case "result":
		return resultNext(language, r)
	}
	return "Correct the code, or the inputs it is given; an edge of action \"error\" takes this failure"
}

// resultNext is what to do about a result that cannot be taken.
func resultNext(language string, r *report) string {
	if language == "python" {
		switch kind := r.Unfit; {
		case kind == "set", kind == "frozenset", kind == "generator", strings.HasPrefix(kind, "dict_"):
			return "Make a list of it: list(value), or sorted(value)"
		case kind == "bytes", kind == "bytearray":
			return "Make text of it: value.decode(), or base64.b64encode(value).decode()"
		case strings.HasPrefix(kind, "datetime."):
			return "Make text of it: value.isoformat(), or str(value)"
		case strings.HasPrefix(kind, "numpy."):
			return "Make a value of Python's own of it: value.tolist()"
		case strings.HasPrefix(kind, "pandas."):
			return `Make a list of it: value.to_dict("records"), or value.tolist()`
		}
	}
	return "Assign to result what JSON can hold: text, numbers, true, false, null, and lists and objects of these"
}

// suggestModules says how to install what is missing.
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
	f.Suggest(`Name it under "requires": then it is told before the code begins`)
}

// packageOf is the package that a module of Python is installed from.
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

// lineIn is the line of the code that the interpreter named when a signal came, or that bash did; 0 where there is none.
func (c *codeProgram) lineIn(crash, said string) int {
	pattern, text := `File "`+regexp.QuoteMeta(c.name)+`", line (\d+)`, crash
	if c.language.text {
		pattern, text = `(?m)^`+bashName+`: (?:eval: )?line (\d+): `, said
	}
	found := regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return 0
	}
	which := found[0] // the innermost frame
	if c.language.text {
		which = found[len(found)-1]
	}
	line, _ := strconv.Atoi(which[1])
	return line
}

// end is the end of a text.
func end(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return "…" + strings.ToValidUTF8(text[len(text)-most:], "")
}
