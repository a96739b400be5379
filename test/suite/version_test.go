package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// A program that Go has built in a repository names its commit. The repository is one of the test's, because not every copy of the
// sources is one.
func TestTheVersionNamesTheCommit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	p := newPlace(t)
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/pflow-suite/pflow"
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		p.write("x/"+name, strings.Replace(string(content), "module "+module, "module example.com/x\n\nrequire "+module+" v0.0.0\n\nreplace "+module+" => "+root, 1))
	}
	p.write("x/main.go", `package main; import ("fmt"; "`+module+`/pkg/terminal/cli"); func main() { fmt.Println(cli.VersionLine("x")) }`)
	in := func(name string, args ...string) string {
		cmd := p.command(name, args...)
		cmd.Dir = filepath.Join(p.dir, "x")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_COMMITTER_DATE=2026-01-31T23:59:59Z",
			"GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@example.com", "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@example.com")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v: %s", name, args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	in("git", "init", "-q")
	in("git", "add", ".")
	in("git", "commit", "-q", "-m", "x")
	in("go", "build", "-buildvcs=true", "-o", filepath.Join(p.dir, "built"))
	if got, want := in(filepath.Join(p.dir, "built")), "x "+cli.Version+" ("+in("git", "rev-parse", "--short=12", "HEAD")+" 2026-01-31)"; got != want {
		t.Errorf("the version is %q, want %q", got, want)
	}
}
