package fault

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestEachReaderGetsItsOwnWords holds that steps are worded for their reader, once, and that no reader hears of a tool that is not served.
func TestEachReaderGetsItsOwnWords(t *testing.T) {
	hint := func() *Fault {
		f := New(NotFound, "m").Suggest("first").Then(Step{Do: DoWait, Run: "r01"}, Step{Do: DoSync, Name: "s"}, Step{Do: "unheard_of"}, Step{Do: DoLogs, Run: "r01", Node: "n"}).Suggest("last")
		f.Errors = []*Fault{New(Usage, "inner").Then(Command("", "only in a shell"))}
		return f
	}
	stored, err := json.Marshal(hint())
	if err != nil {
		t.Fatal(err)
	}
	for reader, want := range map[Reader][2][]string{
		Shell:                                {{"All output: pflow-exec logs r01 n", "first", "last", "Wait for its end: pflow-exec wait r01", "Update the registry to the tools that the server has now: pflow-sync sync s"}, {"only in a shell"}},
		Tools:                                {{"first", "last", "Update the registry to the tools that the server has now: a person runs pflow-sync sync s"}, {}},
		ToolsOf([]string{"core"}):            {{`All output: describe_workflow with run_id "r01" and node "n"`, "first", "last", `Wait for its end: execute with the same name and resume "r01"`, "Update the registry to the tools that the server has now: a person runs pflow-sync sync s"}, {}},
		ToolsOf([]string{"runs", "servers"}): {{`All output: run_logs with run_id "r01" and node "n"`, "first", "last", `Wait for its end: run_wait with run_id "r01"`, `Update the registry to the tools that the server has now: sync_server with name "s"`}, {}},
	} {
		read := &Fault{}
		if err := json.Unmarshal(stored, read); err != nil {
			t.Fatal(err)
		}
		for _, f := range []*Fault{hint(), read} {
			f.Address(reader)
			f.Address(reader) // changes nothing more
			if !slices.Equal(f.Suggestions, want[0]) || !slices.Equal(f.Errors[0].Suggestions, want[1]) {
				t.Errorf("for %s: got %q and %q, want %q and %q", reader, f.Suggestions, f.Errors[0].Suggestions, want[0], want[1])
			}
		}
	}
}

// TestEveryStepIsWorded holds that a shell can do each step that has a name, and that no placeholder is left in its words.
func TestEveryStepIsWorded(t *testing.T) {
	for do := range wordings {
		s := Step{Do: do, Run: "r01", Node: "n", Name: "w", Inputs: []string{"key"}, Choices: []string{"yes", "no"}}
		for _, reader := range []Reader{Shell, Cluster, ToolsOf([]string{"core", "drafts", "runs", "servers", "workflows"}), Tools} {
			text := s.Words(reader)
			if strings.ContainsAny(strings.ReplaceAll(text, `{"`, ""), "{") || text == "" && reader == Shell {
				t.Errorf("%s is worded %q for %s", do, text, reader)
			}
		}
	}
}

// TestStepsQuoteNames holds that a name is one word of a shell, and JSON text in the call of a tool.
func TestStepsQuoteNames(t *testing.T) {
	s := Step{Do: DoLogs, Run: "r01", Node: `each[1]/it's "x"`}
	if got, want := s.Call(Shell), `pflow-exec logs r01 'each[1]/it'\''s "x"'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := s.Call(ToolsOf([]string{"runs"})), `run_logs with run_id "r01" and node "each[1]/it's \"x\""`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestAStepOfAnOlderRun holds that a command line in place of a step is shown to a shell as it is.
func TestAStepOfAnOlderRun(t *testing.T) {
	var s Step
	if err := json.Unmarshal([]byte(`"pflow-exec resume r01"`), &s); err != nil || s.Call(Shell) != "pflow-exec resume r01" || s.Call(ToolsOf([]string{"core"})) != "" {
		t.Errorf("got %+v and %v, want the command for a shell alone", s, err)
	}
}

func TestSuggestionsOfAnotherFaultAreNotShared(t *testing.T) {
	from := New(Usage, "m").Suggest("a").Then(Command("", "b"))
	to := New(Usage, "n").Suggest("own").SuggestAs(from)
	to.Suggest("c")
	to.MapSuggestions(func(s string) string { return s + s })
	if !slices.Equal(to.Suggestions, []string{"aa", "cc"}) || len(to.Next) != 1 || to.Next[0].Command != "bb" {
		t.Errorf("got %q and %+v, want aa, cc and bb", to.Suggestions, to.Next)
	}
	if !slices.Equal(from.Suggestions, []string{"a"}) || from.Next[0].Command != "b" {
		t.Errorf("the other fault has changed: %q %+v", from.Suggestions, from.Next)
	}
	if to.SuggestNothing(); to.Suggestions != nil || to.Next != nil {
		t.Errorf("got %q and %+v, want nothing", to.Suggestions, to.Next)
	}
}

// Only readers with tools see the names that they know from pflow's Python version.
func TestKnownNames(t *testing.T) {
	for reader, want := range map[Reader]string{Shell: "There is no draft x", Tools: "FileNotFoundError: There is no draft x"} {
		f := New(Validation, "outer")
		f.Errors = []*Fault{Known(NotFound, "FileNotFoundError", "There is no draft %s", "x"), Known(NotFound, "FileNotFoundError", "y").Unknown()}
		f.Address(reader)
		f.Address(reader) // changes nothing more
		if f.Errors[0].Message != want || f.Errors[1].Message != "y" {
			t.Errorf("for %s: got %q and %q, want %q and y", reader, f.Errors[0].Message, f.Errors[1].Message, want)
		}
	}
}
