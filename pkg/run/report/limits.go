package report

import (
	"bytes"
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// limits bound what is shown of a run, so that browsers can open the page whatever the run did.
type limits struct {
	drawn  int // nodes in the picture
	nodes  int // nodes with a section
	inside int // nodes shown inside one node
	rows   int // rows of the timeline
	items  int // items of batches in tables
	each   int // characters of one value
	least  int // the least room for a value, however many there are
	values int // characters of the values of all nodes
	root   int // characters of the run's own values
	whole  int // characters of the definition
}

const (
	maxWidth = 2200     // pixels of a picture that is scaled to the width of the page
	maxInner = 500      // nodes shown inside one node
	maxLoad  = 64 << 20 // bytes of blobs
)

// most are the limits without a limit in bytes.
func most() limits {
	return limits{
		drawn: 2000, nodes: 3000, inside: maxInner, rows: 12_000, items: 12_000, each: maxValue, least: minValue, values: 4_000_000, root: 60_000, whole: 200_000,
	}
}

// halved returns the limits divided by two, n times. What is small already shrinks last.
func (l limits) halved(n int) limits {
	for range n {
		l.drawn, l.nodes, l.inside, l.rows, l.items = l.drawn/2, max(l.nodes/2, 1), max(l.inside/2, 1), l.rows/2, l.items/2
		l.each, l.least, l.values, l.root, l.whole = max(l.each/2, 60), max(l.least/2, 20), l.values/2, l.root/2, l.whole/2
	}
	return l
}

// mostHalved is how often limits are halved before a run does not fit.
const mostHalved = 16

// fit writes with the greatest limits by which the result has at most maxBytes; 0 sets no limit.
func fit(w io.Writer, maxBytes int, write func(io.Writer, limits) error) error {
	if maxBytes <= 0 {
		return write(w, most())
	}
	for n := 0; ; {
		var out bytes.Buffer
		if err := write(&out, most().halved(n)); err != nil {
			return err
		}
		if out.Len() <= maxBytes {
			_, err := w.Write(out.Bytes())
			return err
		}
		if n == mostHalved {
			return fault.New(fault.TooLarge, "The run does not fit into %d bytes of HTML: its beginning alone has %d", maxBytes, out.Len()).
				Suggest("%s", fmt.Sprintf("Allow at least %d bytes", out.Len()))
		}
		n++
		for size := out.Len(); size > 4*maxBytes && n < mostHalved; size /= 2 { // far too long: skip what cannot fit
			n++
		}
	}
}

// budget returns the room for values of a part of the page.
func (r *writer) budget(left int) *budget { return &budget{left: left, each: r.each, least: r.least} }

// nodeBudget returns the room for the values of a node, on a page with this number of nodes.
func (r *writer) nodeBudget(nodes int) *budget {
	return r.budget(min(max(r.values/max(nodes, 1), 3*r.least), 40_000))
}
