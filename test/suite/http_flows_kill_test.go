package suite

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"
)

// follow begins a stream of a flow, and returns the job's id and the reader of what follows.
func (d *door) follow(token string) (job string, rest *bufio.Reader) {
	d.Helper()
	response, err := d.post(d.Context(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_flow","arguments":{"token":"`+token+`"}}}`, "Accept", "text/event-stream")
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = response.Body.Close() })
	rest = bufio.NewReader(response.Body)
	for {
		line, err := rest.ReadString('\n')
		if err != nil {
			d.Fatal(err)
		}
		if job = gjson.Get(strings.TrimPrefix(line, "data: "), "params.job_id").Str; job != "" {
			return job, rest
		}
	}
}

// waiting is a workflow whose node waits until a gate is opened.
func waiting(g *gate) string {
	return `{"nodes":[{"id":"a","type":"shell","params":{"command":` + quote("read x < "+g.path+"; echo done") + `}}],"outputs":{"said":{"source":"${a.stdout}"}}}`
}

// having returns the processes of a place whose command line has a text, without those that they have just forked: a child has the command
// line of its parent until it executes a program, and may have ended since.
func (p *place) having(text string) (pids []int) {
	found := processes("PFLOW_HOME=" + p.home)
	for pid, command := range found {
		if !strings.Contains(command, text) {
			continue
		}
		if by := parent(pid); by != 0 && found[by] != command {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parent returns the process that is the parent of one, or 0.
func parent(pid int) (parent int) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := bytes.Cut(stat, []byte(") ")) // after the name, which may have spaces
	_, _ = fmt.Sscanf(string(after), "%c %d", new(rune), &parent)
	return parent
}

// killAll ends the processes of a place whose command line has a text, with SIGKILL, and returns how many there were.
func (p *place) killAll(text string) (n int) {
	for _, pid := range p.having(text) {
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			n++
		}
	}
	return n
}

// TestAServerOfFlowsIsKilled holds that no job is lost and none counts twice when the server is killed, between calls and in their middle.
func TestAServerOfFlowsIsKilled(t *testing.T) {
	t.Parallel()
	needsLinux(t, "processes are found in /proc")
	p := newPlace(t)
	gates := []*gate{p.gate("streamed"), p.gate("polled")}
	tokens := []string{p.shared("streamed", waiting(gates[0])), p.shared("polled", waiting(gates[1])), p.shared("quick", chain("echo quick"))}
	d := p.open()
	streamed, rest := d.follow(tokens[0])
	polled := d.content("run_flow", `{"token":"`+tokens[1]+`"}`).Get("job_id").Str
	opens := []func(){gates[0].reached(), gates[1].reached()}
	begun := make(chan string, 20)
	for range 5 { // which the kill meets in their middle
		go func() {
			response, err := d.post(t.Context(), toolCall("1", "run_flow", `{"token":"`+tokens[2]+`"}`))
			if err != nil {
				begun <- ""
				return
			}
			body, _ := io.ReadAll(response.Body)
			_ = response.Body.Close()
			begun <- gjson.GetBytes(body, "result.structuredContent.job_id").Str
		}()
	}
	answered := []string{<-begun}
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
	for range 4 {
		answered = append(answered, <-begun)
	}
	if _, err := io.ReadAll(rest); err == nil {
		t.Error("the stream ended as if it were whole")
	}
	again := p.open()
	for _, open := range opens {
		open()
	}
	for _, job := range append(answered, streamed, polled) {
		if job == "" {
			continue // its answer was lost
		}
		if got := again.done(job); got.Get("status").Str != "completed" {
			t.Errorf("%s: %s", job, got)
		}
	}
	if more := again.content("run_flow", `{"token":"`+tokens[0]+`"}`); more.Get("quota_remaining").Int() != 98 {
		t.Errorf("one run and this one are counted: %s", more)
	}
	gates[0].reached()()
	p.eventually("the runs have begun", func() bool { return len(p.journals()) >= 4 })
	p.checkCounted()
}

// checkCounted waits until no run goes on, and holds that each run has one job and was counted once, and nothing else.
func (p *place) checkCounted() {
	p.Helper()
	p.eventually("the runs have ended", func() bool {
		return len(p.having(" --foreground")) == 0 && !strings.Contains(p.must("pflow-exec", "list"), `"running"`)
	})
	// What a killed pflow-share has counted without a run is taken back a minute later.
	p.database("UPDATE jobs SET created_at = created_at - 60000")
	p.must("pflow-share", "cleanup")
	jobs, counted := map[any]int{}, 0
	for _, job := range p.events(p.must("pflow-share", "jobs")) {
		jobs[job["run_id"]]++
	}
	if err := p.openDatabase().QueryRow("SELECT count(*) FROM admissions").Scan(&counted); err != nil || counted != len(p.journals()) || len(jobs) != counted {
		p.Errorf("%d runs, %d jobs with a run, %d counted, %v", len(p.journals()), len(jobs), counted, err)
	}
	for run, n := range jobs {
		if n != 1 || run == nil {
			p.Errorf("the run %v has %d jobs", run, n)
		}
	}
}

// TestTheStarterOfFlowsIsKilled holds that the program that starts the runs for a server is one process for many calls, and that no run is
// lost or counts twice when it is killed in the middle of calls. The next call starts it again.
func TestTheStarterOfFlowsIsKilled(t *testing.T) {
	t.Parallel()
	needsLinux(t, "processes are found in /proc")
	p := newPlace(t)
	const starter = " --requests"
	p.shared("quick", chain("echo quick"))
	newToken := func() string { return gjson.Get(p.must("pflow-share", "add", "quick", "--owner-funded"), "token").Str }
	tokens := []string{newToken(), newToken(), newToken(), newToken()}
	d, db := p.open(), p.openDatabase()
	begin := func(token string) (job string) {
		response, err := d.post(t.Context(), toolCall("1", "run_flow", `{"token":"`+token+`"}`))
		if err != nil {
			t.Error(err)
			return ""
		}
		defer func() { _ = response.Body.Close() }()
		body, _ := io.ReadAll(response.Body)
		return gjson.GetBytes(body, "result.structuredContent.job_id").Str
	}
	counted := func() (n int) {
		if err := db.QueryRow("SELECT count(*) FROM admissions").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	var answered []string
	for round := range 6 {
		before, begun := counted(), make(chan string, len(tokens))
		for _, token := range tokens {
			go func() { begun <- begin(token) }()
		}
		p.eventually("runs are counted", func() bool { return counted() > before+round%3 || len(begun) == len(tokens) })
		// what a killed one had just forked has not the server as its parent
		if n := len(slices.DeleteFunc(p.having(starter), func(pid int) bool { return parent(pid) != d.cmd.Process.Pid })); n > 1 {
			t.Errorf("%d processes start the runs of one server, want 1", n)
		}
		p.killAll(starter)
		for range tokens {
			if job := <-begun; job != "" { // else its answer was lost
				answered = append(answered, job)
			}
		}
	}
	p.eventually("a call starts it again", func() bool {
		answered = append(answered, begin(newToken()))
		return answered[len(answered)-1] != "" && len(p.having(starter)) == 1
	})
	for _, job := range slices.DeleteFunc(answered, func(job string) bool { return job == "" }) {
		if got := d.done(job); got.Get("status").Str != "completed" {
			t.Errorf("%s: %s", job, got)
		}
	}
	p.checkCounted()
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	p.eventually("it ends with the server", func() bool { return len(p.having(starter)) == 0 })
}

// TestARunOfAFlowIsKilled holds that the stream of a run that is killed ends, with a job that has failed.
func TestARunOfAFlowIsKilled(t *testing.T) {
	t.Parallel()
	needsLinux(t, "processes are found in /proc")
	p := newPlace(t)
	gate := p.gate("gate")
	token := p.shared("waits", waiting(gate))
	d := p.open()
	job, rest := d.follow(token)
	gate.reached()
	if p.killAll(" --foreground") == 0 {
		t.Fatalf("no process runs the flow: %v", processes("PFLOW_HOME="+p.home))
	}
	text, err := io.ReadAll(rest)
	result := gjson.Get(string(text[strings.LastIndex(string(text), "data: ")+6:]), "result")
	if err != nil || result.Get("structuredContent.status").Str != "failed" || !result.Get("isError").Bool() || !result.Get("structuredContent.errors._error").Exists() {
		t.Errorf("%v %s", err, text)
	}
	if got := d.done(job); got.Get("status").Str != "failed" {
		t.Errorf("%s", got)
	}
}

// TestStreamsOutliveTheirWatch holds that streams go on, with each event once, when the program that reads the events is killed.
func TestStreamsOutliveTheirWatch(t *testing.T) {
	t.Parallel()
	needsLinux(t, "processes are found in /proc")
	p := newPlace(t)
	gate := p.gate("gate")
	token := p.shared("gated", strings.ReplaceAll(gated(), "gate\"", gate.path+"\""))
	d := p.open()
	_, rest := d.follow(token)
	open := gate.reached()
	p.eventually("the events are read", func() bool { return p.killAll(" watch ") > 0 })
	open()
	text, err := io.ReadAll(rest)
	if err != nil || strings.Count(string(text), `"message":"b: running"`) != 1 || strings.Count(string(text), `"message":"c: success"`) != 1 || !strings.Contains(string(text), `"status":"completed"`) {
		t.Errorf("%v %s", err, text)
	}
}

// TestHostileRanges holds that no range of an output makes the server send more than the output and some headers.
func TestHostileRanges(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	token := p.shared("long", `{"nodes":[{"id":"a","type":"shell","params":{"command":"head -c 100000 /dev/zero | tr '\\0' x"}}],"outputs":{"text":{"source":"${a.stdout}"}}}`)
	d := p.open()
	job := d.content("run_flow", `{"token":"`+token+`"}`).Get("job_id").Str
	link := d.done(job).Get("outputs.text.uri").Str
	for name, tc := range map[string]struct {
		ranges string
		status []int
	}{
		"many":        {"bytes=" + strings.TrimSuffix(strings.Repeat("0-,", 1000), ","), []int{200}},
		"many pieces": {"bytes=" + strings.TrimSuffix(strings.Repeat("0-0,", 1000), ","), []int{200, 206}},
		"overlapping": {"bytes=0-99998,1-99999,2-", []int{200}},
		"too large":   {"bytes=99999999999999999999-", []int{416}},
		"negative":    {"bytes=--5", []int{416}},
		"backwards":   {"bytes=5-1", []int{416}},
		"no unit":     {"0-5", []int{416}},
		"empty":       {"bytes=", []int{200, 416}},
		"nonsense":    {"bytes=a-b", []int{416}},
		"two":         {"bytes=0-1,-2", []int{206}},
		"the end":     {"bytes=-99999999999", []int{200, 206}},
	} {
		response, body := p.get(http.MethodGet, link, "Range", tc.ranges)
		ok := false
		for _, status := range tc.status {
			ok = ok || response.StatusCode == status
		}
		if !ok || len(body) > 300_000 {
			t.Errorf("%s: %d, %d bytes", name, response.StatusCode, len(body))
		}
	}
}
