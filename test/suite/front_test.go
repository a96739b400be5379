package suite

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// client talks to an MCP server in lines of JSON-RPC, without a library.
type client struct {
	*place
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	pipe   io.Closer // its end of the server's standard output
	stderr bytes.Buffer
	id     int
	called map[int]string // the tools that were called, by the ids of the requests
	tools  map[string]listedTool
	// capabilities are those of a client that takes tasks, if it has not the usual ones.
	capabilities string
}

// connect starts a server and initializes a session.
func (p *place) connect(name string, args ...string) *client {
	p.Helper()
	return p.connectAs(`{}`, name, args...)
}

// connectAs starts a server and initializes a session of a client with capabilities.
func (p *place) connectAs(capabilities, name string, args ...string) *client {
	p.Helper()
	c := p.launch(name, args...)
	c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"test","version":"1"}}}`)
	c.receive()
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.listTools()
	return c
}

// launch starts a server, to which nothing has been said.
func (p *place) launch(name string, args ...string) *client {
	p.Helper()
	c := &client{place: p, cmd: p.command(name, args...), called: map[int]string{}}
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		p.Fatal(err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		p.Fatal(err)
	}
	c.stdout, c.pipe, c.cmd.Stderr = bufio.NewReader(stdout), stdout, &c.stderr
	if err := c.cmd.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { // of a test that failed
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	})
	return c
}

func (c *client) send(line string) {
	c.Helper()
	if _, err := io.WriteString(c.stdin, line+"\n"); err != nil {
		c.Fatal(err)
	}
}

// receive reads the next message.
func (c *client) receive() map[string]any {
	c.Helper()
	line, err := c.stdout.ReadString('\n')
	if err != nil {
		c.Fatalf("no further message: %v, %s", err, c.stderr.String())
	}
	message := c.document(line)
	c.checkAnswer(message, line)
	return message
}

// request sends a call of a tool and returns its id.
func (c *client) request(tool, arguments string) int {
	c.Helper()
	c.id++
	c.called[c.id] = tool
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, c.id, tool, arguments))
	return c.id
}

// call calls a tool and returns its answer, which must be the same as text and as structured content.
func (c *client) call(tool, arguments string) (answer map[string]any, failed bool) {
	c.Helper()
	c.request(tool, arguments)
	return c.answer()
}

// answer reads the answer of the last call and skips that of a cancelled one.
func (c *client) answer() (answer map[string]any, failed bool) {
	c.Helper()
	message := c.receive()
	for message["id"] != float64(c.id) {
		message = c.receive()
	}
	result, ok := message["result"].(map[string]any)
	if !ok {
		c.Fatalf("no result of call %d: %v", c.id, message)
	}
	answer, ok = result["structuredContent"].(map[string]any)
	if !ok {
		c.Fatalf("no structured content: %v", message)
	}
	failed, _ = result["isError"].(bool)
	return answer, failed
}

// leave closes the server's standard input, reads the rest of its output, and waits for its end.
func (c *client) leave() {
	c.Helper()
	_ = c.stdin.Close()
	rest, _ := io.ReadAll(c.stdout)
	rest = bytes.ReplaceAll(rest, []byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}`+"\n"), nil) // may come late
	if err := c.cmd.Wait(); err != nil || len(rest) > 0 || c.stderr.Len() > 0 {
		c.Errorf("the server ends with %v, %q and on standard error %q", err, rest, c.stderr.String())
	}
}

