package suite

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asBuilt stands for go: a build of a program is a link to the one that the tests have built, and is noted in the file called.
const asBuilt = `#!/bin/sh
for word; do
    case $word in */) to=$word ;; esac
done
echo "${word##*/}" >> "$HOME/called"
exec ln -s "$PROGRAMS/${word##*/}" "$to"
`

// installer prepares scripts/install to run in the place, with programs in the folder tools that stand for others.
func (p *place) installer(args ...string) *exec.Cmd {
	p.Helper()
	script, err := filepath.Abs(filepath.Join("..", "..", "scripts", "install"))
	if err != nil {
		p.Fatal(err)
	}
	p.tool("go", asBuilt)
	if err := os.MkdirAll(filepath.Join(p.dir, "temporary"), 0o700); err != nil {
		p.Fatal(err)
	}
	cmd := p.command(script, args...)
	cmd.Env = append(slices.Clone(p.env), "PATH="+filepath.Join(p.dir, "tools")+":"+os.Getenv("PATH"), "PROGRAMS="+bin, "TMPDIR="+filepath.Join(p.dir, "temporary"))
	return cmd
}

// tool writes a program that stands for another one, unless it is there.
func (p *place) tool(name, content string) {
	p.Helper()
	if p.exists("tools/" + name) {
		return
	}
	if err := os.Chmod(p.write("tools/"+name, content), 0o700); err != nil {
		p.Fatal(err)
	}
}

// installs runs scripts/install, which must succeed, and returns what it prints.
func (p *place) installs(args ...string) string {
	p.Helper()
	out, err := p.installer(args...).CombinedOutput()
	if err != nil {
		p.Fatalf("scripts/install %q: %v\n%s", args, err, out)
	}
	if left := p.below("temporary", "."); len(left) > 0 {
		p.Errorf("scripts/install %q leaves the temporary files %q", args, left)
	}
	return string(out)
}

// below returns the paths of the files in some folders of the place, relative to the first folder.
func (p *place) below(root string, folders ...string) (files []string) {
	p.Helper()
	root = filepath.Join(p.dir, root)
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				files = append(files, strings.TrimPrefix(path, root+"/"))
			}
			return err
		})
		if err != nil {
			p.Fatal(err)
		}
	}
	return files
}

// installed returns the files of an installation in a folder of the place.
func (p *place) installed(folder string) []string {
	p.Helper()
	return p.below(folder, "bin", "share")
}

// filesOf returns the files that an installation of some programs has.
func filesOf(programs ...string) (files []string) {
	for _, program := range programs {
		files = append(files, "bin/"+program, "share/man/man1/"+program+".1")
	}
	slices.Sort(files)
	return files
}

// TestScriptInstalls: scripts/install installs all programs, those first that most people need, or those that it is given, into the
// folder that it is given, each with its man page; with --uninstall it removes the same.
func TestScriptInstalls(t *testing.T) {
	t.Parallel()
	const unnamed = "the default"
	for _, c := range []struct {
		args     []string
		env, to  string
		programs []string
	}{
		{[]string{"apps"}, "DESTDIR=", "apps", programs},
		{[]string{"./pflow-lib"}, "DESTDIR=", "pflow-lib", programs},
		{[]string{".", "pflow-node-jq"}, "DESTDIR=", ".", []string{"pflow-node-jq"}},
		{[]string{"a b/c", "veloflux-mcp", "pflow-lib"}, "DESTDIR=", "a b/c", []string{"veloflux-mcp", "pflow-lib"}},
		{[]string{"/usr", "pflow-lib"}, "DESTDIR=stage", "stage/usr", []string{"pflow-lib"}},
		{[]string{"pflow-sync", "pflow-lib"}, "DESTDIR=stage", unnamed, []string{"pflow-sync", "pflow-lib"}},
	} {
		p := newPlace(t)
		p.env = append(p.env, c.env)
		if c.to == unnamed {
			if c.to = "stage/usr/local"; os.Getuid() != 0 {
				c.to = "stage" + p.dir + "/.local"
			}
		}
		printed := p.installs(c.args...)
		if got, want := p.installed(c.to), filesOf(c.programs...); !slices.Equal(got, want) {
			t.Errorf("scripts/install %q installs\n%q, not\n%q", c.args, got, want)
		}
		order, want := strings.Fields(p.read("called")), c.programs
		if len(c.programs) == len(programs) {
			order, want = order[:4], []string{"pflow-lib", "pflow-exec", "pflow-sync", "pflow-serve"}
		}
		if !slices.Equal(order, want) {
			t.Errorf("scripts/install %q builds %q, not %q", c.args, order, want)
		}
		for _, program := range c.programs {
			if !strings.Contains(printed, "\n  "+program+" (") {
				t.Errorf("scripts/install %q has no line about %s:\n%s", c.args, program, printed)
			}
		}
		if printed := p.installs(append([]string{"--uninstall"}, c.args...)...); !strings.Contains(printed, c.programs[0]) {
			t.Errorf("scripts/install --uninstall %q does not name what it removes: %s", c.args, printed)
		}
		if left := p.installed(c.to); len(left) > 0 {
			t.Errorf("scripts/install --uninstall %q leaves %q", c.args, left)
		}
	}
}

