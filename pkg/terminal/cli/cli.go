// Package cli is what every main shares: the grammar's common part, formats, faults and exit statuses, signals,
// logging, version and completion.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Version is the suite's version; all its programs carry the same.
const Version = "0.1.0"

// System is the process a main runs in: what only cmd/ may reach for.
type System struct {
	Args   []string // without the program's name
	Env    []string
	Stdin  *os.File
	Stdout *os.File
	Stderr *os.File
	// Variables, when not empty, opens the names of environment variables of the program's own, such as X_LOG_LEVEL for
	// "X_", which go before those of the suite, PFLOW_LOG_LEVEL.
	Variables string
	// Exit ends the process at once; it is used for the second signal.
	Exit func(status int)
}

// Common is the part of the grammar that all programs share; a grammar embeds it.
type Common struct {
	Format    string           `help:"What standard output carries: json, ndjson or text; by default text on a terminal." enum:"auto,json,ndjson,text" default:"auto" placeholder:"FORMAT"`
	LogLevel  string           `help:"Least level to log: debug, info, warn or error." enum:"debug,info,warn,error" default:"warn" env:"PFLOW_LOG_LEVEL" placeholder:"LEVEL"`
	LogFormat string           `help:"How to log: text or json." enum:"text,json" default:"text" env:"PFLOW_LOG_FORMAT" placeholder:"FORMAT"`
	Quiet     bool             `short:"q" help:"Say nothing on standard error but errors."`
	Version   kong.VersionFlag `help:"Print the version and exit."`

	Completion completion `cmd:"" help:"Print the completion script for a shell."`
}

func (c *Common) common() *Common { return c }

// Grammar is a pointer to a kong grammar that embeds Common.
type Grammar interface{ common() *Common }

// Status is an error that only carries an exit status: what there was to say has been said.
type Status int

func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Main parses the arguments into the grammar, runs the selected command's Run(*App) error, and gives the exit status
// of docs/contracts.md, "Failures". It never ends the process itself, but for the second signal.
func Main(name, description string, g Grammar, sys System) int {
	if len(sys.Args) == 1 && sys.Args[0] == "--version" { // before any grammar is reflected upon: scripts ask often
		signal.Ignore(syscall.SIGPIPE)
		if _, err := fmt.Fprintln(sys.Stdout, name, Version); errors.Is(err, syscall.EPIPE) {
			return ReaderGone{}.ExitStatus()
		}
		return 0
	}
	log.SetOutput(io.Discard) // what libraries say there, such as net/http of a server's manners, is not for people
	app := newApp(name, sys)
	stop := app.handleSignals()
	defer stop()
	answered := false // --help or --version has been
	parser, err := kong.New(g,
		kong.Name(name), kong.Description(description), kong.Writers(app.Stdout, sys.Stderr),
		kong.Exit(func(int) { answered = true }), kong.Vars{"version": name + " " + Version},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.PostBuild(func(k *kong.Kong) error { return ownVariables(k, sys.Variables) }),
	)
	if err != nil {
		return app.fail(fault.New(fault.Internal, "the grammar of %s: %v", name, err))
	}
	if complete(parser, app.Env) {
		return 0
	}
	parsed, err := parser.Parse(ordered(parser.Model.Node, sys.Args))
	if answered || app.Stdout.Closed() {
		return app.outcome(nil)
	}
	app.configure(g.common())
	if err != nil {
		app.format = askedFormat(sys.Args) // what kong has read is not in the grammar then
		f := fault.New(fault.Usage, "%s", valueless(err.Error(), sys.Args))
		if strings.Contains(f.Message, "applies to the default command") {
			f.Suggest("Write the flag behind the command: %s COMMAND … FLAG", name)
		}
		return app.fail(f.Suggest("%s --help lists what can be asked", strings.TrimSpace(name+" "+asked(err))))
	}
	return app.outcome(parsed.Run(app))
}

