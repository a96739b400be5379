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
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// The kills of a task trial, and how many of its runs go on at the same time.
const (
	taskKills = 30
	taskLive  = 4
)

// taskWorkflow lasts until its client knows the task: the key of a call whose answer was lost still finds its run, however long it takes
// to start the server again. One that is cancelled lasts until then.
const taskWorkflow = `{"inputs":{"n":{"type":"integer"}},"nodes":[
	{"id":"count","type":"shell","params":{"command":"echo ${n} >> \"$EFFECTS\""}},
	{"id":"work","type":"shell","params":{"command":"until [ -e \"$EFFECTS\".${n} ]; do sleep 0.1; done; [ $((${n} % 4)) = 2 ] && exec sleep 60; sleep 1; [ $((${n} % 4)) != 1 ]"}},
	{"id":"end","type":"shell",APPROVAL"params":{"command":"echo ${n}"}}],
	"edges":[{"from":"count","to":"work"},{"from":"work","to":"end"}],"outputs":{"n":{"source":"${end.stdout}"}}}`

// job is a call that goes on as a task.
type job struct {
	n int
	// id is the id of the task, or "" until the client knows it; asked counts the calls.
	id    string
	asked int
	// last is the last state that a server showed.
	last gjson.Result
}

// kind returns what happens to the job.
func (j *job) kind() string {
	return [...]string{"succeeds", "fails", "is cancelled", "asks"}[j.n%4]
}

// workflow returns the name of the job's workflow.
func (j *job) workflow() string {
	if j.kind() == "asks" {
		return "asking"
	}
	return "counted"
}

func (j *job) ended() bool {
	return slices.Contains([]string{"completed", "failed", "cancelled"}, j.last.Get("status").Str)
}

// tasks calls execute as a client that takes tasks, and polls. The server is killed at random moments and started again. Each call must
// have one task with one run, and each state that a server shows must be true.
func (t *trial) tasks() error {
	if err := errors.Join(
		os.MkdirAll(filepath.Join(t.home, "workflows"), 0o700),
		os.WriteFile(filepath.Join(t.home, "workflows", "counted.json"), []byte(strings.ReplaceAll(taskWorkflow, "APPROVAL", "")), 0o600),
		os.WriteFile(filepath.Join(t.home, "workflows", "asking.json"), []byte(strings.ReplaceAll(taskWorkflow, "APPROVAL", `"approval":{"question":"End?"},`)), 0o600),
	); err != nil {
		return err
	}
	var jobs []*job
	began := time.Now()
	for open(jobs) > 0 || t.Kills < taskKills {
		if time.Since(began) > taskKills*patience/10 {
			t.Stuck++
			t.complain("after %s, %d tasks have not ended", time.Since(began), open(jobs))
			break
		}
		s, err := t.serveTasks()
		if err != nil {
			return err
		}
		if t.Kills < taskKills {
			kill := time.AfterFunc(t.soon(150*time.Millisecond), func() { _ = s.cmd.Process.Kill() })
			for s.err == nil {
				if open(jobs) < taskLive {
					jobs = append(jobs, &job{n: len(jobs)})
				}
				t.drive(s, jobs)
			}
			kill.Stop()
			t.Kills++
		} else {
			for open(jobs) > 0 && s.err == nil && time.Since(began) < taskKills*patience/10 {
				t.drive(s, jobs)
				time.Sleep(50 * time.Millisecond)
			}
			if s.err != nil {
				t.complain("a server that was not killed ended: %v", s.err)
			}
		}
		s.end()
	}
	t.verifyTasks(jobs)
	return nil
}

// open returns how many jobs have not ended.
func open(jobs []*job) (n int) {
	for _, j := range jobs {
		if !j.ended() {
			n++
		}
	}
	return n
}

