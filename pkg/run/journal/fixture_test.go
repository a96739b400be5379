package journal

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// With RUN_TEST_HOME set, the test binary executes a run in that home. It prints the id of the run and then follows the
// commands on the lines of its standard input.
func TestMain(m *testing.M) {
	dir := os.Getenv("RUN_TEST_HOME")
	if dir == "" {
		os.Exit(m.Run())
	}
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	h, err := home.Open(dir, "")
	must(err)
	r, err := Create(h, Options{Definition: []byte("{}")})
	must(err)
	must(r.Append(&event.Event{Event: event.RunStarted}))
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, CancelSignal)
	fmt.Println(r.ID)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		switch in.Text() {
		case "await cancel":
			<-asked
			must(r.Append(&event.Event{Event: event.RunFinished, Status: event.Cancelled}))
			return
		case "fill the disk":
			signal.Ignore(syscall.SIGXFSZ)
			must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 3000, Max: 3000}))
			for {
				if err := r.Append(&event.Event{Event: event.NodeProgress, Node: "n", Message: strings.Repeat("x", 300)}); err != nil {
					fmt.Println(fault.From(err).Type, err)
					break
				}
			}
			fmt.Println(r.Append(&event.Event{Event: event.NodeSkipped, Node: "short"}))
		case "die":
			must(syscall.Kill(os.Getpid(), syscall.SIGKILL))
		}
	}
}

func tempHome(t *testing.T) *home.Home {
	t.Helper()
	h, err := home.Open(filepath.Join(t.TempDir(), "home"), "")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func create(t *testing.T, h *home.Home) *Writer {
	t.Helper()
	r, err := Create(h, Options{Definition: []byte(`{"nodes":[]}`)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	if err := r.publish(); err != nil { // without an event, as after a loss of power
		t.Fatal(err)
	}
	return r
}

func add(t *testing.T, r *Writer, events ...*event.Event) {
	t.Helper()
	for _, e := range events {
		if err := r.Append(e); err != nil {
			t.Fatal(err)
		}
	}
}

func find(t *testing.T, h *home.Home, ref string) *Reader {
	t.Helper()
	rec, err := Find(h, ref)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func status(t *testing.T, rec *Reader) event.Status {
	t.Helper()
	s, _, err := rec.Status()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// elsewhere is a run that another process executes.
type elsewhere struct {
	*exec.Cmd
	ask  io.Writer
	said *bufio.Reader
	rec  *Reader
}

func startElsewhere(t *testing.T, h *home.Home) *elsewhere {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env, c.Stderr = []string{"RUN_TEST_HOME=" + h.Dir(), "GOCOVERDIR=" + os.TempDir()}, os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	e := &elsewhere{Cmd: c, ask: in, said: bufio.NewReader(out)}
	e.rec = find(t, h, e.line(t))
	return e
}

func (e *elsewhere) line(t *testing.T) string {
	t.Helper()
	line, err := e.said.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (e *elsewhere) tell(t *testing.T, what string) {
	t.Helper()
	if _, err := fmt.Fprintln(e.ask, what); err != nil {
		t.Fatal(err)
	}
}
