package velofluxserver

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// defaultInstance is the only flow instance that there is.
const defaultInstance = "default"

// pipeline is a record of one.
type pipeline struct {
	spec   spec
	status string // stopped or running
	// plan is missing when the record was left by a create that failed.
	plan *plan
	// sinks are the types of the sinks and of their encoders.
	sinks []sink
}

// spec is a pipeline's definition with every default filled in.
type spec struct {
	ID       string          `json:"id"`
	Instance string          `json:"flow_instance_id"`
	SQL      string          `json:"sql"`
	Sources  json.RawMessage `json:"sources"`
	Sinks    []sinkSpec      `json:"sinks"`
	Options  options         `json:"options"`

	own []ownSource // what Sources says
}

type options struct {
	Capacity  json.RawMessage `json:"data_channel_capacity"`
	Eventtime eventtime       `json:"eventtime"`
}

type eventtime struct {
	Enabled   bool            `json:"enabled"`
	Tolerance json.RawMessage `json:"late_tolerance_ms"`
}

// created is what a create and a replacement answer.
type created struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

func pipelineShape(upsert bool) shape {
	str, opt := shape{kind: '"'}, shape{kind: '"', nullable: true}
	object := shape{kind: '{'}
	sinkShape := shape{
		kind: '{', name: "CreatePipelineSinkRequest", wants: 6, required: []string{"type"},
		members: map[string]shape{"id": opt, "type": str, "props": object, "common_sink_props": object, "encoder": object},
	}
	s := shape{
		kind: '{', name: "CreatePipelineRequest", wants: 6, required: []string{"id", "sql"},
		members: map[string]shape{
			"id": str, "flow_instance_id": opt, "sql": str, "sources": {kind: '['}, "sinks": {kind: '[', items: &sinkShape},
			"options": {kind: '{', name: "PipelineOptionsRequest", wants: 2, members: map[string]shape{
				"data_channel_capacity": {kind: 'u'},
				"eventtime": {kind: '{', name: "EventtimeOptionsRequest", wants: 2, members: map[string]shape{
					"enabled": {kind: 'b'}, "late_tolerance_ms": {kind: 'u'},
				}},
			}},
		},
	}
	if upsert {
		s.name, s.wants, s.required = "UpsertPipelineRequest", 5, []string{"sql"}
		delete(s.members, "id")
	}
	return s
}

// newSpec fills in the defaults, or says what no pipeline may be.
func newSpec(id string, v *value) (made spec, wrong string) {
	eventtimeGiven := v.get("options").get("eventtime")
	made = spec{
		ID: id, Instance: v.string("flow_instance_id", defaultInstance), SQL: v.string("sql", ""), Sources: v.json("sources", "[]"), own: newOwnSources(v.get("sources")),
		Options: options{
			Capacity: v.get("options").json("data_channel_capacity", "16"),
			Eventtime: eventtime{
				Enabled:   eventtimeGiven.get("enabled") != nil && eventtimeGiven.get("enabled").raw == "true",
				Tolerance: eventtimeGiven.json("late_tolerance_ms", "0"),
			},
		},
	}
	if sinks := v.get("sinks"); sinks != nil {
		for _, item := range sinks.items {
			made.Sinks = append(made.Sinks, newSinkSpec(item))
		}
	}
	switch {
	case strings.TrimSpace(id) == "":
		wrong = "pipeline id must not be empty"
	case strings.TrimSpace(made.SQL) == "":
		wrong = "pipeline sql must not be empty"
	case len(made.Sinks) == 0:
		wrong = "pipeline must define at least one sink"
	case string(made.Options.Capacity) == "0":
		wrong = "options.data_channel_capacity must be greater than 0"
	case made.Instance != defaultInstance:
		wrong = "flow instance " + made.Instance + " is not declared by config"
	}
	return made, wrong
}

