package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/internal/brief"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// benign are values as the ordinary commands of testdata expect them.
var benign = map[string]string{
	"name": "report", "version": "1.4.0", "branch": "main", "commit": "abc123", "env": "prod", "message": "fix the thing", "count": "3", "dir": "src", "file": "notes.txt", "files": "a.txt b.txt c.txt",
	"url": "https://example.com/a?b=c", "author": "A. Uthor <a@example.com>", "image": "team/app", "registry": "registry.example.com", "port": "8080", "token": "t0ken", "json": "[1,2]", "extension": "txt",
	"pattern": "beta", "user": "alice", "host": "db.example.com", "two": "2", "one": "1", "empty": "", "arch": "amd64", "tag": "v2.3.4", "path": "/usr/lib/x.so", "command": "ls",
}

// tools are the programs that ordinary commands run; all others that they name only tell how they were called.
const (
	tools = "awk basename cat cp cut date diff dirname expr find grep head ls mkdir mktemp rm sed seq sh sha256sum sleep sort tail tar tee timeout tr uniq wc xargs gzip"
	stubs = "aws bash curl docker ffmpeg gh git go helm jq kubectl make mysql node npm perl pg_dump psql python3 rsync scp sqlite3 ssh su terraform wget zip"
)

// bench is a folder of programs and one to work in.
type bench struct{ programs, work string }

