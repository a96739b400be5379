// Package clientconfig reads the MCP servers that other clients have in their configuration, and translates them to entries of this
// suite's. It reads files only: no server is started, and nothing is changed.
package clientconfig

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/install"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
)

// The clients, as the package install names them.
const (
	claudeCode    = "claude-code"
	claudeDesktop = "claude-desktop"
	codex         = "codex"
	cursor        = "cursor"
	gemini        = "gemini"
	vscode        = "vscode"
)

// Entry is a server in the configuration of a client.
type Entry struct {
	Client string
	// File is the path of the client's configuration.
	File string
	// Project is the folder of the project that has the server, or "" for a server of the user.
	Project string
	// Name is the client's name for the server.
	Name string
	// Server is the translated entry. It has a type, unless Fault is set.
	Server mcpclient.Server
	// Differs are texts about what is not so as in the client.
	Differs []string
	// Fault says why the server cannot be taken over. It repeats no value that could be a secret.
	Fault *fault.Fault
}

// Search finds the configurations of clients on this machine.
type Search struct {
	// Env and GOOS determine the paths of the clients' files.
	Env  []string
	GOOS string
	// Dir is the absolute path of the project whose files are read.
	Dir string
	// Read returns the content of a file.
	Read func(path string) ([]byte, error)
}

// Find returns the servers of the clients: first those of the user, then those of projects, in the order of install.Clients and the
// names. It also returns a fault for each file that cannot be read.
func (s Search) Find() (found []Entry, broken []*fault.Fault) {
	clients := install.Clients()
	var projects []Entry
	for _, client := range clients {
		user, project := install.Files(client, s.Env, s.GOOS)
		entries, f := s.file(file{client: client, path: user, read: s.Read})
		for _, e := range entries {
			if e.Project == "" {
				found = append(found, e)
			} else {
				projects = append(projects, e)
			}
		}
		if f != nil {
			broken = append(broken, f)
		}
		if project = filepath.Join(s.Dir, project); project == user || project == s.Dir {
			continue
		}
		entries, f = s.file(file{client: client, path: project, project: s.Dir, read: s.Read})
		projects = append(projects, entries...)
		if f != nil {
			broken = append(broken, f)
		}
	}
	return append(found, projects...), broken
}

// file reads one file. A file that does not exist has no servers.
func (s Search) file(from file) ([]Entry, *fault.Fault) {
	data, err := s.Read(from.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		var entries []Entry
		if entries, err = from.parse(data); err == nil {
			return entries, nil
		}
	}
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok {
		f = fault.New(fault.Validation, "%s cannot be read: %v", from.path, err)
	}
	f.File = from.path
	return nil, f
}

// Parse parses the content of the configuration file of a client. project is the folder of the project whose file it is, or "".
// read returns the content of a file of variables that an entry names.
func Parse(client, path, project string, data []byte, read func(path string) ([]byte, error)) ([]Entry, error) {
	return file{client: client, path: path, project: project, read: read}.parse(data)
}
