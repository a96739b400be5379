package veloflux

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

// TestWarningsForStatementsOfAManager verifies each statement that the Manager plans. What runs in another way than it is
// written has a warning with its place, and nothing else has one.
func TestWarningsForStatementsOfAManager(t *testing.T) {
	const window = " GROUP BY tumblingwindow('ss', 10)"
	want := map[string]string{
		"SELECT a FROM user LIMIT 5":                                 "LIMIT 1:20",
		"SELECT a FROM user LIMIT 3":                                 "LIMIT 1:20",
		"SELECT a, b FROM user LIMIT 3":                              "LIMIT 1:23",
		"SELECT a FROM user LIMIT 5 OFFSET 2":                        "LIMIT 1:20, OFFSET 1:28",
		"SELECT a FROM user OFFSET 2 ROWS FETCH NEXT 3 ROWS ONLY":    "OFFSET 1:20, FETCH 1:34",
		"SELECT TOP 5 a FROM user":                                   "TOP 1:8",
		"SELECT DISTINCT a FROM user":                                "DISTINCT 1:8",
		"SELECT DISTINCT a FROM user LIMIT 5":                        "DISTINCT 1:8, LIMIT 1:29",
		"SELECT DISTINCT a FROM user\nLIMIT 5":                       "DISTINCT 1:8, LIMIT 2:1",
		"SELECT DISTINCT ON (a) a, b FROM user":                      "DISTINCT 1:8",
		"SELECT a FROM (SELECT a FROM user) t":                       "sub-query in FROM 1:15",
		"WITH x AS (SELECT 1) SELECT a FROM user":                    "WITH 1:1",
		"SELECT a FROM user QUALIFY a > 1":                           "QUALIFY 1:20",
		"SELECT sum(a) FROM user":                                    "aggregate without a window 1:8",
		"SELECT count(*) FROM user":                                  "aggregate without a window 1:8",
		"SELECT sum(a), c FROM user GROUP BY c":                      "aggregate without a window 1:8",
		"SELECT sum(a) OVER (PARTITION BY c) FROM user":              "aggregate without a window 1:8",
		"SELECT sum(a) FILTER (WHERE b > 1) FROM user" + window:      "FILTER 1:15",
		"SELECT count(DISTINCT b) FROM user" + window:                "DISTINCT in an aggregate 1:14",
		"SELECT sum(DISTINCT b) FROM user" + window:                  "DISTINCT in an aggregate 1:12",
		"SELECT sum(a) FROM user GROUP BY ALL":                       "aggregate without a window 1:8, GROUP BY ALL 1:25",
		"SELECT a FROM user GROUP BY ALL":                            "GROUP BY ALL 1:20",
		"SELECT a FROM user SORT BY a":                               "SORT BY 1:20",
		"SELECT a FROM user CLUSTER BY a":                            "CLUSTER BY 1:20",
		"SELECT a FROM user DISTRIBUTE BY a":                         "DISTRIBUTE BY 1:20",
		"SELECT a FROM user LATERAL VIEW explode(a) t AS x":          "LATERAL VIEW 1:20",
		"SELECT a INTO other FROM user":                              "INTO 1:10",
		"SELECT a FROM user FOR UPDATE":                              "FOR UPDATE 1:20",
		"SELECT a FROM user FOR SHARE OF user NOWAIT":                "FOR SHARE 1:20",
		"SELECT a FROM user WINDOW w AS (PARTITION BY a)":            "WINDOW 1:20",
		"SELECT * FROM user PIVOT (sum(a) FOR b IN ('x', 'y')) AS p": "PIVOT 1:20",
		"SELECT * FROM user UNPIVOT (v FOR n IN (a, b)) AS p":        "UNPIVOT 1:20",
		"SELECT u.a FROM user u JOIN user v ON u.a = v.b":            "JOIN",
	}
	s := velofluxserver.Start(t)
	s.AddStream(`{"name":"source_stream","type":"mock","schema":{"type":"json","props":{"columns":[{"name":"user_id","data_type":"int64"},{"name":"score","data_type":"float64"}]}}}`)
	r := runtimeOf(t, s.URL, Options{})
	planned := 0
	for _, of := range velofluxserver.Statements() {
		if len(of.Logical) == 0 || of.Eventtime {
			continue
		}
		planned++
		args, _ := json.Marshal(map[string]string{"sql": of.SQL})
		var got []string
		for _, w := range gjson.Get(called(t, r, "pipelines.verify", string(args)), "warnings").Array() {
			place := w.Get("construct").Str
			if w.Get("line").Exists() {
				place += " " + w.Get("line").Raw + ":" + w.Get("column").Raw
			}
			if !strings.Contains(w.Get("message").Str, "rite ") && !strings.Contains(w.Get("message").Str, "Leave it out") && w.Get("construct").Str != "JOIN" &&
				!strings.Contains(w.Get("message").Str, "eclare") && !strings.Contains(w.Get("message").Str, "Name the") && !strings.Contains(w.Get("message").Str, "aggregate in a window") {
				t.Errorf("%s: no advice: %s", of.SQL, w)
			}
			got = append(got, place)
		}
		if all := strings.Join(got, ", "); all != want[of.SQL] {
			t.Errorf("%s: %s, want %s", of.SQL, all, want[of.SQL])
		}
		delete(want, of.SQL)
	}
	if planned < 60 || len(want) > 0 {
		t.Errorf("%d statements were planned, and these were not: %v", planned, want)
	}
}
