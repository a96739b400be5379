package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// detached is the argument by which Detach has the test binary serve a request.
const detached = "detached"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == detached {
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func serve() error {
	r, err := ReadRequest(context.Background(), os.Stdin)
	if err != nil {
		return err
	}
	h, err := home.Open(os.Getenv("PFLOW_HOME"), "")
	if err != nil {
		return Acknowledge(os.Stdout, Acknowledgement{Error: fault.From(err)})
	}
	ctx, stop := signal.NotifyContext(context.Background(), journal.CancelSignal)
	defer stop()
	_, err = Serve(ctx, newHost(h, os.Environ()), r, func(ack Acknowledgement) error { return Acknowledge(os.Stdout, ack) })
	return err
}

func newHost(h *home.Home, env []string) *Host {
	host := &Host{
		Home: h, Env: env, Suite: func() (string, error) { return h.Dir(), nil },
		Log: slog.New(slog.DiscardHandler), Warn: func(string, ...any) {}, Advise: func(*fault.Fault) {},
	}
	host.Read = func(name string, limit int64) ([]byte, error) {
		if name == "-" {
			return input.Read(context.Background(), host.Stdin, name, limit)
		}
		return input.File(context.Background(), name, name, limit)
	}
	return host
}

// place is a home, a folder to run in, and the host that has them.
type place struct {
	*testing.T
	*Host
	dir string

	mu       sync.Mutex
	warnings []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{T: t, dir: t.TempDir()}
	h, err := home.Open(filepath.Join(t.TempDir(), "home"), "")
	p.check(err)
	p.Host = newHost(h, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "PFLOW_HOME=" + h.Dir()})
	p.Warn = func(format string, args ...any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
	}
	p.Cleanup(p.awaitProcesses) // before the home is removed
	return p
}

func (p *place) check(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// write writes a file into the folder and returns its path.
func (p *place) write(name, text string) string {
	p.Helper()
	path := filepath.Join(p.dir, name)
	p.check(os.WriteFile(path, []byte(text), 0o600))
	return path
}

// read returns a file of the folder.
func (p *place) read(name string) string {
	p.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	p.check(err)
	return string(text)
}

// load loads a workflow, which is to run in the folder.
func (p *place) load(s Source) (*Request, error) {
	return Load(p.Host, s, Options{Dir: p.dir, Jobs: 1})
}

// resolve loads and resolves a workflow.
func (p *place) resolve(s Source) (*Launch, error) {
	r, err := p.load(s)
	if err != nil {
		return nil, err
	}
	l, err := Resolve(p.Context(), p.Host, r)
	if err == nil {
		p.Cleanup(l.Release)
	}
	return l, err
}

// run executes a workflow and returns the run's last event.
func (p *place) run(s Source) *event.Event {
	p.Helper()
	l, err := p.resolve(s)
	p.check(err)
	last, err := l.Execute(p.Context(), Observer{})
	p.check(err)
	return last
}

// detach has another process execute a workflow and returns the run.
func (p *place) detach(s Source) *journal.Reader {
	p.Helper()
	r, err := p.load(s)
	p.check(err)
	ack, err := Detach(p.Host, r, detached)
	p.check(err)
	if ack.Error != nil {
		p.Fatal(ack.Error)
	}
	return p.find(ack.RunID)
}

// awaitProcesses waits until no process writes to the home any more. A run that has ended is still written to the index.
func (p *place) awaitProcesses() {
	p.Helper()
	for deadline := time.Now().Add(5 * time.Minute); slices.Contains(process.EnvironmentValues("PFLOW_HOME"), p.Home.Dir()); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.Fatal("a process is left")
		}
	}
}

func (p *place) find(run string) *journal.Reader {
	p.Helper()
	rec, err := journal.Find(p.Home, run)
	p.check(err)
	return rec
}

// events returns a run's events as "event node".
func (p *place) events(run string) []string {
	p.Helper()
	var events []string
	for r := event.NewReader(bytes.NewReader(p.journal(run))); ; {
		e, _, err := r.Next()
		if errors.Is(err, io.EOF) {
			return events
		}
		p.check(err)
		events = append(events, strings.TrimSpace(string(e.Event)+" "+e.Node))
	}
}

// journal returns the text of a run's journal.
func (p *place) journal(run string) []byte {
	p.Helper()
	f, err := p.find(run).Open()
	p.check(err)
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(f)
	p.check(err)
	return text
}

var errFound = errors.New("found")

// await waits for an event of a live run.
func (p *place) await(rec *journal.Reader, want string) {
	p.Helper()
	err := rec.Follow(p.Context(), func([]byte) error {
		if slices.Contains(p.events(rec.ID), want) {
			return errFound
		}
		return nil
	})
	if !errors.Is(err, errFound) {
		p.Fatalf("%s did not come: %v", want, err)
	}
}

// values are inputs that are given as text.
func values(pairs ...string) Inputs {
	given := map[string]workflow.Given{}
	for i := 0; i < len(pairs); i += 2 {
		given[pairs[i]] = workflow.Given{Text: pairs[i+1]}
	}
	return Inputs{Values: given}
}

// isFault checks the type of an error, and that its text names some facts.
func isFault(t *testing.T, err error, want fault.Type, facts ...string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Type != want {
		t.Errorf("got %v, want a %s", err, want)
		return
	}
	for _, fact := range facts {
		if !strings.Contains(f.Message, fact) {
			t.Errorf("%q does not name %s", f.Message, fact)
		}
	}
}
