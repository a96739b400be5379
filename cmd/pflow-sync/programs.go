package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
)

// program is a file that may be a node type.
type program struct {
	name, path string
	info       fs.FileInfo // nil if the file cannot be examined
}

func (p *program) executable() bool {
	return p.info != nil && p.info.Mode().IsRegular() && p.info.Mode()&0o111 != 0
}

// findPrograms returns the programs pflow-node-NAME in the home's folder and in PATH, sorted by name. Of each name it
// returns the first executable file, as a shell would find it, the home before PATH. A file that is not executable is
// returned if it is the only one with its name. The programs of the suite are left out, because they are built in.
func findPrograms(own, path string, warn func(format string, args ...any)) []program {
	found := map[string]program{}
	for _, dir := range append([]string{own}, filepath.SplitList(path)...) {
		if !filepath.IsAbs(dir) { // its meaning depends on the working directory
			continue
		}
		entries, _ := os.ReadDir(dir) // PATH may name missing folders
		for _, entry := range entries {
			name, ok := strings.CutPrefix(entry.Name(), nodetype.ProgramPrefix)
			if !ok || entry.IsDir() {
				continue
			}
			p := program{name: name, path: filepath.Join(dir, entry.Name())}
			p.info, _ = os.Stat(p.path)
			if p.info != nil && p.info.IsDir() {
				continue
			}
			switch first, known := found[name]; {
			case !known || !first.executable() && p.executable():
				found[name] = p
			case p.executable() && !os.SameFile(first.info, p.info):
				warn("%s is hidden by %s", p.path, first.path)
			}
		}
	}
	for name := range found {
		builtin, ok := nodetype.Builtin(name)
		if ok && builtin.Program == "" {
			warn("%s cannot be a node type: %s is built in", found[name].path, name)
		}
		if ok {
			delete(found, name)
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b program) int { return strings.Compare(a.name, b.name) })
}

// maxDescription is the most bytes of the output of --describe.
const maxDescription = 1 << 20

// describe runs the program with --describe and returns its node type. The program is stopped after the limit, or if it
// prints too much. mark, NAME=VALUE, is added to the environment: what the program leaves running is found by it.
func (p *program) describe(ctx context.Context, env []string, mark string, limit time.Duration) (nodetype.Type, error) {
	if err := p.check(); err != nil {
		return nodetype.Type{}, err
	}
	late := fault.New(fault.Timeout, "It did not answer --describe within %v", limit).
		Suggest("With --describe a program must print its description and exit at once")
	ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stdout := &limitedBuffer{over: func() {
		stop(fault.New(fault.TooLarge, "Its answer to --describe has more than %d KiB", maxDescription>>10))
	}}
	stderr := process.NewTail(2000)
	exit, err := process.Run(ctx, process.Command{
		Path: p.path, Args: []string{"--describe"}, Env: append(slices.Clip(env), mark), Stdout: stdout, Stderr: stderr, Grace: time.Second,
	})
	said := strings.TrimSpace(stderr.String())
	switch {
	case errors.Is(err, process.ErrFormat):
		return nodetype.Type{}, fault.New(fault.Validation, "It is neither a program for this system nor a script whose first line names its interpreter").
			Suggest("Begin a script with a line such as #!/bin/sh or #!/usr/bin/env python3")
	case err != nil && fault.From(err).Type == fault.NotFound:
		return nodetype.Type{}, fault.New(fault.Validation, "The interpreter in its first line does not exist").
			Suggest("Install it, or correct the line")
	case err != nil:
		return nodetype.Type{}, err
	case exit.Code != 0:
		f := fault.New(fault.Execution, "It exited with code %d when it was run with --describe", exit.Code)
		if said != "" {
			f.Message += ": " + said
		}
		return nodetype.Type{}, f.Suggest("With --describe a program must print its description and exit with code 0")
	}
	t, err := nodetype.Described(p.name, p.path, stdout.text.Bytes())
	if f := fault.From(err); f != nil && said != "" {
		f.Detail("stderr", said)
	}
	return t, err
}

// check returns a fault if a program cannot be a node type.
func (p *program) check() error {
	switch {
	case strings.HasPrefix(p.name, "mcp-"):
		return fault.New(fault.Validation, "Names that begin with mcp- are reserved for the tools of MCP servers").Suggest("Choose another name")
	case !nodeName(p.name):
		f := fault.New(fault.Validation, "%q is not a valid name of a node type", fault.Truncate(p.name, home.MaxType)).
			Suggest("Use lower-case letters and digits in words joined by single hyphens, at most %d bytes", home.MaxType)
		if stem, _, ok := strings.Cut(p.name, "."); ok && nodeName(stem) {
			f.Suggest("Name the program %s, without a file extension", nodetype.ProgramPrefix+stem)
		}
		return f
	case p.info == nil:
		return fault.New(fault.Validation, "It cannot be examined, or is a broken symbolic link")
	case !p.executable():
		return fault.New(fault.Validation, "It is not executable").Suggest("Make it executable with: chmod +x '%s'", p.path)
	}
	return nil
}

// nodeName reports whether a name is valid for a node type: ^[a-z0-9]+(-[a-z0-9]+)*$, at most 128 bytes.
func nodeName(name string) bool {
	for word := range strings.SplitSeq(name, "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return len(name) <= home.MaxType
}

// limitedBuffer collects up to maxDescription bytes, and calls over instead of exceeding them.
type limitedBuffer struct {
	text bytes.Buffer
	over func()
}

// Write never returns an error.
func (a *limitedBuffer) Write(p []byte) (int, error) {
	if a.text.Len()+len(p) > maxDescription {
		a.over()
		return len(p), nil
	}
	return a.text.Write(p)
}
