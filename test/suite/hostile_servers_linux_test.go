package suite

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"golang.org/x/sync/errgroup"

	"github.com/pflow-suite/pflow/internal/brief"
	"github.com/pflow-suite/pflow/internal/hostilemcp"
)

// hostileAnswers are the types of the faults of what hostile servers do, separated by |. A kind that is not here is no obstacle, at
// the named stage if there is one.
var hostileAnswers = map[string]string{
	"silent": "timeout", "unread": "timeout", "drip": "timeout", "no-end": "timeout", "cancelled": "timeout", "batch": "timeout", "headers": "timeout", "no-rpc": "timeout",
	"endless-text": "timeout", "endless-objects": "timeout", "endless-blanks": "timeout", "endless-answers": "timeout", "endless-changes": "timeout", "endless-logs": "timeout", "endless-progress": "timeout",
	"endless-pings": "protocol_error", "endless-roots": "protocol_error", "endless-questions": "protocol_error", "endless-questions@tools/call": "execution_error",
	"endless-text@tools/list": "too_large", "endless-objects@tools/list": "too_large", "endless-blanks@tools/list": "too_large", "endless-answers@tools/list": "too_large",
	"endless-changes@tools/list": "too_large", "endless-logs@tools/list": "too_large", "endless-progress@tools/list": "too_large",
	"endless-line": "too_large|timeout", "long": "too_large|timeout",
	"exit": "execution_error", "half": "execution_error", "no-output": "execution_error", "no-pipes": "execution_error",
	"deep-lists@initialize": "protocol_error", "deep-objects@initialize": "protocol_error", "too-deep": "protocol_error", "nul": "protocol_error", "garbage": "protocol_error",
	"wrong-id": "protocol_error", "old-rpc": "protocol_error", "both": "protocol_error", "neither": "protocol_error", "error-text": "protocol_error", "error-empty": "protocol_error", "error-long": "protocol_error",
	"result-null": "protocol_error", "result-number": "protocol_error", "result-text": "protocol_error", "result-list": "protocol_error", "result-empty@initialize": "protocol_error",
	"result-empty@tools/list": "|not_found", "null": "|not_found", // an empty list, which does not have the tool of a call

	"wrong-revision": "protocol_error", "revision-number": "protocol_error", "revision-empty": "protocol_error", "capabilities": "protocol_error",
	"empty-pages": "too_large", "full-pages": "too_large", "many-tools": "too_large", "long-cursors": "too_large", "long-texts": "too_large", "same-page": "protocol_error", "object": "protocol_error", "text": "protocol_error",
	"content-text": "protocol_error", "content-object": "protocol_error", "result-type": "protocol_error",
	"error-flag-text": "execution_error", "error-flag-number": "execution_error", "same-keys": "execution_error",
}

// hostileWebAnswers are the same for what hostile servers do over HTTP.
var hostileWebAnswers = map[string]string{
	"silent": "timeout", "drip": "timeout", "drip-events": "timeout", "wrong-id": "timeout", "retry-late": "timeout",
	"endless-comments@tools/list": "too_large", "endless-logs@tools/list": "too_large", "endless-progress@tools/list": "too_large",
	"endless-comments": "timeout", "endless-logs": "timeout", "endless-progress": "timeout", "endless-questions": "protocol_error|timeout", "endless-questions@tools/call": "protocol_error|timeout|execution_error", "endless-json": "too_large|timeout", "endless-event": "protocol_error|too_large|timeout",
	"endless-garbage": "protocol_error", "half": "protocol_error", "broken-off": "protocol_error", "no-event": "protocol_error", "event-ids": "protocol_error", "garbage": "protocol_error", "empty": "protocol_error",
	"html": "protocol_error", "xml": "protocol_error", "no-type": "protocol_error", "accepted": "protocol_error", "no-content": "protocol_error", "bad-gzip": "protocol_error", "long-header": "protocol_error", "deep": "protocol_error",
	"result-list": "protocol_error", "neither": "protocol_error", "batch": "protocol_error", "redirect-get": "protocol_error", "redirect-loop": "unavailable", "redirect-away": "unavailable",
	"status-401": "execution_error", "status-403": "execution_error", "status-404": "execution_error", "status-429": "rate_limited", "status-500": "unavailable", "status-503": "unavailable",
}

