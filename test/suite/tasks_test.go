package suite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// taking sends a request of a client that takes tasks, and returns the result or the error.
func (c *client) taking(method, params string) gjson.Result {
	c.Helper()
	c.id++
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{%s},"progressToken":"t"}}}`, c.id, method, params, cmp.Or(c.capabilities, `"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}`)))
	message := c.receive()
	for message["id"] != float64(c.id) {
		c.Errorf("%s: a client that takes tasks is notified: %v", method, message)
		message = c.receive()
	}
	for _, member := range []string{"result", "error"} {
		if raw, err := json.Marshal(message[member]); err == nil && message[member] != nil {
			return gjson.ParseBytes(raw)
		}
	}
	return gjson.Result{}
}

// task returns the state of a task.
func (c *client) task(id string) gjson.Result {
	c.Helper()
	return c.taking("tasks/get", `"taskId":"`+id+`"`)
}

// kill kills the server of a client.
func (c *client) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// A task outlives the server: its id stays, and each server of the home answers alike.
func TestATaskOutlivesItsServer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.draft("long", gated())
	c := p.connect("pflow-serve")
	created := c.taking("tools/call", `"name":"execute","arguments":{"name":"long"}`)
	id := created.Get("taskId").Str
	if created.Get("resultType").Str != "task" || id == "" || created.Get("status").Str != "working" || created.Get("result").Exists() {
		t.Fatal(created)
	}
	open := g.reached()
	other := p.connect("pflow-serve", "--toolsets=workflows")
	c.kill()
	c = p.connect("pflow-serve")
	for _, client := range []*client{other, c} {
		if task := client.task(id); task.Get("status").Str != "working" || task.Get("taskId").Str != id || task.Get("statusMessage").Str != "1 of 3 done; b" ||
			task.Get("createdAt").Str != created.Get("createdAt").Str || task.Get("pollIntervalMs").Int() <= 0 {
			t.Errorf("while it goes on: %s", task)
		}
	}
	open()
	p.eventually("the task has ended", func() bool { return c.task(id).Get("status").Str != "working" })
	c.kill()
	c = p.connect("pflow-serve")
	for _, client := range []*client{other, c} {
		task := client.task(id)
		if task.Get("status").Str != "completed" || task.Get("result.structuredContent.run_id").Str != id || task.Get("result.structuredContent.status").Str != "completed" || task.Get("result.isError").Bool() {
			t.Errorf("after its end: %s", task)
		}
		client.taking("tasks/cancel", `"taskId":"`+id+`"`)
		if again := client.task(id); again.Get("status").Str != "completed" {
			t.Errorf("cancelled after its end: %s", again)
		}
		client.leave()
	}
	if p.read("ran.txt") != "a\nb\nc\n" {
		t.Errorf("%q ran", p.read("ran.txt"))
	}
}

// A run that ends at once is answered as ever, also a failed one; one that fails later is a task that is completed with the failure.
func TestTasksThatEnd(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.draft("quick", chain("echo hello"))
	p.draft("broken", chain("exit 3"))
	second, again := p.gate("second"), p.gate("again") // a gate that was open may still be open in a process that forks
	p.draft("late", chain("cat "+g.path, "if test -e resumed; then cat "+again.path+"; else cat "+second.path+"; fi; exit 3"))
	p.write("home/library/offered.json", `{"executionType":"sync","nodes":[{"id":"wait","type":"shell","params":{"command":"cat `+g.path+`"}}],"outputs":{"said":{"source":"${wait.stdout}"}}}`)
	c := p.connect("pflow-serve", "--toolsets=core,workflows")
	execute := func(arguments string) gjson.Result {
		return c.taking("tools/call", `"name":"execute","arguments":`+arguments)
	}
	atOnce := func(name string) (answer gjson.Result) { // unless it is slow on a busy machine
		t.Helper()
		p.eventually("the run of "+name+" is answered when it ends", func() bool {
			answer = execute(`{"name":"` + name + `"}`)
			return answer.Get("resultType").Str == "complete"
		})
		return answer
	}
	if quick := atOnce("quick"); quick.Get("structuredContent.outputs.last").Str != "hello" {
		t.Error(quick)
	}
	if broken := atOnce("broken"); !broken.Get("isError").Bool() {
		t.Error(broken)
	}
	if none := execute(`{"name":"nothing"}`); none.Get("resultType").Str != "complete" || !none.Get("isError").Bool() {
		t.Error(none)
	}
	late := execute(`{"name":"late","wait_seconds":0}`).Get("taskId").Str
	g.reached()()
	second.reached()()
	p.eventually("the run has failed", func() bool { return c.task(late).Get("status").Str != "working" })
	if task := c.task(late); task.Get("status").Str != "completed" || !task.Get("result.isError").Bool() || task.Get("result.structuredContent.error.node").Str != "b" ||
		!strings.HasPrefix(task.Get("statusMessage").Str, "failed: ") {
		t.Error(task)
	}
	tool := c.taking("tools/call", `"name":"offered","arguments":{}`)
	offered := tool.Get("taskId").Str
	g.reached()()
	p.eventually("the run of the tool has ended", func() bool { return c.task(offered).Get("status").Str == "completed" })
	if task := c.task(offered); task.Get("result.structuredContent.outputs.said").Str != "go on" {
		t.Error(tool, task)
	}
	p.write("resumed", "")
	resumed := c.taking("tools/call", `"name":"run_resume","arguments":{"run_id":"`+late+`","wait_seconds":0,"max_output_chars":3}`)
	if id := resumed.Get("taskId").Str; id == late || !strings.HasSuffix(id, ".3") {
		t.Errorf("run_resume: %s", resumed)
	} else {
		again.reached()()
		p.eventually("the resumed run has ended", func() bool { return c.task(id).Get("status").Str == "completed" })
	}
	for _, id := range []string{"last", late[:10], late + "0", "r", "../" + late, late + ".x"} {
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			if answer := c.taking(method, `"inputResponses":{},"taskId":"`+id+`"`); answer.Get("code").Int() != -32602 {
				t.Errorf("%s of %s: %s", method, id, answer)
			}
		}
	}
	c.leave()
}

