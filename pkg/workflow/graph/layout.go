package graph

import (
	"cmp"
	"slices"

	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// The measures of a drawing, in pixels.
const (
	charWidth  = 7.5 // of the font in Styles
	lineHeight = 17.0
	padding    = 9.0
	gap        = 26.0 // between boxes side by side
	rowGap     = 54.0
	margin     = 20.0
	laneWidth  = 2.0 // of an edge that crosses a row
)

// maxBends bounds the rows over which an edge is led around the boxes. A longer edge is an arc behind them, which bounds the
// cost of each edge.
const maxBends = 20

// sweeps is the number of times that the rows are ordered, and then moved, by their neighbours. More make no visible
// difference.
const sweeps = 12

// vertex is an element of a row: the box of a node, or the bend of an edge.
type vertex struct {
	row          int
	place        int   // its index in the row
	above, below []int // its neighbours in the rows above and below
	wish         float64
	x, width     float64 // x is the middle
	top, height  float64
	bend         bool // a bend, where an edge crosses the row
}

// layout is a drawing from top to bottom: the boxes of the nodes in rows, each below the nodes that it waits for.
type layout struct {
	vertices []vertex // the nodes, then the bends of edges
	rows     [][]int
	// paths lists, for each edge, its bends and the node it leads to. It is nil for an edge that is drawn as an arc.
	paths         [][]int
	width, height float64
}

// arrange lays out the graph.
func (g *Graph) arrange() *layout {
	l := &layout{vertices: make([]vertex, len(g.nodes)), paths: make([][]int, len(g.edges))}
	for _, i := range g.order {
		n, v := &g.nodes[i], &l.vertices[i]
		lines := n.lines()
		for _, text := range lines {
			v.width = max(v.width, charWidth*float64(cells.Width(text))+2*padding)
		}
		v.height = lineHeight*float64(len(lines)) + 2*padding
		for _, in := range n.in {
			if e := &g.edges[in]; !e.back {
				v.row = max(v.row, l.vertices[e.from].row+1)
			}
		}
		l.enter(i)
	}
	for i := range g.edges {
		l.lead(i, &g.edges[i])
	}
	l.reorder()
	l.move()
	l.measure(g.edges)
	return l
}

// enter appends a vertex to its row.
func (l *layout) enter(i int) {
	row := l.vertices[i].row
	for len(l.rows) <= row {
		l.rows = append(l.rows, nil)
	}
	l.vertices[i].place = len(l.rows[row])
	l.rows[row] = append(l.rows[row], i)
}

// lead adds a bend in each row that an edge crosses, unless the edge leads back or crosses too many.
func (l *layout) lead(i int, e *edge) {
	from, to := l.vertices[e.from].row, l.vertices[e.to].row
	if e.back || to-from-1 > maxBends {
		return
	}
	last := e.from
	for row := from + 1; row < to; row++ {
		bend := len(l.vertices)
		l.vertices = append(l.vertices, vertex{row: row, width: laneWidth, bend: true})
		l.enter(bend)
		l.join(last, bend)
		l.paths[i] = append(l.paths[i], bend)
		last = bend
	}
	l.join(last, e.to)
	l.paths[i] = append(l.paths[i], e.to)
}

func (l *layout) join(above, below int) {
	l.vertices[above].below = append(l.vertices[above].below, below)
	l.vertices[below].above = append(l.vertices[below].above, above)
}

// reorder sorts each row by the positions of its vertices' neighbours, in the row above and the row below in turn. This
// leaves few crossings.
func (l *layout) reorder() {
	l.sweep(func(row []int, neighbours func(*vertex) []int) {
		for _, i := range row {
			v := &l.vertices[i]
			v.wish = l.mean(neighbours(v), float64(v.place), func(n *vertex) float64 {
				return float64(n.place) / float64(len(l.rows[n.row])) * float64(len(row))
			})
		}
		slices.SortStableFunc(row, func(a, b int) int { return cmp.Compare(l.vertices[a].wish, l.vertices[b].wish) })
		for place, i := range row {
			l.vertices[i].place = place
		}
	})
}

// move moves each vertex as near to the middle of its neighbours as its row allows.
func (l *layout) move() {
	for _, row := range l.rows {
		l.spread(row, func(*vertex) float64 { return 0 })
	}
	l.sweep(func(row []int, neighbours func(*vertex) []int) {
		l.spread(row, func(v *vertex) float64 {
			return l.mean(neighbours(v), v.x, func(n *vertex) float64 { return n.x })
		})
	})
}

// sweep visits the rows downwards with the neighbours above, then upwards with the neighbours below, and so on.
func (l *layout) sweep(each func(row []int, neighbours func(*vertex) []int)) {
	for range sweeps / 2 {
		for _, row := range l.rows {
			each(row, func(v *vertex) []int { return v.above })
		}
		for _, row := range slices.Backward(l.rows) {
			each(row, func(v *vertex) []int { return v.below })
		}
	}
}

// mean returns the mean of a value of the neighbours, or otherwise for a node without neighbours.
func (l *layout) mean(neighbours []int, otherwise float64, of func(*vertex) float64) float64 {
	if len(neighbours) == 0 {
		return otherwise
	}
	sum := 0.0
	for _, n := range neighbours {
		sum += of(&l.vertices[n])
	}
	return sum / float64(len(neighbours))
}

// spread moves the vertices of a row as near to their wishes as they fit: halfway between their places if each makes way to
// the right, and if each makes way to the left.
func (l *layout) spread(row []int, wish func(*vertex) float64) {
	if len(row) == 0 {
		return
	}
	distance := func(a, b int) float64 {
		return (l.vertices[row[a]].width+l.vertices[row[b]].width)/2 + gap
	}
	left, right := make([]float64, len(row)), make([]float64, len(row))
	for i, v := range row {
		left[i] = wish(&l.vertices[v])
		right[i] = left[i]
	}
	for i := 1; i < len(row); i++ {
		left[i] = max(left[i], left[i-1]+distance(i-1, i))
	}
	for i := len(row) - 2; i >= 0; i-- {
		right[i] = min(right[i], right[i+1]-distance(i, i+1))
	}
	for i, v := range row {
		l.vertices[v].x = (left[i] + right[i]) / 2
	}
}

// measure sets the places of the rows and the size of the drawing, and moves it to the origin.
func (l *layout) measure(edges []edge) {
	least, most := 0.0, 0.0
	for i := range l.vertices {
		v := &l.vertices[i]
		least, most = min(least, v.x-v.width/2), max(most, v.x+v.width/2)
	}
	for i := range edges {
		e := &edges[i]
		if l.paths[i] == nil {
			from, to := &l.vertices[e.from], &l.vertices[e.to]
			most = max(most, max(from.x, to.x)+arc(from, to))
		}
		x, _ := l.middle(e, l.paths[i])
		half := charWidth * float64(cells.Width(e.caption())) / 2
		least, most = min(least, x-half), max(most, x+half)
	}
	for i := range l.vertices {
		l.vertices[i].x += margin - least
	}
	l.width, l.height = most-least+2*margin, margin
	for _, row := range l.rows {
		height := 0.0
		for _, i := range row {
			height = max(height, l.vertices[i].height)
		}
		for _, i := range row {
			v := &l.vertices[i]
			v.top = l.height
			if v.bend {
				v.height = height
			}
		}
		l.height += height + rowGap
	}
	l.height = max(l.height-rowGap, margin) + margin
}
