package veloflux

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	acceptJSON = "application/json"
	acceptText = "text/plain"
)

// Streams returns all streams as a list, sorted by name. GET /streams.
func (m *Manager) Streams(ctx context.Context) (json.RawMessage, error) {
	return m.get(ctx, "/streams", listOf("streams", "name"))
}

// DescribeStream returns one stream with its whole definition. GET /streams/describe/:name.
func (m *Manager) DescribeStream(ctx context.Context, name string) (json.RawMessage, error) {
	return m.getOne(ctx, streamKind, "/streams/describe/", name, streamShape())
}

// Functions returns all SQL functions as a list, sorted by name. GET /functions.
func (m *Manager) Functions(ctx context.Context) (json.RawMessage, error) {
	return m.get(ctx, "/functions", listOf("functions", "name"))
}

// DescribeFunction returns one function by its name or an alias, in any case. GET /functions/describe/:name.
func (m *Manager) DescribeFunction(ctx context.Context, name string) (json.RawMessage, error) {
	return m.getOne(ctx, functionKind, "/functions/describe/", name, functionShape())
}

// Syntax returns the tree of SQL constructs. GET /capabilities/syntax.
func (m *Manager) Syntax(ctx context.Context) (json.RawMessage, error) {
	return m.get(ctx, "/capabilities/syntax", syntaxShape())
}

// Pipelines returns all pipelines with their status as a list, sorted by id. GET /pipelines.
func (m *Manager) Pipelines(ctx context.Context) (json.RawMessage, error) {
	return m.get(ctx, "/pipelines", listOf("pipelines", "id"))
}

// Pipeline returns one pipeline with its definition. GET /pipelines/:id.
func (m *Manager) Pipeline(ctx context.Context, id string) (json.RawMessage, error) {
	return m.getOne(ctx, pipelineKind, "/pipelines/", id, pipelineShape(id))
}

// PipelineStats returns the counters of a running pipeline's processors as a list in no particular order. The Manager may
// take as long as timeout to collect them; 0 means its default of 5 seconds. GET /pipelines/:id/stats.
func (m *Manager) PipelineStats(ctx context.Context, id string, timeout time.Duration) (json.RawMessage, error) {
	at, err := segment(pipelineKind, id)
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

// statsMargin is how much longer than the Manager this client waits, so that it gets the Manager's message.
const statsMargin = 2 * time.Second

// CreatePipeline stores a pipeline and does not start it. The body is the Manager's CreatePipelineRequest, an object with
// id, sql, sinks and more, which is sent byte for byte. A body that does harm, or that no other request could name, is
// refused. A create that failed may have left a record behind, see Error.Details. POST /pipelines.
func (m *Manager) CreatePipeline(ctx context.Context, body json.RawMessage) (json.RawMessage, error) {
	id, err := checkDefinition(body)
	if err != nil {
		return nil, err
	}
	created, err := m.create(ctx, id, body)
	if err != nil {
		return nil, m.recordLeft(ctx, id, AsError(err))
	}
	return created, nil
}

// create sends a definition that was checked.
func (m *Manager) create(ctx context.Context, id string, body json.RawMessage) (json.RawMessage, error) {
	return m.json(ctx, &request{method: http.MethodPost, route: "/pipelines", accept: acceptJSON, body: body}, pipelineShape(id))
}

// Explain returns the plan of a pipeline as UTF-8 text for people, without the spaces that pad its lines.
// GET /pipelines/:id/explain.
func (m *Manager) Explain(ctx context.Context, id string) (string, error) {
	at, err := segment(pipelineKind, id)
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

// trimmed returns text without white space at the ends of its lines and without line breaks at its end.
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
	at, err := segment(pipelineKind, id)
	if err != nil {
		return err
	}
	a, x, err := m.do(ctx, &request{method: http.MethodDelete, route: "/pipelines/" + at, accept: acceptText})
	if err != nil {
		return err
	}
	if !isDeletion(strings.TrimSpace(string(a.body))) {
		return x.malformed(a, "message of a Manager that the pipeline is deleted")
	}
	return nil
}

// get reads a route that returns JSON of the given shape.
func (m *Manager) get(ctx context.Context, route string, want shape) (json.RawMessage, error) {
	return m.json(ctx, &request{method: http.MethodGet, route: route, accept: acceptJSON}, want)
}

// getOne reads a route that returns one stream, function or pipeline by its name.
func (m *Manager) getOne(ctx context.Context, what, route, name string, want shape) (json.RawMessage, error) {
	at, err := segment(what, name)
	if err != nil {
		return nil, err
	}
	return m.get(ctx, route+at, want)
}

// json sends a request and returns the JSON body of the response unchanged. The body must have the given shape.
func (m *Manager) json(ctx context.Context, r *request, want shape) (json.RawMessage, error) {
	a, x, err := m.do(ctx, r)
	if err != nil {
		return nil, err
	}
	if !a.hasShape(want) {
		return nil, x.malformed(a, want.name)
	}
	return a.body, nil
}
