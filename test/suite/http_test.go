package suite

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// door is a pflow-serve http that runs.
type door struct {
	*place
	cmd *exec.Cmd
	url string
}

// open starts a server on a port that the system chooses.
func (p *place) open(args ...string) *door {
	p.Helper()
	d := &door{place: p, cmd: p.command("pflow-serve", append([]string{"http", "--listen", "127.0.0.1:0"}, args...)...)}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		p.Fatal(err)
	}
	messages, err := os.CreateTemp(p.T.TempDir(), "")
	if err != nil {
		p.Fatal(err)
	}
	d.cmd.Stderr = messages // not a pipe, for which Wait would wait until all children have ended
	if err := d.cmd.Start(); err != nil {
		p.Fatal(err)
	}
	began := time.Now()
	p.Cleanup(func() {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.cmd.Process.Pid))
		alive := !strings.Contains(string(stat), ") Z ") // where there is no /proc, this is not known
		_ = d.cmd.Process.Kill()
		_ = d.cmd.Wait()
		if text, err := os.ReadFile(messages.Name()); p.Failed() {
			p.Logf("%v, alive: %t, ended by %v after %s, and wrote to standard error: %s %v", d.cmd.Args, alive, d.cmd.ProcessState, time.Since(began).Round(time.Millisecond), text, err)
		}
		_ = messages.Close()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if d.url = gjson.Get(line, "url").Str; err != nil || d.url == "" {
		p.Fatalf("%q %v", line, err)
	}
	return d
}

// post sends a message with headers in pairs, and returns the response without its body.
func (d *door) post(ctx context.Context, message string, headers ...string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, strings.NewReader(message))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return http.DefaultClient.Do(request)
}

// ask sends a message and returns the HTTP status and the body of the answer.
func (d *door) ask(message string, headers ...string) (int, string) {
	d.Helper()
	response, err := d.post(d.Context(), message, headers...)
	if err != nil {
		d.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		d.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// toolCall is a message that calls a tool.
func toolCall(id, tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `,"_meta":{"progressToken":"p"}}}`
}

// TestHTTPStreamsTheProgressOfARun holds that a stream brings the progress of a run while it runs, and then its result.
func TestHTTPStreamsTheProgressOfARun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	gate := p.gate("gate")
	p.draft("gated", gated())
	d := p.open("--toolsets", "core")
	response, err := d.post(t.Context(), toolCall("7", "execute", `{"name":"gated"}`), "Accept", "text/event-stream")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	open := gate.reached()
	last := 0.0
	for in := bufio.NewReader(response.Body); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended: %v", err)
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		if gjson.Get(data, "method").Str == "notifications/progress" {
			if got := gjson.Get(data, "params.progress").Num; gjson.Get(data, "params.progressToken").Str != "p" || got <= last {
				t.Errorf("progress after %v: %s", last, data)
			} else if last == 0 {
				open()
			}
			last = gjson.Get(data, "params.progress").Num
			continue
		}
		if gjson.Get(data, "id").Int() != 7 || gjson.Get(data, "result.structuredContent.outputs.last").Str != "third\n" && gjson.Get(data, "result.structuredContent.outputs.last").Str != "third" {
			t.Errorf("%s", data)
		}
		break
	}
	if last < 3 {
		t.Errorf("the last progress was %v", last)
	}
}

const cancelFirst = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`

// TestHTTPRunOutlivesItsCall holds what ends a run: not a client that goes away, not a server that stops or is killed, but a
// cancellation.
func TestHTTPRunOutlivesItsCall(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		end    func(d *door, leave func())
		status string
	}{
		"the client goes away": {func(_ *door, leave func()) { leave() }, "completed"},
		"kill -9":              {func(d *door, _ func()) { _ = d.cmd.Process.Kill(); _ = d.cmd.Wait() }, "completed"},
		"the client cancels": {func(d *door, _ func()) {
			if status, body := d.ask(cancelFirst, "Mcp-Session-Id", "mine"); status != http.StatusAccepted {
				d.Errorf("%d %s", status, body)
			}
		}, "cancelled"},
		"a client without a session cancels": {func(d *door, _ func()) {
			if status, body := d.ask(cancelFirst); status != http.StatusAccepted {
				d.Errorf("%d %s", status, body)
			}
		}, "completed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			gate := p.gate("gate")
			p.draft("gated", gated())
			d := p.open("--toolsets", "core")
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			response, err := d.post(ctx, toolCall("1", "execute", `{"name":"gated"}`), "Accept", "text/event-stream", "Mcp-Session-Id", "mine")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = response.Body.Close() }()
			open := gate.reached()
			tc.end(d, leave)
			if tc.status == "completed" {
				open()
			}
			p.eventually("the run is "+tc.status, func() bool { return p.runStatus() == tc.status })
		})
	}
}

// TestHTTPHandsOverOnSIGTERM holds that a server that is stopped answers the calls that wait for runs with their ids.
func TestHTTPHandsOverOnSIGTERM(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	gate := p.gate("gate")
	p.draft("gated", gated())
	d := p.open("--toolsets", "core", "--drain", "10ms")
	answered := make(chan string, 1)
	go func() {
		_, body := d.ask(toolCall("1", "execute", `{"name":"gated"}`))
		answered <- body
	}()
	open := gate.reached()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	run := gjson.Get(<-answered, "result.structuredContent.error.details.run_id").Str
	_ = d.cmd.Wait()
	if got := d.cmd.ProcessState.ExitCode(); got != 143 {
		t.Errorf("exit status %d", got)
	}
	open()
	if got := gjson.Get(p.must("pflow-exec", "wait", run), "status").Str; got != "completed" {
		t.Errorf("run %s is %s", run, got)
	}
}

// TestHTTPHasTheTableOfStdio holds that both doors list the same tools.
func TestHTTPHasTheTableOfStdio(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.saved("greet", chain("echo hello"))
	const toolsets = "core,drafts,workflows,servers,veloflux"
	d := p.open("--toolsets", toolsets)
	status, body := d.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "MCP-Protocol-Version", "2025-11-25")
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	o := p.fed(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`+"\n", "pflow-serve", "--toolsets", toolsets)
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	want := gjson.Get(lines[len(lines)-1], "result.tools").Raw
	if got := gjson.Get(body, "result.tools").Raw; got != want || !strings.Contains(got, `"greet"`) {
		t.Errorf("http: %s\nstdio: %s", got, want)
	}
}
