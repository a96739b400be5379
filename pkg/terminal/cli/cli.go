// Package cli is what all mains share: the common part of the grammar, output formats, faults and exit statuses, signals,
// logging, version and completion.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/manual"
)

// System is the process that a main runs in. Only cmd/ may access it.
type System struct {
	Args   []string // without the program's name
	Env    []string
	Stdin  *os.File
	Stdout *os.File
	Stderr *os.File
	// Variables, if not empty, is the prefix of environment variables of the program's own, such as "X_" for X_LOG_LEVEL.
	// They take precedence over those of the suite, such as PFLOW_LOG_LEVEL.
	Variables string
	// Instead says what to write in place of flags and commands of another program, by the flag with its dashes or the command. The key
	// FILE stands for a file's name in place of a command.
	Instead map[string]string
	// Values, if not nil, returns the values for completions that this program knows, see owners.
	Values Values
	// Reader reads the hints of the program if --hints does not say who does; empty for fault.Shell.
	Reader fault.Reader
	// GivesUp is set if the process ends when a command has not ended some time after a signal, see App.EndsWithin.
	GivesUp bool
	// Exit ends the process at once. It is called for the second signal, and for a command that is given up.
	Exit func(status int)
}

// Common is the part of the grammar that all programs share. A grammar embeds it.
type Common struct {
	Format    string           `group:"Global flags:" help:"Format of standard output: json, ndjson or text; by default text on a terminal." enum:"auto,json,ndjson,text" default:"auto" placeholder:"FORMAT"`
	LogLevel  string           `group:"Global flags:" help:"Lowest level to log: debug, info, warn or error." enum:"debug,info,warn,error" default:"warn" env:"PFLOW_LOG_LEVEL" placeholder:"LEVEL"`
	LogFormat string           `group:"Global flags:" help:"Format of the log: text or json." enum:"text,json" default:"text" env:"PFLOW_LOG_FORMAT" placeholder:"FORMAT"`
	Hints     string           `group:"Global flags:" help:"Who reads hints: shell, for hints that name commands, or tools:TOOLSET,…, for a client of pflow-serve, which calls the tools of these toolsets." default:"shell" placeholder:"READER"`
	MaxBytes  int              `group:"Global flags:" help:"Print at most N bytes: failures are shortened (at most 10 errors), long answers are divided into pages; 0 is no limit." default:"0" placeholder:"N"`
	Quiet     bool             `group:"Global flags:" short:"q" help:"Write only errors to standard error."`
	Version   kong.VersionFlag `group:"Global flags:" help:"Print the version and exit."`

	Completion completionCommand `cmd:"" fixed:"" help:"Print the completion script for a shell, to be sourced when it starts." example:"source <(PROGRAM completion bash)"`
	Reference  reference         `cmd:"" fixed:"" hidden:"" help:"Print the manual page."`
}

func (c *Common) common() *Common { return c }

// Grammar is a pointer to a kong grammar that embeds Common.
type Grammar interface{ common() *Common }

// Status is an error that only carries an exit status, because its message has been written already.
type Status int

func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Main parses the arguments into the grammar, runs the Run(*App) error method of the selected command, and returns the exit
// status of docs/contracts.md, "Failures". It does not end the process itself, except on a second signal.
func Main(name, description string, g Grammar, sys System) int {
	if len(sys.Args) == 1 && sys.Args[0] == "--version" && !completes(sys.Env) { // scripts ask often, and building the grammar takes time
		signal.Ignore(syscall.SIGPIPE)
		if _, err := fmt.Fprintln(sys.Stdout, VersionLine(name)); errors.Is(err, syscall.EPIPE) {
			return ReaderGone{}.ExitStatus()
		}
		return 0
	}
	sys.Args = asFlags(g, sys.Args)
	log.SetOutput(io.Discard) // messages of libraries, such as net/http, are not for people
	app := newApp(name, sys)
	stop := app.handleSignals()
	defer stop()
	answered := false // by --help or --version
	part, common := ofCommand(g, sys.Args)
	if completes(app.Env) {
		part, common = g, g.common()
	}
	parser, err := kong.New(part,
		kong.Name(name), kong.Description(description), kong.Writers(app.Stdout, app.messages),
		kong.Exit(func(int) { answered = true }), kong.Vars{"version": VersionLine(name)},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Help(printHelp),
		kong.PostBuild(func(k *kong.Kong) error { return ownVariables(k, sys.Variables) }),
	)
	if err != nil {
		return app.fail(fault.New(fault.Internal, "the grammar of %s: %v", name, err))
	}
	if completes(app.Env) {
		(&completer{app, sys.Values}).answer(parser, sys.Args)
		return 0
	}
	parsed, err := parser.Parse(flagsFirst(parser.Model.Node, sys.Args))
	if answered || app.Stdout.Closed() {
		return app.exitStatus(nil)
	}
	app.configure(common)
	if app.Reader == fault.Shell {
		app.Reader = cmp.Or(sys.Reader, fault.Shell)
	}
	if _, unknown := fault.ParseReader(string(app.Reader)); unknown != nil {
		app.Reader = fault.Shell
		err = cmp.Or(err, unknown)
	}
	if err != nil {
		app.recover(sys.Args)
		f := sys.unknown(hideValues(err.Error(), sys.Args))
		suggestCommand(f, parser.Model.Node)
		suggestAssignment(f, err, sys.Args)
		if _, rest, ok := strings.Cut(f.Message, "unknown flag -"); ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			f.Suggest("A value that begins with - follows --, after all flags: -- -%s", firstWord(rest))
		}
		if strings.Contains(f.Message, "applies to the default command") {
			f.Suggest("Write the flag after the command: %s COMMAND … FLAG", name)
		}
		return app.fail(f.Then(fault.Command("See its arguments and flags", "%s --help", strings.TrimSpace(name+" "+commandOf(err)))))
	}
	app.typed = commandLine{parsed, sys.Args}
	if n := app.MaxBytes; n < 0 || n > 0 && n < minBytes {
		app.MaxBytes = 0
		return app.fail(fault.New(fault.Usage, "--max-bytes must be 0 or at least %d, got %d", minBytes, n).Suggest("Use 0 for an answer without a limit"))
	}
	return app.exitStatus(parsed.Run(app))
}

