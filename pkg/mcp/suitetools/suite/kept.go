package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/process/chain"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// closeTime is how long Close waits for kept programs to answer what they have begun.
const closeTime = 5 * time.Second

// reply is a line of a kept program: what a process for the request alone would have printed, and its exit status.
type reply struct {
	ID       int             `json:"id"`
	Exit     int             `json:"exit"`
	Document json.RawMessage `json:"document"`
}

// kept is a program that goes on between requests. It is started by the first request, and by the next one after it has ended.
type kept struct {
	programs *Programs
	program  string
	args     []string

	mu   sync.Mutex
	live *dialogue // nil if the program does not run
	last int
}

// dialogue is a running program and the requests that it has not answered.
type dialogue struct {
	in      *io.PipeWriter
	writing sync.Mutex
	waiting map[int]chan<- answered
	ended   chan struct{}
	stop    context.CancelFunc
}

// answered is how a request ended.
type answered struct {
	outcome *Outcome
	err     error
}

// ask sends a request to the program that is kept for a command, and returns the answer. If the program ends without one, the outcome is
// how it ended: what the request asked for may have happened.
func (s *Programs) ask(ctx context.Context, c Command) (*Outcome, error) {
	made, _ := s.kept.LoadOrStore(strings.Join(append([]string{c.Program}, c.Args...), "\x00"), &kept{programs: s, program: c.Program, args: c.Args})
	k, _ := made.(*kept)
	var arguments bytes.Buffer
	if err := json.Compact(&arguments, c.Stdin); err != nil {
		return nil, fault.New(fault.Usage, "The arguments of the call are not JSON: %v", err)
	}
	d, id, answer := k.expect()
	around := ""
	if runs := process.Getenv(c.Caller, chain.Variable); runs != "" {
		around = fmt.Sprintf(`"runs":%s,`, rawjson.Quote(runs))
	}
	d.writing.Lock()
	_, _ = fmt.Fprintf(d.in, "{\"id\":%d,%s\"arguments\":%s}\n", id, around, &arguments) // it fails when the program has ended, which answers the request
	d.writing.Unlock()
	select {
	case a := <-answer:
		return a.outcome, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// expect returns the running program, and the id of a new request with the channel on which it is answered.
func (k *kept) expect() (*dialogue, int, <-chan answered) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.live == nil {
		k.begin()
	}
	answer := make(chan answered, 1)
	k.last++
	k.live.waiting[k.last] = answer
	return k.live, k.last, answer
}

// begin starts the program. The mu must be held.
func (k *kept) begin() {
	in, out := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	d := &dialogue{in: out, waiting: map[int]chan<- answered{}, ended: make(chan struct{}), stop: stop}
	k.live = d
	go func() {
		defer close(d.ended)
		defer stop()
		o, err := k.programs.Run(ctx, Command{Program: k.program, Args: k.args, Input: in, OnLine: func(line []byte) { k.pass(d, line) }, Long: true})
		_ = in.Close()
		if err == nil && o.Exit != 0 {
			k.programs.Log.Warn("a program ended while it was kept for requests; the next request starts it again", "program", k.program, "exit", o.Exit, "stderr", o.Stderr)
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.live == d {
			k.live = nil
		}
		for id, to := range d.waiting {
			delete(d.waiting, id)
			to <- answered{o, err}
		}
	}()
}

// pass passes a line of the program on to the request that it answers.
func (k *kept) pass(d *dialogue, line []byte) {
	var r reply
	if json.Unmarshal(line, &r) != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if to, ok := d.waiting[r.ID]; ok {
		delete(d.waiting, r.ID)
		to <- answered{outcome: &Outcome{Output: bytes.Clone(r.Document), Exit: r.Exit}}
	}
}

// close lets the program answer what it has begun, and waits for its end, but not longer than until patience ends.
func (k *kept) close(patience context.Context) {
	k.mu.Lock()
	d := k.live
	k.live = nil
	k.mu.Unlock()
	if d == nil {
		return
	}
	_ = d.in.Close()
	select {
	case <-d.ended:
	case <-patience.Done():
		d.stop()
		<-d.ended
	}
}

// Close ends the programs that are kept for requests. It is called after the last command.
func (s *Programs) Close() {
	patience, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	s.kept.Range(func(_, one any) bool {
		if k, ok := one.(*kept); ok {
			k.close(patience)
		}
		return true
	})
}
