package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// entry is a command of a table in testdata, in which blank lines stand between commands, and what its heading says.
type entry struct{ heading, command string }

func entries(t *testing.T, name string) (all []entry) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	heading := ""
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		if after, ok := strings.CutPrefix(block, "== "); ok {
			heading, block, _ = strings.Cut(after, "\n")
		}
		all = append(all, entry{heading, block})
	}
	return all
}

// TestErrors: a template, or what is set from one, where a shell takes text for code or where shells do not agree.
func TestErrors(t *testing.T) {
	for _, e := range entries(t, "errors.txt") {
		s, problems := Parse(e.command, options)
		i := slices.IndexFunc(problems, func(p Problem) bool { return !p.Warning && strings.Contains(p.Message, e.heading) })
		switch {
		case i < 0:
			t.Errorf("%s: %+v, want %q", e.command, problems, e.heading)
		case problems[i].Suggest == "" || strings.Contains(problems[i].Suggest, "${…}") || problems[i].Offset < 0:
			t.Errorf("%s: %+v", e.command, problems[i])
		case s.Command != "":
			t.Errorf("%s: there is a command all the same: %s", e.command, s.Command)
		}
	}
}

// TestWarnings: a template in code of another language, or where its words count.
func TestWarnings(t *testing.T) {
	for _, e := range entries(t, "warnings.txt") {
		s, problems := Parse(e.command, options)
		i := slices.IndexFunc(problems, func(p Problem) bool { return p.Warning && strings.Contains(p.Message, e.heading) })
		if i < 0 || problems[i].Suggest == "" || strings.Contains(problems[i].Suggest, "${…}") {
			t.Errorf("%s: %+v, want %q", e.command, problems, e.heading)
		}
		if s.Command == "" {
			t.Errorf("%s: no command: %+v", e.command, problems)
		}
	}
}

// TestSafe: what the suggestions offer, and what is harmless, passes without a word.
func TestSafe(t *testing.T) {
	for _, e := range entries(t, "safe.txt") {
		if s, problems := Parse(e.command, options); len(problems) > 0 || s.Command == "" {
			t.Errorf("%s: %+v", e.command, problems)
		}
	}
}
