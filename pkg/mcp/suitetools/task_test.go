package suitetools

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// declaring is a request of a client that takes tasks.
func declaring(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + `,"_meta":{"progressToken":"t","io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`
}

// lasting is a pflow-exec whose run goes on until it is cancelled.
const lasting = `case "$2" in
start) echo '{"run_id":"r1"}';;
wait) case "$*" in
	*--for=0\ *--max-output-chars=7*) echo '{"success":true,"run_id":"r1","status":"completed","outputs":{"n":7}}';;
	*--for=0\ *) echo '{"success":true,"run_id":"r1","status":"completed","outputs":{"n":9007199254740993}}';;
	*) echo '{"success":true,"run_id":"r1","status":"running","outputs":{}}';;
	esac;;
status) case "$*" in
	*r2*) echo '{"success":false,"error":{"type":"not_found","message":"no run"}}'; exit 1;;
	*r3*) echo '{"success":false,"error":{"type":"io_error","message":"no disk"}}'; exit 1;;
	esac
	cat "$DIR/status" 2>/dev/null || echo '{"run_id":"r1","workflow":"w","status":"running","started_at":"2026-11-23T04:00:00Z","updated_at":"2026-11-23T04:00:01Z","nodes":{"total":7,"completed":3},"running_nodes":[{"node":"build","message":"compiling\\nfiles"}]}';;
cancel) echo '{"run_id":"r1","status":"cancelled"}' | tee "$DIR/status";;
esac`

func TestExecuteAsATask(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-exec", lasting)
	s := f.connect()
	for _, c := range []struct{ request, path, want string }{
		{declaring("1", "tools/call", `"name":"execute","arguments":{"name":"w"}`), "result.taskId", `"r1"`},
		{declaring("1", "tools/call", `"name":"execute","arguments":{"name":"w"}`), "result.statusMessage", `"3 of 7 done; build: compiling files"`},
		{declaring("1", "tools/call", `"name":"execute","arguments":{"name":"w","wait_seconds":0.5}`), "result.createdAt", `"2026-11-23T04:00:00Z"`},
		{declaring("1", "tools/call", `"name":"execute","arguments":{"name":"w","wait_seconds":600,"max_output_chars":7}`), "result.taskId", `"r1.7"`},
		{declaring("1", "tasks/get", `"taskId":"r1"`), "result.lastUpdatedAt", `"2026-11-23T04:00:01Z"`},
		{declaring("1", "tasks/get", `"taskId":"r2"`), "error.code", "-32602"},
		{declaring("1", "tasks/get", `"taskId":"r3"`), "error.code", "-32603"},
		{declaring("1", "tasks/get", `"taskId":"r"`), "error.code", "-32602"}, // a prefix of r1
		{declaring("1", "tasks/update", `"taskId":"r2","inputResponses":{}`), "error.code", "-32602"},
		{declaring("1", "tasks/cancel", `"taskId":"r2"`), "error.code", "-32602"},
		{declaring("1", "tasks/cancel", `"taskId":"r1"`), "result.resultType", `"complete"`},
		{declaring("1", "tasks/get", `"taskId":"r1"`), "result.status", `"cancelled"`},
		{declaring("1", "tasks/cancel", `"taskId":"r1"`), "result.resultType", `"complete"`},
	} {
		s.send(c.request)
		answer, notified := s.next("1")
		if got := answer.Get(c.path).Raw; got != c.want || len(notified) > 0 {
			t.Errorf("%s: %s is %s, not %s: %s after %v", c.request, c.path, got, c.want, answer, notified)
		}
	}
	var started, waits, cancels []string
	for _, call := range f.Calls() {
		switch strings.Fields(call)[2] {
		case "start":
			started = append(started, call)
		case "wait":
			waits = append(waits, gjson.Parse(`"`+call+`"`).Str)
		case "cancel":
			cancels = append(cancels, call)
		}
	}
	const wait = "pflow-exec --quiet wait --format json --for="
	if want := []string{wait + "1 --max-output-chars=2000 -- r1", wait + "1 --max-output-chars=2000 -- r1", wait + "0.5 --max-output-chars=2000 -- r1", wait + "1 --max-output-chars=7 -- r1"}; !slices.Equal(waits, want) {
		t.Errorf("it waits with %q", waits)
	}
	if len(started) != 4 || len(cancels) != 1 {
		t.Errorf("%q, %q", started, cancels)
	}
}

