package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// session is a client of an MCP server, which answers each line on its standard input with one on its standard output.
type session struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	log  bytes.Buffer // the server's standard error
	size int          // of the last response
}

// connect starts a server in a folder, which also has the home, and begins a session.
func connect(dir string, args ...string) (*session, error) {
	s := &session{cmd: exec.Command(args[0], args[1:]...)}
	s.cmd.Dir, s.cmd.Stderr = dir, &s.log
	s.cmd.Env = append(os.Environ(), "PFLOW_HOME="+homeIn(dir))
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReaderSize(out, 64<<20)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := s.begin(); err != nil {
		s.stop()
		return nil, fmt.Errorf("%s: %w: %s", args[0], err, &s.log)
	}
	return s, nil
}

func (s *session) begin() error {
	const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`
	if _, _, err := s.request(hello); err != nil {
		return err
	}
	return s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// send writes a line.
func (s *session) send(line string) error {
	_, err := io.WriteString(s.in, line+"\n")
	return err
}

// receive returns the next line, which is valid until the next one.
func (s *session) receive() ([]byte, error) {
	answer, err := s.out.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	if !json.Valid(answer) {
		return nil, errors.New("the response is not JSON")
	}
	return answer, nil
}

// request sends a line and returns the response, which is valid until the next request, and the time it took.
func (s *session) request(line string) ([]byte, time.Duration, error) {
	start := time.Now()
	if err := s.send(line); err != nil {
		return nil, 0, err
	}
	answer, err := s.receive()
	return answer, time.Since(start), err
}

// stop ends the server as a client does, by closing its standard input.
func (s *session) stop() {
	_ = s.in.Close()
	_, _ = io.Copy(io.Discard, s.out) // so that it can write the rest of its answers
	_ = s.cmd.Wait()
}
