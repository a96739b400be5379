package suite

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/tidwall/gjson"
)

// taskServer is a server that makes a task of each call, in the way of its revision: 2025-11-25, or 2026-07-28 with the extension
// for tasks. It writes the methods of the requests into the file in $CALLS. Its tools are named for how their tasks end: done,
// failed, cancelled, asks (after a question) and forever. Those of plain, page and secret are no tasks: the server of page wants a
// person to open a page, and that of secret asks for a secret.
type taskServer struct {
	modern bool
	out    io.Writer
	polls  map[string]int
	asked  map[string]string // the answers by tasks
	lastID int
	// waiting are the requests for the result of a task that has asked, by tasks.
	waiting map[string]string
}

func serveTasks(revision string) error {
	s := &taskServer{modern: revision == "2026-07-28", out: os.Stdout, polls: map[string]int{}, asked: map[string]string{}, waiting: map[string]string{}}
	calls, err := os.OpenFile(os.Getenv("CALLS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		m := gjson.ParseBytes(in.Bytes())
		if method := m.Get("method").Str; method != "" {
			_, _ = fmt.Fprintln(calls, method, m.Get("params.taskId").Str)
		}
		s.answer(m)
	}
	return in.Err()
}

func (s *taskServer) say(id, member, value string) {
	_, _ = fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,%q:%s}`+"\n", id, member, value)
}

func (s *taskServer) answer(m gjson.Result) {
	id, task := m.Get("id").Raw, m.Get("params.taskId").Str
	switch method := m.Get("method").Str; {
	case method == "" && id == `"question"`:
		for task, request := range s.waiting {
			s.asked[task] = m.Get("result.content.who").Str
			s.say(request, "result", s.result(task))
			delete(s.waiting, task)
		}
	case id == "":
	case method == "initialize" && !s.modern:
		s.say(id, "result", `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"t","version":"1"}}`)
	case method == "server/discover" && s.modern:
		s.say(id, "result", `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"ttlMs":0,"cacheScope":"private"}`)
	case method == "tools/list":
		list := `{"name":"plain","inputSchema":{"type":"object"}},{"name":"page","inputSchema":{"type":"object"}},{"name":"secret","inputSchema":{"type":"object"}}`
		for i, name := range []string{"done", "failed", "cancelled", "asks", "forever"} {
			list += fmt.Sprintf(`,{"name":%q,"inputSchema":{"type":"object"},"execution":{"taskSupport":%q}}`, name, []string{"required", "optional"}[i%2])
		}
		s.say(id, "result", `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[`+list+`]}`)
	case method == "tools/call":
		s.call(id, m)
	case method == "tasks/get":
		s.polls[task]++
		s.say(id, "result", s.state(task))
	case method == "tasks/update":
		s.asked[task] = m.Get("params.inputResponses.q.content.who").Str
		s.say(id, "result", `{"resultType":"complete"}`)
	case method == "tasks/cancel":
		s.say(id, "result", `{"resultType":"complete","taskId":`+strconv.Quote(task)+`,"status":"cancelled"}`)
	case method == "tasks/result" && s.kind(task) == "failed":
		s.say(id, "error", `{"code":-32000,"message":"out of paper"}`)
	case method == "tasks/result" && s.kind(task) == "asks" && s.asked[task] == "":
		s.waiting[task] = id
		_, _ = fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":"question","method":"elicitation/create","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%q}},%s}}`+"\n", task, taskQuestion)
	case method == "tasks/result":
		s.say(id, "result", s.result(task))
	default:
		s.say(id, "error", `{"code":-32601,"message":"no such method"}`)
	}
}

const taskQuestion = `"message":"Who?","requestedSchema":{"type":"object","properties":{"who":{"type":"string"}},"required":["who"]}`

const (
	pageQuestion   = `{"mode":"url","elicitationId":"e","message":"Log in","url":"https://login.test/x"}`
	secretQuestion = `"message":"The key?","requestedSchema":{"type":"object","properties":{"key":{"type":"string","writeOnly":true}}}`
)

func (s *taskServer) call(id string, m gjson.Result) {
	name := m.Get("params.name").Str
	asked := m.Get("params.task").Exists() || m.Get(`params._meta.io\.modelcontextprotocol/clientCapabilities.extensions.io\.modelcontextprotocol/tasks`).Exists()
	switch {
	case name == "plain":
		s.say(id, "result", `{"resultType":"complete","content":[{"type":"text","text":"plain"}]}`)
	case name == "page" && s.modern:
		s.say(id, "result", `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":`+pageQuestion+`}}}`)
	case name == "page":
		s.say(id, "error", `{"code":-32042,"message":"a page must be opened","data":{"elicitations":[`+pageQuestion+`]}}`)
	case name == "secret" && s.modern:
		s.say(id, "result", `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{`+secretQuestion+`}}}}`)
	case name == "secret":
		_, _ = fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":"secret","method":"elicitation/create","params":{%s}}`+"\n", secretQuestion)
	case !asked:
		s.say(id, "error", `{"code":-32601,"message":"only as a task"}`)
	case s.modern:
		s.lastID++
		s.say(id, "result", `{"resultType":"task",`+s.state(fmt.Sprint(name, " ", s.lastID))[1:])
	default:
		s.lastID++
		s.say(id, "result", `{"task":`+s.state(fmt.Sprint(name, " ", s.lastID))+`}`)
	}
}

// kind returns the tool of a task.
func (s *taskServer) kind(task string) string {
	var kind string
	_, _ = fmt.Sscan(task, &kind)
	return kind
}

// state returns a task: it works for two polls.
func (s *taskServer) state(task string) string {
	kind, status, more := s.kind(task), "working", ""
	switch {
	case s.polls[task] < 2 || kind == "forever":
	case kind == "failed":
		status, more = "failed", `,"error":{"code":-32000,"message":"out of paper"}`
	case kind == "cancelled":
		status = "cancelled"
	case kind == "asks" && s.asked[task] == "":
		status, more = "input_required", `,"inputRequests":{"q":{"method":"elicitation/create","params":{`+taskQuestion+`}}}`
	default:
		status, more = "completed", `,"result":`+s.result(task)
	}
	if !s.modern {
		more = ""
	}
	message, _ := json.Marshal(fmt.Sprint("step ", s.polls[task]))
	return fmt.Sprintf(`{"taskId":%q,"status":%q,"statusMessage":%s,"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null,"ttlMs":null,"pollInterval":300,"pollIntervalMs":300%s}`, task, status, message, more)
}

func (s *taskServer) result(task string) string {
	return fmt.Sprintf(`{"content":[{"type":"text","text":"%s %s"}]}`, s.kind(task), s.asked[task])
}
