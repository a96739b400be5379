package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/veloflux"
)

// managerFlags say where the Manager is and how to reach it.
type managerFlags struct {
	ManagerURL    string   `name:"manager-url" help:"The Manager's URL, ${default} by default. A path in it precedes every route." env:"VELOFLUX_MANAGER_URL" default:"http://127.0.0.1:8080" placeholder:"URL"`
	TimeoutSecs   float64  `name:"timeout-secs" help:"The most seconds that one request to the Manager may take, ${default} by default." env:"VELOFLUX_TIMEOUT_SECS" default:"10" placeholder:"SECONDS"`
	Header        []string `help:"A header to send with every request, as \"Name: value\". May be repeated." env:"VELOFLUX_HEADER" sep:"none" placeholder:"HEADER"`
	HeaderFile    string   `help:"A file with headers to send, one per line. It is read for each request." env:"VELOFLUX_HEADER_FILE" placeholder:"FILE"`
	TLSCAFile     string   `name:"tls-ca-file" help:"Certificates (PEM) of authorities to trust in addition to the system's." env:"VELOFLUX_TLS_CA_FILE" placeholder:"FILE"`
	TLSCertFile   string   `name:"tls-cert-file" help:"The client's certificate (PEM)." env:"VELOFLUX_TLS_CERT_FILE" placeholder:"FILE"`
	TLSKeyFile    string   `name:"tls-key-file" help:"The key of the client's certificate (PEM)." env:"VELOFLUX_TLS_KEY_FILE" placeholder:"FILE"`
	TLSSkipVerify bool     `name:"tls-skip-verify" help:"Trust any certificate of the Manager." env:"VELOFLUX_TLS_SKIP_VERIFY"`
}

// styleFlags set the style of the tools' names.
type styleFlags struct {
	ToolNames string `help:"The style of the tools' names: dot (streams.list, the default), underscore (streams_list, for clients that refuse dots) or both." enum:"dot,underscore,both" default:"dot" env:"VELOFLUX_TOOL_NAMES" placeholder:"STYLE"`
}

// offerFlags select the tools.
type offerFlags struct {
	ReadOnly     bool  `help:"Offer only tools that change nothing, even if --tools names others." env:"VELOFLUX_READ_ONLY"`
	Tools        names `help:"The only tools to offer, separated by commas. verification stands for those that verify SQL and describe what it can use." env:"VELOFLUX_TOOLS" placeholder:"TOOL"`
	ExcludeTools names `help:"Tools not to offer, separated by commas." env:"VELOFLUX_EXCLUDE_TOOLS" placeholder:"TOOL"`
}

// flags are the flags of all commands that use the Manager.
type flags struct {
	managerFlags

	MaxResponseBytes int64  `help:"The most bytes that an answer may have, ${default} by default." env:"VELOFLUX_MAX_RESPONSE_BYTES" default:"1048576" placeholder:"BYTES"`
	TraceFile        string `help:"Where to write a line for each call and read: a file, - for standard error, or none. By default traces/veloflux.ndjson in $$PFLOW_HOME." env:"VELOFLUX_TRACE_FILE" placeholder:"FILE"`
	TraceSQL         string `name:"trace-sql" help:"How SQL appears in the trace: raw (the default), hash or redact." enum:"raw,hash,redact" default:"raw" env:"VELOFLUX_TRACE_SQL" placeholder:"HOW"`
	LogFile          string `help:"A file for the log instead of standard error." env:"VELOFLUX_LOG_FILE" placeholder:"FILE"`
}

// The trace is rotated at traceBytes, and at most traceFiles older files are kept.
const (
	traceBytes = 16 << 20
	traceFiles = 4
)

// defaultURL is the URL for an empty --manager-url, as a shell makes it from an unset variable.
const defaultURL = "http://127.0.0.1:8080"

// manager returns a client for the Manager of the flags.
func (f *managerFlags) manager() (*veloflux.Manager, error) {
	if !(f.TimeoutSecs > 0) || f.TimeoutSecs > math.MaxInt32 {
		return nil, fault.New(fault.Usage, "--timeout-secs must be a number of seconds above 0")
	}
	header, err := veloflux.ParseHeader(f.Header)
	if err != nil {
		return nil, err
	}
	return veloflux.NewManager(veloflux.Config{
		URL: cmp.Or(f.ManagerURL, defaultURL), Timeout: max(time.Duration(f.TimeoutSecs*float64(time.Second)), 1), Header: header, HeaderFile: f.HeaderFile,
		CAFile: f.TLSCAFile, CertFile: f.TLSCertFile, KeyFile: f.TLSKeyFile, SkipVerify: f.TLSSkipVerify,
	})
}

