// Package hostilemcp is an MCP server that misbehaves. A kind says what it does wrong, and a stage says when: in its answer to
// initialize, to tools/list or to tools/call. Until then it is a well-behaved server with one tool, t.
package hostilemcp

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/tidwall/gjson"
)

const (
	// Given is a kind that does nothing wrong, and has the tools of a file. The result of a call is what the call sent.
	Given = "given"
	// GivenTools is the name of the file, a JSON array, in the server's folder.
	GivenTools = "tools.json"
)

// Stages are the requests to which a server can answer wrongly, in the order in which a client sends them.
func Stages() []string {
	return []string{"initialize", "tools/list", "resources/list", "tools/call", "resources/read"}
}

// results are the right results of the requests.
func results(method string) (string, bool) {
	result, ok := map[string]string{
		"initialize":     `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{}},"serverInfo":{"name":"hostile","version":"1"}}`,
		"tools/list":     `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`,
		"resources/list": `{"resources":[{"uri":"hostile://r","name":"r"}]}`,
		"resources/read": `{"contents":[{"uri":"hostile://r","text":"done"}]}`,
		"tools/call":     `{"content":[{"type":"text","text":"done"}]}`,
	}[method]
	return result, ok
}

// Server is a server that speaks over two streams.
type Server struct {
	// Kind and Stage are what it does wrong, and when.
	Kind, Stage string
	// Folder gets an empty file named by the id of each process of the server.
	Folder string

	in, out, err *os.File
	ended        bool
	// token is that of the progress of the current request, as JSON.
	token string
}

// Serve answers requests until its input ends, or as long as its kind wants. The error is that of a kind that does not exist.
func (s *Server) Serve(in, out, err *os.File) error {
	if e := os.WriteFile(filepath.Join(s.Folder, strconv.Itoa(os.Getpid())), nil, 0o600); e != nil {
		return e
	}
	if s.Kind == "child" {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		hang()
	}
	misbehave, ok := kinds(s.Stage)[s.Kind]
	if !ok && s.Kind != Given {
		return fmt.Errorf("there is no kind %q at the stage %q", s.Kind, s.Stage)
	}
	s.in, s.out, s.err = in, out, err
	for lines := bufio.NewReader(in); !s.ended; {
		line, e := lines.ReadString('\n')
		if e != nil {
			return nil //nolint:nilerr // the client has closed its end
		}
		method, id := gjson.Get(line, "method").Str, gjson.Get(line, "id").Raw
		s.token = gjson.Get(line, "params._meta.progressToken").Raw
		switch result, known := results(method); {
		case id == "":
		case s.Kind == Given && method == "tools/list":
			tools, _ := os.ReadFile(filepath.Join(s.Folder, GivenTools))
			s.answer(id, `{"tools":`+string(tools)+`}`)
		case s.Kind == Given && method == "tools/call":
			s.answer(id, `{"content":[],"structuredContent":`+orNull(gjson.Get(line, "params").Raw)+`}`)
		case s.Kind == Given && method == "initialize":
			s.answer(id, strings.Replace(result, `,"resources":{}`, "", 1))
		case method == s.Stage:
			misbehave(s, id, result)
		case known:
			s.answer(id, result)
		default:
			s.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`+"\n", id)
		}
	}
	return nil
}

// say writes text. It returns false when the client does not read it any more.
func (s *Server) say(format string, args ...any) bool {
	_, err := fmt.Fprintf(s.out, format, args...)
	return err == nil
}

func (s *Server) answer(id, result string) {
	s.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
}

// endlessly writes a text until the client does not read it any more. A number from 0 on takes the place of each %d.
func (s *Server) endlessly(text string) {
	more := true
	for i := 0; more; i += 100 {
		var b strings.Builder
		for j := range 100 {
			b.WriteString(strings.ReplaceAll(text, "%d", strconv.Itoa(i+j)))
		}
		more = s.say("%s", b.String())
	}
	s.ended = true
}

// fork starts a process in a session of its own, which holds the pipes of this one and ignores SIGTERM. A nil env is the environment
// of this process.
func (s *Server) fork(env []string) {
	program, err := os.Executable()
	if err != nil {
		return
	}
	if env == nil {
		env = syscall.Environ()
	}
	pid, err := syscall.ForkExec(program, []string{program, "child", s.Stage, s.Folder}, &syscall.ProcAttr{
		Env: env, Files: []uintptr{s.in.Fd(), s.out.Fd(), s.err.Fd()}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return
	}
	at := filepath.Join(s.Folder, strconv.Itoa(pid))
	for {
		if _, err := os.Stat(at); err == nil {
			return
		}
	}
}
