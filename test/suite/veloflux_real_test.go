package suite

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

// TestRealManager uses every tool and resource with the Manager at $VELOFLUX_REAL_URL, which must be one for tests, and
// compares the answers with those of the Manager itself.
func TestRealManager(t *testing.T) {
	t.Parallel()
	url := os.Getenv("VELOFLUX_REAL_URL")
	if url == "" {
		t.Skip("VELOFLUX_REAL_URL is not set; scripts/veloflux-real sets it")
	}
	p := newPlace(t)
	p.env = append(p.env, "VELOFLUX_MANAGER_URL="+url)
	ask := func(method, path, body string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = a.Body.Close() }()
		text, _ := io.ReadAll(a.Body)
		return string(text)
	}
	call := func(tool string, args map[string]any) gjson.Result {
		t.Helper()
		raw := []byte("{}")
		if args != nil {
			raw, _ = json.Marshal(args)
		}
		out := p.fed(string(raw), "veloflux-mcp", "call", tool, "-")
		if !gjson.Valid(out.stdout) {
			t.Fatalf("%s %s: %s", tool, raw, out)
		}
		return gjson.Parse(out.stdout)
	}
	same := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %.300s\nthe Manager: %.300s", what, got, want)
		}
	}
	wide := strings.Repeat("列", 400)
	for _, stream := range []string{
		`{"name":"user","type":"mock","schema":{"type":"json","props":{"columns":[{"name":"a","data_type":"int64"},{"name":"b","data_type":"int64"},{"name":"c","data_type":"string"},{"name":"ts","data_type":"int64"}]}}}`,
		`{"name":"wide","type":"mock","schema":{"type":"json","props":{"columns":[{"name":"` + wide + `1","data_type":"int64"},{"name":"` + wide + `2","data_type":"int64"}]}}}`,
	} {
		ask(http.MethodPost, "/streams", stream) // which may be there
	}
	call("pipelines.delete", map[string]any{"pipeline_id": "kept/explain"})
	call("pipelines.create", map[string]any{"id": "kept/explain", "sql": "SELECT a FROM user", "sinks": []any{map[string]string{"type": "nop"}}, "sources": []any{map[string]string{"stream": "user"}}})
	for tool, of := range map[string]struct {
		args         map[string]any
		member, path string
	}{
		"streams.list":                {nil, "streams", "/streams"},
		"streams.describe":            {map[string]any{"name": "user"}, "describe", "/streams/describe/user"},
		"catalog.functions":           {nil, "functions", "/functions"},
		"catalog.syntax_capabilities": {nil, "syntax_capabilities", "/capabilities/syntax"},
		"functions.describe":          {map[string]any{"name": "SUM"}, "function", "/functions/describe/sum"},
		"pipelines.list":              {nil, "pipelines", "/pipelines"},
		"pipelines.get":               {map[string]any{"pipeline_id": "kept/explain"}, "pipeline", "/pipelines/kept%2Fexplain"},
	} {
		same(tool, call(tool, of.args).Get(of.member).Raw, ask(http.MethodGet, of.path, ""))
	}
	same("stats", call("pipelines.stats", map[string]any{"pipeline_id": "kept/explain"}).Get("error.details.response").Str, ask(http.MethodGet, "/pipelines/kept%2Fexplain/stats", ""))
	if plan := call("pipelines.explain", map[string]any{"pipeline_id": "kept/explain"}).Get("pretty").Str; !strings.HasPrefix(plan, "Logical Plan Explain:") {
		t.Errorf("the plan is %s", plan)
	}
	for _, uri := range []string{"catalog/functions_digest", "catalog/syntax_digest", "streams/snapshot", "streams/schema?name=user"} {
		p.must("veloflux-mcp", "read", "veloFlux://"+uri)
	}

	for _, of := range velofluxserver.Statements() {
		if len(of.Streams) == 1 && of.Streams[0] == "user" && !of.Eventtime {
			answer := call("pipelines.verify", map[string]any{"sql": of.SQL})
			if valid := answer.Get("valid").Bool(); valid != (len(of.Logical) > 0) || !valid && answer.Get("error.error_code").Str != "planner_error" {
				t.Errorf("%s: %s", of.SQL, answer)
			}
		}
	}
	shown := call("pipelines.verify", map[string]any{"sql": "SELECT " + wide + "1, " + wide + "2 FROM wide"})
	if !shown.Get("valid").Bool() {
		t.Errorf("a plan with long lines: %s", shown)
	}
	for _, c := range []struct {
		args       map[string]any
		code, left string
	}{
		{map[string]any{"sinks": []any{map[string]string{"type": "kafka"}}}, "manager_http_error", "true"},
		{map[string]any{"sinks": []any{map[string]string{"type": "nop"}}, "flow_instance_id": "other"}, "invalid_params", ""},
		{map[string]any{"sinks": []any{map[string]string{"type": "nop"}}, "options": map[string]any{"data_channel_capacity": 10_000_000}}, "invalid_params", ""},
		{map[string]any{"sinks": []any{map[string]string{"type": "nop"}}, "sql": strings.Repeat("x", 5<<20)}, "manager_http_error", ""},
	} {
		c.args["id"] = "refused"
		if c.args["sql"] == nil {
			c.args["sql"] = "SELECT a FROM user"
		}
		e := call("pipelines.create", c.args).Get("error")
		if e.Get("error_code").Str != c.code || e.Get("details.record_left").Raw != c.left {
			t.Errorf("%.200v: %s", c.args, e)
		}
		call("pipelines.delete", map[string]any{"pipeline_id": "refused"})
	}
	call("pipelines.delete", map[string]any{"pipeline_id": "kept/explain"})
	if left := ask(http.MethodGet, "/pipelines", ""); strings.Contains(left, "veloflux_mcp") || strings.Contains(left, "kept") || strings.Contains(left, "refused") {
		t.Errorf("left behind: %s", left)
	}
}
