package fault

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Reader is who reads a fault. It decides how steps are worded.
type Reader string

// The readers: one with a shell, who can run commands of the suite, one who runs those of pflow-temporal, and one that calls tools of an
// MCP server. Tools has none of the tools of pflow-serve; ToolsOf names their toolsets.
const (
	Shell   Reader = "shell"
	Cluster Reader = "cluster"
	Tools   Reader = "tools"
)

// ToolsOf returns a reader with the tools of some toolsets of pflow-serve.
func ToolsOf(toolsets []string) Reader {
	return Tools + Reader(":"+strings.Join(toolsets, ","))
}

// ParseReader returns the reader with a name: shell, tools, or tools:TOOLSET,TOOLSET… An unknown one is a usage_error.
func ParseReader(name string) (Reader, error) {
	r := Reader(name)
	if r == Shell || r == Cluster || r.HasTools() {
		return r, nil
	}
	return Shell, New(Usage, "There is no reader %q", Truncate(name, 100)).Suggest("The readers are shell, tools, and tools:TOOLSET,TOOLSET…")
}

// HasTools reports whether the reader calls tools in place of commands.
func (r Reader) HasTools() bool { return r == Tools || strings.HasPrefix(string(r), string(Tools)+":") }

// serves reports whether the reader has the tools of a toolset.
func (r Reader) serves(toolset string) bool {
	_, served, _ := strings.Cut(string(r), ":")
	return slices.Contains(strings.Split(served, ","), toolset)
}

// Suggest appends a suggestion for every reader, formatted as by fmt.Sprintf, and returns the fault.
func (f *Fault) Suggest(format string, args ...any) *Fault {
	f.Suggestions = append(slices.Clip(f.Suggestions), fmt.Sprintf(format, args...))
	return f
}

// SuggestAs replaces the suggestions and the steps of the fault by those of another one, and returns the fault.
func (f *Fault) SuggestAs(other *Fault) *Fault {
	f.Suggestions, f.Next = slices.Clone(other.Suggestions), slices.Clone(other.Next)
	return f
}

// SuggestNothing removes all suggestions and steps, and returns the fault.
func (f *Fault) SuggestNothing() *Fault { return f.SuggestAs(&Fault{}) }

// MapSuggestions replaces each suggestion, and each text of a step, by what edit returns for it.
func (f *Fault) MapSuggestions(edit func(string) string) {
	f.Suggestions, f.Next = slices.Clone(f.Suggestions), slices.Clone(f.Next)
	for i, text := range f.Suggestions {
		f.Suggestions[i] = edit(text)
	}
	for i := range f.Next {
		s := &f.Next[i]
		s.Name, s.Example, s.Command, s.Choices = edit(s.Name), edit(s.Example), edit(s.Command), slices.Clone(s.Choices)
		for k, choice := range s.Choices {
			s.Choices[k] = edit(choice)
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

// Address makes the fault speak to one reader, with all its Errors: its Suggestions are those of all readers and the words of its steps.
// What shows what the fault is about comes first, then what every reader is told, then the other steps. For tools, the fault says nothing
// twice, and begins with the name of Known. It changes the fault in place, the first time.
func (f *Fault) Address(r Reader) {
	var first, last []string
	for _, s := range f.Next {
		switch text := s.Words(r); {
		case text == "" || slices.Contains(f.Suggestions, text):
		case wordings[s.Do].first:
			first = append(first, text)
		default:
			last = append(last, text)
		}
	}
	if len(first)+len(last) > 0 {
		f.Suggestions = slices.Concat(first, f.Suggestions, last)
	}
	f.Errors = slices.DeleteFunc(f.Errors, func(e *Fault) bool { return e == nil })
	for _, e := range f.Errors {
		e.Address(r)
	}
	if r.HasTools() {
		f.Next = nil // the words are enough, and the next door must not word them again
		if f.KnownAs != "" {
			f.Message, f.KnownAs = f.KnownAs+": "+f.Message, ""
		}
		f.condense()
	}
}

// Known returns a fault that has a name in pflow's Python version, such as FileNotFoundError: clients that know the tools of that
// recognize it by its message, which begins with the name for a reader with tools.
func Known(t Type, name, format string, args ...any) *Fault {
	f := New(t, format, args...)
	f.KnownAs = name
	return f
}

// Unknown returns a copy of a fault of Known without the name, for a fault that is a part of another one or of a run.
func (f *Fault) Unknown() *Fault {
	c := *f
	c.KnownAs = ""
	return &c
}
