package resumecase

import (
	"fmt"
	"slices"
	"strings"
)

// The model of a resume. It knows nothing of the engine.
//
// A run keeps each finished step whose type and resolved parameters are what they would be now. Unless it is a step of values, nothing before
// it, by a taken edge or a template, may have run anew, and the same steps must be before it. All else runs. A step is a node, an item of its
// batch, or an iteration of its loop. What has steps inside is a step too: it ran anew if one of them did. A journal holds all steps of its
// run, except what is inside of one that was kept as a whole: that is in the journal of the run that did it. A step of values is also
// found in the journals of earlier runs.

// Done is a finished step: its type and resolved parameters, what is before it, its value, the action that it ended with, and the home of the
// run that did it. In is the home of the newest journal with it. Far is set if the journal of the last run does not have it,
// and Bad if an item of it failed.
type Done struct {
	Is, Before, Value, Action string
	Home, In                  int
	Far, Bad                  bool
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
	done, _ := r.flow(f, "", "x", "none", order{})
	for _, n := range f.Nodes {
		r.Outputs[n.ID] = n.value(done)
	}
	return r
}

// order is what is before a step: whether something there ran anew, and what identifies all of it.
type order struct {
	anew   bool
	before string
}

// flow runs a workflow inside a step that gives it x and c.
func (r *Run) flow(f *Flow, inside, x, c string, around order) (done map[string]Done, anew bool) {
	done = map[string]Done{}
	orders := map[string]order{} // of a step behind each node
	for _, n := range f.Nodes {
		runs, from := len(f.into(n)) == 0, slices.Clone(n.Reads)
		for _, e := range f.into(n) {
			if d, ended := done[e.From]; ended && d.Action == e.Action {
				runs, from = true, append(from, e.From)
			}
		}
		if !runs {
			continue
		}
		slices.Sort(from)
		at := around
		for _, id := range slices.Compact(from) {
			at.anew = at.anew || orders[id].anew
			at.before += " (" + id + orders[id].before + ")"
		}
		text := func(words ...string) string { return f.text(n, done, append([]string{x, c}, words...)) }
		var fresh bool
		done[n.ID], fresh = r.node(n, inside+n.ID, text, at)
		anew = anew || fresh
		orders[n.ID] = order{at.anew || fresh, at.before}
	}
	return done, anew
}

// keeps reports whether a step is kept.
func (r *Run) keeps(n *Node, at, is string, before order) bool {
	old, had := r.Had[at]
	values := n.values() || n.Cache && old.Action == "default" && !old.Bad // what failed is not cached
	return had && old.Is == is && (values || !old.Far && !before.anew && old.Before == before.before)
}

// node runs a node with all its parts. text returns its parameter.
func (r *Run) node(n *Node, at string, text func(...string) string, before order) (done Done, anew bool) {
	is := n.whole(text)
	if r.keeps(n, at, is, before) {
		return r.keep(n, at, before)
	}
	if n.Ask != "" {
		asks := Done{Is: n.question(text), Before: before.before}
		r.Has[at+"?"] = asks
		had := r.Had[at+"?"]
		r.Asked[at] = before.anew || had.Is != asks.Is || had.Before != asks.Before
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
			done.Bad = done.Bad || part.Action == "error"
		}
		done.Value, done.Action = batchValue(good), "default"
	case n.Rounds > 0:
		carried := "first"
		for k := 1; k <= n.Rounds; k++ {
			part, ran := r.part(n, fmt.Sprintf("%s#%d", at, k), n.round(text, k, carried), carried, order{before.anew || anew, before.before})
			done, carried, anew = part, part.Value, anew || ran
		}
	default:
		done, anew = r.do(n, at, is, text(), "none", before)
	}
	done.Is, done.Before, done.Home, done.In = is, before.before, r.Home, r.Home
	r.Has[at] = done
	return done, anew
}

// part runs an item or an iteration.
func (r *Run) part(n *Node, at, text, c string, before order) (Done, bool) {
	is := n.is() + text + c
	if r.keeps(n, at, is, before) {
		return r.keep(n, at, before)
	}
	done, anew := r.do(n, at, is, text, c, before)
	r.Has[at] = done
	return done, anew
}

// keep keeps a finished step. If that is for its age although something before it ran anew, it counts as one with other steps before it.
func (r *Run) keep(n *Node, at string, before order) (Done, bool) {
	done := r.Had[at]
	if before.anew && !n.values() {
		done.Before = "stale"
	}
	r.Has[at] = done
	if answer, ok := r.Had[at+"?"]; ok {
		r.Has[at+"?"] = answer
	}
	return done, false
}

// do executes a step that runs anew, or what is inside of it.
func (r *Run) do(n *Node, at, is, text, c string, before order) (Done, bool) {
	did := Done{Is: is, Before: before.before, Home: r.Home, In: r.Home}
	if n.Sub != nil {
		done, anew := r.flow(n.Sub, strings.TrimSuffix(at, "#1")+"/", text, c, before)
		did.Value, did.Action = n.Sub.value(done), "default"
		return did, anew
	}
	did.Value, did.Action = n.result(text)
	if !n.Cache || !r.Cached[n.CacheKey(text)] {
		r.Ran[at] = n.attempts(did.Action)
	}
	return did, true
}

// Recall returns what a run in a home knows of this one and of those before it. journal has the places of the finished steps in the journal
// of this one, and tells which of them it did itself.
func (r *Run) Recall(journal map[string]bool, home int) Memory {
	known := Memory{}
	for at, did := range journal { // what is inside of what was kept
		for inner, done := range r.Had {
			if !did && r.Had[at].Home == home && isInside(inner, at) {
				known[inner] = done
			}
		}
	}
	for at, did := range journal {
		done := r.Had[at]
		if has, ok := r.Has[at]; ok && (did || has.Before == "stale") {
			done = has
		}
		done.In, done.Far = r.Home, false
		known[at] = done
	}
	for at, done := range r.Had {
		if _, ok := known[at]; !ok && !strings.HasSuffix(at, "?") && done.In == home && r.Home == home {
			done.Far = true
			known[at] = done
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
