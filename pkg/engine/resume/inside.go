package resume

import "strings"

// What a run has reused as a whole is in its journal as a whole: what is inside of that is in the journal of the run that did it.

// Expand adds the inside of a node from the run that the node was reused from, if the memory does not have it. It returns the places
// that were added, and the run that has them and is gone, or "".
func (m *Memory) Expand(node string) (added []string, gone string) {
	if r, ok := m.rows[node]; ok && !m.begun[node] {
		return m.merge(r, node)
	}
	return nil, ""
}

// ExpandPart adds the inside of an item or an iteration from the run that it was reused from.
func (m *Memory) ExpandPart(part string) (added []string, gone string) {
	if r, ok := m.rows[part]; ok {
		return m.merge(r, framePrefix(part))
	}
	return nil, ""
}

// merge adds what the run that a record was reused from has below a node, given by its path, or a frame, given by its prefix. What is
// outdated has nothing that could be used.
func (m *Memory) merge(reused Row, around string) (added []string, gone string) {
	if m.expanded[around] {
		return nil, ""
	}
	m.expanded[around] = true
	old, err := reused.Read()
	if err != nil || old.FromRun == "" || old.FromRun == m.Run || old.Cached || reused.InputDigest == "" {
		return nil, ""
	}
	var from *Memory
	if m.Earlier != nil {
		from = m.Earlier(old.FromRun)
	}
	if from == nil {
		return nil, old.FromRun
	}
	for _, place := range from.placesIn(around) {
		if r, ok := from.rows[place]; ok && m.rows[place].of == nil {
			m.rows[place] = r
			added = append(added, place)
		}
		m.begun[place] = m.begun[place] || from.begun[place]
		m.failed[place] = m.failed[place] || from.failed[place]
	}
	m.begun[around] = m.begun[around] || from.begun[around]
	m.failed[around] = m.failed[around] || from.failed[around]
	return added, ""
}

// placesIn returns the places of nodes, items and iterations that are inside a node, given by its path, or inside a frame, given by its
// prefix.
func (m *Memory) placesIn(around string) []string {
	if m.inside == nil {
		m.inside = map[string][]string{}
		places := map[string]bool{}
		for place := range m.rows {
			places[place] = true
		}
		for _, kind := range []map[string]bool{m.begun, m.failed} {
			for place := range kind {
				places[place] = true
			}
		}
		for place := range places {
			for i := range len(place) {
				if strings.IndexByte("/[#", place[i]) >= 0 {
					m.inside[place[:i]] = append(m.inside[place[:i]], place)
				}
				if place[i] == '/' {
					m.inside[place[:i+1]] = append(m.inside[place[:i+1]], place)
				}
			}
		}
	}
	return m.inside[around]
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
