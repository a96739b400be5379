package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
)

const (
	// DefaultStartTimeout is the time a server has from its start to the end of the handshake.
	DefaultStartTimeout = 30 * time.Second
	// DefaultCallTimeout is the time a call has when its server's entry says nothing else.
	DefaultCallTimeout = 30 * time.Second
	// listTimeout is the time a server has for the whole list of its tools.
	listTimeout = 5 * time.Second
	// stopPatience is how long a server may take to end by itself once its standard input is closed.
	stopPatience = 2 * time.Second
	// stopGrace is the time between SIGTERM and SIGKILL.
	stopGrace = 2 * time.Second
)

// The revisions to open with. Nearly every server speaks the first; one that ignores or dies on what it does not know
// would never survive being asked for the second, which has no handshake.
const (
	handshakeVersion = "2025-11-25"
	statelessVersion = "2026-07-28"
)

// Spec says which server to connect to, and how.
type Spec struct {
	// Name is the server's name in messages and node types.
	Name string
	// Server is its entry, expanded.
	Server Server
	// Dir is the working directory of a stdio server, by default this program's.
	Dir string
	// Env is the environment a stdio server's own env is added to, KEY=VALUE each.
	Env []string
	// Log takes warnings, and with debug what the server says on standard error. Nothing is logged when it is nil.
	Log *slog.Logger
	// StartTimeout is the time the server has to start; when it is zero DefaultStartTimeout, or the server's own
	// timeout where that is longer.
	StartTimeout time.Duration
}

// Connect starts a stdio server, or reaches one over HTTP, and shakes hands with it. ctx bounds the start only. When ctx is
// done first, its cause is the error; what fails otherwise is a fault: not_found "Command not found: X"; timeout; protocol_error "MCP protocol version not supported",
// "Invalid JSON response from server" or a handshake that failed otherwise; execution_error "MCP server process
// terminated unexpectedly"; for HTTP what the status says. Nothing is left running then.
func Connect(ctx context.Context, spec Spec) (*Session, error) {
	if err := spec.Server.Check(spec.Name); err != nil {
		return nil, err
	}
	if spec.Log == nil {
		spec.Log = slog.New(slog.DiscardHandler)
	}
	if spec.StartTimeout <= 0 { // a server that is given more time for its calls gets it for its start too
		spec.StartTimeout = max(DefaultStartTimeout, spec.Server.callTimeout())
	}
	late := fault.New(fault.Timeout, "MCP server %s did not start within %s", spec.Name, seconds(spec.StartTimeout)).
		Suggest("Start its command by hand to see what it waits for")
	limited, cancel := context.WithTimeoutCause(ctx, spec.StartTimeout, late)
	defer cancel()
	s, err := open(limited, spec, handshakeVersion)
	if answered(err) { // it lives and does not know the handshake: perhaps it is of the era without one
		if modern, err2 := open(limited, spec, statelessVersion); err2 == nil {
			s, err = modern, nil
		}
	}
	switch {
	case err == nil:
		return s, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, startFault(spec, err)
}

// open makes one attempt with a fresh process or connection.
func open(ctx context.Context, spec Spec, version string) (*Session, error) {
	s := &Session{name: spec.Name, timeout: spec.Server.callTimeout(), log: spec.Log}
	s.calls, s.cancelCalls = context.WithCancelCause(context.Background())
	var transport mcp.Transport
	if spec.Server.Transport() == HTTP {
		web, err := newWeb(spec.Server)
		if err != nil {
			return nil, err
		}
		s.web, transport = web, web.transport()
	} else {
		child, err := process.Start(command(spec))
		if err != nil {
			return nil, err
		}
		s.child = child
		s.pipe = newPipe(spec.Name, child.Stdin, child.Stdout, spec.Log)
		transport = s.pipe
		go s.watchMemory(spec.Server.MaxMemory)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "pflow", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	type outcome struct {
		session *mcp.ClientSession
		err     error
	}
	done := make(chan outcome, 1)
	go func() { // the SDK closes a connection that failed, which can wait for more than ctx
		cs, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
		done <- outcome{cs, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			err := s.broken(ctx, o.err)
			s.stop(0)
			return nil, err
		}
		s.client = o.session
		return s, nil
	case <-ctx.Done():
		err := s.broken(ctx, ctx.Err())
		s.stop(0)
		return nil, err
	}
}

// command is the child of a stdio server. NODE_EXTRA_CA_CERTS is not handed down: reading it costs every start of a
// Node program a few hundred milliseconds; a server that needs it has it in its env.
func command(spec Spec) process.Command {
	env := slices.DeleteFunc(slices.Clone(spec.Env), func(kv string) bool { return strings.HasPrefix(kv, "NODE_EXTRA_CA_CERTS=") })
	for _, name := range slices.Sorted(maps.Keys(spec.Server.Env)) {
		env = append(env, name+"="+spec.Server.Env[name])
	}
	return process.Command{
		Path: spec.Server.Command, Args: spec.Server.Args, Dir: spec.Dir, Env: env, Grace: stopGrace,
		Stderr: &said{log: spec.Log, server: spec.Name},
	}
}

// answered says whether the server itself refused the handshake, alive and well.
func answered(err error) bool {
	_, refused := errors.AsType[*jsonrpc.Error](err)
	return refused
}

// startFault puts a failed start into words.
func startFault(spec Spec, err error) error {
	if we, ok := errors.AsType[*jsonrpc.Error](err); ok {
		text := strings.ToLower(we.Message)
		if we.Code == jsonrpc.CodeMethodNotFound || we.Code == mcp.CodeUnsupportedProtocolVersion ||
			strings.Contains(text, "protocol") && strings.Contains(text, "version") {
			return versionFault(spec.Name, we.Message)
		}
		return fault.New(fault.Protocol, "MCP handshake with server %s failed: %s", spec.Name, we.Message).Detail("code", we.Code)
	}
	if strings.Contains(err.Error(), "unsupported protocol version") { // the SDK's error has no exported type
		return versionFault(spec.Name, err.Error())
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	return fault.New(fault.Protocol, "MCP handshake with server %s failed: %v", spec.Name, err)
}

func versionFault(server, why string) *fault.Fault {
	return fault.New(fault.Protocol, "MCP protocol version not supported").Detail("server", server).Detail("reason", why).
		Suggest("Server %s must speak a revision of MCP from 2024-11-05 to %s; update it", server, statelessVersion)
}

// seconds writes a duration as people say it.
func seconds(d time.Duration) string {
	if d == time.Second {
		return "1 second"
	}
	return fmt.Sprintf("%v seconds", d.Seconds())
}
