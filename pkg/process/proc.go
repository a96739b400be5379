// Package process is the only place that starts a child process.
//
// Every child leads a process group of its own, so that a signal reaches what it started too, and on Linux the kernel
// kills it when this program dies. A child never inherits standard input. Stopping is a ladder: SIGTERM to the group,
// a grace, SIGKILL to the group.
package process

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const (
	// DefaultGrace is the time between SIGTERM and SIGKILL.
	DefaultGrace = 5 * time.Second
	// drain is how long output is still read after the child itself has ended: a pipeline's last words come within
	// it, a background process that keeps the pipe open does not get more.
	drain = time.Second
)

// Command says what to run. The zero value of each field is a safe default.
type Command struct {
	// Path is the program. Without a separator it is looked for on the PATH of Env.
	Path string
	// Name is what the program is called by, its argument 0; by default as its path.
	Name string
	// Args are the arguments without the program's own name.
	Args []string
	// Dir is the working directory, by default this program's.
	Dir string
	// Env is the whole environment, KEY=VALUE each.
	Env []string
	// Stdin is what the child reads, by default nothing.
	Stdin io.Reader
	// Stdout and Stderr take the output, by default it is discarded. That they fail does not stop the child.
	Stdout, Stderr io.Writer
	// Results takes what the child writes to its descriptor 3, which it has only then.
	Results io.Writer
	// Grace is the time between SIGTERM and SIGKILL, DefaultGrace by default.
	Grace time.Duration
	// Session starts the child in a session of its own, for one that is to outlive this program.
	Session bool
	// TTY gives the child a terminal of 80 columns and 24 lines in a session of its own, for Run alone. Stdin is typed at
	// it, line by line when the child seems to wait for it; a last line without an end is ended, and then there is no more
	// to read, but for a child that reads key by key. All that is shown goes to Stdout, with newlines for line ends. TERM
	// is set when Env says nothing of it, or "dumb".
	TTY bool
	// Marks are variables in Env that no other child's processes have. By them, and by their descent, those are found
	// that leave the child's group.
	Marks []string
}

// ErrFormat is the error of a file that may be executed but is no program of this system: a script without a first line
// that names its interpreter, which a shell would run itself.
var ErrFormat = errors.New("not an executable format")

// Exit says how a child ended.
type Exit struct {
	// Code is the exit status; 128 plus the signal's number when a signal ended it, as shells count.
	Code int
	// Signal is the name of the signal that ended it, or empty.
	Signal string
}

func (c *Command) grace() time.Duration {
	if c.Grace > 0 {
		return c.Grace
	}
	return DefaultGrace
}

// build makes the exec.Cmd, with the program looked up on the command's own PATH.
func (c *Command) build() (*exec.Cmd, error) {
	path, err := LookPath(c.Path, c.Env, c.Dir)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: path, Args: c.argv(), Dir: c.Dir, Env: c.environment(),
		Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr,
		SysProcAttr: attributes(c),
	}
	return cmd, nil
}

func (c *Command) argv() []string {
	if c.Name == "" {
		return append([]string{c.Path}, c.Args...)
	}
	return append([]string{c.Name}, c.Args...)
}

func (c *Command) environment() []string {
	name, _, _ := strings.Cut(outlives, "=")
	without := []string{name}
	if c.TTY { // whose size programs would take from the others rather than ask for it
		without = append(without, "COLUMNS", "LINES")
	}
	env := Environment(c.Env, without...)
	if term := Getenv(env, "TERM"); c.TTY && (term == "" || term == "dumb") {
		env = Environment(append(env, "TERM="+terminalType))
	}
	if c.Session {
		env = append(env, outlives)
	}
	return env
}

func (c *Command) startFault(err error) error {
	switch {
	case c.Dir != "" && !isDir(c.Dir):
		return fault.New(fault.Execution, "Working directory does not exist: %s", c.Dir).
			Suggest("Make the folder first, or give one that exists")
	case errors.Is(err, syscall.E2BIG):
		return fault.New(fault.TooLarge, "The arguments and environment of %s are larger than this system takes", c.Path).
			Suggest("Pass the large value by standard input or in a file")
	case errors.Is(err, fs.ErrNotExist):
		return notFound(c.Path)
	case errors.Is(err, syscall.ENOEXEC):
		return ErrFormat
	}
	return tooMany(fault.New(fault.Execution, "Cannot start %s: %v", c.Path, fault.Reason(err)), err)
}

// tooMany adds what to do when as much runs or is open at a time as the system lets.
func tooMany(f *fault.Fault, err error) *fault.Fault {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EAGAIN) {
		f.Suggest("Let fewer nodes run at the same time, or raise the limit of open files and processes (ulimit -n, ulimit -u)")
	}
	return f
}

// LookPath finds a program: a path with a separator as it stands (relative to dir), a bare name on the PATH of env.
func LookPath(name string, env []string, dir string) (string, error) {
	if strings.ContainsRune(name, '/') {
		path := name
		if !filepath.IsAbs(path) && dir != "" {
			path = filepath.Join(dir, path)
		}
		if !filepath.IsAbs(path) {
			abs, err := filepath.Abs(path)
			if err != nil {
				return "", notFound(name)
			}
			path = abs
		}
		return path, nil
	}
	for _, d := range filepath.SplitList(Getenv(env, "PATH")) {
		if path := filepath.Join(d, name); filepath.IsAbs(path) && Executable(path) {
			return path, nil
		}
	}
	return "", notFound(name)
}

func notFound(name string) *fault.Fault {
	return fault.New(fault.NotFound, "Command not found: %s", name).
		Suggest("Install %s, or give its full path", name)
}

// Executable says whether a path is a program that may be run.
func Executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func exitOf(status syscall.WaitStatus) Exit {
	if status.Signaled() {
		return Exit{Code: 128 + int(status.Signal()), Signal: status.Signal().String()}
	}
	return Exit{Code: status.ExitStatus()}
}
