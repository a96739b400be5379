package suite

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"
)

// eventStream is a stream of a run's events that is read.
type eventStream struct {
	*door
	in     *bufio.Reader
	status int
	close  func()
	// id is the id of the last event.
	id string
}

// stream opens the stream of a run, which may have a query, after an event if after is not "".
func (d *door) stream(run, after string, headers ...string) *eventStream {
	d.Helper()
	ctx, cancel := context.WithCancel(d.Context())
	run, query, _ := strings.Cut(run, "?")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.base()+"/api/runs/"+run+"/events?"+query, nil)
	if err != nil {
		d.Fatal(err)
	}
	if after != "" {
		request.Header.Set("Last-Event-ID", after)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		d.Fatal(err)
	}
	s := &eventStream{door: d, in: bufio.NewReader(response.Body), status: response.StatusCode, close: func() { cancel(); _ = response.Body.Close() }}
	d.Cleanup(s.close)
	return s
}

// next returns the next event, which does not exist after the end of the stream.
func (s *eventStream) next() gjson.Result {
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			return gjson.Result{}
		}
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			s.id = strings.TrimSpace(id)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return gjson.Parse(data)
		}
	}
}

// rest reads the stream to its end and returns the kinds of its events. Their ids must be their seq, each one more than that before.
func (s *eventStream) rest() (kinds []string) {
	s.Helper()
	before, _ := strconv.ParseInt(s.id, 10, 64)
	for e := s.next(); e.Exists(); e = s.next() {
		kinds = append(kinds, e.Get("event").Str)
		if seq := e.Get("seq"); seq.Exists() {
			if s.id != seq.Raw || before != 0 && seq.Int() != before+1 {
				s.Errorf("id %s after %d: %s", s.id, before, e)
			}
			before = seq.Int()
		}
	}
	return kinds
}

// TestWebEventsFollowARun holds that a stream brings each event of a run once, that another goes on after the last event that was seen, also
// from a server that was started again, and that a stream that has seen the end is told to ask no more.
func TestWebEventsFollowARun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	gate := p.gate("gate")
	p.draft("gated", gated())
	d := p.open("--toolsets", "core")
	all := d.stream("all", "")
	run := p.start("gated")
	if e := all.next(); e.Get("event").Str != "run_started" || e.Get("run").Str != run || e.Get("workflow").Str != "gated" {
		t.Errorf("the stream of all runs: %s", e)
	}
	open := gate.reached()
	first := d.stream(run, "")
	for range 3 {
		first.next()
	}
	if first.status != http.StatusOK || first.id != "3" {
		t.Fatalf("%d, id %q", first.status, first.id)
	}
	held := d.stream(run, "2") // while another follows the run
	if e := held.next(); e.Get("seq").Int() != 3 {
		t.Errorf("after 2: %s", e)
	}
	first.close()
	_ = d.cmd.Process.Kill() // and the client asks the next server
	_ = d.cmd.Wait()
	again := p.open("--toolsets", "core")
	second := again.stream(run, "3")
	if e := second.next(); e.Get("seq").Int() != 4 {
		t.Errorf("after 3: %s", e)
	}
	open()
	kinds := second.rest()
	if len(kinds) == 0 || kinds[len(kinds)-1] != "run_finished" {
		t.Errorf("the rest: %q", kinds)
	}
	want := strings.Count(p.must("pflow-exec", "events", run), "\n")
	if got := strconv.Itoa(want); second.id != got {
		t.Errorf("the last id is %s of %s", second.id, got)
	}
	if whole := again.stream(run, "").rest(); len(whole) != want {
		t.Errorf("the whole run has %d events of %d", len(whole), want)
	}
	for after, status := range map[string]int{second.id: 204, "99999": 204, "x": 400, "-1": 400, "1.5": 400, "99999999999999999999": 400} {
		if got := again.stream(run, after).status; got != status {
			t.Errorf("after %s: %d", after, got)
		}
	}
	for _, unknown := range []string{"last", "r", run[:len(run)-1], "rnone", "--help", "x", "%00"} {
		if got := again.stream(unknown, "").status; got != http.StatusNotFound {
			t.Errorf("run %s: %d", unknown, got)
		}
	}
}

// TestWebEventsOfAKilledRun holds that the stream of a run whose process is killed ends and says so, for those who follow it and for those
// who come later.
func TestWebEventsOfAKilledRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	gate := p.gate("gate")
	p.draft("gated", gated())
	d := p.open("--toolsets", "core")
	cmd := p.command("pflow-exec", "run", "--name", "gated")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gate.reached()
	run := p.onlyRun()
	follower := d.stream(run, "")
	follower.next()
	_ = syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
	last := func(kinds []string) string {
		if len(kinds) == 0 {
			return ""
		}
		return kinds[len(kinds)-1]
	}
	if kinds := follower.rest(); last(kinds) != "run_interrupted" {
		t.Errorf("the follower saw %q", kinds)
	}
	later := d.stream(run, "")
	if kinds := later.rest(); last(kinds) != "run_interrupted" || len(kinds) < 2 {
		t.Errorf("the later one saw %q", kinds)
	}
	if again := d.stream(run, later.id); again.status != http.StatusNoContent {
		t.Errorf("and then %d", again.status)
	}
}

// TestWebEventsEndWithTheServer holds that streams do not keep a server from stopping.
func TestWebEventsEndWithTheServer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	d := p.open("--toolsets", "runs", "--drain", "1h")
	all := d.stream("all", "")
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if e := all.next(); e.Exists() {
		t.Errorf("%s", e)
	}
	_ = d.cmd.Wait()
	if got := d.cmd.ProcessState.ExitCode(); got != 143 {
		t.Errorf("exit status %d", got)
	}
}

