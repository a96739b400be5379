package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/mcp/oauth"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/process/chain"
	"github.com/pflow-suite/pflow/pkg/process/environ"
)

const (
	// DefaultStartTimeout bounds the time from a server's start to the end of the handshake.
	DefaultStartTimeout = 30 * time.Second
	// DefaultCallTimeout bounds a call if the server's entry has no timeout.
	DefaultCallTimeout = 30 * time.Second
	// secondTimeout bounds the second start of a server that has refused the handshake. Some ignore what they do not know.
	secondTimeout = 10 * time.Second
	// stopPatience is how long a server may take to exit after its standard input was closed.
	stopPatience = 2 * time.Second
	// stopGrace is the time between SIGTERM and SIGKILL.
	stopGrace = 2 * time.Second
)

// The revisions of MCP to connect with, in this order. Nearly every server knows the first. The second has no handshake,
// and many servers that do not know it ignore its requests or crash.
const (
	handshakeVersion = "2025-11-25"
	statelessVersion = "2026-07-28"
)

// Spec says which server to connect to, and how.
type Spec struct {
	// Name is the name of the server in messages and node types.
	Name string
	// Server is the expanded entry of the server.
	Server Server
	// Dir is the working directory of a stdio server; empty means that of this program. It is also offered to the server as a
	// root, unless it is empty.
	Dir string
	// Env is the environment of this program, KEY=VALUE each. A stdio server has what environ.Passed lets through, or all if its entry says so,
	// and the entry's env. Its chain.Variable goes along with calls.
	Env []string
	// Mark is a variable, NAME=VALUE, that all processes of a stdio server have in their environment, so that they are found
	// when they have left its process group. It may be empty.
	Mark string
	// Login returns the tokens for an HTTP server. It may be nil.
	Login *oauth.Source
	// Log receives warnings and, at debug level, the server's standard error. It may be nil.
	Log *slog.Logger
	// StartTimeout bounds the start of the server, to the end of the handshake; 0 means the timeout of the server's entry, and
	// without one DefaultStartTimeout.
	StartTimeout time.Duration
}

