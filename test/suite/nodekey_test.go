package suite

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	locks "sync" // the package has a sync of its own
	"testing"
)

// desk is a server that takes orders. It answers with the outcome that the test has set.
type desk struct {
	mu   locks.Mutex
	keys []string
	// answer answers the nth order, from 1.
	answer func(n int, w http.ResponseWriter, r *http.Request)
}

func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.keys = append(d.keys, r.Header.Get("Idempotency-Key"))
	n := len(d.keys)
	d.mu.Unlock()
	_, _ = io.Copy(io.Discard, r.Body) // without it the server does not notice that the client has gone away
	d.answer(n, w, r)
}

func (d *desk) seen() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.keys)
}

// TestANodeKeyAlongAChain: a node that was in flight when its runner was killed, when its run was cancelled, or when it
// failed, has its key in each resume, also from a file of events in another home. A new run has other keys.
func TestANodeKeyAlongAChain(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	d := &desk{answer: func(n int, w http.ResponseWriter, r *http.Request) {
		switch n {
		case 1, 2, 3: // the runner ends before there is an answer
			<-r.Context().Done()
		case 4:
			w.WriteHeader(http.StatusInternalServerError)
		default:
			_, _ = fmt.Fprintf(w, "order %d", n)
		}
	}}
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	p.write("w.json", `{"nodes":[
		{"id":"done","type":"shell","params":{"command":"echo $PFLOW_NODE_KEY >> done.txt; echo thing"}},
		{"id":"note","type":"shell","params":{"command":"echo $PFLOW_NODE_KEY >> note.txt; read x < note; echo ${done.stdout}"}},
		{"id":"order","type":"http","params":{"url":"`+server.URL+`","body":"${done.stdout}","idempotency_key":true,"retries":0}}],
		"edges":[{"from":"done","to":"note"},{"from":"done","to":"order"}],"outputs":{"answer":{"source":"${order.response}"}}}`)
	note := p.gate("note")
	inFlight := func(n int) {
		t.Helper()
		p.eventually(fmt.Sprintf("both nodes run for time %d", n), func() bool {
			return len(d.seen()) == n && strings.Count(p.read("note.txt"), "\n") == n
		})
	}

	id := p.started("w.json")
	inFlight(1)
	p.kill(id)
	note.left()
	resume := func(args ...string) func() {
		t.Helper()
		cmd := p.command("pflow-exec", args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	second := resume("resume", id)
	inFlight(2)
	second() // killed again
	note.left()
	_ = resume("resume", id)
	inFlight(3)
	p.must("pflow-exec", "cancel", "last")
	failing := resume("resume", "last") // the order fails, and note is still running
	p.eventually("the order has failed", func() bool { return len(d.seen()) == 4 })
	note.reached()()
	p.eventually("the run has ended", func() bool { return p.document(p.must("pflow-exec", "status", "last"))["status"] == "failed" })
	failing()
	stream := p.must("pflow-exec", "events", "last", "--inline")
	if first := p.events(stream)[0]; first["first_run"] != id || first["resumed_from"] == id {
		t.Errorf("%v", first)
	}
	if err := os.RemoveAll(p.home); err != nil {
		t.Fatal(err)
	}
	p.write("run.ndjson", stream)
	if got := p.must("pflow-exec", "run", "w.json", "--resume", "run.ndjson", "--print", "answer"); got != "order 5\n" {
		t.Errorf("%q", got)
	}
	orders, notes := d.seen(), strings.Fields(p.read("note.txt"))
	if len(orders) != 5 || len(slices.Compact(slices.Clone(orders))) != 1 || len(orders[0]) != 32 {
		t.Errorf("the keys of the order: %q", orders)
	}
	if len(notes) != 4 || len(slices.Compact(slices.Clone(notes))) != 1 || notes[0] == orders[0] {
		t.Errorf("the keys of the note: %q, of the order %q", notes, orders[0])
	}
	done := strings.Fields(p.read("done.txt"))
	if len(done) != 1 || done[0] == notes[0] || done[0] == orders[0] {
		t.Errorf("the keys of the finished node: %q", done)
	}

	anew := p.command("pflow-exec", "run", "w.json")
	if err := anew.Start(); err != nil {
		t.Fatal(err)
	}
	note.reached()()
	if err := anew.Wait(); err != nil {
		t.Error(err)
	}
	if orders = d.seen(); orders[5] == orders[0] {
		t.Error("a new run has the same key")
	}
}
