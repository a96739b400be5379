package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// checkCode returns the errors and warnings of a code node c, in a workflow with the inputs who and user and a node fetch-it.
func checkCode(t *testing.T, params, code string) (errors, warnings []string) {
	t.Helper()
	source := fmt.Sprintf(`{"inputs":{"who":{"default":"x"},"user":{"default":"y"}},"nodes":[
		{"id":"fetch-it","type":"echo","params":{"message":"${who}${user}"}},
		{"id":"c","type":"code","params":{"code":%s%s}}]}`, rawjson.Quote(code), params)
	f, err := workflow.Read("w.json", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	r := Workflow(f, types{}, nil)
	for _, e := range r.Errors {
		errors = append(errors, e.Message)
	}
	for _, w := range r.Warnings {
		warnings = append(warnings, w.Message+" | "+strings.Join(w.Suggestions, " "))
		if w.Line != 3 || w.Column == 0 {
			t.Errorf("%s stands at %d:%d", w.Message, w.Line, w.Column)
		}
	}
	return errors, warnings
}

func TestCodeThatIsRight(t *testing.T) {
	for name, c := range map[string]struct{ params, code string }{
		"python":               {`,"inputs":{"x":1}`, "x: int\nresult: int = x"},
		"result in a branch":   {``, "if True: result: int = 1\nelse:\n  result: int = 2"},
		"after a semicolon":    {``, "a = 1; result:int=a"},
		"in parentheses":       {``, "(result): int = 1"},
		"over lines":           {``, "result \\\n  : int = 1"},
		"a dollar and a value": {`,"inputs":{"who":1}`, "who: int\nresult: str = f\"${who}\""},
		"a name of its own":    {``, "user = 5\nresult: str = f'${user}'"},
		"JavaScript":           {`,"language":"node","inputs":{"who":1}`, "result = `${who} ${1 + 1}`"},
		"its own variable":     {`,"language":"node"`, "for (const user of []) { result = `${user.name}` }"},
		"a difference":         {`,"language":"node"`, "const fetch = 5, it = 4; result = `${fetch-it}`"},
		"bash":                 {`,"language":"bash","inputs":{"who":1}`, `result="${who} ${HOME} ${x:-1}"`},
		"its environment":      {`,"language":"bash","env":{"user":"x"}`, `result="${user}"`},
		"language not known":   {`,"language":"${who}"`, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			if errors, warnings := checkCode(t, c.params, c.code); len(errors)+len(warnings) > 0 {
				t.Errorf("%q %q", errors, warnings)
			}
		})
	}
}

func TestCodeThatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ params, code, error, warning string }{
		"no result":             {``, "x = 1", "must declare result type annotation", ""},
		"result untyped":        {``, "result = 1\nresults: int = 1\nmy_result: int = 2", "must declare result type annotation", ""},
		"a walrus":              {``, "(result := 1)", "must declare result type annotation", ""},
		"an input undeclared":   {`,"inputs":{"x":1,"y":2}`, "y: int\nxx: int = x\nresult: int = 1", "Input(s) missing type annotation in code: x", ""},
		"a name with a hyphen":  {`,"inputs":{"x-y":1}`, "result: int = 1", `input "x-y" cannot be a variable of Python`, ""},
		"a keyword":             {`,"inputs":{"class":1}`, "result: int = 1", `"class" is reserved in Python`, ""},
		"result as an input":    {`,"inputs":{"result":1}`, "result: int = 1", `"result" has the name of a variable that the code sets`, ""},
		"a keyword in node":     {`,"language":"node","inputs":{"new":1}`, "result = 1", "is reserved in JavaScript", ""},
		"a variable of bash":    {`,"language":"bash","inputs":{"UID":1}`, "result=1", "is reserved in bash", ""},
		"a template in python":  {``, "result: str = '${fetch-it.echo}'", "", `"inputs": {"echo": "${fetch-it.echo}"}, and use echo`},
		"an input of the run":   {``, "result: str = '${who}'", "", `"inputs": {"who": "${who}"}`},
		"its own, in text":      {`,"inputs":{"who":1}`, "who: int\nresult: str = '${who}'", "", "Write who alone"},
		"a template in node":    {`,"language":"node"`, "result = `${fetch-it.echo}`", "", `${fetch-it.echo} in the code`},
		"a template in bash":    {`,"language":"bash"`, "result=${user.name}", "", `"inputs": {"name": "${user.name}"}`},
		"what cannot be a name": {``, "result: str = '${fetch-it[0]}'", "", `"inputs": {"value": "${fetch-it[0]}"}`},
	} {
		t.Run(name, func(t *testing.T) {
			errors, warnings := checkCode(t, c.params, c.code)
			for what, pair := range map[string][2]string{"errors": {c.error, strings.Join(errors, "\n")}, "warnings": {c.warning, strings.Join(warnings, "\n")}} {
				want, got := pair[0], pair[1]
				if want == "" && got != "" || !strings.Contains(got, want) {
					t.Errorf("%s: %q is not in %q", what, want, got)
				}
			}
		})
	}
}