// Connect starts a stdio server, or connects to an HTTP server, and performs the handshake. ctx bounds only the start. If
// ctx ends first, the error is its cause. All other errors are faults: not_found "Command not found: X"; timeout;
// protocol_error "MCP protocol version not supported", "Invalid JSON response from server" or another failure of the
// handshake; execution_error "MCP server process terminated unexpectedly"; for HTTP, the fault for the status. After an
// error no process is left running.
func Connect(ctx context.Context, spec Spec) (*Session, error) {
	if err := spec.Server.Check(spec.Name); err != nil {
		return nil, err
	}
	if spec.Server.Disabled {
		return nil, invalid(spec.Name, "is disabled").Then(fault.ByPerson("Let it start again", "pflow-sync enable %s", spec.Name))
	}
	if spec.Log == nil {
		spec.Log = slog.New(slog.DiscardHandler)
	}
	if spec.StartTimeout <= 0 {
		spec.StartTimeout = spec.Server.timeout(DefaultStartTimeout)
	}
	late := fault.New(fault.Timeout, "MCP server %s did not start within %s", spec.Name, seconds(spec.StartTimeout)).
		Suggest("Start its command by hand to see what it waits for")
	limited, cancel := context.WithTimeoutCause(ctx, spec.StartTimeout, late)
	defer cancel()
	s, err := open(limited, spec, handshakeVersion)
	if isErrorResponse(err) || isBadRequest(err) { // it does not know the handshake, so it may speak the revision without one
		again, stop := context.WithTimeout(limited, secondTimeout)
		if modern, err2 := open(again, spec, statelessVersion); err2 == nil {
			s, err = modern, nil
		}
		stop()
	}
	switch {
	case err == nil:
		return s, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, withWithheld(spec, startFault(spec, err))
}

// maxWithheld is how many names of variables a fault lists.
const maxWithheld = 30

// withWithheld adds to the fault of a failed start which variables the server was not given: it may need one of them.
func withWithheld(spec Spec, err error) error {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || spec.Server.Transport() != Stdio || spec.Server.InheritEnv {
		return err
	}
	_, withheld := environ.Passed(spec.Env)
	withheld = slices.DeleteFunc(withheld, func(name string) bool {
		_, given := spec.Server.Env[name]
		return given || name == "_" || name == "SHLVL" || name == "PWD" || name == "OLDPWD"
	})
	if len(withheld) == 0 {
		return err
	}
	first := func(name string) int { // what it may need to log in
		if redact.SecretName(name) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(withheld, func(a, b string) int { return cmp.Compare(first(a), first(b)) })
	names := strings.Join(withheld[:min(len(withheld), maxWithheld)], ", ")
	if more := len(withheld) - maxWithheld; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return f.Suggest(`It was not given these variables: %s. If it needs one, name it in its entry of %s, as "env": {"NAME": "${NAME}"}; "inherit_env": true gives it all`, names, File)
}

// open makes one attempt with a fresh process or connection.
func open(ctx context.Context, spec Spec, version string) (*Session, error) {
	s := &Session{name: spec.Name, timeout: spec.Server.timeout(DefaultCallTimeout), log: spec.Log, runs: process.Getenv(spec.Env, chain.Variable), active: newActiveCalls(), roots: roots(spec)}
	s.calls, s.cancelCalls = context.WithCancelCause(context.Background())
	var transport mcp.Transport
	if spec.Server.Transport() == HTTP {
		web, err := newWebClient(spec)
		if err != nil {
			return nil, err
		}
		web.cancels, web.received = &s.cancels, inbox{s}.received
		s.web, transport = web, web.transport()
	} else {
		child, err := process.Start(command(spec))
		if err != nil {
			return nil, err
		}
		s.child = child
		s.stdio = newStdioConn(spec.Name, child.Stdin, child.Stdout, spec.Log)
		s.stdio.cancels, s.stdio.received = &s.cancels, inbox{s}.received
		transport = s.stdio
		go s.watchMemory(spec.Server.MaxMemory)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "pflow", Version: "1"}, inbox{s}.clientOptions(spec, version))
	client.AddRoots(s.roots...) //nolint:staticcheck // servers of today use them
	client.AddSendingMiddleware(addMoreParams)
	if err := addTaskMethods(client); err != nil {
		return nil, err
	}
	type outcome struct {
		session *mcp.ClientSession
		err     error
	}
	done := make(chan outcome, 1)
	first := &pendingRequest{decoded: true}
	go func() { // after a failure the SDK closes the connection, which may block longer than ctx
		cs, err := client.Connect(first.attach(ctx), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
		done <- outcome{cs, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			err := s.failureCause(ctx, o.err)
			s.stop(0)
			return nil, err
		}
		s.client, s.handshake = o.session, first.kept()
		return s, nil
	case <-ctx.Done():
		err := s.failureCause(ctx, ctx.Err())
		s.stop(0)
		return nil, err
	}
}

// command returns the command of a stdio server, in the folder of its entry or that of the spec.
func command(spec Spec) process.Command {
	env := slices.Clip(spec.Env)
	if !spec.Server.InheritEnv {
		env, _ = environ.Passed(spec.Env)
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Server.Env)) {
		env = append(env, name+"="+spec.Server.Env[name])
	}
	if spec.Mark != "" { // last, so that the entry cannot hide it
		env = append(env, spec.Mark)
	}
	dir := spec.Dir
	if own := spec.Server.Cwd; own != "" {
		dir = own
		if !filepath.IsAbs(own) {
			dir = filepath.Join(spec.Dir, own)
		}
	}
	return process.Command{
		Path: spec.Server.Command, Args: spec.Server.Args, Dir: dir, Env: env, Grace: stopGrace,
		Stderr: &stderrLog{log: spec.Log, server: spec.Name},
	}
}

// isErrorResponse reports whether err is an error response of the server itself.
func isErrorResponse(err error) bool {
	_, refused := errors.AsType[*jsonrpc.Error](err)
	return refused
}

// isBadRequest reports whether err is the HTTP status by which a server refuses a revision of MCP.
func isBadRequest(err error) bool {
	f, ok := errors.AsType[*fault.Fault](err)
	return ok && f.Details["http_status"] == http.StatusBadRequest
}

// startFault returns the fault for a failed start.
func startFault(spec Spec, err error) error {
	if we, ok := errors.AsType[*jsonrpc.Error](err); ok {
		said := cmp.Or(fault.Truncate(we.Message, maxSaid), "the server returned an error without a message")
		text := strings.ToLower(said)
		if we.Code == jsonrpc.CodeMethodNotFound || we.Code == mcp.CodeUnsupportedProtocolVersion ||
			strings.Contains(text, "protocol") && strings.Contains(text, "version") {
			return versionFault(spec.Name, said)
		}
		return fault.New(fault.Protocol, "MCP handshake with server %s failed: %s", spec.Name, said).Detail("code", we.Code)
	}
	if strings.Contains(err.Error(), "unsupported protocol version") { // the SDK's error has no exported type
		return versionFault(spec.Name, fault.Truncate(err.Error(), maxSaid))
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	return fault.New(fault.Protocol, "MCP handshake with server %s failed: %s", spec.Name, fault.Truncate(err.Error(), maxSaid))
}

func versionFault(server, why string) *fault.Fault {
	return fault.New(fault.Protocol, "MCP protocol version not supported").Detail("server", server).Detail("reason", why).
		Suggest("Server %s must speak a revision of MCP from 2024-11-05 to %s; update it", server, statelessVersion)
}

// seconds returns a duration in words, such as "1 second" or "30 seconds".
func seconds(d time.Duration) string {
	if d == time.Second {
		return "1 second"
	}
	return fmt.Sprintf("%v seconds", d.Seconds())
}
