// Package jq reads filters in the language of jq, and says what is wrong with one and where. It runs none.
package jq

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Problem is what is wrong with a filter.
type Problem struct {
	Message string
	// Offset is the byte of the filter where it is wrong.
	Offset int
	// Variable is the name of a $variable that is not defined, without the $, and empty for another problem.
	Variable string
	// Suggestions say what to do next, the best first.
	Suggestions []string
	// Available are the variables that there are.
	Available []string
}

// Compile reads a filter that may use variables of some names, which are written without the $ and get their values in
// this order. Inputs are what its functions input and inputs give. It has no environment and loads no modules; what it
// prints with debug and stderr is given to say.
func Compile(filter string, variables []string, inputs gojq.Iter, say func(text []byte)) (*gojq.Code, *Problem) {
	query, err := gojq.Parse(filter)
	if err != nil {
		return nil, unread(filter, err)
	}
	for _, name := range variables {
		if !isName(name) {
			return nil, &Problem{
				Message:     fmt.Sprintf("No filter could use the variable $%s", name),
				Suggestions: []string{"Begin its name in args with a letter or _, and go on with letters, digits and _"},
			}
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

// NoInputs is an input without values.
func NoInputs() gojq.Iter { return gojq.NewIter[any]() }

// unread is the problem of a filter that does not follow the language's rules.
func unread(filter string, err error) *Problem {
	p := &Problem{Message: fmt.Sprintf("The filter is no jq: %v", err)}
	wrong, ok := errors.AsType[*gojq.ParseError](err)
	if !ok {
		return p
	}
	p.Offset = max(0, wrong.Offset-len(wrong.Token))
	switch token := wrong.Token; {
	case strings.TrimSpace(filter) == "":
		p.Suggestions = append(p.Suggestions, `Write the filter: "." gives the input as it is`)
	case token == "" && strings.Contains(wrong.Error(), "string"):
		p.Suggestions = append(p.Suggestions, `End the text in the filter with a "`)
	case token == "":
		p.Suggestions = append(p.Suggestions, "Something is missing at its end: close what is open, and give each | , and operator what stands behind it")
	case token == "'":
		p.Suggestions = append(p.Suggestions, `Text stands in "double quotes"`)
	case token == "&" || token == "|" && strings.HasSuffix(filter[:p.Offset], "|"):
		p.Suggestions = append(p.Suggestions, `Write "and" and "or"; | passes a value on, // gives another for null and false`)
	case token == "=":
		p.Suggestions = append(p.Suggestions, "== compares, |= and = change what is on their left")
	case token == "-":
		p.Suggestions = append(p.Suggestions, `A key with other characters than letters, digits and _ is quoted: .["a-key"]`)
	default:
		p.Suggestions = append(p.Suggestions, "Correct the filter at that place, or what stands just before it")
	}
	return p
}

// undefined is the problem of a filter that names what there is not.
func undefined(filter string, variables []string, err error) *Problem {
	p := &Problem{Message: fmt.Sprintf("The filter cannot run: %v", err)}
	if name, ok := strings.CutPrefix(err.Error(), "variable not defined: $"); ok {
		p.Variable, p.Available = name, variables
		p.Offset = max(0, word(filter, "$"+name))
		if near, ok := fault.Nearest(name, variables); ok {
			p.Suggestions = append(p.Suggestions, fmt.Sprintf("Did you mean $%s?", near))
		}
		p.Suggestions = append(p.Suggestions, fmt.Sprintf(`Give it a value in "args": {"%s": …}`, name))
		return p
	}
	if called, ok := strings.CutPrefix(err.Error(), "function not defined: "); ok {
		name, _, _ := strings.Cut(called, "/")
		p.Offset = max(0, word(filter, name))
		p.Suggestions = append(p.Suggestions, meant(name)...)
		return p
	}
	p.Suggestions = append(p.Suggestions, "A filter loads no modules and no files: define its functions in it, def name: …; and give it values in args")
	return p
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
