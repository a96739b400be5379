// Package progress shows people the progress of a run: redrawn in place on a terminal, or as plain lines.
package progress

import (
	"io"
	"strings"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
)

// refreshPeriod is the time between two looks for something new to show.
const refreshPeriod = 100 * time.Millisecond

// Display shows one run. Its methods are safe for concurrent use.
type Display struct {
	// terminal is nil for plain lines.
	terminal Terminal
	colored  bool

	mu    sync.Mutex // guards the fields below; never held during a write
	run   history.Run
	notes []note
	// reused counts the reused nodes that one line reports together; before is their number at the last look.
	reused, before int
	asks           chan struct{} // closed when the next question is asked
	// columns fit a terminal of width fits. They are set when the run starts and change only with the width.
	columns columns
	fits    int
	opened  bool

	drawing sync.Mutex // held during a write, which may block
	area    liveArea
	held    int // the number of Holds without a Release

	ticking, ended sync.Once
	stop           chan struct{}
	stopped        sync.WaitGroup
}

// Terminal is what a display must know of the terminal that it is redrawn on. Its methods are called before each drawing.
type Terminal interface {
	// Size returns the columns and rows, and 0 rows while the terminal belongs to another program and nothing may be redrawn.
	Size() (width, height int)
	// Typed returns how many lines were typed since the last call. The terminal shows them where the cursor is.
	Typed() (lines int)
}

// NewLive returns a display that is redrawn in place on a terminal.
func NewLive(out io.Writer, on Terminal, colored bool) *Display {
	d := NewPlain(out)
	d.terminal, d.colored = on, colored
	return d
}

// NewPlain returns a display that writes a line for each node that has ended, and one each for the start and the end of the
// run.
func NewPlain(out io.Writer) *Display {
	return &Display{area: liveArea{out: out}, stop: make(chan struct{}), asks: make(chan struct{})}
}

func (d *Display) live() bool { return d.terminal != nil }

// Apply applies the run's next event. It does not wait for the output: what cannot be written now is written later.
func (d *Display) Apply(e *event.Event) {
	history.Trim(e) // inputs and outputs are not shown
	d.mu.Lock()
	d.run.Apply(e)
	if o, ok := noteOf(&d.run, e); ok {
		d.note(o)
	}
	if e.Event == event.ApprovalRequested {
		close(d.asks)
		d.asks = make(chan struct{})
	}
	d.mu.Unlock()
	d.ticking.Do(func() { d.stopped.Go(d.tick) })
}

// note keeps a note until it is written.
func (d *Display) note(o note) {
	switch {
	case !d.live() || o.keptOnScreen(&d.run):
		d.notes = append(d.notes, o)
	case o.kind == reused && event.Enclosing(o.node) == "":
		d.reused++
	}
}

// tick draws once per refreshPeriod until the end.
func (d *Display) tick() {
	ticker := time.NewTicker(refreshPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-d.stop:
			return
		case <-ticker.C:
			d.draw()
		}
	}
}

// draw writes the new notes, and the live part if it has changed.
func (d *Display) draw() {
	d.drawing.Lock()
	defer d.drawing.Unlock()
	if d.held > 0 {
		return
	}
	if !d.live() {
		d.area.write(d.plain())
		return
	}
	width, height := d.look()
	if height == 0 {
		return
	}
	d.mu.Lock()
	s := Screen{width, height, d.colored}
	fresh := d.fresh(s)
	live := frame(&d.run, time.Now(), s, d.columns)
	d.mu.Unlock()
	d.area.put(width, fresh, live)
}

// look returns the size of the terminal. It notes what was typed on it, and whether another program has it.
func (d *Display) look() (width, height int) {
	lines := d.terminal.Typed()
	width, height = d.terminal.Size()
	if d.area.typed(lines); height == 0 {
		d.area.forget()
	}
	return width, height
}

// clear writes the new notes and erases the live part.
func (d *Display) clear() {
	if !d.live() {
		d.area.write(d.plain())
		return
	}
	width, height := d.look()
	d.mu.Lock()
	fresh := d.fresh(Screen{width, height, d.colored})
	d.mu.Unlock()
	d.area.put(width, fresh, nil)
}

// fresh takes the notes that are not written yet, as lines of a screen.
func (d *Display) fresh(s Screen) (lines []string) {
	if started := d.run.Started != nil; s.Width != d.fits || started != d.opened {
		d.fits, d.opened, d.columns = s.Width, started, columnsOf(&d.run, s.Width)
	}
	for _, o := range d.notes {
		lines = append(lines, o.line(d.columns).render(s.Width, s.Color))
	}
	d.notes = nil
	if d.reused > 0 && d.reused == d.before { // no more since the last look
		lines = append(lines, reusedLine(&d.run, d.reused).render(s.Width, s.Color))
		d.reused = 0
	}
	d.before = d.reused
	return lines
}

// plain takes the notes that are not written yet, as plain lines.
func (d *Display) plain() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var b strings.Builder
	if !d.opened && d.run.Started != nil {
		d.opened = true
		b.WriteString(firstLine(&d.run) + "\n")
	}
	for _, o := range d.notes {
		b.WriteString(o.plain() + "\n")
	}
	d.notes = nil
	return b.String()
}

// Hold erases the live part and stops all output until Release has been called as often as Hold. It is for a question about
// a node. It waits a short time for the question's event, so that everything before is written above the question.
func (d *Display) Hold(node string) {
	d.await(node)
	d.drawing.Lock()
	defer d.drawing.Unlock()
	if d.held++; d.held == 1 {
		d.clear()
	}
}

// await waits a short time until a node waits for an answer. The event may never come.
func (d *Display) await(node string) {
	enough := time.After(5 * refreshPeriod)
	for {
		d.mu.Lock()
		n, more := d.run.Node(node), d.asks
		asked := n != nil && n.State == history.Waiting
		d.mu.Unlock()
		if asked {
			return
		}
		select {
		case <-more:
		case <-enough:
			return
		}
	}
}

// Release ends a Hold.
func (d *Display) Release() {
	d.drawing.Lock()
	defer d.drawing.Unlock()
	d.held--
}

// Beside calls write, which writes to the display's output, with the live part erased.
func (d *Display) Beside(write func()) {
	d.drawing.Lock()
	defer d.drawing.Unlock()
	if d.held == 0 {
		d.clear()
	}
	write()
}

// Forget makes the display draw below the current content of the terminal, because another program may have written there.
func (d *Display) Forget() {
	d.drawing.Lock()
	defer d.drawing.Unlock()
	d.area.forget()
}

// End writes what is left and ends the output. A live display ends with the run's Summary if the run has finished; End then
// returns true. Further calls do nothing.
func (d *Display) End() (summed bool) {
	d.ended.Do(func() {
		close(d.stop)
		d.stopped.Wait()
		d.drawing.Lock()
		defer d.drawing.Unlock()
		d.clear()
		text, finished := d.last()
		d.area.write(text)
		summed = finished && d.live()
	})
	return summed
}

// last returns the end of the output of a finished run.
func (d *Display) last() (text string, finished bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.run.Finished == nil:
		return "", false
	case d.live():
		return strings.Join(Summary(&d.run, d.colored), "\r\n") + "\r\n", true
	}
	return lastLine(&d.run) + "\n", true
}
