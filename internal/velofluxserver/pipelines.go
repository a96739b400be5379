package velofluxserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// defaultInstance is the only flow instance.
const defaultInstance = "default"

// pipeline is the record of a pipeline.
type pipeline struct {
	spec   spec
	status string // stopped or running
	// plan is nil if a failed create left the record.
	plan *Statement
	// sinks are the ids and types of the sinks.
	sinks []sink
}

// spec is the definition of a pipeline with all defaults filled in.
type spec struct {
	ID       string          `json:"id"`
	Instance string          `json:"flow_instance_id"`
	SQL      string          `json:"sql"`
	Sources  json.RawMessage `json:"sources"`
	Sinks    []sinkSpec      `json:"sinks"`
	Options  options         `json:"options"`
}

type options struct {
	Capacity  json.RawMessage `json:"data_channel_capacity"`
	Eventtime eventtime       `json:"eventtime"`
}

type eventtime struct {
	Enabled   bool            `json:"enabled"`
	Tolerance json.RawMessage `json:"late_tolerance_ms"`
}

// created is the response to a create and a replacement.
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
			"id": str, "flow_instance_id": opt, "sql": str, "sources": {kind: '[', items: sourceShape()}, "sinks": {kind: '[', items: &sinkShape},
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

// newSpec fills in the defaults. wrong is what is wrong with the definition, or "".
func newSpec(id string, v value) (made spec, wrong string) {
	eventtimeGiven := v.get("options").get("eventtime")
	made = spec{
		ID: id, Instance: v.string("flow_instance_id", defaultInstance), SQL: v.string("sql", ""), Sources: v.json("sources", "[]"),
		Options: options{
			Capacity: v.get("options").json("data_channel_capacity", "16"),
			Eventtime: eventtime{
				Enabled:   eventtimeGiven.get("enabled").Bool(),
				Tolerance: eventtimeGiven.json("late_tolerance_ms", "0"),
			},
		},
	}
	for _, item := range v.get("sinks").items() {
		made.Sinks = append(made.Sinks, newSinkSpec(item))
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

func (s *Server) createPipeline(c *call) response { return s.storePipeline(c, false) }

// putPipeline replaces or creates a pipeline. It changes nothing if the definition is wrong.
func (s *Server) putPipeline(c *call) response { return s.storePipeline(c, true) }

func (s *Server) storePipeline(c *call, upsert bool) response {
	v, refused := c.decode(pipelineShape(upsert))
	if refused != nil {
		return *refused
	}
	made, wrong := newSpec(cmp.Or(c.arg, v.string("id", "")), v)
	if wrong != "" {
		return textResponse(http.StatusBadRequest, wrong)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	plan, refused := s.parsed(made)
	old := s.pipelines[made.ID]
	switch {
	case refused != nil:
		return *refused
	case old != nil && !upsert:
		return textResponse(http.StatusConflict, "pipeline "+made.ID+" already exists")
	}
	sinks, wrong := s.parts(made, plan)
	if wrong != "" {
		if !upsert { // the Manager has stored the pipeline by now and does not take it back
			s.pipelines[made.ID] = &pipeline{spec: made, status: "stopped"}
		}
		return textResponse(http.StatusBadRequest, wrong)
	}
	if plan.Build != "" {
		failed := "failed to create pipeline " + made.ID
		if upsert {
			failed = "invalid pipeline spec"
		}
		return textResponse(http.StatusBadRequest, failed+": pipeline build error: "+plan.Build)
	}
	stored := &pipeline{spec: made, status: "stopped", plan: plan, sinks: sinks}
	if s.pipelines[made.ID] = stored; old == nil && !upsert {
		return jsonResponse(http.StatusCreated, created{made.ID, stored.status})
	}
	if old != nil {
		stored.status = old.status
	}
	return jsonResponse(http.StatusOK, created{made.ID, stored.status})
}

// parsed returns the answer to a pipeline's SQL if the SQL can be parsed and its streams exist.
func (s *Server) parsed(made spec) (*Statement, *response) {
	refuse := func(status int, text string) (*Statement, *response) {
		r := textResponse(status, text)
		return nil, &r
	}
	found, known := s.statement(made)
	switch {
	case !known:
		return refuse(http.StatusNotImplemented, "The test server has no recorded answer to this statement (AddStatement adds one): "+made.SQL[:min(200, len(made.SQL))])
	case found.Parse != "":
		return refuse(http.StatusBadRequest, "parse pipeline "+made.ID+" sql: "+found.Parse)
	}
	for _, name := range slices.Sorted(slices.Values(found.Streams)) {
		if s.streams[name] == nil {
			return refuse(http.StatusBadRequest, "stream "+name+" missing from storage")
		}
	}
	return found, nil
}

func (s *Server) listPipelines(*call) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []json.RawMessage{}
	for _, id := range slices.Sorted(maps.Keys(s.pipelines)) {
		all = append(all, fmt.Appendf(nil, `{"id":%s,"status":"%s","flow_instance_id":"%s"}`, quoted(id), s.pipelines[id].status, defaultInstance))
	}
	return jsonResponse(http.StatusOK, all)
}

func noPipeline(id string) response {
	return textResponse(http.StatusNotFound, "pipeline "+id+" not found")
}

func (s *Server) getPipeline(c *call) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pipelines[c.arg]
	if p == nil {
		return noPipeline(c.arg)
	}
	return document(`{"id":` + string(quoted(c.arg)) + `,"status":"` + p.status + `","spec":` + string(marshal(p.spec)) + `}`)
}

func (s *Server) deletePipeline(c *call) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pipelines[c.arg] == nil {
		return noPipeline(c.arg)
	}
	delete(s.pipelines, c.arg)
	return textResponse(http.StatusOK, "pipeline "+c.arg+" deleted")
}

