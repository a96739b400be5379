package velofluxserver

import (
	"slices"
	"strings"
)

// sourceShape is the shape of an item of a pipeline's sources: how a stream of the SQL is read.
func sourceShape() *shape {
	str := shape{kind: '"'}
	return &shape{
		kind: '{', name: "CreatePipelineSourceRequest", wants: 2, required: []string{"stream"},
		members: map[string]shape{"stream": str, "input": {
			kind: '{', name: "SourceInputConfigRequest", wants: 2, required: []string{"mode"}, nullable: true,
			members: map[string]shape{"mode": str, "on_change": {
				kind: '{', name: "SourceOnChangeConfigRequest", wants: 1, nullable: true,
				members: map[string]shape{"columns": {kind: '[', items: &str, nullable: true}},
			}},
		}},
	}
}

// wrongSource returns what is wrong with a source of a pipeline that reads the given streams, or "".
func (s *Server) wrongSource(source value, streams []string) string {
	name := strings.TrimSpace(source.string("stream", ""))
	input := source.get("input")
	onChange := input.get("on_change")
	mode := strings.ToLower(strings.TrimSpace(input.string("mode", "full")))
	switch {
	case name == "":
		return "pipeline source stream must not be empty"
	case !slices.Contains(streams, name):
		return "pipeline source `" + name + "` is not referenced by the SQL"
	case mode == "full" && onChange.IsObject():
		return "source input.on_change is only supported when input.mode=on_change"
	case mode != "full" && mode != "on_change":
		return "invalid source input.mode `" + mode + "` (expected full|on_change)"
	}
	list := onChange.get("columns")
	if !list.IsArray() {
		return ""
	}
	if len(list.items()) == 0 {
		return "pipeline source `" + name + "` input.on_change.columns must not be empty"
	}
	for _, item := range list.items() {
		if !slices.ContainsFunc(s.streams[name].Schema.Columns, func(c column) bool { return c.Name == item.Str }) {
			return "pipeline source `" + name + "` input.on_change column `" + item.Str + "` is not present in stream schema"
		}
	}
	return ""
}

// parts returns the sinks of a pipeline, or what is wrong with a source or a sink.
func (s *Server) parts(of spec, plan *Statement) (sinks []sink, wrong string) {
	sources, _ := readJSON(string(of.Sources))
	for i, source := range sources.items() {
		if wrong = s.wrongSource(source, plan.Streams); wrong != "" {
			return nil, wrong
		}
		if slices.ContainsFunc(sources.items()[:i], func(other value) bool { return other.string("stream", "") == source.string("stream", "") }) {
			return nil, "pipeline source `" + source.string("stream", "") + "` is configured more than once"
		}
	}
	return s.sinks(of)
}
