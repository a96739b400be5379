package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// examples is the folder of the example workflows.
const examples = "../examples"

// runs are the examples with the commands that run each, in a copy of the folder, and what these print in the end.
var runs = map[string][]struct{ command, prints string }{
	"changelog.pflow.md": {
		{"pflow-exec run changelog.pflow.md version=1.1.0 --print file", "CHANGELOG.md"},
		{"cat CHANGELOG.md", "## 1.1.0\n\n### New\n\n- read Markdown\n- ask before a step\n\n### Mended\n\n- wait for the last child"},
		{"echo 'fix: one thing' | pflow-exec run changelog.pflow.md file=next.md --print file", "next.md"},
		{"tail -n 1 next.md", "- one thing"},
	},
	"fallback.json": {
		{"pflow-exec run fallback.json --print greeting", "Hello, world"},
		{"printf Welcome > greeting.txt; pflow-exec run fallback.json --print greeting", "Welcome, world"},
	},
	"forms.pflow.md": {
		{"pflow-exec run forms.pflow.md --print summary", "JSON: %json files, Markdown: %md files"},
	},
	"line-count.json": {
		{"pflow-exec run line-count.json --print files", "%json"},
		{"printf 'a\\nb\\n' > 'a \"b\".txt'; pflow-exec run line-count.json pattern='*.txt' --print lines", "2"},
	},
	"pages.json": {
		{"pflow-exec run pages.json --print seen", " 1 2 3 4 5 6 7 8 9 10"},
		{"pflow-exec run pages.json last=200 --print stopped 2>/dev/null", "max_iterations"},
	},
	"patience.json": {
		{"pflow-exec run patience.json --print answer", "answered at attempt 3"},
		{"pflow-exec run patience.json busy=9 --print answer 2>/dev/null; echo $?", "1"},
	},
	"release.pflow.md": {
		{"pflow-exec run release.pflow.md >/dev/null 2>&1; echo $?", "4"},
		{"pflow-exec resume last --approve quietly --print file", "release-1.0.0.txt"},
		{"cat release-1.0.0.txt", "Version 1.0.0: faster than ever. Published quietly."},
	},
	"repo-report.json": {
		{"git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm 'A first commit' && mkdir -p pkg/a && echo x > pkg/a/a.go && " +
			"printf '# Name\\n\\nWhat it is.\\n' > README.md && pflow-exec run repo-report.json --print commits", "1"},
		{"sed -n 3p repo-report.md", "What it is."},
	},
	"sqlite-orders.json": {
		{"pflow-exec run sqlite-orders.json --print best", "Ada"},
		{"pflow-exec run sqlite-orders.json 'orders:=[{\"customer\":\"Eve\",\"amount\":99}]' --print customers", "3"},
		{"pflow-exec run sqlite-orders.json 'orders:=[{\"customer\":\"Bob\",\"amount\":1},{\"amount\":1}]' 2>&1 >/dev/null | grep -c 'NOT NULL constraint failed: orders.customer'", "1"},
		{"sqlite3 orders.db 'SELECT count(*) FROM orders'", "4"},
	},
}

// tools are what an example or the samples of a page need besides the suite and a shell.
var tools = map[string][]string{"sqlite-orders.json": {"python3", "sqlite3"}, cookbook: {"git", "make"}}

// makeNodes makes the programs among the examples node types.
const makeNodes = "mkdir -p home/nodes && cp pflow-node-* home/nodes/ && pflow-sync nodes | cut -d, -f2"

// TestExamples: the check finds nothing in an example, and it does what it is to.
func TestExamples(t *testing.T) {
	files := exampleFiles(t)
	for name := range runs {
		if !slices.Contains(files, name) {
			t.Errorf("%s has no %s", examples, name)
		}
	}
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needs(t, tools[name]...)
			f := newFolder(t)
			if err := os.CopyFS(f.dir, os.DirFS(examples)); err != nil {
				t.Fatal(err)
			}
			if len(tools[name]) > 0 {
				f.prints(t, makeNodes, `"registered":1`)
			}
			f.prints(t, "pflow-lib check "+name, `{"valid":true,"warnings":[]}`)
			if len(runs[name]) == 0 {
				t.Errorf("%s is not run", name)
			}
			counts := strings.NewReplacer("%json", count(files, ".json"), "%md", count(files, ".pflow.md"))
			for _, r := range runs[name] {
				f.prints(t, r.command, counts.Replace(r.prints))
			}
		})
	}
}

// prints runs a command and says what it should have printed.
func (f *folder) prints(t *testing.T, command, want string) {
	t.Helper()
	lines, err := f.run(t, command)
	if got := strings.Join(lines, "\n"); err != nil || got != want {
		t.Errorf("$ %s\nprints\n%s\nnot\n%s\n%v", command, got, want, err)
	}
}

// exampleFiles lists the examples.
func exampleFiles(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"*.json", "*.pflow.md"} {
		paths, err := filepath.Glob(filepath.Join(examples, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			names = append(names, filepath.Base(path))
		}
	}
	if slices.Sort(names); len(names) == 0 {
		t.Fatal("there are no examples")
	}
	return names
}

// count is how many names end so.
func count(names []string, ending string) string {
	n := 0
	for _, name := range names {
		if strings.HasSuffix(name, ending) {
			n++
		}
	}
	return fmt.Sprint(n)
}
