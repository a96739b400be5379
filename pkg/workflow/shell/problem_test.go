package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/internal/golden"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// entry is a command of a table in testdata, where blank lines separate commands, with the heading above it. A » in the
// command stands before the place of its problem.
type entry struct {
	heading, command string
	place            int
}

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
		all = append(all, entry{heading, strings.Replace(block, "»", "", 1), strings.Index(block, "»")})
	}
	return all
}

// TestErrors checks the kind and the place of each error of a table: a template, or a variable that is set from one, where
// the shell evaluates text as code, and commands that cannot be read.
func TestErrors(t *testing.T) {
	for _, e := range entries(t, "errors.txt") {
		s, problems := Parse(e.command, options)
		i := slices.IndexFunc(problems, func(p Problem) bool {
			return !p.Warning && string(p.Kind) == e.heading && p.Offset == e.place
		})
		if i < 0 || s.Command != "" {
			t.Errorf("%s: want %s at %d, got %q %+v", e.command, e.heading, e.place, s.Command, problems)
		}
	}
}

// TestWarnings checks the kind and the place of each warning of a table, whose commands can be run.
func TestWarnings(t *testing.T) {
	for _, e := range entries(t, "warnings.txt") {
		s, problems := Parse(e.command, options)
		i := slices.IndexFunc(problems, func(p Problem) bool {
			return p.Warning && string(p.Kind) == e.heading && p.Offset == e.place
		})
		if i < 0 || s.Command == "" {
			t.Errorf("%s: want %s at %d, got %q %+v", e.command, e.heading, e.place, s.Command, problems)
		}
	}
}

// TestSafe checks that what the suggestions offer, and what is harmless, has no problems.
func TestSafe(t *testing.T) {
	for _, e := range entries(t, "safe.txt") {
		if s, problems := Parse(e.command, options); len(problems) > 0 || s.Command == "" || s.Bash {
			t.Errorf("%s: %+v, bash %v", e.command, problems, s.Bash)
		}
	}
}

// TestGuarded checks which commands refuse values with a $ or a backtick: those in which bash could run them.
func TestGuarded(t *testing.T) {
	for _, e := range entries(t, "guarded.txt") {
		s, problems := Parse(e.command, options)
		if s.Command == "" {
			t.Errorf("%s: %+v, want no error", e.command, problems)
		}
		for value, code := range map[string]bool{"a[$(id)]": true, "`id`": true, "a[b]": false, "": false, "x; id": false} {
			if f := s.Refuses("${v}", value); (f != nil) != (code && e.heading == "yes") {
				t.Errorf("%s: %q is refused: %v, want %s", e.command, value, f, e.heading)
			}
		}
	}
}

// TestBash checks that commands which only bash reads as they are meant are for bash, and have no errors.
func TestBash(t *testing.T) {
	for _, e := range entries(t, "bash.txt") {
		if s, problems := Parse(e.command, options); s.Command == "" || !s.Bash {
			t.Errorf("%s: %+v, bash %v", e.command, problems, s.Bash)
		}
	}
	for command, want := range map[string]bool{
		`[[ -f x ]] && cat x`: true, `a=(1 2); echo $${a[0]}`: true, `echo $'a\tb'`: true, `cat <(ls)`: true, `x+=a`: true, `declare x=1`: true, `let x=1`: true, `((x = 1))`: true,
		`ls | cat`: false, `[ -f x ]`: false, `f() { local x=1; }`: false, `export x=1`: false, `echo $((1 + 1))`: false, `ls`: false, `echo "`: false, `time ls`: false, `exec {fd}>f`: true, `echo $[1]`: true, `ls |& cat`: true, `echo ${!x}`: true, `f=${x^}`: true, `echo "[["`: false,
	} {
		if s, _ := Parse(command, options); s.Bash != want {
			t.Errorf("%s: bash %v", command, s.Bash)
		}
	}
}

// TestNumbers checks that numbers, true and false are harmless in every place that a shell reads.
func TestNumbers(t *testing.T) {
	o := options
	o.Number = func(template.Expr) bool { return true }
	for _, e := range append(entries(t, "errors.txt"), entries(t, "warnings.txt")...) {
		if slices.Contains([]string{"syntax", "literal", "ambiguous", "undefined", "command"}, e.heading) {
			continue
		}
		if s, problems := Parse(e.command, o); len(problems) > 0 || s.Command == "" {
			t.Errorf("%s: %+v", e.command, problems)
		}
	}
}

// TestNodeEnvironment checks templates in the node's env, when the command itself has none: where the shell evaluates one there
// is a warning.
func TestNodeEnvironment(t *testing.T) {
	o := Options{Known: options.Known, Own: []string{"P", "BASH_ENV"}, FromTemplates: []string{"P"}}
	for _, e := range []entry{
		{"code", `eval "»$P"`, 0}, {"arithmetic", `echo $((»P))`, 0}, {"arithmetic", `echo $((»$P + 1))`, 0}, {"code", `sh -c "»$P"`, 0}, {"code", `x=$P; sh -c »"ls $x"`, 0},
		{"command", `»$P a`, 0}, {"syntax", `echo »"$P`, 0},
		{"", `echo "$P" $P; for i in $P; do ls "$i"; done; sh -c 'echo "$P"'; [ "$P" = x ]`, 0},
	} {
		command, place := strings.Replace(e.command, "»", "", 1), strings.Index(e.command, "»")
		s, problems := Parse(command, o)
		switch {
		case e.heading == "" && (len(problems) > 0 || s.Command != command):
			t.Errorf("%s: %+v", command, problems)
		case e.heading != "" && (len(problems) != 1 || string(problems[0].Kind) != e.heading || problems[0].Offset != place || problems[0].Warning == (e.heading == "syntax")):
			t.Errorf("%s: want %s at %d, got %+v", command, e.heading, place, problems)
		}
		unsafe := o
		unsafe.Unsafe = true
		if _, problems := Parse(command, unsafe); len(problems) > 0 {
			t.Errorf("unsafe: %s: %+v", command, problems)
		}
	}
	o.FromTemplates = []string{"BASH_ENV"}
	if _, problems := Parse("true", o); len(problems) != 1 || problems[0].Kind != Code || problems[0].Warning {
		t.Errorf("%+v", problems)
	}
}

// TestWording compares the messages and suggestions of the tables with a golden file.
func TestWording(t *testing.T) {
	var b strings.Builder
	seen := map[string]bool{}
	for _, e := range append(entries(t, "errors.txt"), entries(t, "warnings.txt")...) {
		_, problems := Parse(e.command, options)
		for _, p := range problems {
			if p.Suggest == "" || strings.Contains(p.Suggest, "${…}") {
				t.Errorf("%s: %+v", e.command, p)
			}
			if text := fmt.Sprintf("%s\n    %s\n", p.Message, p.Suggest); !seen[text] {
				seen[text] = true
				fmt.Fprintf(&b, "%s\n%s\n", e.command, text)
			}
		}
	}
	golden.Compare(t, "testdata/wording.golden", b.String())
}