// names are names of tools, separated by commas on the command line.
type names []string

// Decode parses the value of a flag. It refuses an empty name, which may come from an unset variable of a shell and must
// not offer all tools.
func (n *names) Decode(ctx *kong.DecodeContext) error {
	var text string
	if err := ctx.Scan.PopValueInto("names", &text); err != nil {
		return err
	}
	for name := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(name) == "" {
			return errors.New("the name of a tool is empty; leave the flag out to offer all tools")
		}
		*n = append(*n, name)
	}
	return nil
}

// options returns the options of a runtime with these tools.
func (f *offerFlags) options() veloflux.Options {
	return veloflux.Options{ReadOnly: f.ReadOnly, Tools: f.Tools, ExcludeTools: f.ExcludeTools}
}

// runtime returns a runtime with the given options and those of the flags. The caller must call release at the end.
func (f *flags) runtime(app *cli.App, options veloflux.Options) (r *veloflux.Runtime, release func(), err error) {
	if f.MaxResponseBytes <= 0 {
		return nil, nil, fault.New(fault.Usage, "--max-response-bytes must be a number above 0")
	}
	manager, err := input.Wait(app.Context, f.manager, func(*veloflux.Manager) {}) // its files may be pipes
	if err != nil {
		return nil, nil, err
	}
	log, err := f.log(app)
	if err != nil {
		return nil, nil, err
	}
	var sink io.Closer
	if options.Trace, sink, err = f.trace(app); err != nil {
		_ = log.Close()
		return nil, nil, err
	}
	options.MaxResponse, options.TraceSQL, options.Log = f.MaxResponseBytes, veloflux.SQLMode(f.TraceSQL), app.Log
	release = func() {
		if r != nil {
			f.close(app, r)
		}
		_ = sink.Close()
		_ = log.Close()
	}
	if r, err = veloflux.NewRuntime(manager, options); err != nil {
		release()
		return nil, nil, err
	}
	running.Store(r)
	return r, release, nil
}

// close ends a runtime. It waits for pipelines whose create was not answered, and for the requests that are under way.
func (f *flags) close(app *cli.App, r *veloflux.Runtime) {
	requests := min(2*time.Duration(f.TimeoutSecs*float64(time.Second)), veloflux.Settling)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(app.Context), veloflux.Settling+requests)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		app.Log.Warn("temporary pipelines may be left behind; the next start of a server deletes them", "error", err)
	}
}

// nothing is a Closer that does nothing.
type nothing struct{}

func (nothing) Close() error { return nil }

// log sends the log to the file of the flags, if any, and returns what closes it.
func (f *flags) log(app *cli.App) (io.Closer, error) {
	if f.LogFile == "" {
		return nothing{}, nil
	}
	// O_NONBLOCK keeps a pipe without a reader from blocking the program.
	file, err := os.OpenFile(f.LogFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fault.New(fault.Usage, "Cannot write the log to %s: %v", f.LogFile, fault.Reason(err)).Suggest("Give --log-file another file, or leave it out for standard error")
	}
	if same(file, app.Stdout.File()) {
		_ = file.Close()
		return nil, fault.New(fault.Usage, "--log-file is standard output, which carries the answers").Suggest("Leave it out for standard error")
	}
	app.LogTo(file)
	return file, nil
}

func same(a, b *os.File) bool {
	one, err := a.Stat()
	other, otherErr := b.Stat()
	return err == nil && otherErr == nil && !isNull(one) && os.SameFile(one, other)
}

// isNull reports whether a file is a device such as /dev/null, to which any number of streams may go.
func isNull(info os.FileInfo) bool { return info.Mode()&os.ModeCharDevice != 0 }

// trace opens the trace of the flags. It does not fail if only the default file cannot be written.
func (f *flags) trace(app *cli.App) (veloflux.Sink, io.Closer, error) {
	path := f.TraceFile
	switch path {
	case "none":
		return nil, nothing{}, nil
	case "-":
		return veloflux.WriterSink(app.Messages()), nothing{}, nil
	case "":
		home, err := app.Home()
		if err != nil {
			app.Log.Warn("no trace is written", "error", err)
			return nil, nothing{}, nil //nolint:nilerr // logged
		}
		path = home.Path("traces", "veloflux.ndjson")
	}
	sink, err := veloflux.OpenFileSink(path, traceBytes, traceFiles)
	switch {
	case err != nil && f.TraceFile == "":
		app.Log.Warn("no trace is written", "error", err)
		return nil, nothing{}, nil
	case err != nil:
		return nil, nil, err
	}
	return sink, sink, nil
}
