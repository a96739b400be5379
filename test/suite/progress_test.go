package suite

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	locks "sync" // the package has a sync of its own
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/pflow-suite/pflow/internal/terminal"
)

// session is a program on a terminal of its own.
type session struct {
	*place
	cmd *exec.Cmd
	tty *os.File

	mu   locks.Mutex
	term terminal.Terminal
	sent strings.Builder // what the program wrote
	read chan struct{}   // closed when there is nothing more to read
}

// session starts a program with standard input and standard error on a terminal, and also standard output unless the command
// has one.
func (p *place) session(cmd *exec.Cmd, width int) *session {
	p.Helper()
	s := &session{place: p, cmd: cmd, term: terminal.Terminal{Width: width, Height: 24}, read: make(chan struct{})}
	cmd.Env = append([]string{"TERM=xterm"}, cmd.Env...)
	var err error
	if s.tty, err = pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: uint16(width)}); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = s.tty.Close() })
	return s
}

// show passes the program's output to the terminal until its end.
func (s *session) show() {
	go func() {
		defer close(s.read)
		buf := make([]byte, 4096)
		for {
			n, err := s.tty.Read(buf)
			s.mu.Lock()
			_, _ = s.term.Write(buf[:n])
			_, _ = s.sent.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
}

// lines returns the lines of the terminal, squeezed.
func (s *session) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.term.Lines()
	for i, line := range lines {
		lines[i] = squeezed(line)
	}
	return lines
}

// written returns what the program wrote.
func (s *session) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent.String()
}

var (
	aTime = regexp.MustCompile(`\b\d[\d.]*(µs|ms|s)(:|\b)`)
	anID  = regexp.MustCompile(`\br01[0-9a-z]{24}\b`)
)

// squeezed returns a line without times and bars and with single blanks; RUN stands for a run's id.
func squeezed(line string) string {
	line = anID.ReplaceAllString(aTime.ReplaceAllString(line, ""), "RUN")
	return strings.Join(strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ━─", r) }), " ")
}

// shows waits until the terminal shows a line.
func (s *session) shows(line string) {
	s.Helper()
	s.eventually("the terminal shows "+line, func() bool { return slices.Contains(s.lines(), line) })
}

// types sends what a person types.
func (s *session) types(text string) {
	s.Helper()
	if _, err := io.WriteString(s.tty, text); err != nil {
		s.Fatal(err)
	}
}

// ends waits for the end of the program and compares the lines on the terminal. Of a wanted line that ends with … only the
// beginning has to match.
func (s *session) ends(exit int, want ...string) {
	s.Helper()
	_ = s.cmd.Wait()
	<-s.read
	if got := s.cmd.ProcessState.ExitCode(); got != exit {
		s.Errorf("exit status %d, not %d", got, exit)
	}
	same := func(got, want string) bool {
		begin, cut := strings.CutSuffix(want, "…")
		return got == want || cut && strings.HasPrefix(got, begin)
	}
	if got := s.lines(); !slices.EqualFunc(got, want, same) {
		s.Errorf("the terminal shows\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if s.term.Hidden || !s.term.Home() {
		s.Errorf("cursor hidden: %t, at home: %t", s.term.Hidden, s.term.Home())
	}
}

func TestARunIsShownOnATerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("w.json", gated())
	s := p.session(p.command("pflow-exec", "run", "w.json"), 90)
	s.show()
	open := g.reached()
	s.shows("▸ b shell")
	if got, want := s.lines(), []string{"✓ a", "w.json 1/3", "▸ b shell"}; !slices.Equal(got, want) {
		t.Errorf("while it runs: %q", got)
	}
	open()
	s.ends(0, "✓ a", "✓ b", "✓ c", "✓ w.json completed in 3 completed RUN", "third")
	if len(s.term.Faults) > 0 {
		t.Errorf("%q", s.term.Faults)
	}
}

// Enter on a terminal with a live run moves what is redrawn, and leaves no copy of it.
func TestEnterDuringALiveRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("w.json", gated())
	s := p.session(p.command("pflow-exec", "run", "w.json"), 90)
	s.show()
	open := g.reached()
	s.shows("▸ b shell")
	for range 3 {
		written := len(s.written())
		s.types("\n")
		s.eventually("the run is redrawn", func() bool { return strings.Contains(s.written()[written:], "shell") })
	}
	if got, want := s.lines(), []string{"✓ a", "w.json 1/3", "▸ b shell"}; !slices.Equal(got, want) {
		t.Errorf("while it runs: %q", got)
	}
	open()
	s.ends(0, "✓ a", "✓ b", "✓ c", "✓ w.json completed in 3 completed RUN", "third")
}

func TestATerminalIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	summed := []string{"✓ a", "✓ w.json completed in 1 completed RUN", "done"}
	for name, c := range map[string]struct {
		env, line string
		want      []string
		colored   bool
	}{
		"in color":               {"A=B", "pflow-exec run w.json", summed, true},
		"without":                {"NO_COLOR=1", "pflow-exec run w.json", summed, false},
		"dumb":                   {"TERM=dumb", "pflow-exec run w.json", []string{"run RUN of w.json: 1 node", "ok a", "completed in 1 completed", "done"}, false},
		"quiet":                  {"A=B", "pflow-exec run w.json --quiet", []string{"done"}, false},
		"followed":               {"A=B", "pflow-exec resume last", summed, true},
		"with another program":   {"A=B", "pflow-exec run w.json | cat >/dev/null", []string{"run RUN of w.json: 1 node", "ok a", "completed in 1 completed"}, false},
		"with a program at last": {"A=B", "pflow-exec run w.json --format json | sed 's/.*/that is all/'", []string{summed[0], summed[1], "that is all"}, true},
		"with events in a file":  {"A=B", "pflow-exec run w.json >run.ndjson", summed[:2], true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("w.json", chain("echo done"))
			if strings.Contains(c.line, " last") {
				p.must("pflow-exec", "run", "w.json", "-q")
			}
			cmd := p.command("sh", "-c", c.line)
			cmd.Env = append(cmd.Env, c.env)
			s := p.session(cmd, 90)
			s.show()
			s.ends(0, c.want...)
			if colored := strings.Contains(s.sent.String(), "\x1b[32m"); colored != c.colored {
				t.Errorf("in color: %t", colored)
			}
		})
	}
}

func TestAFailureIsSummedUpOnATerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", chain("true", "echo no such table: users >&2; exit 4", "true"))
	cmd := p.command("pflow-exec", "run", "w.json")
	out, err := os.Create(p.write("run.ndjson", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout = out
	s := p.session(cmd, 200)
	s.show()
	s.ends(1, "✓ a", "✗ b Command failed with exit code 4: no such table: users",
		"✗ w.json failed in 1 completed, 1 failed, 1 cancelled", "b", "Command failed with exit code 4: no such table: users",
		"hint: All output: pflow-exec logs RUN b",
		"hint: …",
		"resume with: pflow-exec resume RUN")
	if p.read("run.ndjson") != p.journal() {
		t.Error("standard output is not the journal")
	}
}

const asks = `{"nodes":[{"id":"a","type":"shell","params":{"command":"true"}},
	{"id":"b","type":"shell","approval":{"question":"Go on, \u001b[2J${a.exit_code}?"},"params":{"command":"echo gone on"}}],"outputs":{"last":{"source":"${b.stdout}"}}}`

func TestAQuestionIsAskedOnATerminal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typed, shown string
		exit         int
		end          []string
	}{
		"yes":          {"y\r", "[yes/no] y", 0, []string{"✓ b", "✓ w.json completed in 2 completed RUN", "gone on"}},
		"no":           {"n\r", "[yes/no] n", 3, []string{"– b cancelled: denied", "✗ w.json denied in 1 completed, 1 cancelled", "b", "Node b was denied: …", "hint: …", "resume with: pflow-exec resume RUN"}},
		"end of input": {"\x04", "[yes/no]", 4, []string{"? w.json paused in 1 completed, 1 waiting", "b asks: Go on, �[2J0? [yes/no]", "answer with: pflow-exec resume RUN --approve yes", "answer with: pflow-exec resume RUN --approve no"}},
		"an interrupt": {"\x03", "[yes/no] ^C", 130, []string{"– b cancelled", "✗ w.json cancelled in 1 completed, 1 cancelled", "The run was cancelled: …", "hint: …", "resume with: pflow-exec resume RUN"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("w.json", asks)
			s := p.session(p.command("pflow-exec", "run", "w.json"), 90)
			s.show()
			s.shows("Go on, �[2J0? [yes/no]")
			s.types("maybe\r")
			s.shows("Go on, �[2J0? [yes/no] maybe")
			s.shows("Go on, �[2J0? [yes/no]")
			s.types(c.typed)
			s.ends(c.exit, slices.Concat([]string{"✓ a", "command: echo gone on", "Go on, �[2J0? [yes/no] maybe", "Go on, �[2J0? " + c.shown}, c.end)...)
		})
	}
}