// A server that is started through a symbolic link finds the other programs without PATH.
func TestTheFrontFindsItsSiblings(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.env = append(p.env, "PATH=/usr/bin")
	p.draft("greet", chain("echo hello"))
	for _, dir := range []string{"one", "two"} {
		if err := os.Mkdir(filepath.Join(p.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link, far := filepath.Join(p.dir, "one", "front"), filepath.Join(p.dir, "two", "front")
	if err := os.Symlink(filepath.Join(bin, "pflow-serve"), link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", "one", "front"), far); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, far} {
		c := p.connect(path)
		if a, failed := c.call("execute", `{"name":"greet"}`); failed || fmt.Sprint(a["outputs"]) != "map[last:hello]" {
			t.Errorf("through %s execute answers %v", filepath.Base(path), a)
		}
		if a, failed := c.call("describe_workflow", `{"name":"greet"}`); failed || a["name"] != "greet" {
			t.Errorf("through %s describe_workflow answers %v", filepath.Base(path), a)
		}
		c.leave()
	}
}

// TestEveryToolCallStartsAProgram counts the programs that start during one call of a tool.
func TestEveryToolCallStartsAProgram(t *testing.T) {
	t.Parallel()
	needs(t, "strace")
	calls := map[string]string{
		"browse_components": `{"query":"shell"}`,
		"list_library":      `{}`,
		"describe_workflow": `{"name":"greet"}`,
		"execute":           `{"name":"greet"}`,
		"save_to_library":   `{"draft_name":"greet","final_name":"hello","description":"Greet"}`,
	}
	c := newPlace(t).connect("pflow-serve")
	c.send(`{"jsonrpc":"2.0","id":0,"method":"tools/list"}`)
	listed, _ := json.Marshal(c.receive())
	names := regexp.MustCompile(`"name":"([a-z_]+)"`).FindAllStringSubmatch(string(listed), -1)
	c.leave()
	if len(names) != len(calls) {
		t.Errorf("there are %d tools, not %d: %q", len(names), len(calls), names)
	}
	execution := regexp.MustCompile(`execve\("([^"]*)", \[[^\]]*\].* = 0`)
	for _, name := range names {
		t.Run(name[1], func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if o := p.run("strace", "-o", "trace.txt", "true"); o.exit != 0 {
				t.Skipf("strace may not trace here: %s", o.stderr)
			}
			p.draft("greet", chain("echo hello"))
			arguments, known := calls[name[1]]
			if !known {
				t.Fatalf("%s is new: add its arguments to calls", name[1])
			}
			c := p.connect("strace", "-f", "-qq", "-s", "200", "-e", "trace=execve", "-e", "signal=none", "-o", "trace.txt", filepath.Join(bin, "pflow-serve"))
			if a, failed := c.call(name[1], arguments); failed {
				t.Errorf("%v", a)
			}
			c.leave()
			var started []string
			for _, m := range execution.FindAllStringSubmatch(p.read("trace.txt"), -1) {
				program := filepath.Base(m[1])
				if slices.Contains(programs, program) && program != "pflow-serve" && !strings.Contains(m[0], `"--version"]`) {
					started = append(started, program)
				}
			}
			if len(started) == 0 {
				t.Errorf("no program of the suite is started:\n%s", p.read("trace.txt"))
			}
		})
	}
}

// runStatus returns the status of the only run in pflow-exec list.
func (p *place) runStatus() string {
	p.Helper()
	runs := p.events(p.must("pflow-exec", "list"))
	if len(runs) != 1 {
		return fmt.Sprintf("%d runs", len(runs))
	}
	status, _ := runs[0]["status"].(string)
	return status
}

// A run continues to its end if the client that started it goes away.
func TestAClientThatGoesAway(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func(c *client){
		"closes its pipes": func(c *client) {
			_ = c.stdin.Close()
			_ = c.pipe.Close()
		},
		"closes its pipes, and the server is stopped": func(c *client) {
			_ = c.stdin.Close()
			_ = c.pipe.Close()
			_ = c.cmd.Process.Signal(syscall.SIGTERM)
			_ = c.cmd.Wait()
		},
		"kills the server": func(c *client) {
			_ = c.cmd.Process.Kill()
			_ = c.cmd.Wait()
		},
		"stops the server": func(c *client) {
			_ = c.cmd.Process.Signal(syscall.SIGTERM)
			a, failed := c.answer()
			if !failed || !strings.Contains(fmt.Sprint(a), c.onlyRun()) {
				c.Errorf("the call is answered with %v", a)
			}
			if _ = c.cmd.Wait(); c.cmd.ProcessState.ExitCode() != 143 {
				c.Errorf("the server ends with %v", c.cmd.ProcessState)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			g := p.gate("gate")
			p.draft("long", gated())
			c := p.connect("pflow-serve")
			c.request("execute", `{"name":"long"}`)
			open := g.reached()
			away(c)
			if got := p.runStatus(); got != "running" {
				t.Errorf("while the second node waits the run is %q", got)
			}
			open()
			p.eventually("the run has ended", func() bool { return p.runStatus() != "running" })
			if got := p.runStatus(); got != "completed" || p.read("ran.txt") != "a\nb\nc\n" {
				t.Errorf("the run is %q, and %q ran", got, p.read("ran.txt"))
			}
			if last := p.last(p.journal()); last["event"] != "run_finished" || last["status"] != "completed" {
				t.Errorf("the journal ends with %v", last)
			}
			_ = c.cmd.Wait()
		})
	}
}

// If a client cancels a request because of its timeout, the run continues.
func TestACallThatTimesOutLeavesItsRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.draft("long", gated())
	c := p.connect("pflow-serve")
	id := c.request("execute", `{"name":"long"}`)
	open := g.reached()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"McpError: MCP error -32001: Request timed out"}}`, id))
	if a, failed := c.call("list_library", `{}`); failed {
		t.Errorf("the server does not serve on: %v", a)
	}
	if got := p.runStatus(); got != "running" {
		t.Errorf("while the second node waits the run is %q", got)
	}
	open()
	p.eventually("the run has ended", func() bool { return p.runStatus() != "running" })
	if got := p.runStatus(); got != "completed" || p.read("ran.txt") != "a\nb\nc\n" {
		t.Errorf("the run is %q, and %q ran", got, p.read("ran.txt"))
	}
	c.leave()
}

// If a client cancels a request for another reason, the run is cancelled.
func TestACancelledCallEndsItsRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.draft("long", gated())
	c := p.connect("pflow-serve")
	id := c.request("execute", `{"name":"long"}`)
	_ = g.reached()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"enough"}}`, id))
	p.eventually("the run has ended", func() bool { return p.runStatus() != "running" })
	if got := p.runStatus(); got != "cancelled" || p.read("ran.txt") != "a\nb\n" {
		t.Errorf("the run is %q, and %q ran", got, p.read("ran.txt"))
	}
	p.eventually("only the server is left", func() bool {
		left := processes("PFLOW_HOME=" + p.home)
		return len(left) == 0 || len(left) == 1 && left[c.cmd.Process.Pid] != ""
	})
	if a, failed := c.call("list_library", `{}`); failed {
		t.Errorf("the server does not serve on: %v", a)
	}
	c.leave()
}
