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

func TestSQL(t *testing.T) {
	const parse, build = "parse pipeline p sql: ", "failed to create pipeline p: pipeline build error: "
	for sql, want := range map[string]string{
		"SELECT *, a FROM user LIMIT 5":                                    "",
		"SELECT DISTINCT a FROM (SELECT a, b FROM user WHERE b > 1) AS t;": "",
		"SELECT -a, NOT b = 1 AND a BETWEEN 1 AND 2 FROM user":             "",
		"SELECT a FROM user WHERE c IN ('x', 'it''s') ORDER BY a DESC, b":  "",
		"SELECT pos->lat AS l, tags[0] AS t FROM nested":                   "",
		"-- first\nSELECT /* all */ count(*) FROM `user`":                  "stream `user` missing from storage",
		`SELECT a FROM "user"`:                                             `stream "user" missing from storage`,
		"WITH t AS (SELECT a FROM user) SELECT a FROM t":                   "stream t missing from storage",
		"SELECT a FROM USER":                                               "stream USER missing from storage",
		"SELECT pos->lat AS lat FROM nested":                               build + "forward reference to SELECT alias `lat` is not allowed",
		"SELECT y, a AS y FROM user":                                       build + "forward reference to SELECT alias `y` is not allowed",
		"SELECT a AS x, b AS x FROM user":                                  build + "duplicate SELECT alias `x`",
		"SELECT 1":                                                         build + "No data source found in SELECT statement",
		"SELECT u.zz FROM user u":                                          build + "Failed to compile expression: Column not found: No schema bindings available for identifier 'u.zz",
		"SELECT a FROM user WHERE NoSuch(a) > 1":                           build + "Failed to compile expression: Unsupported expression: Unknown function: 'NoSuch'. Available custom functions: [\"abs\", \"ceil\", \"ceiling\", ",
		"SELECT a FROM user WHERE a IS NULL":                               build + "Failed to compile expression: Unsupported expression: a IS NULL",
		"SELECT a FROM user WHERE c LIKE 'x%'":                             build + "Failed to compile expression: Unsupported expression: c LIKE 'x%'",
		"SELECT sum(a) FROM user GROUP BY countwindow(1), countwindow(2)":  parse + "Only one window function is allowed in GROUP BY",
		"SELECT sum(a) FROM user GROUP BY tumblingwindow('hh', 10)":        parse + "Dialect processing error: sql parser error: unsupported time unit `hh` (only `ss` allowed)",
		";":                                          parse + "Expected exactly one SQL statement",
		"DROP TABLE user":                            parse + "Expected a SELECT query",
		"SELECT sum(a FROM user":                     parse + "Parse error: sql parser error: Expected ), found: FROM at Line: 1, Column 14",
		"SELECT a\nFROM user\n  nope nope":           parse + "Parse error: sql parser error: Expected end of statement, found: nope at Line: 3, Column 8",
		"SELECT '中文', a b c FROM user":               parse + "Parse error: sql parser error: Expected end of statement, found: c at Line: 1, Column 18",
		"SELECT a,\n 'b FROM user":                   parse + "Parse error: sql parser error: Unterminated string literal at Line: 2, Column 2",
		"SELECT a FROM user WHERE":                   parse + "Parse error: sql parser error: Expected an expression:, found: EOF",
		"SELECT " + strings.Repeat("(", 100_000):     parse + "Parse error: sql parser error: recursion limit exceeded",
		"SELECT a FROM user UNION SELECT b FROM use": parse + "Expected a simple SELECT query",
	} {
		s := New()
		wantStatus := http.StatusBadRequest
		if want == "" {
			want, wantStatus = `{"id":"p","status":"stopped"}`, http.StatusCreated
		}
		status, got := create(s, `{"id":"p","sql":`+string(quoted(sql))+`,"sinks":[{"type":"nop"}]}`)
		if status != wantStatus || !strings.HasPrefix(got, want) {
			t.Errorf("%.80s:\n%d %s, not\n%d %s", sql, status, got, wantStatus, want)
		}
		if left := len(s.Pipelines()); left != 0 != (wantStatus == http.StatusCreated) {
			t.Errorf("%.80s: %d pipelines", sql, left)
		}
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
		{`{"id":"old","sql":"x","sinks":[{"type":"kafka"}]}`, "pipeline old already exists"},
		{`{"id":"new","sql":"x","sinks":[{"type":"kafka"}]}`, "parse pipeline new sql: "},
		{`{"id":"new","sql":"SELECT x FROM x","sinks":[{"type":"kafka"}]}`, "stream x missing from storage"},
		{`{"id":"new","sql":"SELECT x FROM user","sinks":[{"type":"kafka"}]}`, "unsupported sink type: kafka"},
	} {
		s := New()
		s.AddPipeline("old", "SELECT a FROM user")
		if _, got := create(s, c.body); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, not %s", c.body, got, c.want)
		}
	}
}

func FuzzSQL(f *testing.F) {
	for _, sql := range []string{
		"SELECT a, b AS x FROM user WHERE a > 1 GROUP BY tumblingwindow('ss', 10), c HAVING sum(a) > 1 ORDER BY a LIMIT 1",
		"SELECT CASE WHEN a THEN 'x' ELSE \"y\" END, pos->lat, tags[0] FROM (SELECT 1) t JOIN user ON a = b;",
		"SELECT lag(a) FILTER (WHERE b) OVER (PARTITION BY c), `x`.*, -- \n CAST(a AS int) /* */", "WITH x AS (", "SELECT a NOT", "SELECT x[",
		"SELECT sum(a) FROM user GROUP BY statewindow(a > 0) OVER (PARTITION BY c)", "SELECT sum(a) FROM user GROUP BY slidingwindow('ss')",
	} {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		s := New()
		status, text := create(s, `{"id":"p","sql":`+string(quoted(strings.ToValidUTF8(sql, "?")))+`,"sinks":[{"type":"nop"},{"type":"nop"}],"options":{"eventtime":{"enabled":true}}}`)
		if status != http.StatusCreated && (status != http.StatusBadRequest || text == "") {
			t.Errorf("%d %s", status, text)
		}
		if p := s.pipelines["p"]; p != nil && !strings.HasPrefix(p.explained(), "Logical Plan Explain:\n- id ") {
			t.Errorf("%s", p.explained())
		}
	})
}