// firstWord returns a text up to its first blank or comma.
func firstWord(text string) string {
	if i := strings.IndexAny(text, " ,"); i >= 0 {
		return text[:i]
	}
	return text
}

// printHelp prints the help of the selected command, or of the program. A command with the tag "fixed" prints one form whatever
// --format says, so its help does not list that flag; the form of a failure still depends on it.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if selected := ctx.Selected(); selected != nil && selected.Tag.Has("fixed") {
		for _, flag := range ctx.Model.Flags {
			flag.Hidden = flag.Hidden || flag.Name == "format"
		}
	}
	if ctx.Model.HelpFlag != nil {
		ctx.Model.HelpFlag.Group = &kong.Group{Key: globalFlags, Title: globalFlags}
	}
	selected := ctx.Selected()
	if selected != nil {
		if e := manual.Example(ctx.Model, selected); e != "" {
			selected.Detail = strings.TrimSpace(selected.Detail + "\n\nExample:\n\n    " + e)
		}
	}
	options.FlagsLast = true
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	if strings.HasPrefix(ctx.Model.Name, "pflow-") {
		_, err := fmt.Fprintf(ctx.Stdout, "\nFiles: the folder $PFLOW_HOME, by default ~/.pflow.\n")
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(ctx.Stdout, "Documentation: %s\n", Documentation)
	return err
}

// Documentation is where the documentation is.
const Documentation = "https://github.com/pflow-suite/pflow/tree/main/docs"

// globalFlags is the group of the flags that all programs have.
const globalFlags = "Global flags:"

// ownVariables lets a program's own environment variables set the common flags, before those of the suite.
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

// commandOf returns the command that a parse error is about, with the names of its groups, or "". An argument that a default command does
// not take is about no command.
func commandOf(err error) string {
	var names []string
	of := selected(err)
	if of != nil && of.Tag.Default != "" && strings.HasPrefix(err.Error(), "unexpected argument ") {
		return ""
	}
	for n := of; n != nil && n.Parent != nil && !n.Hidden; n = n.Parent {
		names = append([]string{n.Name}, names...)
	}
	return strings.Join(names, " ")
}

// exitStatus returns the exit status of a command's error, and reports the error if that is not done yet.
func (a *App) exitStatus(err error) int {
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

// Report writes a fault as JSON to standard output, if that carries JSON, and for people to standard error.
func (a *App) Report(f *fault.Fault) {
	if a.JSON() {
		_ = a.JSONLine(failure{Error: f})
	}
	a.Complain(f)
}

// fail reports a fault and returns its exit status.
func (a *App) fail(f *fault.Fault) int {
	a.Report(f)
	if a.Stdout.Closed() {
		return 141
	}
	return f.ExitStatus()
}

// failure is the JSON document of a fault.
type failure struct {
	Success bool         `json:"success"`
	Error   *fault.Fault `json:"error"`
}

// Complain writes a fault for people to standard error, as lines "program: error: …" and "program: hint: …". It addresses the
// fault to the reader, which changes it in place.
func (a *App) Complain(f *fault.Fault) {
	f.Address(a.Reader)
	if !f.OnlySums() {
		a.complain(f)
	}
	for i, e := range f.Errors {
		if i == maxComplaints {
			_, _ = fmt.Fprintf(a.messages, "%s: error: … and %d more\n", a.Name, len(f.Errors)-i)
			return
		}
		a.complain(e)
	}
}

// Reported returns the error of a command whose failure is on standard output already. It writes the failure to standard
// error; the error only carries the exit status. The error of an interrupted command is returned unchanged.
func (a *App) Reported(err error) error {
	if err == nil || a.Context.Err() != nil {
		return err
	}
	f := fault.From(err)
	a.Complain(f)
	return Status(f.ExitStatus())
}

// maxComplaints is the most errors that Complain writes.
const maxComplaints = 20

// complain writes one error: its place, its message, the line of text that it is in, and its suggestions.
func (a *App) complain(f *fault.Fault) {
	_, _ = fmt.Fprintf(a.messages, "%s: error: %s%s\n", a.Name, f.Where(), f.Message)
	WriteExcerpt(a.messages, f, columnsOf(a.Stderr))
	for _, h := range f.Suggestions {
		_, _ = fmt.Fprintf(a.messages, "%s: hint: %s\n", a.Name, h)
	}
}

// recover takes over the flags that say how a failure is printed from arguments that cannot be parsed: then kong has not set the
// fields of the grammar.
func (a *App) recover(args []string) {
	a.format = flagIn(args, "--format", "auto")
	a.Reader = fault.Reader(flagIn(args, "--hints", string(fault.Shell)))
	a.MaxBytes, _ = strconv.Atoi(flagIn(args, "--max-bytes", "0"))
}

// flagIn returns the last value of a flag among arguments that cannot be parsed, or otherwise if it is not there.
func flagIn(args []string, flag, otherwise string) string {
	value := otherwise
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if given, ok := strings.CutPrefix(arg, flag+"="); ok {
			value = given
		} else if arg == flag && i+1 < len(args) {
			value = args[i+1]
		}
	}
	return value
}