// ownVariables has a program's own environment variables set the common flags, before those of the suite do.
func ownVariables(k *kong.Kong, prefix string) error {
	if prefix == "" {
		return nil
	}
	for _, flag := range k.Model.Flags {
		if len(flag.Envs) == 1 {
			own := prefix + strings.TrimPrefix(flag.Envs[0], "PFLOW_")
			flag.Envs = []string{own, flag.Envs[0]}
			flag.Tag.Envs = flag.Envs
		}
	}
	return nil
}

// asked is the command in whose words a command line went wrong, with the group it is in, or nothing.
func asked(err error) string {
	pe, ok := errors.AsType[*kong.ParseError](err)
	if !ok || pe.Context == nil || pe.Context.Selected() == nil {
		return ""
	}
	var names []string
	for n := pe.Context.Selected(); n != nil && n.Parent != nil; n = n.Parent {
		names = append([]string{n.Name}, names...)
	}
	return strings.Join(names, " ")
}

// outcome turns what a command returned into an exit status, and says what has to be said.
func (a *App) outcome(err error) int {
	if status, ok := errors.AsType[Status](err); ok {
		return int(status)
	}
	if a.Stdout.Closed() {
		return 141
	}
	if err == nil {
		return 0
	}
	if sig, ok := errors.AsType[Interrupted](context.Cause(a.Context)); ok && errors.Is(err, context.Canceled) {
		return sig.ExitStatus()
	}
	if sig, ok := errors.AsType[Interrupted](err); ok {
		return sig.ExitStatus()
	}
	return a.fail(fault.From(err))
}

// Report writes a fault as JSON at the end of standard output in a JSON format, and in words on standard error.
func (a *App) Report(f *fault.Fault) {
	if a.JSON() {
		_ = a.JSONLine(failure{Error: f})
	}
	a.Complain(f)
}

// fail reports a fault and gives its exit status.
func (a *App) fail(f *fault.Fault) int {
	a.Report(f)
	if a.Stdout.Closed() {
		return 141
	}
	return f.ExitStatus()
}

// failure is the document that stands in the place of an answer.
type failure struct {
	Success bool         `json:"success"`
	Error   *fault.Fault `json:"error"`
}

// Complain writes a fault for people, in age's manner: "program: error: …" and "program: hint: …".
func (a *App) Complain(f *fault.Fault) {
	a.complain(f)
	for i, e := range f.Errors {
		if i == maxComplaints {
			_, _ = fmt.Fprintf(a.Stderr, "%s: error: … and %d more\n", a.Name, len(f.Errors)-i)
			return
		}
		a.complain(e)
	}
}

// Reported ends a command whose failure standard output has already: people are told of it here, and the exit status is that of
// the failure. One that a signal has stopped ends as any command does.
func (a *App) Reported(err error) error {
	if err == nil || a.Context.Err() != nil {
		return err
	}
	f := fault.From(err)
	a.Complain(f)
	return Status(f.ExitStatus())
}

// maxComplaints is how many of several errors people are told.
const maxComplaints = 20

// complain writes one error: where and what, the line that it is in, and what to do next.
func (a *App) complain(f *fault.Fault) {
	_, _ = fmt.Fprintf(a.Stderr, "%s: error: %s%s\n", a.Name, f.Where(), f.Message)
	if text, ok := f.Details["text"].(string); ok {
		mark, _ := f.Details["mark"].(string)
		_, _ = fmt.Fprintf(a.Stderr, "  | %s\n  | %s\n", text, mark)
	}
	for _, h := range f.Suggestions {
		_, _ = fmt.Fprintf(a.Stderr, "%s: hint: %s\n", a.Name, h)
	}
}

// askedFormat is the --format among arguments that cannot be parsed.
func askedFormat(args []string) string {
	format := "auto"
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if value, ok := strings.CutPrefix(arg, "--format="); ok {
			format = value
		} else if arg == "--format" && i+1 < len(args) {
			format = args[i+1]
		}
	}
	return format
}

// logger makes the logger that a program's flags ask for.
func logger(w io.Writer, level, format string, quiet bool) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelWarn
	}
	if quiet {
		l = max(l, slog.LevelError)
	}
	options := &slog.HandlerOptions{Level: l}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
