// Package progress shows people how a run gets on: redrawn in place on a terminal, or as plain lines.
package progress

import (
	"io"
	"strings"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
)

// period is how often a display looks whether there is something new to show.
const period = 100 * time.Millisecond

// Display shows one run. Its methods may be called by several goroutines.
type Display struct {
	// size gives the terminal's columns and rows; it is nil for plain lines.
	size    func() (width, height int)
	colored bool

	mu    sync.Mutex // held for what follows, never while something is written
	run   history.Run
	notes []note
	// reused are the nodes of which one line tells together; before is how many there were at the last look.
	reused, before int
	asks           chan struct{} // closed at the next question
	// columns are those of a terminal as wide as fits, known from when the run is opened; they stay all through a run.
	columns columns
	fits    int
	opened  bool

	drawing sync.Mutex // held while something is written, which takes as long as the terminal wants
	place   place
	held    int // how many want that nothing is written

	ticking, ended sync.Once
	stop           chan struct{}
	stopped        sync.WaitGroup
}

// NewLive makes a display that is redrawn in place on a terminal. size gives the terminal's columns and rows, each time
// something is drawn; no rows are a terminal on which nothing may be redrawn now, because it is another program's turn.
func NewLive(out io.Writer, size func() (width, height int), colored bool) *Display {
	d := NewPlain(out)
	d.size, d.colored = size, colored
	return d
}

// NewPlain makes a display that writes a line for each node that has ended, and one at the start and at the end.
func NewPlain(out io.Writer) *Display {
	return &Display{place: place{out: out}, stop: make(chan struct{}), asks: make(chan struct{})}
}

func (d *Display) live() bool { return d.size != nil }

// Apply takes the run's next event. It never waits for the output: what cannot be written yet is written later.
func (d *Display) Apply(e *event.Event) {
	history.Trim(e) // nobody is shown that
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
	case !d.live() || o.kept(&d.run):
		d.notes = append(d.notes, o)
	case o.kind == reused && event.Enclosing(o.node) == "":
		d.reused++
	}
}

// tick draws from time to time, until the end.
func (d *Display) tick() {
	ticker := time.NewTicker(period)
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

// draw writes what is new, and the live part when it looks otherwise than it stands.
func (d *Display) draw() {
	d.drawing.Lock()
	defer d.drawing.Unlock()
	if d.held > 0 {
		return
	}
	if !d.live() {
		d.place.write(d.plain())
		return
	}
	width, height := d.size()
	if height == 0 {
		d.place.forget()
		return
	}
	d.mu.Lock()
	s := Screen{width, height, d.colored}
	fresh := d.fresh(s)
	live := frame(&d.run, time.Now(), s, d.columns)
	d.mu.Unlock()
	d.place.put(width, fresh, live)
}

// clear writes what is new and takes the live part away.
func (d *Display) clear() {
	if !d.live() {
		d.place.write(d.plain())
		return
	}
	width, height := d.size()
	if height == 0 {
		d.place.forget()
	}
	d.mu.Lock()
	fresh := d.fresh(Screen{width, height, d.colored})
	d.mu.Unlock()
	d.place.put(width, fresh, nil)
}

// fresh takes the notes that are not yet written, as lines on a screen.
func (d *Display) fresh(s Screen) (lines []string) {
	if started := d.run.Started != nil; s.Width != d.fits || started != d.opened {
		d.fits, d.opened, d.columns = s.Width, started, columnsOf(&d.run, s.Width)
	}
	for _, o := range d.notes {
		lines = append(lines, o.line(d.columns).in(s.Width, s.Color))
	}
	d.notes = nil
	if d.reused > 0 && d.reused == d.before { // no more have come since
		lines = append(lines, together(&d.run, d.reused).in(s.Width, s.Color))
		d.reused = 0
	}
	d.before = d.reused
	return lines
}

// plain takes what is not yet written as plain lines.
func (d *Display) plain() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var b strings.Builder
	if !d.opened && d.run.Started != nil {
		d.opened = true
		b.WriteString(opening(&d.run) + "\n")
	}
	for _, o := range d.notes {
		b.WriteString(o.plain() + "\n")
	}
	d.notes = nil
	return b.String()
}

// Hold clears the live part and writes nothing more until as many calls of Release as of Hold. It is for a question about
// a node, and waits a little until the run has told of that, so that all that was before stands above it.
func (d *Display) Hold(node string) {
	d.await(node)
	d.drawing.Lock()
	defer d.drawing.Unlock()
	if d.held++; d.held == 1 {
		d.clear()
	}
}

// await waits until a node is known to wait for an answer, but not for long: events may not come any more.
func (d *Display) await(node string) {
	enough := time.After(5 * period)
	for {
		d.mu.Lock()
		n, more := d.run.Node(node), d.asks
		told := n != nil && n.State == history.Waiting
		d.mu.Unlock()
		if told {
			return
		}
		select {
		case <-more:
		case <-enough:
			return
		}
	}
}

// Release lets a display go on that was held.
func (d *Display) Release() {
	d.drawing.Lock()
	defer d.drawing.Unlock()
	d.held--
}

// Beside calls a function that writes to where the display is, with the live part out of its way.
func (d *Display) Beside(write func()) {
	d.drawing.Lock()
	defer d.drawing.Unlock()
	if d.held == 0 {
		d.clear()
	}
	write()
}

// Forget makes the display draw below what stands on the terminal, for others may have written there.
func (d *Display) Forget() {
	d.drawing.Lock()
	defer d.drawing.Unlock()
	d.place.forget()
}

// End writes what there is still to say, and after it nothing more. A live display ends with the run's Summary where the
// run has finished; then it is true. Only the first call does something.
func (d *Display) End() (summed bool) {
	d.ended.Do(func() {
		close(d.stop)
		d.stopped.Wait()
		d.drawing.Lock()
		defer d.drawing.Unlock()
		d.clear()
		text, finished := d.last()
		d.place.write(text)
		summed = finished && d.live()
	})
	return summed
}

// last is what is written at the end of a run that has finished.
func (d *Display) last() (text string, finished bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.run.Finished == nil:
		return "", false
	case d.live():
		return strings.Join(Summary(&d.run, d.colored), "\r\n") + "\r\n", true
	}
	return closing(&d.run) + "\n", true
}
