package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// The workflows of a share trial, the tokens of each, the runs that are asked for, and the most that are asked for at the same time.
const (
	sharedWorkflows = 8
	sharedTokens    = 3
	sharedRuns      = 300
	sharedLive      = 6
)

// The limits of pflow-share: of a token in a minute, and of a workflow on a day.
const (
	perMinute = 10
	perDay    = 100
)

// share asks for runs of shared workflows and kills pflow-share, pflow-exec and the processes that execute runs at random moments. In the
// end each run must have one job, each job that was answered must have its run, and each job must be counted once.
func (t *trial) share() error {
	var tokens []string
	for i := range sharedWorkflows {
		name := "w" + strconv.Itoa(i)
		file := filepath.Join(t.home, "library", name+".json")
		err := errors.Join(
			os.MkdirAll(filepath.Dir(file), 0o700),
			os.WriteFile(file, []byte(`{"nodes":[{"id":"a","type":"shell","params":{"command":"echo hello"}}]}`), 0o600),
		)
		if err != nil {
			return err
		}
		for range sharedTokens {
			var added struct{ Token string }
			if err := t.answer(&added, "add", name, "--owner-funded"); err != nil {
				return err
			}
			tokens = append(tokens, added.Token)
		}
	}
	began := time.Now()
	var live, all []*call
	for left := sharedRuns; left > 0 || len(live) > 0; {
		time.Sleep(t.soon(4 * time.Millisecond))
		live = t.living(live, func(*call) {})
		switch {
		case len(live) > 0 && t.rng.IntN(4) == 0:
			t.killOneOf(live)
		case t.rng.IntN(12) == 0:
			t.killOne()
		case left > 0 && len(live) < sharedLive:
			c, err := t.startProgram("pflow-share", "", "run", tokens[t.rng.IntN(len(tokens))], "--quiet")
			if err != nil {
				return err
			}
			live, all, left = append(live, c), append(all, c), left-1
		}
	}
	t.verifyNothingRuns()
	return t.verifyShared(all, time.Since(began))
}

// killOne kills a process of this trial that starts or executes a run.
func (t *trial) killOne() {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	t.rng.Shuffle(len(folders), func(i, j int) { folders[i], folders[j] = folders[j], folders[i] })
	for _, folder := range folders {
		command, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		env, _ := os.ReadFile(filepath.Join(folder, "environ"))
		if bytes.Contains(command, []byte("pflow-exec")) && bytes.Contains(env, []byte("PFLOW_HOME="+t.home+"\x00")) {
			if pid, err := strconv.Atoi(filepath.Base(folder)); err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
				t.Kills++
			}
			return
		}
	}
}

// started is a job, as pflow-share prints it.
type started struct {
	JobID    string `json:"job_id"`
	RunID    string `json:"run_id"`
	Workflow string `json:"workflow"`
}

// verifyShared compares the jobs with the runs, with what was answered, and with what was counted.
func (t *trial) verifyShared(calls []*call, took time.Duration) error {
	runs := map[string]string{} // by job
	jobs := map[string]bool{}   // by run
	counted := map[string]int{} // by workflow
	err := t.lines(func(line []byte) {
		var job started
		_ = json.Unmarshal(line, &job)
		if jobs[job.RunID] && job.RunID != "" {
			t.complain("the run %s has two jobs", job.RunID)
		}
		runs[job.JobID], jobs[job.RunID] = job.RunID, true
		counted[job.Workflow]++
	}, "jobs")
	if err != nil {
		return err
	}
	for _, id := range t.runs() {
		if !jobs[id] {
			t.complain("the run %s has no job", id)
		}
	}
	for _, c := range calls {
		var job started
		if _ = json.Unmarshal(output(c), &job); job.JobID != "" && (runs[job.JobID] != job.RunID || job.RunID == "") {
			t.complain("%s answered the job %s with the run %s; it has %q", c, job.JobID, job.RunID, runs[job.JobID])
		}
	}
	minutes := int(math.Ceil(took.Minutes()))
	return t.lines(func(line []byte) {
		var share struct {
			Workflow  string
			Remaining int `json:"quota_remaining"`
		}
		_ = json.Unmarshal(line, &share)
		if n := perDay - share.Remaining; n != counted[share.Workflow] || n > sharedTokens*perMinute*minutes {
			t.complain("of %s, %d runs are counted, and there are %d jobs, after %s", share.Workflow, n, counted[share.Workflow], took)
		}
	}, "list")
}

