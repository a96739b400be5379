package fault

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestEachReaderGetsItsOwnSuggestions(t *testing.T) {
	hint := func() *Fault {
		f := New(NotFound, "m").Suggest("first").SuggestCommand("run %s", "x").SuggestTool("call %s", "x").Suggest("last")
		f.Errors = []*Fault{New(Usage, "inner").SuggestCommand("only in a shell")}
		return f
	}
	stored, err := json.Marshal(hint())
	if err != nil {
		t.Fatal(err)
	}
	for reader, want := range map[Reader][2][]string{
		Shell: {{"first", "run x", "last"}, {"only in a shell"}},
		Tools: {{"first", "call x", "last"}, {}},
	} {
		read := &Fault{}
		if err := json.Unmarshal(stored, read); err != nil {
			t.Fatal(err)
		}
		for _, f := range []*Fault{hint(), read} {
			f.Address(reader)
			if !slices.Equal(f.Suggestions, want[0]) || !slices.Equal(f.Errors[0].Suggestions, want[1]) || f.ToolSuggestions != nil || f.Errors[0].ToolSuggestions != nil {
				t.Errorf("for %s: %q %q", reader, f.Suggestions, f.Errors[0].Suggestions)
			}
		}
	}
}

func TestSuggestionsOfAnotherFaultAreNotShared(t *testing.T) {
	from := New(Usage, "m").Suggest("a").SuggestTool("b")
	to := New(Usage, "n").Suggest("own").SuggestAs(from)
	to.Suggest("c")
	to.MapSuggestions(func(s string) string { return s + s })
	if !slices.Equal(to.Suggestions, []string{"aa", "cc"}) || !slices.Equal(to.ToolSuggestions, []string{"aa", "bb", "cc"}) {
		t.Errorf("%q %q", to.Suggestions, to.ToolSuggestions)
	}
	if !slices.Equal(from.Suggestions, []string{"a"}) || !slices.Equal(from.ToolSuggestions, []string{"a", "b"}) {
		t.Errorf("the other fault has changed: %q %q", from.Suggestions, from.ToolSuggestions)
	}
	if to.SuggestNothing(); to.Suggestions != nil || to.ToolSuggestions != nil {
		t.Errorf("%q %q", to.Suggestions, to.ToolSuggestions)
	}
}

// Only readers with tools see the prefixes that they know from pflow's Python version.
func TestAddressPrefix(t *testing.T) {
	for _, c := range []struct {
		kind           Type
		message, shell string
	}{
		{NotFound, "FileNotFoundError: there is no draft \"x\"", "There is no draft \"x\""},
		{AlreadyExists, "FileExistsError: über exists", "Über exists"},
		{Security, "SecurityError: the name is not allowed", "The name is not allowed"},
		{NotFound, "Nothing: FileNotFoundError: x", "Nothing: FileNotFoundError: x"},
		{Execution, "FileNotFoundError: [Errno 2]", "FileNotFoundError: [Errno 2]"},
		{NotFound, "FileNotFoundError: ", "FileNotFoundError: "},
	} {
		for reader, want := range map[Reader]string{Shell: c.shell, Tools: c.message} {
			f := New(Validation, "outer")
			f.Errors = []*Fault{New(c.kind, "%s", c.message)}
			f.Address(reader)
			f.Address(reader) // changes nothing more
			if got := f.Errors[0].Message; got != want {
				t.Errorf("%q for %s: %q, not %q", c.message, reader, got, want)
			}
		}
	}
}
