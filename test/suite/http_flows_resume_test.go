package suite

import (
	"bufio"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// flowEvent is an event of a stream of a flow.
type flowEvent struct {
	id string
	gjson.Result
}

// next reads an event, and reports false at the end of the stream.
func next(t *testing.T, from *bufio.Reader) (e flowEvent, ok bool) {
	t.Helper()
	for {
		line, err := from.ReadString('\n')
		if err == io.EOF && line == "" && !e.Exists() {
			return e, false
		}
		if err != nil {
			t.Fatalf("%v after %q", err, line)
		}
		line = strings.TrimSuffix(line, "\n")
		if id, found := strings.CutPrefix(line, "id: "); found {
			e.id = id
		}
		if data, found := strings.CutPrefix(line, "data: "); found {
			e.Result = gjson.Parse(data)
		}
		if line == "" && e.Exists() {
			return e, true
		}
	}
}

// rest goes on with a stream after an event, and returns the messages of the events, the last event with an id, and the result.
func (d *door) rest(id string, began func()) (messages string, last flowEvent, result gjson.Result) {
	d.Helper()
	request, err := http.NewRequestWithContext(d.Context(), http.MethodGet, d.url, nil)
	if err != nil {
		d.Fatal(err)
	}
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Last-Event-ID", id)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		d.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		d.Fatalf("%s %s", response.Status, response.Header)
	}
	began()
	var all []string
	for stream := bufio.NewReader(response.Body); ; {
		e, ok := next(d.T, stream)
		switch {
		case !ok:
			return strings.Join(all, "|"), last, result
		case e.Get("result").Exists():
			result = e.Result
		default:
			if e.Get("params.progress").Num <= last.Get("params.progress").Num && last.Exists() {
				d.Errorf("%s after %s", e, last)
			}
			all, last = append(all, e.Get("params.message").Str), e
		}
	}
}

// TestAStreamOfAFlowGoesOn holds that a client which has lost a stream, because the server was killed, goes on with it at the next server
// after the last event that it has: each event comes once, with the token and the id of the request.
func TestAStreamOfAFlowGoesOn(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	gate := p.gate("gate")
	token := p.shared("gated", strings.ReplaceAll(gated(), "gate\"", gate.path+"\""))
	d := p.open()
	response, err := d.post(t.Context(), `{"jsonrpc":"2.0","id":"r-1","method":"tools/call","params":{"name":"run_flow","arguments":{"token":"`+token+`"},"_meta":{"progressToken":"p-1"}}}`,
		"Accept", "text/event-stream")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var had []flowEvent
	for stream := bufio.NewReader(response.Body); len(had) < 3; {
		e, ok := next(t, stream)
		if !ok || e.id == "" {
			t.Fatalf("%+v after %d events", e, len(had))
		}
		had = append(had, e)
	}
	open := gate.reached()
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
	d = p.open()
	messages, last, result := d.rest(had[2].id, open)
	if messages != "b: running|b: success|c: running|c: success" {
		t.Errorf("after %s: %s", had[2].Get("params.message"), messages)
	}
	if last.Get("params.progressToken").Str != "p-1" || last.Get("params.progress").Num <= had[2].Get("params.progress").Num || last.id == "" {
		t.Errorf("%s after %s", last, had[2])
	}
	if result.Get("id").Str != "r-1" || result.Get("result.structuredContent.status").Str != "completed" || result.Get("result.structuredContent.job_id").Str != had[0].Get("params.job_id").Str {
		t.Errorf("%s", result)
	}
	if strings.Contains(result.Raw, "run_id") {
		t.Errorf("the client learns the run's id: %s", result)
	}
	none := func() {}
	if messages, _, result := d.rest(last.id, none); messages != "" || result.Get("result.structuredContent.status").Str != "completed" {
		t.Errorf("after the last event: %s %s", messages, result)
	}
	if messages, _, result := d.rest(had[0].id, none); messages != "a: running|a: success|b: running|b: success|c: running|c: success" || !result.Exists() {
		t.Errorf("after the first event: %s %s", messages, result)
	}
	text, err := base64.RawURLEncoding.DecodeString(last.id)
	if err != nil {
		t.Fatal(err)
	}
	foreign := base64.RawURLEncoding.EncodeToString([]byte(strings.ReplaceAll(string(text), last.Get("params.job_id").Str, knownJob)))
	if messages, _, result := d.rest(foreign, none); messages != "" || result.Get("result.structuredContent.error.message").Str != "Job not found: "+knownJob+". Jobs expire after 1 hour." {
		t.Errorf("with the id of no job: %s %s", messages, result)
	}
	if got := d.content("run_flow", `{"token":"`+token+`"}`).Get("quota_remaining").Int(); got != 98 {
		t.Errorf("%d runs are left, so going on counts as a run", got)
	}
	gate.reached()()
}

// TestStreamsWithoutIDs holds that the revision which has no resumption gets no ids, and cannot go on.
func TestStreamsWithoutIDs(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	token := p.shared("quick", chain("echo quick"))
	d := p.open()
	status, text := d.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_flow","arguments":{"token":"`+token+`"},"_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		"Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "run_flow")
	if status != http.StatusOK || !strings.Contains(text, `"message":"a: success"`) || strings.Contains(text, "\nid: ") || strings.HasPrefix(text, "id: ") {
		t.Errorf("%d %s", status, text)
	}
	if response, body := p.get(http.MethodGet, d.url, "Accept", "text/event-stream", "Last-Event-ID", "x", "Mcp-Protocol-Version", "2026-07-28"); response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("%s %s", response.Status, body)
	}
}
