package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tidwall/gjson"
	"golang.org/x/sys/unix"
)

// command is a side that is a whole process. Its time is counted with the processes that it has waited for, its memory is the peak of one of them.
type command struct {
	name, line string   // the name is by default the words before the first option or path
	args       []string // further ones, which may have spaces
	home       bool     // it runs in the stage's folder; else in a new one each time, with an empty home
	before     func()
	after      func(f figures) // adds some
	limits     string
}

// sides returns commands as sides.
func (s *stage) sides(commands ...command) (sides []side) {
	for _, c := range commands {
		verbs, _, _ := strings.Cut(strings.ReplaceAll(c.line, " $", " -"), " -")
		its := side{name: cmp.Or(c.name, verbs), limits: c.limits, run: func() (f figures) {
			cmd := s.cmd(s.self+" meter "+c.line, c.args...)
			if !c.home {
				cmd.Dir = must(os.MkdirTemp(s.dir, "run-"))
				cmd.Env = append(cmd.Env, "PFLOW_HOME="+cmd.Dir+"/home")
				defer func() { _ = os.RemoveAll(cmd.Dir) }()
			}
			if c.before != nil {
				c.before()
			}
			check(json.Unmarshal([]byte(output(cmd)), &f))
			if c.after != nil {
				c.after(f)
			}
			return f
		}}
		if c.limits == "" && (s.old != "" || s.cmd("sh -c", "command -v "+strings.Fields(c.line)[0]).Run() != nil) {
			its.run = nil
		}
		sides = append(sides, its)
	}
	return sides
}

// meter runs a command and prints what it has cost. It is a small process of its own, because the kernel counts the memory that a process had
// before it executed a command as the command's.
func meter(args []string) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	check(cmd.Run())
	took, used := time.Since(start), cmd.ProcessState
	peak := float64(used.SysUsage().(*syscall.Rusage).Maxrss) * 1024
	if runtime.GOOS == "darwin" { // it counts in bytes
		peak /= 1024
	}
	check(json.NewEncoder(os.Stdout).Encode(figures{"wall ms": milliseconds(took), "CPU ms": milliseconds(used.UserTime() + used.SystemTime()), "memory MB": peak / 1e6}))
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// server is a process that serves until the end of its row.
type server struct {
	*exec.Cmd
	in  io.Writer
	out *bufio.Reader
	url string
}

func (s *stage) start(line string) *server {
	p := &server{Cmd: s.cmd(line)}
	p.in, p.out, p.Stderr = must(p.StdinPipe()), bufio.NewReaderSize(must(p.StdoutPipe()), 1<<20), os.Stderr
	check(p.Start())
	ends = append(ends, p.kill)
	return p
}

func (p *server) kill() { _, _ = p.Process.Kill(), p.Wait() }

// serve starts a server that prints its URL.
func (s *stage) serve(line string) *server {
	p := s.start(line)
	_, address, _ := strings.Cut(p.line(), "http://")
	p.url = "http://" + strings.Trim(address, "\"}\n")
	return p
}

// session starts a server of MCP and begins a session over its standard streams.
func (s *stage) session(line string) *server {
	p := s.start(line)
	p.ask(message("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`))
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

func (p *server) line() string     { return must(p.out.ReadString('\n')) }
func (p *server) send(line string) { must(io.WriteString(p.in, line+"\n")) }

// ask sends a line, and returns the answer and how many ms it took.
func (p *server) ask(line string) (answer string, ms float64) {
	began := time.Now()
	p.send(line)
	answer = p.line()
	return answer, milliseconds(time.Since(began))
}

// message returns a request of MCP.
func message(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":%q,"params":%s}`, method, method, params)
}

func call(tool, arguments string) string {
	return message("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
}

// asked is a side that asks a server and measures the answer.
func (p *server) asked(name, request, limits string) side {
	return side{name: name, limits: limits, run: func() figures {
		answer, ms := p.ask(request)
		f := answered(answer)
		f["wall ms"] = ms
		return f
	}}
}

// answered returns the sizes of an answer, which must not be a failure.
func answered(answer string) figures {
	result := gjson.Get(answer, "result")
	if !result.Exists() || result.Get("isError").Bool() {
		check(fmt.Errorf("the call failed: %.300s", answer))
	}
	f := figures{"answer bytes": float64(len(answer)), "document bytes": float64(len(result.Get("structuredContent").Raw)), "text bytes": 0}
	for _, text := range result.Get("content.#.text").Array() {
		f["text bytes"] += float64(len(text.Str))
	}
	return f
}

// client has the connections to servers.
var client = http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100, MaxConnsPerHost: 100}}

// post sends a message over HTTP and returns the answer.
func (p *server) post(body string) string {
	response := must(client.Post(p.url, "application/json", strings.NewReader(body)))
	defer func() { _ = response.Body.Close() }()
	answer := string(must(io.ReadAll(response.Body)))
	if response.StatusCode != http.StatusOK {
		check(fmt.Errorf("%s: %s", response.Status, answer))
	}
	return answer
}

// drive has clients make n calls, each not before its turn, and returns how many ms they took.
func drive(n, clients int, every time.Duration, call func(i int)) []float64 {
	took, began := make([]float64, n), time.Now()
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for i := client; i < n; i += clients {
				time.Sleep(time.Until(began.Add(time.Duration(i) * every)))
				asked := time.Now()
				call(i)
				took[i] = milliseconds(time.Since(asked))
			}
		})
	}
	all.Wait()
	return took
}

// processorTime returns the processor time that a server has used, without its children and until it is reaped, in ms.
func (p *server) processorTime() float64 {
	const scheduler = 2 // CPUCLOCK_SCHED of Linux, which names the clock of a process by its complement (clock_getcpuclockid(3))
	var used unix.Timespec
	check(unix.ClockGettime(int32(^p.Process.Pid)<<3|scheduler, &used))
	return milliseconds(time.Duration(used.Nano()))
}

// resident returns the memory of the server in MB: VmRSS for what it has now, VmHWM for the most that it had.
func (p *server) resident(which string) (mb float64) {
	_, kb, _ := strings.Cut(string(must(os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid)))), which+":")
	must(fmt.Sscan(kb, &mb))
	return mb * 1024 / 1e6
}

// leavings are what a server has besides its answers, and how many files there are in the home.
func (s *stage) leavings(p *server) figures {
	proc := fmt.Sprint("/proc/", p.Process.Pid)
	return figures{
		"memory MB": p.resident("VmRSS"), "left processes": s.count("cat " + proc + "/task/*/children | tr ' ' '\\n'"),
		"left descriptors": s.count("ls " + proc + "/fd"), "left files": s.count("find home"),
	}
}
