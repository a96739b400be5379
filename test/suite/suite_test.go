// Package suite has only tests. They run the programs of the suite together, as a shell, make and an agent do.
package suite

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is the longest time for which a test waits. It bounds tests that hang, not what is slow.
const patience = 5 * time.Minute

// bin is the folder of the programs, which are built once, or that which $CASE_PROGRAMS names. testPrograms is the folder of those that
// only tests use.
var bin, testPrograms string

// programs are the programs of the suite.
var programs = []string{"pflow-exec", "pflow-lib", "pflow-node-agent", "pflow-node-jq", "pflow-node-llm", "pflow-node-source-workflow", "pflow-otel", "pflow-serve", "pflow-share", "pflow-sync", "pflow-temporal", "veloflux-mcp"}

func TestMain(m *testing.M) {
	if mode := os.Getenv(protocolServer); mode != "" { // a test runs it as a server
		if err := serveProtocol(mode); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv(browse) != "" { // this process is the browser of a login
		os.Exit(visit(os.Args[len(os.Args)-1]))
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "pflow-suite-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	bin, testPrograms = os.Getenv("CASE_PROGRAMS"), filepath.Join(dir, "tools")
	forTests := []string{"./scripts/hostilemcp"}
	if flag.Parse(); !testing.Short() {
		forTests = append(forTests, "./scripts/bench/trials")
	}
	err = build(testPrograms, forTests...)
	if bin == "" && err == nil {
		bin = filepath.Join(dir, "bin")
		err = build(bin, "./cmd/...")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build builds packages into a folder.
func build(folder string, packages ...string) error {
	cmd := exec.Command("go", append([]string{"build", "-o", folder + string(filepath.Separator)}, packages...)...)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // with cgo, each thread reserves 64 MB or more of the address space that ulimit -v limits
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// place is a folder in which a test's programs run. It contains the home.
type place struct {
	*testing.T
	dir, home string
	env       []string
}

// newPlace returns an empty place. At the end of the test no process with its home may be left.
func newPlace(t *testing.T) *place {
	t.Helper()
	_ = os.Getenv("CASE_PROGRAMS") // Go keeps results of tests by the variables that they read, but does not see what TestMain reads
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{T: t, dir: dir, home: filepath.Join(dir, "home")}
	p.env = []string{
		"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"HOME=" + dir, "PFLOW_HOME=" + p.home, "LC_ALL=C", "TZ=UTC",
	}
	t.Cleanup(p.nothingIsLeft)
	return p
}

// nothingIsLeft fails the test if a process of this place does not end, and ends it.
func (p *place) nothingIsLeft() { noProcessIsLeft(p.home, p.Errorf) }

// noProcessIsLeft calls fail for each process with a home that does not end, and ends it.
func noProcessIsLeft(home string, fail func(format string, args ...any)) {
	for deadline := time.Now().Add(patience); ; <-time.After(5 * time.Millisecond) {
		left := processes("PFLOW_HOME=" + home)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			for pid, command := range left {
				fail("process %d is left: %s", pid, command)
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			return
		}
	}
}

// processes returns the command lines of all processes that have an environment variable, by their ids. Without /proc it
// returns none.
func processes(variable string) map[int]string {
	found := map[int]string{}
	proc, err := os.Open("/proc")
	if err != nil {
		return found
	}
	defer func() { _ = proc.Close() }()
	names, _ := proc.Readdirnames(-1) // a glob would look at each of the files that it finds
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		b, err := os.ReadFile(filepath.Join("/proc", name, "environ"))
		if err != nil || !bytes.Contains(b, []byte(variable)) || !slices.Contains(strings.Split(string(b), "\x00"), variable) {
			continue
		}
		command, _ := os.ReadFile(filepath.Join("/proc", name, "cmdline"))
		found[pid] = string(bytes.ReplaceAll(command, []byte{0}, []byte{' '}))
	}
	return found
}

// needs skips the test if a tool is missing.
func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s here", tool)
		}
	}
}

func needsLinux(t *testing.T, why string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip(why)
	}
}

// write writes a file in the place and returns its path.
func (p *place) write(name, content string) string {
	p.Helper()
	path := filepath.Join(p.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		p.Fatal(err)
	}
	return path
}

// draft writes a draft as an agent does.
func (p *place) draft(name, workflow string) {
	p.Helper()
	p.write("home/workflows/"+name+".json", workflow)
}

// read returns the content of a file of the place, or "".
func (p *place) read(name string) string {
	p.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.Fatal(err)
	}
	return string(b)
}

// exists reports whether the place has a file.
func (p *place) exists(name string) bool {
	_, err := os.Stat(filepath.Join(p.dir, name))
	return err == nil
}

// command prepares a program to run in the place.
func (p *place) command(name string, args ...string) *exec.Cmd {
	p.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	p.Cleanup(cancel)
	path := filepath.Join(bin, name)
	if !slices.Contains(programs, name) {
		path = name
	}
	cmd := withTest(exec.CommandContext(ctx, path, args...))
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.dir, p.env, patience
	return cmd
}

// outcome is the output and exit status of a program.
type outcome struct {
	stdout, stderr string
	exit           int
}

func (o outcome) String() string {
	return fmt.Sprintf("exit status %d\nstdout: %s\nstderr: %s", o.exit, o.stdout, o.stderr)
}

// run runs a program to its end.
func (p *place) run(name string, args ...string) outcome {
	p.Helper()
	return p.fed("", name, args...)
}

// fed runs a program to its end with something on its standard input.
func (p *place) fed(stdin, name string, args ...string) outcome {
	p.Helper()
	cmd := p.command(name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	o := outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.Fatalf("%s %q: %v\n%s", name, args, err, o)
	}
	if strings.Contains(o.stdout+o.stderr, "goroutine ") || strings.Contains(o.stdout+o.stderr, "panic:") {
		p.Errorf("%s %q crashed:\n%s", name, args, o)
	}
	return o
}

// must runs a program that must succeed, and returns its standard output.
func (p *place) must(name string, args ...string) string {
	p.Helper()
	o := p.run(name, args...)
	if o.exit != 0 {
		p.Fatalf("%s %q: %s", name, args, o)
	}
	return o.stdout
}

// eventually waits until a condition holds.
func (p *place) eventually(what string, holds func() bool) {
	p.Helper()
	deadline := time.Now().Add(patience)
	for pause := 5 * time.Millisecond; !holds(); pause = min(pause*5/4, 50*time.Millisecond) { // to ask costs what other tests need
		if time.Now().After(deadline) {
			p.Fatalf("waited in vain until %s", what)
		}
		<-time.After(pause)
	}
}