func (s *Server) createPipeline(c *call) answer {
	v, refused := c.read(pipelineShape(false))
	if refused != nil {
		return *refused
	}
	made, wrong := newSpec(v.string("id", ""), v)
	if wrong != "" {
		return text(http.StatusBadRequest, wrong)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pipelines[made.ID] != nil {
		return text(http.StatusConflict, "pipeline "+made.ID+" already exists")
	}
	parsed, wrong := s.parsed(made)
	if wrong != "" {
		return text(http.StatusBadRequest, wrong)
	}
	sinks, wrong := s.parts(made)
	if wrong != "" { // what the Manager has stored by now it does not take back
		s.pipelines[made.ID] = &pipeline{spec: made, status: "stopped"}
		return text(http.StatusBadRequest, wrong)
	}
	planned, wrong := s.planned(parsed)
	if wrong != "" {
		return text(http.StatusBadRequest, "failed to create pipeline "+made.ID+": pipeline build error: "+wrong)
	}
	s.pipelines[made.ID] = &pipeline{spec: made, status: "stopped", plan: planned, sinks: sinks}
	return written(http.StatusCreated, created{made.ID, "stopped"})
}

// putPipeline replaces a pipeline, or makes it; it changes nothing when the definition is wrong.
func (s *Server) putPipeline(c *call) answer {
	v, refused := c.read(pipelineShape(true))
	if refused != nil {
		return *refused
	}
	made, wrong := newSpec(c.arg, v)
	if wrong != "" {
		return text(http.StatusBadRequest, wrong)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	parsed, wrong := s.parsed(made)
	if wrong != "" {
		return text(http.StatusBadRequest, wrong)
	}
	sinks, wrong := s.parts(made)
	if wrong != "" {
		return text(http.StatusBadRequest, wrong)
	}
	planned, wrong := s.planned(parsed)
	if wrong != "" {
		return text(http.StatusBadRequest, "invalid pipeline spec: pipeline build error: "+wrong)
	}
	status := "stopped"
	if old := s.pipelines[made.ID]; old != nil {
		status = old.status
	}
	s.pipelines[made.ID] = &pipeline{spec: made, status: status, plan: planned, sinks: sinks}
	return written(http.StatusOK, created{made.ID, status})
}

// parsed reads the SQL and finds its streams.
func (s *Server) parsed(made spec) (q *query, wrong string) {
	q, err := parseSQL(made.SQL)
	if err != "" {
		return nil, "parse pipeline " + made.ID + " sql: " + err
	}
	for _, from := range q.from {
		if s.streams[from.name] == nil {
			return nil, "stream " + from.name + " missing from storage"
		}
	}
	return q, ""
}

func (s *Server) listPipelines(*call) answer {
	type listed struct {
		ID       string `json:"id"`
		Status   string `json:"status"`
		Instance string `json:"flow_instance_id"`
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []listed{}
	for _, id := range slices.Sorted(maps.Keys(s.pipelines)) {
		all = append(all, listed{id, s.pipelines[id].status, defaultInstance})
	}
	return written(http.StatusOK, all)
}

func noPipeline(id string) answer {
	return text(http.StatusNotFound, "pipeline "+id+" not found")
}

func (s *Server) getPipeline(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pipelines[c.arg]
	if p == nil {
		return noPipeline(c.arg)
	}
	return written(http.StatusOK, struct {
		ID     string `json:"id"`
		Status string `json:"status"`
		Spec   spec   `json:"spec"`
	}{c.arg, p.status, p.spec})
}

func (s *Server) deletePipeline(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pipelines[c.arg] == nil {
		return noPipeline(c.arg)
	}
	delete(s.pipelines, c.arg)
	return text(http.StatusOK, "pipeline "+c.arg+" deleted")
}

// built gives a pipeline that more is left of than a record; nil when there is none. The caller holds the lock.
func (s *Server) built(id string) *pipeline {
	if p := s.pipelines[id]; p != nil && p.plan != nil {
		return p
	}
	return nil
}

func (s *Server) startPipeline(c *call) answer { return s.turn(c, "running", "started") }

func (s *Server) stopPipeline(c *call) answer {
	query, timeoutWrong := c.timeout()
	if timeoutWrong != nil {
		return *timeoutWrong
	}
	if mode := query.Get("mode"); query.Has("mode") && mode != "quick" && mode != "graceful" {
		return text(http.StatusBadRequest, "unsupported stop mode: "+mode)
	}
	return s.turn(c, "stopped", "stopped")
}

func (s *Server) turn(c *call, status, done string) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.built(c.arg)
	if p == nil {
		return noPipeline(c.arg)
	}
	p.status = status
	return text(http.StatusOK, "pipeline "+c.arg+" "+done)
}

// timeout gives the query, or the answer to one whose timeout_ms is no number.
func (c *call) timeout() (url.Values, *answer) {
	query, _ := url.ParseQuery(c.query)
	if query.Has("timeout_ms") {
		if _, err := strconv.ParseUint(query.Get("timeout_ms"), 10, 64); err != nil {
			wrong := text(http.StatusBadRequest, "Failed to deserialize query string: invalid digit found in string")
			return nil, &wrong
		}
	}
	return query, nil
}

func (s *Server) explainPipeline(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.built(c.arg)
	if p == nil {
		return noPipeline(c.arg)
	}
	return text(http.StatusOK, p.explained())
}

func (s *Server) pipelineStats(c *call) answer {
	if _, wrong := c.timeout(); wrong != nil {
		return *wrong
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.built(c.arg)
	if p == nil {
		return noPipeline(c.arg)
	}
	if p.status != "running" {
		return text(http.StatusBadRequest, "failed to collect pipeline "+c.arg+" stats: pipeline runtime error: pipeline "+c.arg+" is not running")
	}
	return written(http.StatusOK, p.stats())
}
