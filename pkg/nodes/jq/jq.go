// Package jq reads filters in the language of jq, says what is wrong with one and where, and applies them to values.
package jq

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// The path of a filter among the parameters of its node, and the fact of a fault that says which byte of it is meant.
const (
	filterPath = "params.filter"
	offsetFact = "offset"
)

// Check says what is wrong with a filter that may use variables of some names, which are written without the $; nil when
// nothing is. The fault's path is params.filter, and the fact "offset" of its details, an int, is the byte of the filter
// that it is about. A variable that is not defined is what it misses, without its $.
func Check(filter string, variables []string) *fault.Fault {
	_, f := compile(filter, variables, gojq.NewIter[any](), nil)
	return f
}

// compile reads a filter. The variables get their values in this order. Inputs are what its functions input and inputs
// give. It has no environment and loads no modules; what it prints with debug and stderr is given to say.
func compile(filter string, variables []string, inputs gojq.Iter, say func(text []byte)) (*gojq.Code, *fault.Fault) {
	query, err := gojq.Parse(filter)
	if err != nil {
		return nil, unread(filter, err)
	}
	for _, name := range variables {
		if !isName(name) {
			return nil, problem(0, "No filter could use the variable $%s", name).
				Suggest("Begin its name in args with a letter or _, and go on with letters, digits and _")
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
		return nil, undefined(filter, variables, err)
	}
	return code, nil
}

// problem is the fault of a filter that is wrong at a byte.
func problem(offset int, format string, args ...any) *fault.Fault {
	f := fault.New(fault.Execution, format, args...).Detail(offsetFact, offset)
	f.Path = filterPath
	return f
}

// unread is the fault of a filter that does not follow the language's rules.
func unread(filter string, err error) *fault.Fault {
	wrong, ok := errors.AsType[*gojq.ParseError](err)
	if !ok {
		return problem(0, "The filter is no jq: %v", err).Suggest("Correct the filter")
	}
	at := max(0, wrong.Offset-len(wrong.Token))
	return problem(at, "The filter is no jq: %v", err).Suggest("%s", remedy(filter, wrong, at))
}

// remedy says what to do about a filter that cannot be read from a byte on.
func remedy(filter string, wrong *gojq.ParseError, at int) string {
	switch token := wrong.Token; {
	case strings.TrimSpace(filter) == "":
		return `Write the filter: "." gives the input as it is`
	case token == "" && strings.Contains(wrong.Error(), "string"):
		return `End the text in the filter with a "`
	case token == "":
		return "Something is missing at its end: close what is open, and give each | , and operator what stands behind it"
	case token == "'":
		return `Text stands in "double quotes"`
	case token == "&" || token == "|" && strings.HasSuffix(filter[:at], "|"):
		return `Write "and" and "or"; | passes a value on, // gives another for null and false`
	case token == "=":
		return "== compares, |= and = change what is on their left"
	case token == "-":
		return `A key with other characters than letters, digits and _ is quoted: .["a-key"]`
	}
	return "Correct the filter at that place, or what stands just before it"
}

// undefined is the fault of a filter that names what there is not.
func undefined(filter string, variables []string, err error) *fault.Fault {
	const message = "The filter cannot run: %v"
	if name, ok := strings.CutPrefix(err.Error(), "variable not defined: $"); ok {
		f := problem(max(0, word(filter, "$"+name)), message, err)
		f.Missing, f.Available = []string{name}, variables
		if near, ok := fault.Nearest(name, variables); ok {
			f.Suggest("Did you mean $%s?", near)
		}
		return f.Suggest(`Give it a value in "args": {"%s": …}`, name)
	}
	if called, ok := strings.CutPrefix(err.Error(), "function not defined: "); ok {
		name, _, _ := strings.Cut(called, "/")
		f := problem(max(0, word(filter, name)), message, err)
		f.Suggestions = meant(name)
		return f
	}
	return problem(0, message, err).
		Suggest("A filter loads no modules and no files: define its functions in it, def name: …; and give it values in args")
}

// meant says which function may have been meant.
func meant(name string) []string {
	var names, arities []string
	for _, f := range builtins() {
		own, arity, _ := strings.Cut(f, "/")
		if names = append(names, own); own == name {
			arities = append(arities, arity)
		}
	}
	slices.Sort(arities)
	if len(arities) > 0 {
		return []string{fmt.Sprintf("%s is there with another number of arguments: %s. They stand in parentheses, with ; between them", name, strings.Join(arities, " or "))}
	}
	define := "It is no function of jq; define it in the filter: def " + name + ": …;"
	if near, ok := fault.Nearest(name, names); ok {
		return []string{fmt.Sprintf("Did you mean %s?", near), define}
	}
	return []string{define + " A text stands in \"double quotes\", a key begins with a dot"}
}

// builtins are the functions of the language, as name/arity.
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

// word is where a text has a word, which no letter, digit or _ is beside; -1 where it has none.
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
