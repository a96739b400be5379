package resumecase

import (
	"fmt"
	"strings"
)

// The model of a resume. It knows nothing of the engine.
//
// A run keeps each finished step whose type and resolved parameters are what they would be now, and before which, by a taken edge or a
// template, nothing ran anew. All else runs. A step is a node, an item of its batch, or an iteration of its loop that another one has
// followed. What has steps inside is a step too: it ran anew if one of them did. A journal holds all steps of its run, except what is
// inside of one that was kept as a whole: that is in the journal of the run that did it.

// Done is a finished step: its type and resolved parameters, its value, the action that it ended with, and the home of the run that did
// it.
type Done struct {
	Is, Value, Action string
	Home              int
}

// Memory has finished steps by their places, as events name them: "a/b", "a/b[2]", "a#3". The question about a node is at "a/b?".
type Memory map[string]Done

// Run is a run of a workflow in a home. Had is what had finished before it.
type Run struct {
	Home     int
	Had, Has Memory
	// Asked are the nodes about which it asks, and Ran the steps that are executed, with the number of attempts.
	Asked map[string]bool
	Ran   map[string]int
	// Cached is what stands in the cache. A step that is taken from there is not executed, but counts as run.
	Cached map[string]bool
	// Outputs are the values of the nodes.
	Outputs map[string]string
}

// Start runs a workflow after runs that have finished some of it.
func Start(f *Flow, home int, had Memory, cached map[string]bool) *Run {
	r := &Run{Home: home, Had: had, Has: Memory{}, Asked: map[string]bool{}, Ran: map[string]int{}, Cached: cached, Outputs: map[string]string{}}
	done, _ := r.flow(f, "", "x", "none", false)
	for _, n := range f.Nodes {
		r.Outputs[n.ID] = n.value(done)
	}
	return r
}

// flow runs a workflow inside a step that gives it x and c. before tells whether something before that ran anew.
func (r *Run) flow(f *Flow, inside, x, c string, before bool) (done map[string]Done, anew bool) {
	done = map[string]Done{}
	fresh := map[string]bool{}
	for _, n := range f.Nodes {
		runs, after := len(f.into(n)) == 0, before
		for _, e := range f.into(n) {
			if from, ended := done[e.From]; ended && from.Action == e.Action {
				runs, after = true, after || fresh[e.From]
			}
		}
		for _, id := range n.Reads {
			after = after || fresh[id]
		}
		if runs {
			text := func(words ...string) string { return f.text(n, done, append([]string{x, c}, words...)) }
			done[n.ID], fresh[n.ID] = r.node(n, inside+n.ID, text, after)
			anew = anew || fresh[n.ID]
		}
	}
	return done, anew
}

// node runs a node with all its parts. text returns its parameter.
func (r *Run) node(n *Node, at string, text func(...string) string, before bool) (done Done, anew bool) {
	is := n.whole(text)
	if old := r.Had[at]; old.Is == is && !before {
		return r.keep(at)
	}
	if n.Ask != "" {
		r.Has[at+"?"] = Done{Is: n.question(text)}
		r.Asked[at] = before || r.Had[at+"?"].Is != r.Has[at+"?"].Is
	}
	switch {
	case n.Items != nil:
		good := []string{}
		for i, item := range n.Items {
			part, ran := r.part(n, fmt.Sprintf("%s[%d]", at, i), text(item, fmt.Sprint(i)), "none", before)
			anew = anew || ran
			if part.Action != "error" {
				good = append(good, part.Value)
			}
		}
		done.Value, done.Action = batchValue(good), "default"
	case n.Rounds > 0:
		carried := "first"
		for k := 1; k <= n.Rounds; k++ {
			part, ran := r.part(n, fmt.Sprintf("%s#%d", at, k), n.round(text, k, carried), carried, before || anew)
			done, carried, anew = part, part.Value, anew || ran
		}
	default:
		done, anew = r.do(n, at, is, text(), "none", before)
	}
	done.Is, done.Home = is, r.Home
	r.Has[at] = done
	return done, anew
}

// part runs an item or an iteration.
func (r *Run) part(n *Node, at, text, c string, before bool) (Done, bool) {
	is := n.is() + text + c
	if old := r.Had[at]; old.Is == is && !before {
		return r.keep(at)
	}
	done, anew := r.do(n, at, is, text, c, before)
	r.Has[at] = done
	return done, anew
}

// keep keeps a finished step.
func (r *Run) keep(at string) (Done, bool) {
	r.Has[at] = r.Had[at]
	if answer, ok := r.Had[at+"?"]; ok {
		r.Has[at+"?"] = answer
	}
	return r.Had[at], false
}

// do executes a step that runs anew, or what is inside of it.
func (r *Run) do(n *Node, at, is, text, c string, before bool) (Done, bool) {
	if n.Sub != nil {
		done, anew := r.flow(n.Sub, strings.TrimSuffix(at, "#1")+"/", text, c, before)
		return Done{is, n.Sub.value(done), "default", r.Home}, anew
	}
	value, action := n.result(text)
	if !n.Cache || !r.Cached[n.CacheKey(text)] {
		r.Ran[at] = n.attempts(action)
	}
	return Done{is, value, action, r.Home}, true
}

// Recall returns what a run in a home knows of this one and of those before it. journal has the places of the finished steps in the journal
// of this one, and tells which of them it did itself.
func (r *Run) Recall(journal map[string]bool, home int) Memory {
	known := Memory{}
	for at, did := range journal {
		if known[at] = r.Had[at]; did {
			known[at] = r.Has[at]
		}
		for inner, done := range r.Had {
			if !did && r.Had[at].Home == home && isInside(inner, at) {
				known[inner] = done
			}
		}
	}
	return known
}

// isInside reports whether a place is inside of a node, an item or an iteration.
func isInside(place, at string) bool {
	if i := strings.LastIndexAny(at, "/[#"); i >= 0 && at[i] != '/' {
		return strings.HasPrefix(place, strings.TrimSuffix(at, "#1")+"/")
	}
	rest, ok := strings.CutPrefix(place, at)
	return ok && rest != "" && strings.ContainsRune("/[#?", rune(rest[0]))
}
