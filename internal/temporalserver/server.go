// Package temporalserver starts Temporal's server for development, for tests and benchmarks.
package temporalserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Server is a server on this machine, with its data in a file, so that it can be killed and started again.
type Server struct {
	// Address is HOST:PORT.
	Address string

	program, dir string
	cmd          *exec.Cmd
}

// New starts a server. program is Temporal's program, dir the folder for the files of the server.
func New(program, dir string) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{Address: l.Addr().String(), program: program, dir: dir}
	if err := l.Close(); err != nil {
		return nil, err
	}
	return s, s.Start()
}

// Database is the file with the data. There may be one more, with -wal at its end.
func (s *Server) Database() string { return filepath.Join(s.dir, "temporal.db") }

// starting is the longest that a server may take to begin.
const starting = time.Minute

// Start starts the server again after Kill, and waits until it takes connections.
func (s *Server) Start() error {
	_, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(s.dir, "server.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	s.cmd = s.command("server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", port, "--db-filename", s.Database(), "--log-level", "error")
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := errors.Join(s.cmd.Start(), log.Close()); err != nil {
		return err
	}
	for deadline := time.Now().Add(starting); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", s.Address)
		if err == nil {
			return conn.Close()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the server of Temporal does not start: %w", err)
		}
	}
}

// Kill ends the server without notice.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func (s *Server) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.program, args...)        //nolint:gosec // the path is the caller's
	cmd.Env = append(cmd.Environ(), "HOME="+s.dir) // without a configuration of the user
	return cmd
}

// Open returns a line for each workflow that has not ended.
func (s *Server) Open() ([]string, error) {
	out, err := s.command("--command-timeout", "10s", "workflow", "list", "--address", s.Address, "--query", "ExecutionStatus='Running'", "-o", "jsonl").Output()
	return slices.Collect(strings.Lines(string(out))), err
}

// History returns the number of events in the history of a workflow, and their size in bytes.
func (s *Server) History(workflow string) (events, size int64, err error) {
	out, err := s.command("workflow", "describe", "--address", s.Address, "--workflow-id", workflow, "-o", "json").Output()
	if err != nil {
		return 0, 0, err
	}
	var d struct {
		Info struct {
			Events int64 `json:"historyLength,string"`
			Size   int64 `json:"historySizeBytes,string"`
		} `json:"workflowExecutionInfo"`
	}
	err = json.Unmarshal(out, &d)
	return d.Info.Events, d.Info.Size, err
}
