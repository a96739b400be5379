package engine

import "strings"

// What a run has reused as a whole is in its journal as a whole: what is inside of that is in the journal of the run that did it.

// expand adds the inside of a node from the run that the node was reused from, if the checkpoint does not have it. It returns the places
// that were added, and the run that has them and is gone, or "".
func (c *Checkpoint) expand(node string) (added []string, gone string) {
	if r, ok := c.settled[node]; ok && !c.begun[node] {
		return c.merge(r, node)
	}
	return nil, ""
}

// expandPart adds the inside of an item or an iteration from the run that it was reused from.
func (c *Checkpoint) expandPart(part string) (added []string, gone string) {
	if r, ok := c.parts[part]; ok {
		return c.merge(r, framePrefix(part))
	}
	return nil, ""
}

// merge adds what the run that a record was reused from has below a node, given by its path, or a frame, given by its prefix. What is
// outdated has nothing that could be used.
func (c *Checkpoint) merge(reused record, around string) (added []string, gone string) {
	if c.expanded[around] {
		return nil, ""
	}
	c.expanded[around] = true
	old, err := reused.read()
	if err != nil || old.FromRun == "" || old.FromRun == c.Run || old.Cached || reused.InputDigest == "" {
		return nil, ""
	}
	var from *Checkpoint
	if c.Earlier != nil {
		from = c.Earlier(old.FromRun)
	}
	if from == nil {
		return nil, old.FromRun
	}
	for _, place := range from.placesIn(around) {
		for _, kind := range []struct{ has, had map[string]record }{{c.settled, from.settled}, {c.parts, from.parts}} {
			_, has := kind.has[place]
			if r, ok := kind.had[place]; ok && !has {
				kind.has[place] = r
				added = append(added, place)
			}
		}
		c.begun[place] = c.begun[place] || from.begun[place]
		c.failed[place] = c.failed[place] || from.failed[place]
	}
	c.begun[around] = c.begun[around] || from.begun[around]
	c.failed[around] = c.failed[around] || from.failed[around]
	return added, ""
}

// placesIn returns the places of nodes, items and iterations that are inside a node, given by its path, or inside a frame, given by its
// prefix.
func (c *Checkpoint) placesIn(around string) []string {
	if c.inside == nil {
		c.inside = map[string][]string{}
		places := map[string]bool{}
		for _, kind := range []map[string]record{c.settled, c.parts} {
			for place := range kind {
				places[place] = true
			}
		}
		for _, kind := range []map[string]bool{c.begun, c.failed} {
			for place := range kind {
				places[place] = true
			}
		}
		for place := range places {
			for i := range len(place) {
				if strings.IndexByte("/[#", place[i]) >= 0 {
					c.inside[place[:i]] = append(c.inside[place[:i]], place)
				}
				if place[i] == '/' {
					c.inside[place[:i+1]] = append(c.inside[place[:i+1]], place)
				}
			}
		}
	}
	return c.inside[around]
}

// partOf reports whether a key is that of an item or an iteration of a node.
func partOf(key, node string) bool {
	rest, ok := strings.CutPrefix(key, node)
	return ok && rest != "" && (rest[0] == '[' || rest[0] == '#') && !strings.Contains(rest, "/")
}

// isInside reports whether a path or a key is inside a node, given by its path, or inside a frame, given by its prefix.
func isInside(path, node string) bool {
	rest, ok := strings.CutPrefix(path, node)
	return ok && rest != "" && (strings.HasSuffix(node, "/") || strings.ContainsRune("/[#", rune(rest[0])))
}

// framePrefix returns the prefix of the nodes inside an item or an iteration.
func framePrefix(key string) string { return strings.TrimSuffix(key, "#1") + "/" }
