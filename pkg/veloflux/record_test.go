package veloflux

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

// TestRecordsThatFailedCreatesLeave asserts that an error reports a record if the Manager has one, whatever its text says.
func TestRecordsThatFailedCreatesLeave(t *testing.T) {
	const whole = `{"id":"p","sql":"SELECT a FROM user","sinks":[{"type":"nop"}]}`
	for _, tc := range []struct {
		name, args string
		before     func(*velofluxserver.Server)
		code       Code
		left       any // record_left
	}{
		{"a sink of an unknown type", `{"id":"p","sql":"SELECT a FROM user","sinks":[{"type":"kafka"}]}`, nil, CodeManagerHTTP, true},
		{"a sink without its topic", `{"id":"p","sql":"SELECT a FROM user","sinks":[{"type":"mqtt","props":{"broker_url":"tcp://h"}}]}`, nil, CodeManagerHTTP, true},
		{"an encoder that is not known", `{"id":"p","sql":"SELECT a FROM user","sinks":[{"type":"nop","encoder":{"type":"avro"}}]}`, nil, CodeManagerHTTP, true},
		{"a source of another statement", `{"id":"p","sql":"SELECT a FROM user","sinks":[{"type":"nop"}],"sources":[{"stream":"nested"}]}`, nil, CodeManagerHTTP, true},
		{"a wrong mode of a source", `{"id":"p","sql":"SELECT a FROM user","sinks":[{"type":"nop"}],"sources":[{"stream":"user","input":{"mode":"x"}}]}`, nil, CodeManagerHTTP, true},
		{"wrong SQL", `{"id":"p","sql":"SELCT a FROM user","sinks":[{"type":"nop"}]}`, nil, CodePlanner, nil},
		{"SQL without a plan", `{"id":"p","sql":"SELECT nosuch FROM user","sinks":[{"type":"nop"}]}`, nil, CodePlanner, nil},
		{"an instance that is not declared", `{"id":"p","sql":"SELECT a FROM user","sinks":[{"type":"nop"}],"flow_instance_id":"other"}`, nil, CodeInvalidParams, nil},
		{"a wrong type", `{"id":"p","sql":"SELECT a FROM user","sinks":[{"type":"nop"}],"sources":[{"name":"x"}]}`, nil, CodeInvalidParams, nil},
		{"an id that is taken", whole, func(s *velofluxserver.Server) { s.AddPipeline("p", "SELECT a FROM user") }, CodeConflict, nil},
		{
			"wrong SQL for an id that is taken", `{"id":"p","sql":"SELCT a FROM user","sinks":[{"type":"nop"}]}`,
			func(s *velofluxserver.Server) { s.AddPipeline("p", "SELECT a FROM user") }, CodePlanner, nil,
		},
		{"a text that is not known", whole, func(s *velofluxserver.Server) {
			s.On(http.MethodPost, "/pipelines", velofluxserver.Fault{Status: 500, Body: "failed to persist pipeline p: disk full"})
		}, CodeManagerHTTP, nil},
		{"a create that is not known to be over", whole, func(s *velofluxserver.Server) {
			s.On(http.MethodPost, "/pipelines", velofluxserver.Fault{Status: 504, Body: "late"})
		}, CodeTimeout, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := velofluxserver.Start(t)
			if tc.before != nil {
				tc.before(s)
			}
			e := refusedWith(t, runtimeOf(t, s.URL, Options{}), tc.code, "pipelines.create", tc.args)
			if e.Details["record_left"] != tc.left {
				t.Errorf("%+v", e)
			}
			if kept := len(s.Pipelines()) > 0; tc.before == nil && kept != (tc.left == true) {
				t.Errorf("kept %v: %+v", kept, e)
			}
		})
	}
}

// TestAPipelineThatWasMaybeCreatedIsNamed asserts that a create without an answer deletes nothing.
func TestAPipelineThatWasMaybeCreatedIsNamed(t *testing.T) {
	s := velofluxserver.Start(t)
	s.On(http.MethodPost, "/pipelines", velofluxserver.Fault{Drop: true})
	e := refusedWith(t, runtimeOf(t, s.URL, Options{}), CodeManagerHTTP, "pipelines.create", `{"id":"p","sql":"SELECT a FROM user","sinks":[{"type":"nop"}]}`)
	if e.Details["maybe_created"] != true || e.Details["pipeline_id"] != "p" {
		t.Errorf("%+v", e)
	}
	if diff := cmp.Diff([]string{"p"}, s.Pipelines()); diff != "" {
		t.Error(diff)
	}
}

// TestHintsForTheManagersTexts asserts that the Manager's text is kept, and that what to write instead follows it.
func TestHintsForTheManagersTexts(t *testing.T) {
	r := runtimeOf(t, velofluxserver.Start(t).URL, Options{})
	for _, tc := range []struct{ sql, hint string }{
		{"SELECT * FROM user JOIN shared_demo ON user.a = shared_demo.speed", ". A pipeline reads one stream: write one name in FROM, without a join"},
		{"SELECT * FROM user, shared_demo", ". A pipeline reads one stream: write one name in FROM, without a join"},
		{`SELECT a FROM "user"`, ". Write the stream's name in FROM without quotes"},
		{"SELECT a FROM `user`", ". Write the stream's name in FROM without quotes"},
		{"SELECT a FROM nosuch", ""},
	} {
		args, _ := json.Marshal(map[string]string{"sql": tc.sql})
		e := refusedWith(t, r, CodePlanner, "pipelines.verify", string(args))
		response, _ := e.Details["response"].(string)
		if e.Message != "POST /pipelines failed: HTTP 400: "+response+tc.hint {
			t.Errorf("%s: %s", tc.sql, e.Message)
		}
	}
}
