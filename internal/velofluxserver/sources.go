package velofluxserver

import "strconv"

// ownSource is a source that belongs to one pipeline.
type ownSource struct {
	name  string // its index in the list if it has no name
	named bool
	kind  string
}

func newOwnSources(list *value) (made []ownSource) {
	if list == nil {
		return nil
	}
	for i, item := range list.items {
		name := item.string("name", "")
		s := ownSource{name: name, named: name != "", kind: item.string("type", "")}
		if !s.named {
			s.name = strconv.Itoa(i)
		}
		made = append(made, s)
	}
	return made
}

// wrongSource returns what is wrong with a pipeline's own sources, or "".
func (of spec) wrongSource() string {
	for _, s := range of.own {
		switch {
		case !s.named:
			return "pipeline source " + s.name + " requires name"
		case s.kind == "":
			return "pipeline source " + s.name + " requires type"
		}
		switch s.kind {
		case "mqtt", "video", "mock", "history", "memory", "nng_pubsub":
		default:
			return "pipeline source " + s.name + " has unsupported type: " + s.kind
		}
	}
	return ""
}

// parts returns the sinks of a pipeline, or what is wrong with a source or a sink.
func (s *Server) parts(of spec) (sinks []sink, wrong string) {
	if wrong = of.wrongSource(); wrong != "" {
		return nil, wrong
	}
	return s.sinks(of)
}