// hostileCommands are the commands that meet a server's answer at a stage.
var hostileCommands = map[string][]string{
	"initialize":     {"pflow-sync sync h", "pflow-sync call h t", "pflow-exec run w.json --format json"},
	"tools/list":     {"pflow-sync sync h", "pflow-sync call h t"},
	"tools/call":     {"pflow-sync call h t", "pflow-exec run w.json --format json"},
	"resources/list": {"pflow-sync sync h"},
	"resources/read": {"pflow-sync call h resources/read uri=hostile://r"},
}

// hostileServer is a server that misbehaves, in a place of its own.
type hostileServer struct {
	*place
	what string
	// pids is the folder with a file named by the id of each process of the server.
	pids string
	// want are the types of the fault, or "" for none.
	want string
}

// newHostileServer configures a server as h, and a workflow that calls its tool. entry is what the configuration has of it, in
// which PIDS stands for the folder pids.
func newHostileServer(t *testing.T, kind, stage, entry string, answers map[string]string) *hostileServer {
	t.Helper()
	h := &hostileServer{place: newPlace(t), what: kind + " at " + stage, want: answers[kind]}
	if stage == "resources/list" { // a sync needs it only for a description
		h.want = ""
	}
	if special, ok := answers[kind+"@"+stage]; ok {
		h.want = special
	}
	h.pids = filepath.Dir(h.write("pids/.keep", ""))
	h.env = append(h.env, "TMPDIR="+filepath.Dir(h.write("tmp/.keep", "")))
	seconds := 40 // less than hostileTime, and much for a busy machine
	if strings.Contains(h.want, "timeout") {
		seconds = 1
	}
	h.write("home/mcp-servers.json", fmt.Sprintf(`{"mcpServers":{"h":{%s,"timeout":%d}}}`, strings.ReplaceAll(entry, "PIDS", h.pids), seconds))
	h.write("w.json", `{"nodes":[{"id":"a","type":"mcp-h-t"}]}`)
	return h
}

const (
	hostileTime   = patience // for the limits of the start, the list, the call and the end, on a busy machine
	hostileMemory = 600 << 20
	hostileOutput = 100 << 10
)

// meet runs a command that talks to the server, and checks its answer, its time, its memory and what it leaves.
func (h *hostileServer) meet(line string) {
	h.Helper()
	args := strings.Fields(line)
	cmd := h.command(args[0], args[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	_ = cmd.Run()
	took, usage := time.Since(began), cmd.ProcessState.SysUsage().(*syscall.Rusage) //nolint:errcheck,forcetypeassert // it is one on Linux
	left := h.left()
	kind, message := "", ""
	for _, path := range []string{"error", "servers.0.error"} {
		if e := gjson.GetBytes(stdout.Bytes(), path); e.IsObject() {
			kind, message = e.Get("type").Str, e.Get("message").Str
		}
	}
	exit := cmd.ProcessState.ExitCode()
	result := outcome{stdout.String()[:min(stdout.Len(), 2000)], stderr.String()[:min(stderr.Len(), 2000)], exit}
	switch {
	case !slices.Contains(strings.Split(h.want, "|"), kind) || (kind == "") != (exit == 0) || exit > 2 && exit != 4 || (kind == "") != (message == ""):
		h.Errorf("%s: %s: want a fault of type %q, got %q: %s", h.what, line, h.want, kind, result)
	case strings.Contains(stderr.String(), "goroutine "), kind != "" && stdout.Len()+stderr.Len() > hostileOutput:
		h.Errorf("%s: %s: %d bytes: %s", h.what, line, stdout.Len()+stderr.Len(), result)
	case took > hostileTime:
		h.Errorf("%s: %s took %v", h.what, line, took)
	case usage.Maxrss<<10 > max(hostileMemory, ownMemory()):
		h.Errorf("%s: %s used %d MB of memory", h.what, line, usage.Maxrss>>10)
	case len(left) > 0:
		h.Errorf("%s: %s: left %v", h.what, line, left)
	}
}

// ownMemory returns the most bytes that this process has had. The system counts the memory of the process that starts a program as the
// program's, so less than this cannot be measured.
func ownMemory() int64 {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return 0
	}
	return own.Maxrss << 10
}

// left returns the processes of the server that live, and the temporary files.
func (h *hostileServer) left() (left []string) {
	for _, folder := range []string{"pids", "tmp", "home/live"} {
		entries, _ := os.ReadDir(filepath.Join(h.dir, folder))
		for _, e := range entries {
			if state, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat")); e.Name() == ".keep" || folder == "pids" && (err != nil || bytes.Contains(state, []byte(") Z "))) {
				continue
			}
			left = append(left, folder+"/"+e.Name())
		}
	}
	return left
}

