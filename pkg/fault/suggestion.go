package fault

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reader is who reads a fault. It decides which suggestions are of use.
type Reader string

// The readers: one with a shell, who can run commands of the suite, and one that calls tools of an MCP server.
const (
	Shell Reader = "shell"
	Tools Reader = "tools"
)

// Suggest appends a suggestion for every reader, formatted as by fmt.Sprintf, and returns the fault.
func (f *Fault) Suggest(format string, args ...any) *Fault {
	text := fmt.Sprintf(format, args...)
	f.Suggestions = append(f.Suggestions, text)
	if f.ToolSuggestions != nil {
		f.ToolSuggestions = append(f.ToolSuggestions, text)
	}
	return f
}

// SuggestCommand appends a suggestion for a reader with a shell, and returns the fault. It may name commands of the suite. The
// suggestion for a reader with tools, if it has one, follows with SuggestTool.
func (f *Fault) SuggestCommand(format string, args ...any) *Fault {
	f.split()
	f.Suggestions = append(f.Suggestions, fmt.Sprintf(format, args...))
	return f
}

// SuggestTool appends a suggestion for a reader that has the tools of pflow-serve in place of a shell, and returns the fault. It
// names no command that the reader would have to run.
func (f *Fault) SuggestTool(format string, args ...any) *Fault {
	f.split()
	f.ToolSuggestions = append(f.ToolSuggestions, fmt.Sprintf(format, args...))
	return f
}

// split gives each reader a list of its own.
func (f *Fault) split() {
	if f.ToolSuggestions == nil {
		f.ToolSuggestions = append([]string{}, f.Suggestions...)
	}
}

// SuggestAs replaces the suggestions of the fault by those of another one, and returns the fault.
func (f *Fault) SuggestAs(other *Fault) *Fault {
	f.Suggestions, f.ToolSuggestions = slices.Clone(other.Suggestions), slices.Clone(other.ToolSuggestions)
	return f
}

// SuggestNothing removes all suggestions, and returns the fault.
func (f *Fault) SuggestNothing() *Fault { return f.SuggestAs(&Fault{}) }

// MapSuggestions replaces each suggestion, of either reader, by what edit returns for it.
func (f *Fault) MapSuggestions(edit func(string) string) {
	for _, list := range []*[]string{&f.Suggestions, &f.ToolSuggestions} {
		*list = slices.Clone(*list)
		for i, text := range *list {
			(*list)[i] = edit(text)
		}
	}
}

// MapTexts replaces each text of the fault that may name a file, and of its Errors, by what edit returns for it: the message, the file,
// the suggestions and the texts among the details. It changes the fault in place.
func (f *Fault) MapTexts(edit func(string) string) {
	f.Message, f.File = edit(f.Message), edit(f.File)
	f.MapSuggestions(edit)
	f.Details = maps.Clone(f.Details)
	for key, value := range f.Details {
		if text, ok := value.(string); ok {
			f.Details[key] = edit(text)
		}
	}
	for _, e := range f.Errors {
		e.MapTexts(edit)
	}
}

// Address makes the fault speak to one reader, with all its Errors: Suggestions are those of the reader, and ToolSuggestions are
// nil. For tools, it says nothing twice; for a shell, messages have no ToolPrefixes. It changes the fault in place.
func (f *Fault) Address(r Reader) {
	if r == Tools && f.ToolSuggestions != nil {
		f.Suggestions = f.ToolSuggestions
	}
	f.ToolSuggestions = nil
	f.Errors = slices.DeleteFunc(f.Errors, func(e *Fault) bool { return e == nil })
	for _, e := range f.Errors {
		e.Address(r)
	}
	if r == Tools {
		f.condense()
		return
	}
	f.dropPrefix()
}

// WithoutPrefix returns a copy of the fault whose message has no ToolPrefixes, for a fault that is a part of another one or of a run.
func (f *Fault) WithoutPrefix() *Fault {
	c := *f
	c.dropPrefix()
	return &c
}

// dropPrefix removes the ToolPrefixes from the message.
func (f *Fault) dropPrefix() {
	if f.Type != NotFound && f.Type != AlreadyExists && f.Type != Security {
		return // the text of a program may begin as a prefix does
	}
	for _, prefix := range ToolPrefixes {
		if text, ok := strings.CutPrefix(f.Message, prefix); ok && text != "" {
			first, size := utf8.DecodeRuneInString(text)
			f.Message = string(unicode.ToUpper(first)) + text[size:]
		}
	}
}

// ToolPrefixes begin the messages of some faults, for clients that know the tools of pflow's Python version and recognize a missing
// or existing workflow, or a forbidden name, by them.
var ToolPrefixes = []string{"FileNotFoundError: ", "FileExistsError: ", "SecurityError: "}
