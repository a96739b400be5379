package velofluxserver

import "strconv"

// ownSource is one of a pipeline's own.
type ownSource struct {
	name  string // its place in the list when it has none
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

// wrongSource says what is wrong with a pipeline's own sources, or nothing.
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

// parts makes what a pipeline has besides its plan, or says what is wrong with a source or a sink.
func (s *Server) parts(of spec) (sinks []sink, wrong string) {
	if wrong = of.wrongSource(); wrong != "" {
		return nil, wrong
	}
	return s.sinks(of)
}
