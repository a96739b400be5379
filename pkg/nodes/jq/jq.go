// Package jq compiles and runs filters in the jq language, and reports what is wrong with a filter and where.
package jq

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// filterPath is the path of the filter among the parameters of its node. offsetFact is the detail of a fault that holds the
// offset in the filter.
const (
	filterPath = "params.filter"
	offsetFact = "offset"
)

// Check returns what is wrong with a filter, or nil. The filter may use the variables with the given names, which are without
// their $. The fault's path is params.filter, and its detail "offset", an int, is the offset in bytes of the place in the filter.
// Its Missing names an undefined variable, without the $.
func Check(filter string, variables []string) *fault.Fault {
	_, f := compile(filter, variables, gojq.NewIter[any](), nil)
	return f
}

// compile compiles a filter. When it runs, the values of the variables are in the order of the names. Its functions input and
// inputs read from inputs. It has no environment and loads no modules. What it prints with debug and stderr goes to say, which
// may be nil.
func compile(filter string, variables []string, inputs gojq.Iter, say func(text []byte)) (*gojq.Code, *fault.Fault) {
	query, err := gojq.Parse(filter)
	if err != nil {
		return nil, syntaxFault(filter, err)
	}
	for _, name := range variables {
		if !isName(name) {
			return nil, problem(0, "$%s cannot be the name of a variable", name).
				Suggest("Use letters, digits and _ for a name in args, and do not begin it with a digit")
		}
	}
	said := func(form func(v any) any) func(any, []any) any {
		return func(v any, _ []any) any {
			if text, err := gojq.Marshal(form(v)); err == nil && say != nil {
				say(append(text, '\n'))
			}
			return v
		}
	}
	code, err := gojq.Compile(query, gojq.WithVariables(dollars(variables)), gojq.WithInputIter(inputs),
		gojq.WithFunction("debug", 0, 0, said(func(v any) any { return []any{"DEBUG:", v} })),
		gojq.WithFunction("stderr", 0, 0, said(func(v any) any { return v })),
		gojq.WithFunction("input_filename", 0, 0, func(any, []any) any { return nil }),
	)
	if err != nil {
		return nil, compileFault(filter, variables, err)
	}
	return code, nil
}

// problem returns a fault about the place in the filter at an offset.
func problem(offset int, format string, args ...any) *fault.Fault {
	f := fault.New(fault.Execution, format, args...).Detail(offsetFact, offset)
	f.Path = filterPath
	return f
}

// syntaxFault returns the fault for a filter that cannot be parsed.
func syntaxFault(filter string, err error) *fault.Fault {
	wrong, ok := errors.AsType[*gojq.ParseError](err)
	if !ok {
		return problem(0, "The filter is not valid jq: %v", err).Suggest("Correct the filter")
	}
	at := max(0, wrong.Offset-len(wrong.Token))
	return problem(at, "The filter is not valid jq: %v", err).Suggest("%s", remedy(filter, wrong, at))
}

// remedy returns what to do about a syntax error at an offset.
func remedy(filter string, wrong *gojq.ParseError, at int) string {
	switch token := wrong.Token; {
	case strings.TrimSpace(filter) == "":
		return `Write a filter: "." returns the input unchanged`
	case token == "" && strings.Contains(wrong.Error(), "string"):
		return `End the string in the filter with a "`
	case token == "":
		return "Something is missing at the end: a closing bracket, or the right side of a | , or operator"
	case token == "'":
		return `Write strings in "double quotes"`
	case token == "&" || token == "|" && strings.HasSuffix(filter[:at], "|"):
		return `Write "and" and "or" for logic; | is a pipe, and // replaces null and false`
	case token == "=":
		return "== compares, |= and = change what is on their left"
	case token == "-":
		return `Quote a key with characters other than letters, digits and _: .["a-key"]`
	}
	return "Correct the filter at that place or just before it"
}

// compileFault returns the fault for a filter that refers to something that does not exist.
func compileFault(filter string, variables []string, err error) *fault.Fault {
	const message = "The filter cannot run: %v"
	if name, ok := strings.CutPrefix(err.Error(), "variable not defined: $"); ok {
		f := problem(max(0, word(filter, "$"+name)), message, err)
		f.Offer(name, variables).Missing = []string{name}
		if near, ok := fault.Nearest(name, variables); ok {
			f.Suggest("Did you mean $%s?", near)
		}
		return f.Suggest(`Give it a value in "args": {"%s": …}`, name)
	}
	if called, ok := strings.CutPrefix(err.Error(), "function not defined: "); ok {
		name, _, _ := strings.Cut(called, "/")
		f := problem(max(0, word(filter, name)), message, err)
		f.Suggestions = suggestFunction(name)
		return f
	}
	return problem(0, message, err).
		Suggest("A filter cannot load modules or files: define functions in it with def name: …; and pass values in args")
}

// suggestFunction returns suggestions for the name of an undefined function.
func suggestFunction(name string) []string {
	var names, arities []string
	for _, f := range builtins() {
		own, arity, _ := strings.Cut(f, "/")
		if names = append(names, own); own == name {
			arities = append(arities, arity)
		}
	}
	slices.Sort(arities)
	if len(arities) > 0 {
		return []string{fmt.Sprintf("%s takes another number of arguments: %s. Write them in parentheses, separated by ;", name, strings.Join(arities, " or "))}
	}
	define := "jq has no such function; define it in the filter: def " + name + ": …;"
	if near, ok := fault.Nearest(name, names); ok {
		return []string{fmt.Sprintf("Did you mean %s?", near), define}
	}
	return []string{define + " A string is in \"double quotes\", a key begins with a dot"}
}

// builtins returns the functions of jq, as name/arity.
func builtins() []string {
	query, err := gojq.Parse("builtins")
	if err != nil {
		return nil
	}
	value, _ := query.Run(nil).Next()
	list, _ := value.([]any)
	names := make([]string, 0, len(list))
	for _, v := range list {
		if name, ok := v.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

func dollars(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = "$" + name
	}
	return out
}

// word returns the index of the first occurrence of name as a whole word in a text, or -1.
func word(text, name string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return -1
		}
		at := from + i
		end := at + len(name)
		if (at == 0 || !isWord(text[at-1]) && text[at-1] != '.') && (end == len(text) || !isWord(text[end])) {
			return at
		}
		from = at + 1
	}
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isName(name string) bool {
	for i := range len(name) {
		if !isWord(name[i]) || i == 0 && name[i] <= '9' {
			return false
		}
	}
	return name != ""
}