func TestAnInterruptLeavesATerminalInOrder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("w.json", gated())
	s := p.session(p.command("pflow-exec", "run", "w.json"), 90)
	s.show()
	_ = g.reached()
	s.shows("▸ b shell")
	s.types("\x03")
	s.ends(130, "✓ a", "– b cancelled", "✗ w.json cancelled in 1 completed, 2 cancelled", "The run was cancelled: …",
		"hint: …", "resume with: pflow-exec resume RUN")
}

// A terminal that does not read does not delay the run. The display is written when the terminal reads again.
func TestATerminalThatIsNotReadHoldsNoRunUp(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var nodes []string
	for i := range 300 { // more than a terminal takes that is not read
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"read-file","params":{"file_path":"/none/%s"}}`, i, strings.Repeat("long/", 80)))
	}
	p.write("w.json", `{"nodes":[`+strings.Join(nodes, ",")+`]}`)
	s := p.session(p.command("pflow-exec", "run", "w.json", "--keep-going"), 400)
	s.eventually("the run ends", func() bool {
		return len(p.journals()) == 1 && strings.Contains(p.journal(), `"event":"run_finished"`)
	})
	lock, err := os.Open(filepath.Join(filepath.Dir(p.journals()[0]), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	s.eventually("the run is let go of", func() bool { return syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil })
	s.show()
	_ = s.cmd.Wait()
	<-s.read
	lines := s.lines()
	shown := 0
	for _, line := range lines {
		if strings.HasPrefix(line, "✗ n") {
			shown++
		}
	}
	if shown != 300 || !slices.Contains(lines, "✗ w.json failed in 300 failed") || s.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%d nodes of 300 are shown, exit status %d, at the end %q", shown, s.cmd.ProcessState.ExitCode(), lines[len(lines)-1])
	}
}

func TestARunIsToldInPlainLines(t *testing.T) {
	t.Parallel()
	const plain = "run RUN of w.json: 3 nodes\nok a\nFAILED b\ncancelled c: b\nfailed in 1 completed, 1 failed, 1 cancelled\n"
	for line, want := range map[string]string{
		"pflow-exec run w.json --format json":    "",
		"pflow-exec run w.json --format text":    plain,
		"pflow-exec run w.json --format text -q": "",
		"pflow-exec run w.json":                  "",
		"pflow-exec run w.json --print last":     "",
		"pflow-exec resume last --format text":   "run RUN of w.json: 3 nodes\nreused a from RUN\nFAILED b\ncancelled c: b\nfailed in 1 reused, 1 failed, 1 cancelled\n",
		"pflow-exec wait last --format text":     "",
		"pflow-exec run no.json --format json":   "",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("w.json", chain("true", "exit 4", "true"))
			args := strings.Fields(line)
			if args[2] == "last" {
				p.run("pflow-exec", "run", "w.json", "-q")
			}
			o := p.run(args[0], args[1:]...)
			progress, complaint, _ := strings.Cut(o.stderr, "pflow-exec: error: ")
			var got strings.Builder
			for line := range strings.Lines(progress) {
				got.WriteString(squeezed(strings.TrimSuffix(line, "\n")) + "\n")
			}
			if got.String() != want || strings.Contains(o.stderr, "\x1b") {
				t.Errorf("standard error begins\n%s\nnot\n%s", got.String(), want)
			}
			if message := "Command failed with exit code 4"; args[2] != "no.json" && strings.Count(complaint, message) != 1 {
				t.Errorf("the failure is reported in %q", o.stderr)
			}
		})
	}
}