// tasks/cancel ends the run in order; notifications/cancelled for the call that began the task does not.
func TestATaskIsCancelled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.draft("long", gated())
	c := p.connect("pflow-serve")
	id := c.taking("tools/call", `"name":"execute","arguments":{"name":"long","wait_seconds":0}`).Get("taskId").Str
	g.reached()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"enough"}}`, c.id))
	if task := c.task(id); task.Get("status").Str != "working" {
		t.Errorf("after the notification: %s", task)
	}
	for range 2 {
		if ack := c.taking("tasks/cancel", `"taskId":"`+id+`"`); ack.Get("resultType").Str != "complete" || ack.Get("taskId").Exists() || ack.Get("status").Exists() {
			t.Error(ack)
		}
	}
	if task := c.task(id); task.Get("status").Str != "cancelled" || task.Get("result").Exists() {
		t.Errorf("after tasks/cancel: %s", task)
	}
	if p.runStatus() != "cancelled" || p.read("ran.txt") != "a\nb\n" {
		t.Errorf("the run is %s, and %q ran", p.runStatus(), p.read("ran.txt"))
	}
	c.leave()
}

// A server that is killed in the middle of runs and started again shows the same tasks, in their true states, and has started no run
// twice. scripts/bench/trials has a longer trial.
func TestServersAreKilledAmongTasks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("counted", `{"inputs":{"n":{"type":"integer"}},"nodes":[{"id":"count","type":"shell","params":{"command":"echo ${n} >> `+p.dir+`/ran.txt"}},`+
		`{"id":"fail","type":"shell","params":{"command":"sleep 0.2; [ $((${n} % 2)) = 0 ]"}}],"edges":[{"from":"count","to":"fail"}]}`)
	ids := map[string]int{}
	var lines []string
	for n := range 6 {
		c := p.connect("pflow-serve")
		created := c.taking("tools/call", fmt.Sprintf(`"name":"execute","arguments":{"name":"counted","wait_seconds":0,"inputs":{"n":%d}}`, n))
		c.kill()
		ids[created.Get("taskId").Str] = n
		lines = append(lines, fmt.Sprint(n))
	}
	if len(ids) != 6 {
		t.Fatalf("tasks %v", ids)
	}
	c := p.connect("pflow-serve")
	for id, n := range ids {
		p.eventually("a task has ended", func() bool { return c.task(id).Get("status").Str == "completed" })
		if task := c.task(id); task.Get("result.isError").Bool() != (n%2 == 1) || task.Get("taskId").Str != id {
			t.Errorf("task %d: %s", n, task)
		}
	}
	ran := strings.Fields(p.read("ran.txt"))
	slices.Sort(ran)
	if !slices.Equal(ran, lines) {
		t.Errorf("%q ran", ran)
	}
	c.leave()
}

// A task asks a client that can ask a person, and goes on with the answer, though that is another run. Whatever is not outstanding is
// ignored, and a client that cannot ask sees what it would have been answered without tasks.
func TestATaskAsks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("ask", `{"nodes":[{"id":"first","type":"shell","approval":{"question":"Go on?"},"params":{"command":"echo first >> ran.txt"}},`+
		`{"id":"a","type":"shell","approval":{"question":"With a?"},"params":{"command":"echo a >> ran.txt"}},{"id":"b","type":"shell","approval":{"question":"With b?"},"params":{"command":"echo b >> ran.txt"}}],`+
		`"edges":[{"from":"first","to":"a"},{"from":"first","to":"b"}]}`)
	c := p.connect("pflow-serve")
	created := c.taking("tools/call", `"name":"execute","arguments":{"name":"ask"}`)
	id := created.Get("taskId").Str
	if created.Get("resultType").Str != "task" || created.Get("inputRequests").Exists() { // its status is working until the run has asked
		t.Fatal(created)
	}
	outstanding := func(n int, answered ...string) (keys []string) { // the answers, and what is asked then, take a moment to show
		t.Helper()
		var task gjson.Result
		p.eventually("the task asks", func() bool {
			task = c.task(id)
			asks := task.Get("inputRequests").Map()
			return task.Get("status").Str == "input_required" && len(asks) == n && !slices.ContainsFunc(answered, func(key string) bool { return asks[key].Exists() })
		})
		for key, request := range task.Get("inputRequests").Map() {
			if keys = append(keys, key); request.Get("method").Str != "elicitation/create" || !request.Get("params.requestedSchema.properties.answer").Exists() {
				t.Errorf("%s: %s", key, request)
			}
		}
		if task.Get("createdAt").Str != created.Get("createdAt").Str {
			t.Errorf("it was created at %s, and now at %s", created.Get("createdAt").Str, task.Get("createdAt").Str)
		}
		slices.Sort(keys)
		return keys
	}
	update := func(key, reply string) gjson.Result {
		return c.taking("tasks/update", fmt.Sprintf(`"taskId":%q,"inputResponses":{%q:%s,"other":{"action":"accept"}}`, id, key, reply))
	}
	const yes = `{"action":"accept","content":{"answer":"yes"}}`
	first := outstanding(1)
	if len(first) != 1 {
		t.Fatal(first)
	}
	for _, ignored := range []string{`{"action":"cancel"}`} {
		if ack := update(first[0], ignored); ack.Get("resultType").Str != "complete" || !slices.Equal(outstanding(1), first) {
			t.Errorf("%s: %s", ignored, ack)
		}
	}
	for _, wrong := range []string{`{"action":"accept","content":{"answer":"perhaps"}}`, `7`} {
		if ack := update(first[0], wrong); ack.Get("code").Int() != -32602 || !slices.Equal(outstanding(1), first) {
			t.Errorf("%s: %s", wrong, ack)
		}
	}
	if ack := update(first[0], yes); ack.Get("resultType").Str != "complete" || ack.Get("taskId").Exists() {
		t.Error(ack)
	}
	c.kill()
	c = p.connect("pflow-serve", "--toolsets=runs")
	second := outstanding(2, first...)
	if len(second) != 2 || slices.Contains(second, first[0]) {
		t.Fatal(second)
	}
	if ack := update(first[0], yes); ack.Get("resultType").Str != "complete" || !slices.Equal(outstanding(2), second) {
		t.Errorf("an answer to what was answered: %s", ack)
	}
	update(second[0], yes) // some of the answers
	third := outstanding(1, second...)
	if len(third) != 1 || slices.Contains(second, third[0]) {
		t.Fatal(third)
	}
	<-time.After(400 * time.Millisecond) // a person reads
	update(third[0], `{"action":"decline"}`)
	p.eventually("the task has ended", func() bool { return c.task(id).Get("status").Str == "completed" })
	if task := c.task(id); task.Get("result.structuredContent.status").Str != "denied" || task.Get("taskId").Str != id || p.read("ran.txt") != "first\na\n" {
		t.Errorf("%s; %q ran", task, p.read("ran.txt"))
	}
	c.leave()
	plain := p.connect("pflow-serve")
	plain.capabilities = `"extensions":{"io.modelcontextprotocol/tasks":{}}`
	if task := plain.task(id); task.Get("status").Str != "completed" || task.Get("result.structuredContent.status").Str != "paused" {
		t.Errorf("for a client that cannot ask: %s", task)
	}
	if answer := plain.taking("tools/call", `"name":"execute","arguments":{"name":"ask"}`); answer.Get("resultType").Str != "complete" || answer.Get("structuredContent.status").Str != "paused" {
		t.Error(answer)
	}
	plain.leave()
}
