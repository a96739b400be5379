package velofluxserver

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
)

// topic is a memory topic.
type topic struct {
	Topic    string `json:"topic"`
	Kind     string `json:"kind"`
	Capacity int    `json:"capacity"`
}

func (s *Server) createTopic(c *call) response {
	v, refused := c.decode(shape{
		kind: '{', name: "CreateMemoryTopicRequest", wants: 3, required: []string{"topic", "kind"},
		members: map[string]shape{"topic": {kind: '"'}, "kind": {kind: '"'}, "capacity": {kind: 'u'}},
	})
	if refused != nil {
		return *refused
	}
	made := topic{Topic: v.string("topic", ""), Kind: v.string("kind", "")}
	_ = json.Unmarshal(v.json("capacity", "16"), &made.Capacity)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.topics[made.Topic] = made
	return jsonResponse(http.StatusCreated, made)
}

func (s *Server) listTopics(*call) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []topic{}
	for _, name := range slices.Sorted(maps.Keys(s.topics)) {
		all = append(all, s.topics[name])
	}
	return jsonResponse(http.StatusOK, all)
}
