package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestResumeLastIsTheLastRunOfTheWorkflow holds that a file or name with --resume last goes on with its own last run, and that another
// run has to be named.
func TestResumeLastIsTheLastRunOfTheWorkflow(t *testing.T) {
	t.Parallel()
	const text = `{"nodes":[{"id":"n","type":"shell","params":{"command":"test -e ok"}}]}`
	for name, c := range map[string]struct {
		// args are those of the run that goes on, stdin is its standard input.
		args  []string
		stdin string
		// exit is its exit status, from the run that it goes on from, and says words on standard error.
		exit int
		from string
		says []string
	}{
		"a file":              {args: []string{"a.json", "--resume", "last"}, from: "a"},
		"its absolute path":   {args: []string{"DIR/a.json", "--resume", "last"}, from: "a"},
		"a link to it":        {args: []string{"link.json", "--resume", "last"}, from: "a"},
		"another file":        {args: []string{"c.json", "--resume", "last"}, exit: 2, says: []string{"no run of c.json", "--resume RUN"}},
		"a file that moved":   {args: []string{"moved/a.json", "--resume", "last"}, exit: 2, says: []string{"DIR/a.json", "--resume RUN-a"}},
		"a saved name":        {args: []string{"saved", "--resume", "last"}, from: "saved"},
		"a name without runs": {args: []string{"unused", "--resume", "last"}, exit: 2, says: []string{"no run of unused"}},
		"standard input":      {args: []string{"-", "--resume", "last"}, stdin: text, exit: 2, says: []string{"--resume RUN"}},
		"another file's run":  {args: []string{"c.json", "--resume", "RUN-a"}, from: "a", says: []string{"warning", "RUN-a", "DIR/a.json", "DIR/c.json"}},
		"another name's run":  {args: []string{"unused", "--resume", "RUN-saved"}, exit: 2, says: []string{"saved"}},
		"a pipe by its id":    {args: []string{"-", "--resume", "RUN-pipe"}, stdin: text, from: "pipe"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			for _, file := range []string{"a.json", "b.json", "c.json", "moved/a.json", "home/library/saved.json", "home/library/unused.json"} {
				p.write(file, text)
			}
			if err := os.Symlink("a.json", filepath.Join(p.dir, "link.json")); err != nil {
				t.Fatal(err)
			}
			runs := map[string]string{}
			for _, w := range []string{"a", "saved", "pipe", "b"} {
				args := map[string]string{"a": "a.json", "b": "b.json", "pipe": "-"}
				named, ok := args[w]
				if !ok {
					named = w
				}
				first := p.fed(text, "pflow-exec", "run", named)
				if runs[w] = gjson.Get(first.stdout, "run").Str; first.exit != 1 || runs[w] == "" {
					t.Fatalf("the run of %s ends with %s, want exit status 1", w, first)
				}
			}
			p.write("ok", "")
			names := strings.NewReplacer("DIR", p.dir, "RUN-a", runs["a"], "RUN-saved", runs["saved"], "RUN-pipe", runs["pipe"])
			args := []string{"run"}
			for _, arg := range c.args {
				args = append(args, names.Replace(arg))
			}
			o := p.fed(c.stdin, "pflow-exec", args...)
			if o.exit != c.exit {
				t.Fatalf("got %s, want exit status %d", o, c.exit)
			}
			if got := gjson.Get(o.stdout, "resumed_from").Str; got != runs[c.from] {
				t.Errorf("it goes on from %q, want %q: %s", got, runs[c.from], o)
			}
			for _, words := range c.says {
				if !strings.Contains(o.stderr, names.Replace(words)) {
					t.Errorf("standard error has no %q: %s", names.Replace(words), o.stderr)
				}
			}
			if len(c.says) == 0 && strings.Contains(o.stderr, "warning") {
				t.Errorf("got a warning, want none: %s", o.stderr)
			}
		})
	}
}