func newBench(t *testing.T) bench {
	t.Helper()
	b := bench{t.TempDir(), t.TempDir()}
	for name := range strings.FieldsSeq(tools) {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("%s is not here", name)
		}
		if err := os.Symlink(path, filepath.Join(b.programs, name)); err != nil {
			t.Fatal(err)
		}
	}
	const stub = "#!/bin/sh\ncase \"$*\" in length) echo 3; exit ;; esac\nprintf '%s' \"${0##*/}\"; printf ' <%s>' \"$@\"; echo\n[ -t 0 ] || cat\n"
	for name := range strings.FieldsSeq(stubs) {
		write(t, filepath.Join(b.programs, name), stub)
		if err := os.Chmod(filepath.Join(b.programs, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// run gives what a command prints, its exit status and the files that are there afterwards, from a fresh folder.
func (b bench) run(t *testing.T, shell, command string, variables []string) string {
	t.Helper()
	if err := os.RemoveAll(b.work); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"notes.txt": "alpha:1\nbeta:2\n# gamma\nreport:30\nalpha:1\n", "src/a.txt": "alpha\n", "src/b.txt": "beta\nVERSION=1\n", "src/run.sh": "#!/bin/sh\nprintf '[%s]' \"$@\"\n", "a.txt": "a", "b.txt": "b",
	} {
		write(t, filepath.Join(b.work, name), text)
	}
	if err := os.Chmod(filepath.Join(b.work, "src/run.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), shell, "-c", command)
	cmd.Dir, cmd.Env = b.work, append([]string{"PATH=" + b.programs, "HOME=/nowhere", "TZ=UTC", "LC_ALL=C"}, variables...)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatalf("%s: %v", command, err)
	}
	fmt.Fprintf(&out, "\nstatus %d\n", cmd.ProcessState.ExitCode())
	_ = filepath.WalkDir(b.work, func(path string, d fs.DirEntry, _ error) error {
		if !d.IsDir() {
			text, _ := os.ReadFile(path)
			fmt.Fprintf(&out, "%s: %q\n", strings.TrimPrefix(path, b.work), text)
		}
		return nil
	})
	return out.String()
}

// values are the values of a script's templates.
func values(s *Script, of map[string]string) []string {
	got := make([]string, len(s.Vars))
	for i, v := range s.Vars {
		got[i] = of[v.Expr.Expression()]
	}
	return got
}

// ordinary are the options of the ordinary commands.
var ordinary = Options{
	Known: func(root string) bool { _, ok := benign[root]; return ok },
	Number: func(e template.Expr) bool {
		return slices.Contains([]string{"count", "port", "one", "two"}, e.Expression())
	},
}

// TestOrdinaryCommands checks that commands as people write them do what they do with their values pasted in. At most 12 of
// them are errors.
func TestOrdinaryCommands(t *testing.T) {
	t.Parallel()
	shells, b := both(t), newBench(t)
	all := entries(t, "ordinary.txt")
	refused := 0
	for nth, e := range all {
		s, problems := Parse(e.command, ordinary)
		i := slices.IndexFunc(problems, func(p Problem) bool { return !p.Warning })
		if want, ok := strings.CutPrefix(e.heading, "error: "); ok {
			refused++
			if i < 0 || string(problems[i].Kind) != want || problems[i].Suggest == "" {
				t.Errorf("%s: %+v, want %q", e.command, problems, want)
			}
			continue
		}
		if i >= 0 || len(problems) > 0 != (e.heading == "warning") {
			t.Errorf("%s: %+v, want %s", e.command, problems, e.heading)
			continue
		}
		o := ordinary
		o.Unsafe = true
		pasted, _ := Parse(e.command, o)
		if testing.Short() && nth%4 != 0 {
			continue
		}
		for _, shell := range shells {
			if s.Bash && filepath.Base(shell) != "bash" || strings.Contains(e.command, `\${`) {
				continue // pasted, a value after a backslash would be another text
			}
			command, variables := s.Render(values(s, benign))
			got := b.run(t, shell, command, variables)
			plain, _ := pasted.Render(values(pasted, benign))
			want := b.run(t, shell, plain, nil)
			if got != want || strings.Contains(got, "status 127") {
				t.Errorf("%s: %s\n%s\n gives %s\n and pasted %s", filepath.Base(shell), e.command, command, got, want)
			}
		}
	}
	if len(all) != 169 || refused > 12 {
		t.Errorf("%d of %d commands are errors", refused, len(all))
	}
}

// TestWhatPassesRunsNoValue checks that commands without warnings run nothing of their values. The values are made of code.
// None is a path, because some commands remove files.
func TestWhatPassesRunsNoValue(t *testing.T) {
	t.Parallel()
	var commands []string
	for _, name := range []string{"safe.txt", "ordinary.txt", "bash.txt"} {
		for _, e := range entries(t, name) {
			if e.heading == "" || e.heading == "same" {
				commands = append(commands, e.command)
			}
		}
	}
	b := newBench(t)
	scripts := t.TempDir()
	for _, value := range brief.Part([]string{"';>pwned;'\";>pwned;\"`>pwned`$(>pwned)}$(>pwned)", "a[$(>pwned)]", "-va[$(>pwned)]", "x' -o -v a[`>pwned`]", "EOF\n>pwned\n)\n>pwned\n("}, 5) {
		var driver strings.Builder
		var variables []string
		for i, command := range commands {
			s, problems := Parse(command, Options{Known: func(root string) bool { return root != "HOME" }})
			if slices.ContainsFunc(problems, func(p Problem) bool { return !p.Warning }) {
				continue // with text in place of a number
			}
			given := make([]string, len(s.Vars))
			refused := false
			for j, v := range s.Vars {
				given[j] = value
				refused = refused || v.Accepts(value) != nil || s.Refuses(v.Expr.String(), value) != nil
			}
			if refused {
				continue
			}
			rendered, set := s.Render(given)
			if len(set) > len(variables) {
				variables = set
			}
			path := filepath.Join(scripts, fmt.Sprint(i))
			write(t, path, rendered+"\n")
			if s.Bash {
				driver.WriteString("[ -z \"$BASH_VERSION\" ] || ")
			}
			fmt.Fprintf(&driver, "(. %s) </dev/null >/dev/null 2>&1; [ -e pwned ] && echo %d && rm pwned\n", path, i)
		}
		for _, shell := range both(t) {
			got := b.run(t, shell, driver.String(), variables)
			ran, _, _ := strings.Cut(got, "\nstatus")
			for i := range strings.FieldsSeq(ran) {
				text, _ := os.ReadFile(filepath.Join(scripts, i))
				t.Errorf("%s: %q ran in %s", filepath.Base(shell), value, text)
			}
		}
	}
}
