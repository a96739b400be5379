package velofluxserver

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// startStreams are the bodies of the streams that a server starts with.
var startStreams = [...]string{
	`{"name":"user","type":"mqtt","schema":{"type":"json","props":{"columns":[{"name":"a","data_type":"int64"},{"name":"b","data_type":"int64"},{"name":"c","data_type":"string"},{"name":"ts","data_type":"int64"}]}},"props":{"broker_url":"tcp://reader:s3cret@127.0.0.1:1","topic":"/users","qos":0},"eventtime":{"column":"ts","type":"unixtimestamp_ms"}}`,
	`{"name":"nested","type":"mqtt","schema":{"type":"json","props":{"columns":[{"name":"id","data_type":"string"},{"name":"pos","data_type":"struct","fields":[{"name":"lat","data_type":"float64"},{"name":"lon","data_type":"float64"}]},{"name":"tags","data_type":"list","element":{"name":"element","data_type":"string"}},{"name":"items","data_type":"list","element":{"name":"element","data_type":"struct","fields":[{"name":"k","data_type":"string"},{"name":"v","data_type":"uint8"}]}}]}},"props":{"broker_url":"tcp://127.0.0.1:1","topic":"/nested","qos":0}}`,
	`{"name":"shared_demo","type":"mqtt","schema":{"type":"json","props":{"columns":[{"name":"speed","data_type":"int64"},{"name":"vin","data_type":"string"}]}},"props":{"broker_url":"tcp://127.0.0.1:1","topic":"/cars","qos":0},"shared":true}`,
	`{"name":"veh data/中文?#%","type":"mqtt","schema":{"type":"json","props":{"columns":[{"name":"a","data_type":"int64"}]}},"props":{"broker_url":"tcp://127.0.0.1:1","topic":"/odd","qos":0}}`,
}

// stream is a stream in the form in which /streams/describe returns it.
type stream struct {
	Type      string          `json:"type"`
	Schema    schema          `json:"schema"`
	Props     json.RawMessage `json:"props"`
	Shared    bool            `json:"shared"`
	Decoder   typeAndProps    `json:"decoder"`
	Eventtime json.RawMessage `json:"eventtime,omitempty"`
	Sampler   json.RawMessage `json:"sampler,omitempty"`

	name string
}

// typeAndProps is a type with its properties.
type typeAndProps struct {
	Type  string          `json:"type"`
	Props json.RawMessage `json:"props"`
}

// streamInfo is a stream in the form in which /streams lists it.
type streamInfo struct {
	Name         string      `json:"name"`
	Shared       bool        `json:"shared"`
	Schema       schema      `json:"schema"`
	SharedStream *sharedInfo `json:"shared_stream"`
}

type sharedInfo struct {
	ID            string  `json:"id"`
	Status        string  `json:"status"`
	StatusMessage *string `json:"status_message"`
	ConnectorID   string  `json:"connector_id"`
	Subscribers   int     `json:"subscribers"`
	CreatedAt     int64   `json:"created_at_secs"`
}

func streamShape() shape {
	object := shape{kind: '{'}
	return shape{
		kind: '{', name: "CreateStreamRequest", wants: 8, required: []string{"name", "type"},
		members: map[string]shape{
			"name": {kind: '"'}, "type": {kind: '"'}, "schema": object, "props": object, "shared": {kind: 'b'}, "decoder": object,
			"eventtime": {kind: '{', nullable: true}, "sampler": {kind: '{', nullable: true},
		},
	}
}