// notStarted checks that a command that needs no server starts none.
func (h *hostileServer) notStarted() {
	h.Helper()
	before, _ := os.ReadDir(h.pids)
	began := time.Now()
	o := h.run("pflow-sync", "tools", "h")
	if after, _ := os.ReadDir(h.pids); len(after) != len(before) || o.exit != 0 || time.Since(began) > hostileTime {
		h.Errorf("%s: tools: %s", h.what, o)
	}
}

// Whatever a server does, a command that talks to it ends in time, with a fault that says what is wrong or with what the server did
// right, in bounded memory, and leaves no process and no file.
func TestHostileServers(t *testing.T) {
	t.Parallel()
	program := filepath.Join(testPrograms, "hostilemcp")
	meetHostileServers(t, func(yield func(*hostileServer, string)) {
		for i, stage := range hostilemcp.Stages() {
			for _, kind := range brief.PartFrom(i, hostilemcp.Kinds(stage), 2) { // each kind meets every other stage
				if stage == "resources/list" && strings.Contains(hostileAnswers[kind], "timeout") {
					continue // for five seconds each
				}
				yield(newHostileServer(t, kind, stage, fmt.Sprintf(`"command":%q,"args":[%q,%q,"PIDS"]`, program, kind, stage), hostileAnswers), stage)
			}
		}
	})
}

// The same holds for servers over HTTP.
func TestHostileServersOverHTTP(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(hostilemcp.Handler())
	defer server.Close()
	defer server.CloseClientConnections()
	meetHostileServers(t, func(yield func(*hostileServer, string)) {
		for _, stage := range []string{"initialize", "tools/list", "tools/call"} {
			for _, kind := range hostilemcp.HTTPKinds() {
				yield(newHostileServer(t, kind, stage, fmt.Sprintf(`"url":%q`, server.URL+"/"+kind+"/"+stage), hostileWebAnswers), stage)
			}
		}
	})
}

// meetHostileServers lets the commands meet servers, some at a time: many wait for a second. Those that send without end take all of the
// machine for as long as they are read: each meets one command at each stage, in turn. In a brief test a few of the servers meet one command each.
func meetHostileServers(t *testing.T, servers func(yield func(h *hostileServer, stage string))) {
	t.Helper()
	var together errgroup.Group
	together.SetLimit(6)
	met := 0
	servers(func(h *hostileServer, stage string) {
		if met++; testing.Short() && met%16 != 0 {
			return
		}
		lines := hostileCommands[stage]
		if testing.Short() || strings.HasPrefix(h.what, "endless-") {
			lines = lines[met%len(lines):][:1]
		}
		together.Go(func() error {
			for _, line := range lines {
				h.meet(line)
			}
			h.notStarted()
			return nil
		})
	})
	if _ = together.Wait(); met < 21 {
		t.Errorf("only %d servers", met)
	}
}
