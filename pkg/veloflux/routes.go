package veloflux

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

const (
	acceptJSON = "application/json"
	acceptText = "text/plain"
)

// Streams are all streams: a list, by name. GET /streams.
func (m *Manager) Streams(ctx context.Context) (json.RawMessage, error) {
	return m.get(ctx, "/streams", listOf("streams", "name"))
}

// DescribeStream is one stream with all that it was created with. GET /streams/describe/:name.
func (m *Manager) DescribeStream(ctx context.Context, name string) (json.RawMessage, error) {
	return m.getOne(ctx, aStream, "/streams/describe/", name, streamForm())
}

// Functions are all functions that SQL may call: a list, by name. GET /functions.
func (m *Manager) Functions(ctx context.Context) (json.RawMessage, error) {
	return m.get(ctx, "/functions", listOf("functions", "name"))
}

// DescribeFunction is one function, by its name or an alias in any case. GET /functions/describe/:name.
func (m *Manager) DescribeFunction(ctx context.Context, name string) (json.RawMessage, error) {
	return m.getOne(ctx, aFunction, "/functions/describe/", name, functionForm())
}

// Syntax is the tree of what SQL may hold. GET /capabilities/syntax.
func (m *Manager) Syntax(ctx context.Context) (json.RawMessage, error) {
	return m.get(ctx, "/capabilities/syntax", syntaxForm())
}

// Pipelines are all pipelines with their status: a list, by id. GET /pipelines.
func (m *Manager) Pipelines(ctx context.Context) (json.RawMessage, error) {
	return m.get(ctx, "/pipelines", listOf("pipelines", "id"))
}

// Pipeline is one pipeline with what it was created with. GET /pipelines/:id.
func (m *Manager) Pipeline(ctx context.Context, id string) (json.RawMessage, error) {
	return m.getOne(ctx, aPipeline, "/pipelines/", id, pipelineForm(id))
}

// PipelineStats are the counters of a running pipeline's processors: a list, in no order. The Manager takes as long as
// timeout to collect them, 0 is its own default of 5 seconds. GET /pipelines/:id/stats.
func (m *Manager) PipelineStats(ctx context.Context, id string, timeout time.Duration) (json.RawMessage, error) {
	at, err := segment(aPipeline, id)
	if err != nil {
		return nil, err
	}
	if timeout < 0 {
		return nil, &Error{Code: CodeInvalidParams, Message: "The time to collect a pipeline's stats must not be less than 0"}
	}
	r := &request{method: http.MethodGet, route: "/pipelines/" + at + "/stats", accept: acceptJSON}
	if timeout > 0 {
		ms := (timeout + time.Millisecond - 1) / time.Millisecond
		r.route += "?timeout_ms=" + strconv.FormatInt(int64(ms), 10)
		r.timeout = timeout + statsMargin
	}
	return m.json(ctx, r, listOf("processors", "processor_id"))
}

// statsMargin is how much longer than the Manager this side waits, so that the Manager's own words come through.
const statsMargin = 2 * time.Second

// CreatePipeline stores a pipeline and does not start it. The body is the Manager's CreatePipelineRequest, an object with
// id, sql, sinks and more, which is sent byte for byte. An id that no other request could name is refused. A create that
// failed may have left a record behind, see Error.Details. POST /pipelines.
func (m *Manager) CreatePipeline(ctx context.Context, body json.RawMessage) (json.RawMessage, error) {
	if err := checkText(body); err != nil {
		return nil, err
	}
	if !json.Valid(body) || !gjson.ParseBytes(body).IsObject() {
		return nil, &Error{Code: CodeInvalidParams, Message: "A pipeline must be a JSON object with id, sql and sinks. Nothing was asked of the Manager"}
	}
	id, err := idOf(body)
	if err != nil {
		return nil, err
	}
	return m.json(ctx, &request{method: http.MethodPost, route: "/pipelines", accept: acceptJSON, body: body}, pipelineForm(id))
}

// idOf is the id in a CreatePipelineRequest, "" without one. Of several none may be one that no route could name.
func idOf(body json.RawMessage) (id string, err error) {
	gjson.ParseBytes(body).ForEach(func(key, value gjson.Result) bool {
		if key.Str == "id" && value.Type == gjson.String {
			id = value.Str
			_, err = segment(aPipeline, id)
		}
		return err == nil
	})
	return id, err
}

// Explain is the plan of a pipeline as text for people, in UTF-8, without the blanks that pad its lines.
// GET /pipelines/:id/explain.
func (m *Manager) Explain(ctx context.Context, id string) (string, error) {
	at, err := segment(aPipeline, id)
	if err != nil {
		return "", err
	}
	a, x, err := m.do(ctx, &request{method: http.MethodGet, route: "/pipelines/" + at + "/explain", accept: acceptText})
	if err != nil {
		return "", err
	}
	plan := trimmed(strings.ToValidUTF8(string(a.body), "\ufffd"))
	if !isPlan(plan) {
		return "", x.malformed(a, "plan of a pipeline")
	}
	return plan, nil
}

// trimmed is text without blanks at the ends of its lines and without line breaks at its end.
func trimmed(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \t\r\n"))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// DeletePipeline stops a pipeline and removes it. DELETE /pipelines/:id.
func (m *Manager) DeletePipeline(ctx context.Context, id string) error {
	at, err := segment(aPipeline, id)
	if err != nil {
		return err
	}
	a, x, err := m.do(ctx, &request{method: http.MethodDelete, route: "/pipelines/" + at, accept: acceptText})
	if err != nil {
		return err
	}
	if !isDeletion(strings.TrimSpace(string(a.body))) {
		return x.malformed(a, "word of a Manager that the pipeline is deleted")
	}
	return nil
}

// get reads a route that gives JSON.
func (m *Manager) get(ctx context.Context, route string, want form) (json.RawMessage, error) {
	return m.json(ctx, &request{method: http.MethodGet, route: route, accept: acceptJSON}, want)
}

// getOne reads a route that gives one thing by its name.
func (m *Manager) getOne(ctx context.Context, what, route, name string, want form) (json.RawMessage, error) {
	at, err := segment(what, name)
	if err != nil {
		return nil, err
	}
	return m.get(ctx, route+at, want)
}

// json makes a request whose answer is JSON of a form, and gives it byte for byte.
func (m *Manager) json(ctx context.Context, r *request, want form) (json.RawMessage, error) {
	a, x, err := m.do(ctx, r)
	if err != nil {
		return nil, err
	}
	if !a.holds(want) {
		return nil, x.malformed(a, want.name)
	}
	return a.body, nil
}