func (s *Server) createStream(c *call) response {
	v, refused := c.decode(streamShape())
	if refused != nil {
		return *refused
	}
	made, wrong := newStream(v)
	if wrong != "" {
		return textResponse(http.StatusBadRequest, wrong)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if made.Type == "memory" {
		if name := v.get("props").string("topic", ""); s.topics[name].Topic == "" {
			return textResponse(http.StatusBadRequest, "memory topic `"+name+"` not declared")
		}
	}
	if s.streams[made.name] != nil {
		return textResponse(http.StatusConflict, "stream "+made.name+" already exists")
	}
	s.streams[made.name] = made
	listed := made.info()
	if made.Shared {
		listed.SharedStream = &sharedInfo{
			ID: made.name, Status: "stopped", ConnectorID: made.name + "_shared_source_connector", CreatedAt: 1700000000,
		}
	}
	return jsonResponse(http.StatusCreated, listed)
}

// newStream returns a stream made from its definition, or what is wrong with the definition.
func newStream(v value) (made *stream, wrong string) {
	made = &stream{name: v.string("name", ""), Type: v.string("type", ""), Props: v.json("props", "{}")}
	if strings.TrimSpace(made.name) == "" {
		return nil, "stream name must not be empty"
	}
	switch made.Type {
	case "mqtt":
		if !v.get("props").get("broker_url").Exists() {
			wrong = "mqtt stream requires broker_url"
		}
	case "video":
		made.Props = sorted(`{"reconnect":{"enabled":true,"initial_delay_ms":1000,"max_delay_ms":30000},"rtsp_transport":"tcp","url":` +
			string(quoted(v.get("props").string("url", ""))) + "}")
	case "mock", "history", "memory", "nng_pubsub":
	default:
		return nil, "unsupported stream type: " + made.Type
	}
	var columnsWrong string
	if made.Schema.Columns, columnsWrong = columns(v.get("schema").get("props").get("columns")); columnsWrong != "" {
		return nil, columnsWrong
	}
	if wrong != "" {
		return nil, wrong
	}
	made.Shared = v.get("shared").Bool()
	decoder := v.get("decoder")
	made.Decoder = typeAndProps{Type: decoder.string("type", "json"), Props: decoder.json("props", "{}")}
	if made.Type == "video" {
		made.Schema, made.Decoder.Type = videoSchema(), "none"
	}
	if kind := made.Decoder.Type; kind != "json" && kind != "none" {
		return nil, "decoder kind `" + kind + "` not registered"
	}
	made.Eventtime, made.Sampler = v.json("eventtime", ""), v.json("sampler", "")
	if sampler := v.get("sampler"); sampler.IsObject() { // the Manager keeps the order of its own structs
		made.Sampler = marshal(struct {
			Interval json.RawMessage `json:"interval"`
			Strategy json.RawMessage `json:"strategy"`
		}{sampler.json("interval", "null"), sampler.json("strategy", "null")})
	}
	return made, ""
}

func (s *stream) info() streamInfo {
	return streamInfo{Name: s.name, Shared: s.Shared, Schema: s.Schema}
}

func (s *Server) listStreams(*call) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []streamInfo{}
	for _, name := range slices.Sorted(maps.Keys(s.streams)) {
		all = append(all, s.streams[name].info())
	}
	return jsonResponse(http.StatusOK, all)
}

func (s *Server) describeStream(c *call) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.streams[c.arg]
	if found == nil {
		return textResponse(http.StatusNotFound, "stream "+c.arg+" not found")
	}
	return document(`{"stream":` + string(quoted(c.arg)) + `,"spec_version":1,"spec":` + string(marshal(found)) + `}`)
}

func (s *Server) deleteStream(c *call) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[c.arg] == nil {
		return textResponse(http.StatusInternalServerError, "stream "+c.arg+" deleted in runtime but failed to remove from storage: not found: "+c.arg)
	}
	var users []string
	for _, id := range slices.Sorted(maps.Keys(s.pipelines)) {
		if p := s.pipelines[id]; p.plan != nil && slices.Contains(p.plan.Streams, c.arg) {
			users = append(users, id)
		}
	}
	if users != nil {
		return textResponse(http.StatusConflict, "stream "+c.arg+" still referenced by pipelines: "+strings.Join(users, ", "))
	}
	delete(s.streams, c.arg)
	return textResponse(http.StatusOK, "stream "+c.arg+" deleted")
}

func (s *Server) sharedStats(c *call) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch found := s.streams[c.arg]; {
	case found == nil:
		return textResponse(http.StatusNotFound, "stream "+c.arg+" not found")
	case !found.Shared:
		return textResponse(http.StatusBadRequest, "stream "+c.arg+" is not a shared stream")
	}
	return document(`{"stream":` + string(quoted(c.arg)) + `,"flow_instance_id":"` + defaultInstance + `","status":"stopped","processors":[]}`)
}