// drive goes on with each job by one request.
func (t *trial) drive(s *taskServer, jobs []*job) {
	for _, j := range jobs {
		switch {
		case s.err != nil:
			return
		case j.id == "":
			j.asked++
			wait := []string{"0", "1"}[t.rng.IntN(2)]
			if task := s.ask("tools/call", fmt.Sprintf(`"name":"execute","arguments":{"name":%q,"wait_seconds":%s,"idempotency_key":"job-%d","inputs":{"n":%d}}`, j.workflow(), wait, j.n, j.n)); s.err == nil {
				t.observe(j, task)
			}
		case j.ended() && t.rng.IntN(10) > 0:
		case j.last.Get("status").Str == "input_required" && t.rng.IntN(2) == 0:
			for key := range j.last.Get("inputRequests").Map() {
				s.ask("tasks/update", fmt.Sprintf(`"taskId":%q,"inputResponses":{%q:{"action":"accept","content":{"answer":"yes"}}}`, j.id, key))
			}
		case j.kind() == "is cancelled" && !j.ended():
			s.ask("tasks/cancel", `"taskId":"`+j.id+`"`)
		default:
			if task := s.ask("tasks/get", `"taskId":"`+j.id+`"`); s.err == nil {
				t.observe(j, task)
			}
		}
		if j.kind() == "is cancelled" && j.id != "" && s.err == nil {
			if task := s.ask("tasks/get", `"taskId":"`+j.id+`"`); s.err == nil {
				t.observe(j, task)
			}
		}
	}
}

// observe checks a state of a job's task that a server has shown.
func (t *trial) observe(j *job, task gjson.Result) {
	id, status := task.Get("taskId").Str, task.Get("status").Str
	switch {
	case id == "" || j.id != "" && id != j.id:
		t.complain("job %d, task %q: %s", j.n, j.id, task)
		return
	case j.ended() && status != j.last.Get("status").Str:
		t.complain("job %d was %s and is %s", j.n, j.last.Get("status").Str, status)
	}
	if j.id == "" {
		if err := os.WriteFile(fmt.Sprintf("%s.%d", t.effectsFile, j.n), nil, 0o600); err != nil {
			t.complain("job %d: %v", j.n, err)
		}
	}
	j.id, j.last = id, task
}

// verifyTasks checks that each job has one run, which ran once and ended as it should.
func (t *trial) verifyTasks(jobs []*job) {
	var want, ran []string
	runs := len(jobs)
	for _, j := range jobs {
		if j.kind() == "asks" {
			runs++ // the one that goes on with the answer
		}
		want = append(want, fmt.Sprint(j.n))
		status, failed := j.last.Get("status").Str, j.last.Get("result.isError").Bool()
		result := j.last.Get("result.structuredContent")
		right := status == "completed" && !failed && result.Get("outputs.n").Raw == fmt.Sprintf("%q", fmt.Sprint(j.n))
		switch j.kind() {
		case "fails":
			right = status == "completed" && failed && result.Get("error.node").Str == "work"
		case "is cancelled":
			right = status == "cancelled"
		}
		if !right {
			t.complain("job %d %s, but its task is %s", j.n, j.kind(), j.last)
		}
	}
	text, _ := os.ReadFile(t.effectsFile)
	for line := range strings.Lines(string(text)) {
		ran = append(ran, strings.TrimSpace(line))
	}
	for _, n := range want {
		if times := count(ran, n); times > 1 {
			t.Repeated++
			t.complain("job %s ran %d times", n, times)
		}
	}
	if got := len(t.runs()); got != runs {
		t.complain("%d jobs have %d runs, want %d", len(jobs), got, runs)
	}
	t.verifyNothingRuns()
}

func count(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

// taskServer is a pflow-serve, and a client that takes tasks.
type taskServer struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	id     int
	err    error // once the server is gone
}

func (t *trial) serveTasks() (*taskServer, error) {
	s := &taskServer{cmd: exec.Command(t.rig.program("pflow-serve"))}
	s.cmd.Dir, s.cmd.Stderr = t.dir, &s.stderr
	for name, value := range t.env {
		s.cmd.Env = append(s.cmd.Env, name+"="+value)
	}
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.in, s.out = in, bufio.NewReader(out)
	return s, s.cmd.Start()
}

// ask sends a request and returns its result, or its error. err is set if the server does not answer.
func (s *taskServer) ask(method, params string) gjson.Result {
	s.id++
	_, s.err = fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`+"\n", s.id, method, params)
	if s.err != nil {
		return gjson.Result{}
	}
	line, err := s.out.ReadBytes('\n')
	if s.err = err; err == nil && !json.Valid(line) {
		s.err = fmt.Errorf("not JSON: %q", line)
	}
	answer := gjson.ParseBytes(line)
	if result := answer.Get("result"); result.Exists() {
		return result
	}
	return answer.Get("error")
}

// end ends the server, if it was not killed.
func (s *taskServer) end() {
	_ = s.in.Close()
	_ = s.cmd.Wait()
}
