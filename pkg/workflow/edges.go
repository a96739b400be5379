package workflow

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/pflow-suite/pflow/pkg/workflow/program"
)

// EndOfBranch is the target of an edge that ends its branch, and the value of next in code that does the same. No node can have this id.
const EndOfBranch = "end"

// NextOf returns what the code of a node assigns to next, its action. It is empty for a node that runs no code of its own, and for
// a batch, which has no action of its own.
func NextOf(n *Node) program.Next {
	var params struct{ Code, Language string }
	if n.Type != CodeType || n.Batch != nil || !bytes.Contains(n.Params, []byte("next")) && !bytes.Contains(n.Params, []byte(`\u`)) || json.Unmarshal(n.Params, &params) != nil {
		return program.Next{Other: -1}
	}
	if params.Language == "" {
		params.Language = "python"
	}
	return program.AssignedNext(params.Language, params.Code)
}

// AllEdges returns the edges of the workflow: those of the file, in their order, and those that the code of nodes makes. Code that
// assigns the literal "c" to next makes an edge to the node c with the action c, unless the file has an edge with that action. If
// the file has no edges and code names the node that follows, the nodes follow one another in the order of the file, except that
// a node which code names is reached by its action only, and the node after it follows the one before it as well.
func (w *Workflow) AllEdges() []Edge {
	written, made := w.edges()
	return append(slices.Clip(written), made...)
}

// edges returns the edges of the file, or those by the order of the nodes, and the edges that code makes.
func (w *Workflow) edges() (written, made []Edge) {
	targets := map[string]bool{}
	for i := range w.Nodes {
		n := &w.Nodes[i]
		for _, l := range NextOf(n).Literals {
			taken := slices.ContainsFunc(w.Edges, func(e Edge) bool { return e.From == n.ID && e.Action == l.Text })
			_, exists := w.Node(l.Text)
			if !taken && (exists || l.Text == EndOfBranch) {
				made = append(made, Edge{From: n.ID, To: l.Text, Action: l.Text})
				targets[l.Text] = true
			}
		}
	}
	if len(w.Edges) == 0 && len(made) > 0 {
		return w.inOrder(targets), made
	}
	return w.Edges, made
}

// inOrder returns the edges from each node to the next one that is not among the targets of actions.
func (w *Workflow) inOrder(targets map[string]bool) (edges []Edge) {
	following := ""
	for _, n := range slices.Backward(w.Nodes) {
		if following != "" {
			edges = append(edges, Edge{From: n.ID, To: following, Action: ActionDefault})
		}
		if !targets[n.ID] {
			following = n.ID
		}
	}
	slices.Reverse(edges)
	return edges
}

// Chooses reports whether an edge with an action makes the action of its node choose what follows.
func Chooses(action string) bool {
	return action != ActionDefault && action != ActionError && action != EndOfBranch
}

// Ends reports whether an edge ends its branch.
func (e Edge) Ends() bool { return e.To == EndOfBranch }
