// Package install adds a server of the suite to the configuration of MCP clients: with the client's own command where that is
// installed, else by showing what to add to which file. It writes no file itself.
package install

import (
	"context"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
)

// Server is how a client starts a server.
type Server struct {
	// Name is the name in the client's configuration.
	Name string
	// Command is an absolute path.
	Command string
	Args    []string
	// Env holds additional variables.
	Env map[string]string
}

// The scopes of a configuration: of the user in all projects, or of everyone in one project.
const (
	User    = "user"
	Project = "project"
)

// Steps are what adds a server to a client.
type Steps struct {
	// Command is the command line of the client that does it; nil if the client has no such command for the scope.
	Command []string
	// File is the client's configuration file, and Snippet is its content if it has only this server. In the scope of a project
	// the path is relative to the project's folder.
	File, Snippet string
	// Remove is the command line that undoes Command, for clients that do not replace a server; else nil.
	Remove []string
}

// For returns the steps for one of Clients, in an environment and on an operating system as runtime.GOOS names it. A scope that the
// client does not have is a usage_error.
func For(client, scope string, server Server, env []string, goos string) (*Steps, error) {
	for _, c := range clients() {
		if c.name != client {
			continue
		}
		place := places{env: env, goos: goos}
		steps := &Steps{File: c.file(place), Snippet: c.snippet(server)}
		if c.command != nil {
			steps.Command, steps.Remove = c.command(server, scope)
		}
		if scope == Project {
			if c.projectFile == "" {
				return nil, fault.New(fault.Usage, "%s has no configuration for a project", client).Suggest("Leave --scope out: the server is then there in all projects")
			}
			steps.File = c.projectFile
		}
		return steps, nil
	}
	f := fault.New(fault.Usage, "Unknown client %q", fault.Truncate(client, 100))
	f.Available = Clients()
	if near, ok := fault.Nearest(client, f.Available); ok {
		f.Suggest("Did you mean %q?", near)
	}
	return nil, f.Suggest("The clients are %s; for any other, see its documentation on stdio servers", strings.Join(f.Available, ", "))
}

// patience is how long a client's command may take.
const patience = 2 * time.Minute

// Run runs the client's own command and reports whether there is one: its program is in the PATH of env. The fault of a command that
// fails has what it printed as the detail "output".
func (s *Steps) Run(ctx context.Context, env []string) (ran bool, err error) {
	if s.Command == nil {
		return false, nil
	}
	path, err := process.LookPath(s.Command[0], env, "")
	if err != nil {
		return false, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fault.New(fault.Timeout, "%s has not ended within %v", s.Command[0], patience))
	defer cancel()
	output := process.NewTail(4 << 10)
	exit, err := process.Run(ctx, process.Command{Path: path, Args: s.Command[1:], Env: env, Stdout: output, Stderr: output})
	if err != nil {
		return true, err
	}
	if exit.Code == 0 {
		return true, nil
	}
	f := fault.New(fault.Execution, "%s failed with exit status %d", strings.Join(s.Command[:min(3, len(s.Command))], " "), exit.Code)
	if said := strings.TrimSpace(output.String()); said != "" {
		f.Message += ": " + fault.Truncate(said, 1000)
		f.Detail("output", said)
	}
	if s.Remove != nil {
		f = f.Then(fault.Command("If it is there already, remove it first", "%s", Line(s.Remove)))
	}
	return true, f
}

// Line returns a command as a line for a shell.
func Line(command []string) string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = word
		if word == "" || strings.ContainsFunc(word, special) {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// special reports whether a shell may not take a character as it is.
func special(r rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:@%+", r)
}
