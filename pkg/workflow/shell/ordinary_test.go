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
)

// benign are values as the ordinary commands of testdata expect them.
var benign = map[string]string{
	"name": "report", "version": "1.4.0", "branch": "main", "commit": "abc123", "env": "prod", "message": "fix the thing", "count": "3", "dir": "src", "file": "notes.txt", "files": "a.txt b.txt c.txt",
	"url": "https://example.com/a?b=c", "author": "A. Uthor <a@example.com>", "image": "team/app", "registry": "registry.example.com", "port": "8080", "token": "t0ken", "json": "[1,2]", "extension": "txt",
	"pattern": "beta", "user": "alice", "host": "db.example.com", "two": "2", "one": "1", "empty": "", "arch": "amd64", "tag": "v2.3.4", "path": "/usr/lib/x.so", "command": "ls",
}

// tools are the programs that ordinary commands run; all others that they name only tell how they were called.
const (
	tools = "awk basename cat cp cut date dirname expr find grep head ls mkdir mktemp rm sed seq sh sha256sum sleep sort tail tar tee timeout tr uniq wc xargs gzip"
	stubs = "aws curl docker ffmpeg gh git go helm jq kubectl make mysql node npm perl pg_dump psql python3 rsync scp sqlite3 ssh terraform wget zip"
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

// TestOrdinaryCommands: commands as people write them do what they do with their values pasted in, or get an error.
func TestOrdinaryCommands(t *testing.T) {
	t.Parallel()
	shells, b := both(t), newBench(t)
	all := entries(t, "ordinary.txt")
	if len(all) < 100 {
		t.Errorf("only %d commands", len(all))
	}
	o := Options{Known: func(root string) bool { _, ok := benign[root]; return ok }}
	for _, e := range all {
		s, problems := Parse(e.command, o)
		i := slices.IndexFunc(problems, func(p Problem) bool { return !p.Warning })
		if want, ok := strings.CutPrefix(e.heading, "error: "); ok {
			if i < 0 || !strings.Contains(problems[i].Message, want) || problems[i].Suggest == "" {
				t.Errorf("%s: %+v, want %q", e.command, problems, want)
			}
			continue
		}
		if i >= 0 || len(problems) > 0 != (e.heading == "warning") {
			t.Errorf("%s: %+v, want %s", e.command, problems, e.heading)
			continue
		}
		o.Unsafe = true
		pasted, _ := Parse(e.command, o)
		o.Unsafe = false
		for _, shell := range shells {
			command, variables := s.Render(values(s, benign))
			got := b.run(t, shell, command, variables)
			plain, _ := pasted.Render(values(pasted, benign))
			want := b.run(t, shell, plain, nil)
			if got != want || strings.Contains(got, "status 127") {
				t.Errorf("%s: %s\n%s\n gives %s\n and pasted %s", filepath.Base(shell), e.command, command, got, want)
			}
		}
	}
}

// TestWhatPassesRunsNoValue: a command that passes without an error runs nothing of its values, whatever it does with
// them. The values are such as code would be made of; none is a path, for there are commands here that remove files.
func TestWhatPassesRunsNoValue(t *testing.T) {
	t.Parallel()
	var commands []string
	for _, name := range []string{"safe.txt", "ordinary.txt"} {
		for _, e := range entries(t, name) {
			if e.heading == "" || e.heading == "same" {
				commands = append(commands, e.command)
			}
		}
	}
	b := newBench(t)
	scripts := t.TempDir()
	for _, value := range []string{"a[$(>pwned)]", "-va[$(>pwned)]", "x' -o -v a[`>pwned`]", "';>pwned;'\";>pwned;\"`>pwned`$(>pwned)}$(>pwned)", "EOF\n>pwned\n)\n>pwned\n("} {
		var driver strings.Builder
		var variables []string
		for i, command := range commands {
			s, _ := Parse(command, Options{Known: func(root string) bool { return root != "HOME" }})
			given := make([]string, len(s.Vars))
			refused := false
			for j, v := range s.Vars {
				given[j] = value
				refused = refused || v.Accepts(value) != nil
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