// admit counts runs by many processes at the same time. No token may have more than its limit in a minute, and no workflow on the day.
func (t *trial) admit() error {
	const workflows, tokensEach, processes, beside = 25, 2, 2000, 16
	var tokens []string
	of := map[string]string{}
	for i := range workflows {
		name := "w" + strconv.Itoa(i)
		file := filepath.Join(t.home, "library", name+".json")
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(`{"nodes":[{"id":"a","type":"echo","params":{"data":1}}]}`), 0o600)); err != nil {
			return err
		}
		for range tokensEach {
			var added struct{ Token string }
			if err := t.answer(&added, "add", name, "--owner-funded"); err != nil {
				return err
			}
			tokens, of[added.Token] = append(tokens, added.Token), name
		}
	}
	began := time.Now()
	results := make([]*call, 0, processes)
	var live []*call
	for len(results) < processes || len(live) > 0 {
		for len(results) < processes && len(live) < beside {
			c, err := t.startProgram("pflow-share", "", "admit", tokens[t.rng.IntN(len(tokens))], "--quiet")
			if err != nil {
				return err
			}
			results, live = append(results, c), append(live, c)
		}
		<-live[0].ended
		live = live[1:]
	}
	took := time.Since(began)
	admitted, ids := map[string]int{}, map[int64]bool{}
	for _, c := range results {
		var a struct {
			Admission int64
			Error     struct{ Type string }
		}
		_ = json.Unmarshal(output(c), &a)
		switch {
		case a.Admission > 0 && !ids[a.Admission]:
			ids[a.Admission] = true
			admitted[c.args[1]]++
		case a.Error.Type != "rate_limited":
			t.complain("%s: %s", c, output(c))
		}
	}
	minutes := int(math.Ceil(took.Minutes()))
	for _, token := range tokens {
		if n := admitted[token]; n > perMinute*minutes || n < perMinute {
			t.complain("%d runs of one token were admitted in %s", n, took)
		}
	}
	return t.lines(func(line []byte) {
		var share struct {
			Workflow  string
			Remaining int `json:"quota_remaining"`
		}
		_ = json.Unmarshal(line, &share)
		n := 0
		for _, token := range tokens {
			if of[token] == share.Workflow {
				n += admitted[token]
			}
		}
		if perDay-share.Remaining != n || n > perDay {
			t.complain("of %s, %d runs were admitted and %d are counted", share.Workflow, n, perDay-share.Remaining)
		}
	}, "list")
}

// answer runs pflow-share and decodes its document.
func (t *trial) answer(into any, args ...string) error {
	c, err := t.startProgram("pflow-share", "", args...)
	if err != nil {
		return err
	}
	<-c.ended
	if err := json.Unmarshal(output(c), into); err != nil || c.exit != 0 {
		return fmt.Errorf("%s: %s", c, output(c))
	}
	return nil
}

// lines runs pflow-share and calls each with every line that it prints.
func (t *trial) lines(each func(line []byte), args ...string) error {
	c, err := t.startProgram("pflow-share", "", args...)
	if err != nil {
		return err
	}
	<-c.ended
	if c.exit != 0 {
		return fmt.Errorf("%s: %s", c, output(c))
	}
	for line := range bytes.Lines(output(c)) {
		each(line)
	}
	return nil
}

// output returns what a call has printed.
func output(c *call) []byte {
	text, _ := os.ReadFile(c.stdout)
	return text
}
