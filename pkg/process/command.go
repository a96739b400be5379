package process

import (
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const (
	// DefaultGrace is the time between SIGTERM and SIGKILL.
	DefaultGrace = 5 * time.Second
	// drainTime is how long output is still read after the child itself has ended. The rest of a pipeline's output comes
	// within it; a background process that keeps the pipe open gets no more time.
	drainTime = time.Second
)

// Command describes a program to run. Each field except Path may have its zero value.
type Command struct {
	// Path is the program. Without a slash it is looked up in the PATH of Env.
	Path string
	// Name is the program's argument 0, by default Path.
	Name string
	// Args are the arguments without argument 0.
	Args []string
	// Dir is the working directory, by default this program's.
	Dir string
	// Env is the whole environment, NAME=VALUE each.
	Env []string
	// Stdin is the child's standard input, by default empty.
	Stdin io.Reader
	// Stdout and Stderr receive the output; nil discards it. Their errors are ignored.
	Stdout, Stderr io.Writer
	// Results receives what the child writes to descriptor 3, which is open only if Results is set. Only Run uses it.
	Results io.Writer
	// Grace is the time between SIGTERM and SIGKILL, DefaultGrace by default.
	Grace time.Duration
	// Session starts the child in a session of its own, so that it outlives this program.
	Session bool
	// TTY gives the child a terminal of 80 columns and 24 lines in a session of its own. Only Run uses it. Stdin is typed
	// line by line, each line when the child seems to wait for it. A newline is added to a last line without one, and then
	// the end of input is typed, unless the child reads single keys. What the terminal shows goes to Stdout, with newlines
	// as line ends. TERM is set if Env has none or "dumb".
	TTY bool
	// Marks are entries of Env that identify this child's descendants: the environment of no other child has them. They
	// are used to find descendants that have left the child's group.
	Marks []string
}

// ErrFormat is the error of starting an executable file that is not a program of this system, such as a script without a #!
// line, which a shell would interpret itself.
var ErrFormat = errors.New("not an executable format")

// Exit describes how a child ended.
type Exit struct {
	// Code is the exit status, or 128 plus the signal's number if a signal ended the child, as in shells.
	Code int
	// Signal is the name of the signal that ended the child, or empty.
	Signal string
}

func (c *Command) grace() time.Duration {
	if c.Grace > 0 {
		return c.Grace
	}
	return DefaultGrace
}

// build returns the exec.Cmd, with the program looked up in the command's own PATH.
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
	if c.TTY { // programs prefer these variables to the size of the terminal
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
			Suggest("Create the folder, or give one that exists")
	case errors.Is(err, syscall.E2BIG):
		return fault.New(fault.TooLarge, "The arguments and environment of %s are larger than this system accepts", c.Path).
			Suggest("Pass the large value by standard input or in a file")
	case errors.Is(err, fs.ErrNotExist):
		return notFound(c.Path)
	case errors.Is(err, syscall.ENOEXEC):
		return ErrFormat
	}
	return tooMany(fault.New(fault.Execution, "Cannot start %s: %v", c.Path, fault.Reason(err)), err)
}

// tooMany adds a suggestion to f if err reports that a limit of open files or processes is reached.
func tooMany(f *fault.Fault, err error) *fault.Fault {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EAGAIN) {
		f.Suggest("Run fewer nodes at the same time, or raise the limit of open files and processes (ulimit -n, ulimit -u)")
	}
	return f
}

func exitOf(status syscall.WaitStatus) Exit {
	if status.Signaled() {
		return Exit{Code: 128 + int(status.Signal()), Signal: status.Signal().String()}
	}
	return Exit{Code: status.ExitStatus()}
}