// TestWebEventsOfALimitedToken holds that the stream of all runs has those that a token reaches.
func TestWebEventsOfALimitedToken(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.saved("mine", chain("echo mine"))
	p.saved("theirs", chain("echo theirs"))
	d := p.open("--toolsets", "core,runs")
	limited, open := d.stream("all", "", "Authorization", p.token("limited", "--flows", "mine")), d.stream("all", "")
	gate := p.gate("gate")
	p.draft("warm", gated()) // live, so that both streams have it whenever their command begins
	warm := p.start("warm")
	passed := gate.reached()
	if e := open.next(); e.Get("run").Str != warm {
		t.Errorf("all: %s", e)
	}
	theirs := p.start("theirs")
	p.must("pflow-exec", "wait", theirs)
	mine := p.start("mine")
	if e := limited.next(); e.Get("run").Str != mine || e.Get("workflow").Str != "mine" {
		t.Errorf("the limited token: %s", e)
	}
	for _, kind := range []string{"run_started", "run_finished"} {
		if e := open.next(); e.Get("run").Str != theirs || e.Get("event").Str != kind {
			t.Errorf("all: %s", e)
		}
	}
	if e := limited.next(); e.Get("run").Str != mine || e.Get("event").Str != "run_finished" || e.Get("status").Str != "completed" {
		t.Errorf("the limited token: %s", e)
	}
	passed()
}

// TestWebEventsOfAllRunsAndSome holds that the stream of all runs brings what happens to the runs that it is asked for, and the end of one
// that has ended before, and that a token follows only the runs that it reaches.
func TestWebEventsOfAllRunsAndSome(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	gate := p.gate("gate")
	p.saved("theirs", gated())
	p.saved("mine", chain("echo mine"))
	d := p.open("--toolsets", "core,runs")
	ended, run := p.start("mine"), p.start("theirs")
	p.must("pflow-exec", "wait", ended)
	open := gate.reached()
	asked := "all?run=" + run + "&run=" + ended + "&run=last&run=" + run + "&run=r" + strings.Repeat("0", 26) + "&run=--help"
	all, limited := d.stream(asked, ""), d.stream(asked, "", "Authorization", p.token("limited", "--flows", "mine"))
	if e := limited.next(); e.Get("run").Str != ended || e.Get("event").Str != "run_finished" || e.Get("status").Str != "completed" || e.Get("workflow").Str != "mine" {
		t.Errorf("the limited token: %s", e)
	}
	open()
	var kinds, ends []string
	for e := all.next(); ; e = all.next() {
		if e.Get("run").Str == run {
			kinds = append(kinds, e.Get("event").Str)
		}
		if e.Get("event").Str == "run_finished" {
			ends = append(ends, e.Get("run").Str)
		}
		if !e.Exists() || slices.Contains(ends, ended) && slices.Contains(ends, run) {
			break
		}
	}
	if len(ends) != 2 || !slices.Contains(kinds, "node_completed") || slices.Index(kinds, "run_finished") != len(kinds)-1 {
		t.Errorf("ends of %q; of the run: %q", ends, kinds)
	}
	mine := p.start("mine")
	for _, kind := range []string{"run_started", "run_finished"} {
		if e := limited.next(); e.Get("run").Str != mine || e.Get("event").Str != kind {
			t.Errorf("the limited token, %s: %s", kind, e)
		}
	}
	if got := d.stream("all?"+strings.Repeat("run=r1&", 101), "").status; got != http.StatusBadRequest {
		t.Errorf("too many runs: %d", got)
	}
}

// TestOneWatchBringsAllEvents holds that streams of flows and of pages share one process that reads events, and that both go on, with each event
// once, when it is killed.
func TestOneWatchBringsAllEvents(t *testing.T) {
	t.Parallel()
	needsLinux(t, "processes are found in /proc")
	p := newPlace(t)
	gate := p.gate("gate")
	token := p.shared("gated", strings.ReplaceAll(gated(), "gate\"", gate.path+"\""))
	d := p.open("--toolsets", "core,flows")
	all := d.stream("all", "")
	_, flow := d.follow(token)
	open := gate.reached()
	run := all.next().Get("run").Str
	page, late := d.stream(run, ""), d.stream(run, "2")
	if e := page.next(); e.Get("event").Str != "run_started" {
		t.Errorf("the page begins with %s", e)
	}
	if e := late.next(); e.Get("seq").Int() != 3 {
		t.Errorf("the later page begins with %s", e)
	}
	watching := p.having(" watch ")
	if reading := p.having(" events "); len(watching) != 1 || len(reading) != 0 {
		t.Errorf("events are read by %v and %v", watching, reading)
	}
	_ = syscall.Kill(watching[0], syscall.SIGKILL)
	p.eventually("the events are read again", func() bool {
		again := p.having(" watch ")
		return len(again) == 1 && again[0] != watching[0]
	})
	open()
	for name, s := range map[string]*eventStream{"page": page, "later page": late} {
		if kinds := s.rest(); len(kinds) == 0 || kinds[len(kinds)-1] != "run_finished" {
			t.Errorf("the %s: %q", name, kinds)
		}
	}
	text, err := io.ReadAll(flow)
	if err != nil || strings.Count(string(text), `"message":"b: running"`) != 1 || !strings.Contains(string(text), `"status":"completed"`) {
		t.Errorf("%v %s", err, text)
	}
}
