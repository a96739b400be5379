package velofluxserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// create creates a pipeline and returns the status and the text.
func create(s *Server, body string) (int, string) {
	r := httptest.NewRequest(http.MethodPost, "/pipelines", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// sampled is a stream that some statements read, in addition to those of each server. Only some of its rows are kept.
const sampled = `{"name":"source_stream","type":"mqtt","schema":{"type":"json","props":{"columns":[{"name":"user_id","data_type":"int64"},{"name":"score","data_type":"float64"}]}},"props":{"broker_url":"tcp://127.0.0.1:1883","topic":"/yisa/data","qos":0},"shared":false,"decoder":{"type":"json","props":{}},"sampler":{"interval":"10s","strategy":{"type":"latest"}}}`

// TestStatements gets from the server what the table says, and nothing for a statement that is not in the table.
func TestStatements(t *testing.T) {
	all := Statements()
	if len(all) < 100 {
		t.Fatalf("only %d statements", len(all))
	}
	for _, of := range all {
		s := New()
		s.AddStream(sampled)
		options := `{}`
		if of.Eventtime {
			options = `{"eventtime":{"enabled":true}}`
		}
		status, text := create(s, `{"id":"p","sql":`+string(quoted(of.SQL))+`,"sinks":[{"type":"nop"}],"options":`+options+`}`)
		planned := len(of.Logical) > 0 && len(of.Physical) > 0
		switch {
		case planned && s.pipelines["p"] != nil && strings.HasPrefix(s.pipelines["p"].explained(), "Logical Plan Explain:\n- id "):
		case of.Parse != "" && text == "parse pipeline p sql: "+of.Parse:
		case of.Build != "" && text == "failed to create pipeline p: pipeline build error: "+of.Build:
		case !planned && strings.HasSuffix(text, " missing from storage") && len(of.Streams) > 0:
		default:
			t.Errorf("%s: %d %s", of.SQL, status, text)
		}
		if (status == http.StatusCreated) != (len(s.Pipelines()) == 1) {
			t.Errorf("%s: %d, and %v", of.SQL, status, s.Pipelines())
		}
	}
	s := New()
	if status, text := create(s, `{"id":"p","sql":"SELECT unheard FROM user","sinks":[{"type":"nop"}]}`); status != http.StatusNotImplemented {
		t.Errorf("%d %s", status, text)
	}
	s.AddStatement(Statement{SQL: "SELECT unheard FROM user", Build: "no"})
	if _, text := create(s, `{"id":"p","sql":"SELECT unheard FROM user","sinks":[{"type":"nop"}]}`); !strings.HasSuffix(text, ": no") {
		t.Error(text)
	}
}

// Only the first mistake is reported.
func TestCreateOrder(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"id":" ","sql":" ","options":{"data_channel_capacity":0},"flow_instance_id":"x"}`, "pipeline id must not be empty"},
		{`{"id":"old","sql":" ","options":{"data_channel_capacity":0},"flow_instance_id":"x"}`, "pipeline sql must not be empty"},
		{`{"id":"old","sql":"x","options":{"data_channel_capacity":0},"flow_instance_id":"x"}`, "pipeline must define at least one sink"},
		{`{"id":"old","sql":"x","sinks":[{"type":"kafka"}],"options":{"data_channel_capacity":0},"flow_instance_id":"x"}`, "options.data_channel_capacity must be greater than 0"},
		{`{"id":"old","sql":"x","sinks":[{"type":"kafka"}],"flow_instance_id":"x"}`, "flow instance x is not declared by config"},
		{`{"id":"old","sql":"x","sinks":[{"type":"kafka"}]}`, "parse pipeline old sql: "},
		{`{"id":"old","sql":"SELECT a FROM nosuch","sinks":[{"type":"kafka"}]}`, "stream nosuch missing from storage"},
		{`{"id":"old","sql":"SELECT a FROM user","sinks":[{"type":"kafka"}]}`, "pipeline old already exists"},
		{`{"id":"new","sql":"SELECT a FROM user","sinks":[{"type":"kafka"}]}`, "unsupported sink type: kafka"},
		{`{"id":"new","sql":"SELECT nosuch FROM user","sinks":[{"type":"kafka"}]}`, "unsupported sink type: kafka"},
		{`{"id":"new","sql":"SELECT nosuch FROM user","sinks":[{"type":"nop"}]}`, "failed to create pipeline new: "},
	} {
		s := New()
		s.AddPipeline("old", "SELECT a FROM user")
		if _, got := create(s, c.body); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, not %s", c.body, got, c.want)
		}
	}
}