func TestATaskThatEnds(t *testing.T) {
	for status, c := range map[string]struct{ tail, path, want string }{
		"completed":   {``, "result.result.structuredContent.outputs.n", "9007199254740993"},
		"failed":      {`,"error":{"type":"execution_error","message":"no\\nluck"}`, "result.statusMessage", `"failed: no luck"`},
		"interrupted": {``, "result.status", `"completed"`},
		"paused":      {``, "result.status", `"completed"`},
		"cancelled":   {``, "result.result", ""},
		"queued":      {``, "result.status", `"working"`},
	} {
		t.Run(status, func(t *testing.T) {
			f := newFakes(t)
			f.Program("pflow-exec", strings.Replace(lasting, `cat "$DIR/status" 2>/dev/null`,
				`echo '{"run_id":"r1","status":"`+status+`","started_at":"2026-11-23T04:00:00Z","updated_at":"2026-11-23T05:00:00Z","ended_at":"2026-11-23T05:00:00Z"`+c.tail+`}'`, 1))
			s := f.connect()
			s.send(declaring("1", "tasks/get", `"taskId":"r1"`))
			answer, _ := s.next("1")
			if got := answer.Get(c.path).Raw; got != c.want {
				t.Errorf("%s is %s, not %s: %s", c.path, got, c.want, answer)
			}
			if kept := answer.Get("result.ttlMs").Int(); status != statusQueued && time.Duration(kept)*time.Millisecond != time.Hour+30*24*time.Hour {
				t.Errorf("it is kept for %d ms", kept)
			}
			s.send(declaring("2", "tasks/get", `"taskId":"r1.7"`))
			if answer, _ = s.next("2"); status == "completed" && answer.Get("result.result.structuredContent.outputs.n").Raw != "7" {
				t.Errorf("with its own limit: %s", answer)
			}
		})
	}
}

func TestTaskIDs(t *testing.T) {
	seven := 7
	for text, want := range map[string]taskID{"r1": {run: "r1"}, "r1.7": {run: "r1", chars: &seven}} {
		id, ok := parseTaskID(text)
		if !ok || id.String() != text || id.run != want.run || (id.chars == nil) != (want.chars == nil) {
			t.Errorf("%s is %v, %v", text, id, ok)
		}
	}
	for _, text := range []string{"", "last", "1", "../r1", "r1.", "r1.x", "r1.07", "r1.+7", "r1.7.7", "--help"} {
		if id, ok := parseTaskID(text); ok {
			t.Errorf("%q is %v", text, id)
		}
	}
}

func TestServersWithoutRunsHaveNoTasks(t *testing.T) {
	for toolsets, want := range map[string]bool{"": true, "core": true, "runs": true, "workflows": true, "servers": false, "drafts,servers": false} {
		f := &Front{}
		if toolsets != "" {
			f.Toolsets = strings.Split(toolsets, ",")
		}
		if got := NewTasks(f) != nil; got != want {
			t.Errorf("%q: %v", toolsets, got)
		}
	}
}

// The pauses between polls grow with the age of a run.
func TestTheIntervalOfPolls(t *testing.T) {
	began := time.Date(2026, 11, 23, 4, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]time.Duration{0: 500 * time.Millisecond, 20 * time.Second: 2 * time.Second, time.Hour: 5 * time.Second} {
		p := runProgress{Status: statusRunning, StartedAt: began}
		if got := p.task(taskID{run: "r1"}, began.Add(age)).Poll; got != want {
			t.Errorf("after %s: %s", age, got)
		}
	}
	var long runProgress
	_ = json.Unmarshal([]byte(`{"status":"failed","error":{"type":"x","message":"`+strings.Repeat("long ", 1000)+`"}}`), &long)
	if task := long.task(taskID{run: "r1"}, began); len(task.Message) > maxStatusMessage+len("…") || task.Status != mcpserver.Completed {
		t.Errorf("%s: %q", task.Status, task.Message)
	}
}
