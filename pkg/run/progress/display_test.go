package progress

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pflow-suite/pflow/internal/terminal"
	"github.com/pflow-suite/pflow/pkg/event"
)

// stage is a display on a terminal, in a synctest bubble.
type stage struct {
	*testing.T
	d *Display

	mu      sync.Mutex
	term    terminal.Terminal
	writes  []time.Duration
	began   time.Time
	entered atomic.Int32  // lines typed since the last look
	turn    atomic.Bool   // of another program on the terminal
	stuck   chan struct{} // closed when the terminal is read again; nil while it is
}

// onStage plays a scene on a terminal of 60 columns and 12 rows, and checks that the display has kept to its part of it.
func onStage(t *testing.T, play func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{T: t, term: terminal.Terminal{Width: 60, Height: 12}, began: time.Now()}
		s.d = NewLive(s, s, true)
		defer s.d.End()
		play(s)
		s.d.End()
		if s.mu.Lock(); len(s.term.Faults) > 0 || s.term.Hidden || !s.term.Home() {
			t.Errorf("the terminal: %q, cursor hidden: %t, at home: %t", s.term.Faults, s.term.Hidden, s.term.Home())
		}
		s.mu.Unlock()
	})
}

func (s *stage) Size() (width, height int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn.Load() {
		return 80, 0
	}
	return s.term.Width, s.term.Height
}

// Typed returns the lines that enter has typed.
func (s *stage) Typed() int { return int(s.entered.Swap(0)) }

// enter types an empty line, which the terminal shows.
func (s *stage) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.term.Write([]byte("\r\n"))
	s.entered.Add(1)
}

// blank is a terminal on which nothing is typed.
type blank struct{}

func (blank) Size() (width, height int) { return 80, 24 }
func (blank) Typed() int                { return 0 }

func (s *stage) Write(b []byte) (int, error) {
	if s.stuck != nil {
		<-s.stuck
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, time.Since(s.began))
	return s.term.Write(b)
}

// written records the times of writes.
func (s *stage) written() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.writes)
}

// tell applies events with the current time.
func (s *stage) tell(events ...string) {
	s.Helper()
	for _, fields := range events {
		e := at(s.T, 0, fields)
		e.Time = time.Now()
		s.d.Apply(e)
	}
}