// TestScriptRefusesToInstall: scripts/install does nothing with arguments that it does not understand, and names what exists.
func TestScriptRefusesToInstall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"pflow-exce"}, "did you mean pflow-exec?"},
		{[]string{"--uninstall", "pflow-lbi"}, "did you mean pflow-lib?"},
		{[]string{"pflow-jq"}, "did you mean pflow-node-jq?"},
		{[]string{"veloflux"}, "did you mean veloflux-mcp?"},
		{[]string{"apps", "serve"}, "did you mean pflow-serve?"},
		{[]string{"apps", "zzz"}, "the programs are pflow-lib pflow-exec "},
		{[]string{"pflow-lib", "apps"}, "there is no program apps"},
		{[]string{"pflow-lib", "./apps"}, "PREFIX comes first"},
		{[]string{"a/b", "c/d"}, "PREFIX comes first"},
		{[]string{""}, "empty"},
		{[]string{"apps", "--uninstal"}, "no option --uninstal"},
	} {
		p := newPlace(t)
		cmd := p.installer(c.args...)
		before := p.everything()
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), c.says) {
			t.Errorf("scripts/install %q ends with %v, not exit status 2 and %q, and prints\n%s", c.args, err, c.says, out)
		}
		if after := p.everything(); after != before {
			t.Errorf("scripts/install %q: there were\n%s, and are\n%s", c.args, before, after)
		}
	}
}

// TestScriptReplacesInOneStep: scripts/install replaces a program and its man page by new files, so that a run keeps the program that it
// began with, and not before they are complete.
func TestScriptReplacesInOneStep(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	names := filesOf("pflow-lib", "pflow-exec")
	for _, name := range names {
		if err := os.Link(p.write("apps/"+name, "older"), filepath.Join(p.dir, filepath.Base(name))); err != nil {
			t.Fatal(err)
		}
	}
	p.installs("apps", "pflow-lib", "pflow-exec")
	for _, name := range names {
		if p.read("apps/"+name) == "older" || p.read(filepath.Base(name)) != "older" {
			t.Errorf("%s was not replaced by a new file", name)
		}
	}

	p = newPlace(t)
	p.write("apps/bin/pflow-exec", "older")
	p.tool("go", strings.Replace(asBuilt, "\nexec", "\n[ ${word##*/} = pflow-lib ] || exit 1\nexec", 1))
	if out, err := p.installer("apps", "pflow-lib", "pflow-exec").CombinedOutput(); err == nil {
		t.Errorf("scripts/install succeeds without a program:\n%s", out)
	}
	if got, want := p.installed("apps"), append(filesOf("pflow-lib"), "bin/pflow-exec"); len(got) != len(want) || p.read("apps/bin/pflow-exec") != "older" {
		t.Errorf("after a build that failed there are %q, not %q as they were", got, want)
	}
}

// TestScriptLeavesNothingHalfDone: scripts/install that is interrupted between two programs has installed the first, and leaves no temporary
// file.
func TestScriptLeavesNothingHalfDone(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		p := newPlace(t)
		if err := syscall.Mkfifo(filepath.Join(p.dir, "never"), 0o600); err != nil {
			t.Fatal(err)
		}
		mv, err := exec.LookPath("mv")
		if err != nil {
			t.Fatal(err)
		}
		p.tool("mv", "#!/bin/sh\ncase $3 in */pflow-exec) echo > \"$HOME/arrived\"; exec cat \"$HOME/never\" ;; esac\nexec "+mv+` "$@"`+"\n")
		cmd := p.installer("apps", "pflow-lib", "pflow-exec")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p.eventually("the program is about to be replaced", func() bool { return p.exists("arrived") })
		if got := len(p.below("apps", "bin")); got != 2 {
			t.Errorf("%v: the folder has %d files before the signal, not the program and the next one", signal, got)
		}
		if err := syscall.Kill(-cmd.Process.Pid, signal); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%v: scripts/install succeeds", signal)
			}
		case <-time.After(patience):
			t.Fatalf("%v: scripts/install does not end", signal)
		}
		if got, want := p.installed("apps"), filesOf("pflow-lib"); !slices.Equal(got, want) {
			t.Errorf("%v leaves %q, not %q", signal, got, want)
		}
		if left := p.below("temporary", "."); len(left) > 0 {
			t.Errorf("%v leaves the temporary files %q", signal, left)
		}
	}
}

// TestScriptBuilds: what scripts/install builds, with Go, runs without the source.
func TestScriptBuilds(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	cmd := p.installer("apps", "pflow-node-source-workflow")
	cmd.Env = append(os.Environ(), "HOME="+p.dir)
	for _, variable := range []string{"GOCACHE", "GOMODCACHE", "GOENV"} { // what is below the home by default
		value, err := exec.Command("go", "env", variable).Output()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(cmd.Env, variable+"="+strings.TrimSpace(string(value)))
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("scripts/install: %v\n%s", err, out)
	}
	program := filepath.Join(p.dir, "apps", "bin", "pflow-node-source-workflow")
	if got, want := p.must(program, "--version"), p.must("pflow-node-source-workflow", "--version"); strings.Fields(got)[1] != strings.Fields(want)[1] {
		t.Errorf("the version is %q, not %q", got, want)
	}
	if page := p.read("apps/share/man/man1/pflow-node-source-workflow.1"); !strings.HasPrefix(page, ".TH ") {
		t.Errorf("the man page begins with %.40q, not with a title", page)
	}
}