// built returns a pipeline that has a plan, or nil. The caller holds the lock.
func (s *Server) built(id string) *pipeline {
	if p := s.pipelines[id]; p != nil && p.plan != nil {
		return p
	}
	return nil
}

func (s *Server) startPipeline(c *call) response { return s.setStatus(c, "running", "started") }

func (s *Server) stopPipeline(c *call) response {
	query, timeoutWrong := c.timeout()
	if timeoutWrong != nil {
		return *timeoutWrong
	}
	if mode := query.Get("mode"); query.Has("mode") && mode != "quick" && mode != "graceful" {
		return textResponse(http.StatusBadRequest, "unsupported stop mode: "+mode)
	}
	return s.setStatus(c, "stopped", "stopped")
}

func (s *Server) setStatus(c *call, status, done string) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.built(c.arg)
	if p == nil {
		return noPipeline(c.arg)
	}
	p.status = status
	return textResponse(http.StatusOK, "pipeline "+c.arg+" "+done)
}

// timeout returns the parsed query, or the response to an invalid timeout_ms.
func (c *call) timeout() (url.Values, *response) {
	query, _ := url.ParseQuery(c.query)
	if query.Has("timeout_ms") {
		if _, err := strconv.ParseUint(query.Get("timeout_ms"), 10, 64); err != nil {
			wrong := textResponse(http.StatusBadRequest, "Failed to deserialize query string: invalid digit found in string")
			return nil, &wrong
		}
	}
	return query, nil
}

func (s *Server) explainPipeline(c *call) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.built(c.arg)
	if p == nil {
		return noPipeline(c.arg)
	}
	return textResponse(http.StatusOK, p.explained())
}

func (s *Server) pipelineStats(c *call) response {
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
		return textResponse(http.StatusBadRequest, "failed to collect pipeline "+c.arg+" stats: pipeline runtime error: pipeline "+c.arg+" is not running")
	}
	return jsonResponse(http.StatusOK, p.stats())
}