// pass lets time pass.
func (s *stage) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// shows compares the content of the terminal, with single blanks and without the bar.
func (s *stage) shows(want ...string) {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var got []string
	for _, line := range s.term.Lines() {
		got = append(got, strings.Join(strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ━─", r) }), " "))
	}
	if !slices.Equal(got, want) {
		s.Errorf("after %s the terminal shows\n%s\nnot\n%s", time.Since(s.began), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const ended = `"event":"run_finished","status":"completed","duration_ms":4000`

func TestADisplayIsRedrawnInPlace(t *testing.T) {
	onStage(t, func(s *stage) {
		s.tell(begun("a", "b", "c"), started("a", ""), started("b", ""))
		s.pass(50 * time.Millisecond)
		s.shows("") // what is over at once needs no display
		s.pass(250 * time.Millisecond)
		s.shows("deploy.json 0s 0/3", "▸ a 0s shell", "▸ b 0s shell")
		s.pass(1500 * time.Millisecond)
		s.tell(done("a", 1800), started("c", ""))
		s.pass(200 * time.Millisecond)
		s.shows("✓ a 1.8s", "deploy.json 2s 1/3", "▸ b 2s shell", "▸ c 0s shell")
		s.tell(done("b", 2000))
		s.pass(2 * time.Second)
		s.shows("✓ a 1.8s", "✓ b 2s", "deploy.json 4s 2/3", "▸ c 2s shell")
		s.tell(done("c", 2000), ended)
		if !s.d.End() || s.d.End() {
			t.Error("not once summed up")
		}
		s.shows("✓ a 1.8s", "✓ b 2s", "✓ c 2s", "✓ deploy.json completed in 4s: 3 completed r01run")
	})
}

// Whoever types an empty line moves the live part, which leaves nothing behind, also at the bottom of the screen.
func TestALineIsTyped(t *testing.T) {
	onStage(t, func(s *stage) {
		s.tell(begun("a", "b"), started("a", ""), started("b", ""))
		s.pass(300 * time.Millisecond)
		for range 30 {
			s.enter()
			s.pass(refreshPeriod)
			s.enter()
			s.pass(500 * time.Millisecond)
		}
		s.shows("deploy.json 18s 0/2", "▸ a 18s shell", "▸ b 18s shell")
		s.tell(done("a", 18000))
		s.pass(refreshPeriod)
		s.enter()
		s.tell(done("b", 18000), ended)
		s.d.End()
		s.shows("✓ a 18s", "✓ b 18s", "✓ deploy.json completed in 4s: 2 completed r01run")
	})
}

// A display is drawn at most ten times a second, at least once a second while something runs, and only if it has changed.
func TestHowOftenADisplayIsDrawn(t *testing.T) {
	onStage(t, func(s *stage) {
		var ids []string
		for i := range 1000 {
			ids = append(ids, fmt.Sprint("n", i))
		}
		s.tell(begun(ids...))
		for _, id := range ids { // 5 seconds of them
			s.tell(started(id, ""))
			s.pass(5 * time.Millisecond)
			s.tell(done(id, 5))
		}
		if n := len(s.written()); n < 40 || n > 50 {
			t.Errorf("drawn %d times in 5 seconds", n)
		}
		s.shows("deploy.json 5s 999/1000") // the last look was a moment ago
	})
	onStage(t, func(s *stage) {
		s.tell(begun("a"), started("a", ""))
		s.pass(10500 * time.Millisecond)
		if n := len(s.written()); n < 10 || n > 12 {
			t.Errorf("drawn %d times in 10 seconds in which only time passed", n)
		}
		for i, when := range s.written()[1:] {
			if before := s.written()[i]; when-before > time.Second+refreshPeriod {
				t.Errorf("not drawn from %s to %s", before, when)
			}
		}
	})
}

func TestATerminalThatNobodyReadsHoldsNothingUp(t *testing.T) {
	onStage(t, func(s *stage) {
		s.stuck = make(chan struct{})
		s.tell(begun("a", "b"), started("a", ""))
		s.pass(time.Second)
		for range 10_000 {
			s.tell(`"event":"node_progress","node":"a","message":"on"`)
		}
		s.tell(done("a", 1000), started("b", ""))
		if len(s.written()) > 0 {
			t.Error("something was written")
		}
		close(s.stuck)
		s.pass(time.Second)
		s.shows("✓ a 1s", "deploy.json 2s 1/2", "▸ b 1s shell")
	})
}

func TestAQuestionStandsAlone(t *testing.T) {
	const question = `"event":"approval_requested","node":"gate","question":"Go?","choices":["yes","no"]`
	onStage(t, func(s *stage) {
		s.tell(begun("a", "b", "gate"), started("a", ""), started("b", ""))
		s.pass(time.Second)
		s.tell(done("a", 1000))
		go s.tell(question)
		s.d.Hold("gate")
		_, _ = s.Write([]byte("Go? [yes/no] "))
		before := len(s.written())
		s.tell(done("b", 1000))
		s.pass(time.Minute)
		if len(s.written()) != before {
			t.Error("something was written behind the question")
		}
		_, _ = s.Write([]byte("yes\r\n"))
		s.tell(`"event":"approval_resolved","node":"gate","answer":"yes","by":"terminal"`, started("gate", ""))
		s.d.Release()
		s.pass(time.Second)
		s.shows("✓ a 1s", "Go? [yes/no] yes", "✓ b 1s", "deploy.json 1m2s 2/3", "▸ gate 1s shell")
		held := time.Now()
		s.d.Hold("no such node")
		if waited := time.Since(held); waited > time.Second {
			t.Errorf("waited %s for an event that never came", waited)
		}
		s.d.Hold("gate") // a second question
		s.d.Release()
		before = len(s.written())
		s.pass(time.Minute)
		if len(s.written()) != before {
			t.Error("something was written while there is a question left")
		}
		s.d.Release()
	})
}

func TestOthersWriteBesideADisplay(t *testing.T) {
	onStage(t, func(s *stage) {
		s.tell(begun("a", "b"), started("a", ""))
		s.pass(time.Second)
		s.d.Beside(func() { _, _ = s.Write([]byte("a warning\r\n")) })
		s.pass(time.Second)
		s.shows("a warning", "deploy.json 2s 0/2", "▸ a 2s shell")
		s.turn.Store(true) // the program was stopped, and goes on in the background
		s.tell(done("a", 2000))
		before := len(s.written())
		s.pass(time.Second)
		if len(s.written()) != before {
			t.Error("something was redrawn in the background")
		}
		_, _ = s.Write([]byte("$ fg\r\n"))
		s.turn.Store(false)
		s.d.Forget()
		s.pass(time.Second)
		s.shows("a warning", "deploy.json 2s 0/2", "▸ a 2s shell", "$ fg", "✓ a 2s", "deploy.json 4s 1/2")
	})
}

// A terminal that becomes narrower wraps lines, which then take more rows.
func TestABrokenFrameIsErased(t *testing.T) {
	p := liveArea{out: io.Discard, frame: []string{strings.Repeat("x", 50), "\x1b[31m日本\x1b[0m", ""}, width: 60}
	for width, want := range map[int]int{80: 3, 60: 3, 50: 3, 49: 4, 20: 5, 3: 20} {
		if got := p.rows(width); got != want {
			t.Errorf("%d rows in %d columns, not %d", got, width, want)
		}
	}
	if p.drawn = time.Now(); p.rows(20) != 3 {
		t.Error("what was drawn a moment ago is not whole")
	}
}

func TestManyNodesDoNotFloodTheScreen(t *testing.T) {
	onStage(t, func(s *stage) {
		events := manyNodes()
		s.tell(strings.Replace(events[0], `"nodes"`, `"resumed_from":"r00old","nodes"`, 1))
		s.tell(events[1:]...)
		s.pass(400 * time.Millisecond)
		s.shows("✗ node-30 300ms no", "↻ 20 nodes reused from r00old", "deploy.json 0s 60/100 1 failed 20 reused",
			"▸ node-60 0s shell", "▸ node-61 0s shell", "▸ node-62 0s shell", "▸ node-63 0s shell", "▸ node-64 0s shell", "▸ node-65 0s shell", "▸ node-66 0s shell",
			"▸ node-67 0s shell", "▸ node-68 0s shell", "… and 21 more")
	})
}

func TestPlainLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read, write := io.Pipe()
		out := make(chan string, 10)
		go func() {
			buf := make([]byte, 4096)
			for {
				n, err := read.Read(buf)
				if err != nil {
					close(out)
					return
				}
				out <- string(buf[:n])
			}
		}()
		d := NewPlain(write)
		for i, fields := range scenes["failed"].events {
			d.Apply(at(t, time.Duration(i)*time.Second, fields))
		}
		synctest.Wait()
		if len(out) > 0 {
			t.Errorf("written at once: %s", <-out)
		}
		if first := <-out; first != "run r01run of deploy.json: 4 nodes\nok build 900ms\nFAILED test 300ms; the run ends after docs (--on-failure stop would stop that)\nok docs 2s\ncancelled deploy: test\n" {
			t.Errorf("written:\n%s", first)
		}
		if d.End() {
			t.Error("a failure is reported")
		}
		if last := <-out; last != "failed in 3.2s: 2 completed, 1 failed, 1 cancelled\n" {
			t.Errorf("written at the end:\n%s", last)
		}
		_ = write.Close()
		<-out
	})
}

func TestADisplayOfNothingWritesNothing(t *testing.T) {
	var out strings.Builder
	for _, d := range []*Display{NewPlain(&out), NewLive(&out, blank{}, false)} {
		if d.End() || out.Len() > 0 {
			t.Errorf("%q", out.String())
		}
	}
}

// BenchmarkApply measures the cost of an event for a run with a display.
func BenchmarkApply(b *testing.B) {
	line, err := json.Marshal(at(b, time.Second, done("build/compile", 12)+`,"outputs":{"stdout":"","stdout_is_binary":false,"stderr":"","stderr_is_binary":false,"exit_code":0},"input_digest":"sha256:7872a819743601ac7b2e994cb7957e314c898636010e3c0906ce6d964685af89"`))
	if err != nil {
		b.Fatal(err)
	}
	d := NewLive(io.Discard, blank{}, true)
	for b.Loop() {
		var e event.Event
		if err := json.Unmarshal(line, &e); err != nil {
			b.Fatal(err)
		}
		d.Apply(&e)
	}
	d.End()
}

// A line that is cut takes the whole width, and its last column is not erased.
func TestCutLinesEndInAnEllipsis(t *testing.T) {
	onStage(t, func(s *stage) {
		s.tell(`"event":"run_started","run":"r01","workflow":{"name":"w","nodes":["a"]}`, `"event":"node_started","node":"a","type":"shell"`,
			`"event":"node_failed","node":"a","attempt":1,"will_retry":true,"error":{"message":"`+strings.Repeat("a long text ", 9)+`"}`)
		time.Sleep(time.Second)
		s.mu.Lock()
		defer s.mu.Unlock()
		cut := 0
		for _, line := range s.term.Lines() {
			if strings.HasPrefix(line, "!") && strings.HasSuffix(line, "…") {
				cut++
			}
		}
		if cut != 1 {
			t.Errorf("%q", s.term.Lines())
		}
	})
}
