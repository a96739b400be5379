package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/pflow-suite/pflow/pkg/cli"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/veloflux"
)

// managerFlags say which Manager is meant, and how it is reached.
type managerFlags struct {
	ManagerURL    string   `name:"manager-url" help:"The Manager's URL; a path in it is kept." env:"VELOFLUX_MANAGER_URL" default:"http://127.0.0.1:8080" placeholder:"URL"`
	TimeoutSecs   float64  `name:"timeout-secs" help:"How many seconds one request to the Manager may take." env:"VELOFLUX_TIMEOUT_SECS" default:"10" placeholder:"SECONDS"`
	Header        []string `help:"A header to send with every request, as \"Name: value\"; may be given several times." env:"VELOFLUX_HEADER" sep:"none" placeholder:"HEADER"`
	HeaderFile    string   `help:"A file with headers to send, one a line; read again when it has changed." env:"VELOFLUX_HEADER_FILE" placeholder:"FILE"`
	TLSCAFile     string   `name:"tls-ca-file" help:"Certificates (PEM) of authorities to trust besides the system's." env:"VELOFLUX_TLS_CA_FILE" placeholder:"FILE"`
	TLSCertFile   string   `name:"tls-cert-file" help:"The client's certificate (PEM)." env:"VELOFLUX_TLS_CERT_FILE" placeholder:"FILE"`
	TLSKeyFile    string   `name:"tls-key-file" help:"The key of the client's certificate (PEM)." env:"VELOFLUX_TLS_KEY_FILE" placeholder:"FILE"`
	TLSSkipVerify bool     `name:"tls-skip-verify" help:"Trust any certificate of the Manager." env:"VELOFLUX_TLS_SKIP_VERIFY"`
}

// offerFlags say which tools there are.
type offerFlags struct {
	ToolNames    string   `help:"How the tools' names are written: dot (streams.list), underscore (streams_list) or both." enum:"dot,underscore,both" default:"dot" env:"VELOFLUX_TOOL_NAMES" placeholder:"STYLE"`
	ReadOnly     bool     `help:"Offer only tools that change nothing, whatever --tools says." env:"VELOFLUX_READ_ONLY"`
	Tools        []string `help:"The only tools to offer, with commas between them." env:"VELOFLUX_TOOLS" placeholder:"TOOL"`
	ExcludeTools []string `help:"Tools not to offer, with commas between them." env:"VELOFLUX_EXCLUDE_TOOLS" placeholder:"TOOL"`
}

// flags are those of all commands.
type flags struct {
	managerFlags
	offerFlags

	CacheTTL         string `name:"cache-ttl" help:"How long what a resource gave is given again, such as 30s or 5m; 0 asks the Manager for each read." env:"VELOFLUX_CACHE_TTL" default:"1m" placeholder:"DURATION"`
	MaxResponseBytes int64  `help:"The most bytes that an answer may have." env:"VELOFLUX_MAX_RESPONSE_BYTES" default:"1048576" placeholder:"BYTES"`
	TraceFile        string `help:"Where each call and read leaves a line: a file, - for standard error, none for nowhere. By default traces/veloflux.ndjson in $PFLOW_HOME." env:"VELOFLUX_TRACE_FILE" placeholder:"FILE"`
	TraceSQL         string `name:"trace-sql" help:"How SQL stands in the trace: raw, hash or redact." enum:"raw,hash,redact" default:"raw" env:"VELOFLUX_TRACE_SQL" placeholder:"HOW"`
	LogFile          string `help:"A file for the log, in place of standard error." env:"VELOFLUX_LOG_FILE" placeholder:"FILE"`
}

// The trace is rotated at this size, and this many older files are kept.
const (
	traceBytes = 16 << 20
	traceFiles = 4
)

// defaultURL is where a Manager listens when nothing else is said; an empty variable says nothing.
const defaultURL = "http://127.0.0.1:8080"

// manager is the Manager that the flags mean.
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

// options are those of a runtime, but for trace and log.
func (f *flags) options() (o veloflux.Options, err error) {
	o = veloflux.Options{
		MaxResponse: f.MaxResponseBytes, ToolNames: veloflux.NameStyle(f.ToolNames), ReadOnly: f.ReadOnly,
		Tools: f.Tools, ExcludeTools: f.ExcludeTools, TraceSQL: veloflux.SQLMode(f.TraceSQL),
	}
	if f.MaxResponseBytes <= 0 {
		return o, fault.New(fault.Usage, "--max-response-bytes must be a number above 0")
	}
	if f.CacheTTL != "0" {
		o.CacheTTL, err = cli.Duration(f.CacheTTL)
	}
	return o, err
}

// runtime makes a runtime as the flags say. What release does must be done at the end.
func (f *flags) runtime(app *cli.App, adjust func(*veloflux.Options)) (r *veloflux.Runtime, release func(), err error) {
	options, err := f.options()
	if err != nil {
		return nil, nil, err
	}
	manager, err := f.manager()
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
	options.Log = app.Log
	if adjust != nil {
		adjust(&options)
	}
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
	return r, release, nil
}

// closing is how long the end of a program waits for what verifications have left to be deleted.
const closing = 5 * time.Second

func (f *flags) close(app *cli.App, r *veloflux.Runtime) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(app.Context), closing)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		app.Log.Warn("temporary pipelines may be left behind; the next start deletes them", "error", err)
	}
}

// nothing is a Closer for what is not to be closed.
type nothing struct{}

func (nothing) Close() error { return nil }

// log has the log go where the flags say.
func (f *flags) log(app *cli.App) (io.Closer, error) {
	if f.LogFile == "" {
		return nothing{}, nil
	}
	file, err := os.OpenFile(f.LogFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fault.New(fault.Usage, "Cannot write the log to %s: %v", f.LogFile, fault.Reason(err)).Suggest("Give --log-file a file in a folder that exists")
	}
	app.LogTo(file)
	return file, nil
}

// trace is where the trace goes. That the usual place cannot be written is no reason to fail.
func (f *flags) trace(app *cli.App) (veloflux.Sink, io.Closer, error) {
	path := f.TraceFile
	switch path {
	case "none":
		return nil, nothing{}, nil
	case "-":
		return veloflux.WriterSink(app.Stderr), nothing{}, nil
	case "":
		home, err := app.Home()
		if err != nil {
			app.Log.Warn("there is no trace", "error", err)
			return nil, nothing{}, nil //nolint:nilerr // said
		}
		path = home.Path("traces", "veloflux.ndjson")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, fault.New(fault.Usage, "Cannot write the trace to %s: %v", f.TraceFile, err)
	}
	sink, err := veloflux.OpenFileSink(path, traceBytes, traceFiles)
	switch {
	case err != nil && f.TraceFile == "":
		app.Log.Warn("there is no trace", "error", err)
		return nil, nothing{}, nil
	case err != nil:
		return nil, nil, err
	}
	return sink, sink, nil
}

// asError finds the runtime's error in a chain.
func asError(err error) *veloflux.Error {
	if e, ok := errors.AsType[*veloflux.Error](err); ok {
		return e
	}
	return &veloflux.Error{Code: veloflux.CodeToolFailed, Message: err.Error()}
}
