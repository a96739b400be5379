package velofluxserver

import (
	"encoding/json"
	"strconv"
)

// sinkSpec is the definition of a sink with all defaults filled in.
type sinkSpec struct {
	ID      json.RawMessage `json:"id"`
	Type    string          `json:"type"`
	Props   json.RawMessage `json:"props"`
	Common  commonProps     `json:"common_sink_props"`
	Encoder typeAndProps    `json:"encoder"`
	Output  json.RawMessage `json:"output,omitempty"`

	topic string
}

type commonProps struct {
	BatchCount    json.RawMessage `json:"batch_count"`
	BatchDuration json.RawMessage `json:"batch_duration"`
}

// sink is a sink that can be planned.
type sink struct{ id, connector string }

func newSinkSpec(v value) sinkSpec {
	return sinkSpec{
		ID: v.json("id", "null"), Type: v.string("type", ""), Props: v.json("props", "{}"),
		Common:  commonProps{v.get("common_sink_props").json("batch_count", "null"), v.get("common_sink_props").json("batch_duration", "null")},
		Encoder: typeAndProps{Type: v.get("encoder").string("type", "json"), Props: v.get("encoder").json("props", "{}")},
		Output:  v.json("output", ""),
		topic:   v.get("props").string("topic", ""),
	}
}

// sinks returns the sinks of a pipeline, or what is wrong with one of them.
func (s *Server) sinks(of spec) (made []sink, wrong string) {
	for i, given := range of.Sinks {
		switch given.Type {
		case "mqtt":
			if given.topic == "" {
				return nil, "mqtt sink requires topic"
			}
		case "memory":
			if s.topics[given.topic].Topic == "" {
				return nil, "memory topic `" + given.topic + "` not declared"
			}
		case "nop", "kuksa", "kura", "video", "nng_pubsub":
		default:
			return nil, "unsupported sink type: " + given.Type
		}
		if kind := given.Encoder.Type; kind != "json" && kind != "none" {
			return nil, "encoder kind `" + kind + "` not registered"
		}
		id := of.ID + "_sink_" + strconv.Itoa(i)
		_ = json.Unmarshal(given.ID, &id) // null leaves it unchanged
		made = append(made, sink{id: id, connector: given.Type})
	}
	return made, ""
}
