package velofluxserver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

// ask sends a request and returns the status and the body.
func ask(t *testing.T, s *velofluxserver.Server, method, path, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(raw)
}

func creation(id, sql, sink string) string {
	raw, _ := json.Marshal(map[string]any{"id": id, "sql": sql, "sinks": []json.RawMessage{json.RawMessage(sink)}})
	return string(raw)
}

const nop = `{"type":"nop"}`

func TestStreams(t *testing.T) {
	s := velofluxserver.Start(t)
	if diff := cmp.Diff([]string{"nested", "shared_demo", "user", "veh data/中文?#%"}, s.Streams()); diff != "" {
		t.Error(diff)
	}
	for _, path := range []string{"user", "veh%20data%2F%E4%B8%AD%E6%96%87%3F%23%25"} {
		if status, body := ask(t, s, "GET", "/streams/describe/"+path, ""); status != http.StatusOK || !strings.Contains(body, "broker_url") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	s.AddPipeline("p", "SELECT a FROM user")
	if status, body := ask(t, s, "DELETE", "/streams/user", ""); status != http.StatusConflict || body != "stream user still referenced by pipelines: p" {
		t.Errorf("%d %s", status, body)
	}
	s.Clear()
	if len(s.Streams()) != 0 || len(s.Pipelines()) != 0 {
		t.Errorf("something is left: %v %v", s.Streams(), s.Pipelines())
	}
	defer func() {
		if recover() == nil {
			t.Error("a bad stream is taken")
		}
	}()
	s.AddStream(`{"name":"x"}`)
}

func TestWideStream(t *testing.T) {
	const columns = 15_000
	var all []string
	for i := range columns {
		all = append(all, fmt.Sprintf(`{"name":"c%05d","data_type":"float64"}`, i))
	}
	s := velofluxserver.Start(t)
	s.AddStream(`{"name":"wide","type":"mock","schema":{"props":{"columns":[` + strings.Join(all, ",") + `]}}}`)
	_, body := ask(t, s, "GET", "/streams/describe/wide", "")
	if n := strings.Count(body, `"data_type"`); n != columns {
		t.Errorf("%d columns", n)
	}
}

// A definition that cannot be built leaves a record. One that cannot be planned does not.
func TestOrphan(t *testing.T) {
	s := velofluxserver.Start(t)
	steps := []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/pipelines", creation("bad", "SELECT nosuch FROM user", nop), 400, "failed to create pipeline bad: pipeline build error: "},
		{"GET", "/pipelines", "", 200, "[]"},
		{"POST", "/pipelines", creation("bad", "SELECT a FROM user", `{"type":"kafka"}`), 400, "unsupported sink type: kafka"},
		{"GET", "/pipelines", "", 200, `[{"id":"bad","status":"stopped","flow_instance_id":"default"}]`},
		{"POST", "/pipelines", creation("bad", "SELECT a FROM user", nop), 409, "pipeline bad already exists"},
		{"GET", "/pipelines/bad/explain", "", 404, "pipeline bad not found"},
		{"POST", "/pipelines/bad/start", "", 404, "pipeline bad not found"},
		{"GET", "/pipelines/bad/stats", "", 404, "pipeline bad not found"},
		{"DELETE", "/pipelines/bad", "", 200, "pipeline bad deleted"},
		{"DELETE", "/pipelines/bad", "", 404, "pipeline bad not found"},
		{"POST", "/pipelines", creation("m", "SELECT a FROM user", `{"type":"memory","props":{"topic":"t"}}`), 400, "memory topic `t` not declared"},
	}
	for _, step := range steps {
		status, body := ask(t, s, step.method, step.path, step.body)
		if status != step.status || !strings.HasPrefix(body, step.want) {
			t.Errorf("%s %s: %d %s, not %d %s", step.method, step.path, status, body, step.status, step.want)
		}
	}
	if diff := cmp.Diff([]string{"m"}, s.Pipelines()); diff != "" {
		t.Error(diff)
	}
}

// A wrong source of a pipeline is reported like a wrong sink: the record stays. A replacement changes nothing.
func TestSources(t *testing.T) {
	s := velofluxserver.Start(t)
	body := func(id, sources string) string {
		return `{"id":"` + id + `","sql":"SELECT a FROM user","sinks":[` + nop + `],"sources":` + sources + `}`
	}
	for i, c := range []struct {
		sources string
		status  int
		want    string
	}{
		{`[]`, 201, ""},
		{`[{"stream":"user"}]`, 201, ""},
		{`[{"stream":" user ","input":{"mode":"full"}}]`, 201, ""},
		{`[{"stream":"user","input":{"mode":"on_change","on_change":{"columns":["a"]}}}]`, 201, ""},
		{`[{"stream":"user","input":{"mode":"on_change"}}]`, 201, ""},
		{`[{"stream":""}]`, 400, "pipeline source stream must not be empty"},
		{`[{"stream":"nested"}]`, 400, "pipeline source `nested` is not referenced by the SQL"},
		{`[{"stream":"user"},{"stream":"user"}]`, 400, "pipeline source `user` is configured more than once"},
		{`[{"stream":"user","input":{"mode":"some"}}]`, 400, "invalid source input.mode `some` (expected full|on_change)"},
		{`[{"stream":"user","input":{"mode":"full","on_change":{}}}]`, 400, "source input.on_change is only supported when input.mode=on_change"},
		{`[{"stream":"user","input":{"mode":"on_change","on_change":{"columns":[]}}}]`, 400, "pipeline source `user` input.on_change.columns must not be empty"},
		{`[{"stream":"user","input":{"mode":"on_change","on_change":{"columns":["z"]}}}]`, 400, "pipeline source `user` input.on_change column `z` is not present in stream schema"},
		{`[{"name":"a","type":"mock"}]`, 422, "Failed to deserialize the JSON body into the target type: sources[0]: missing field `stream`"},
		{`[{"stream":"user","input":{}}]`, 422, "Failed to deserialize the JSON body into the target type: sources[0].input: missing field `mode`"},
		{`7`, 422, "Failed to deserialize the JSON body into the target type: sources: invalid type: integer `7`, expected a sequence"},
	} {
		id := fmt.Sprint("p", i)
		if status, got := ask(t, s, "PUT", "/pipelines/"+id, body(id, c.sources)); c.status == 400 && (status != c.status || got != c.want || slices.Contains(s.Pipelines(), id)) {
			t.Errorf("PUT %s: %d %s, pipelines %v", c.sources, status, got, s.Pipelines())
		}
		ask(t, s, "DELETE", "/pipelines/"+id, "")
		status, got := ask(t, s, "POST", "/pipelines", body(id, c.sources))
		if status != c.status || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %d %s, not %d %s", c.sources, status, got, c.status, c.want)
		}
		if stored := slices.Contains(s.Pipelines(), id); stored != (c.status != 422) {
			t.Errorf("%s: stored %v", c.sources, stored)
		}
		if status, _ := ask(t, s, "GET", "/pipelines/"+id+"/explain", ""); (status == 200) != (c.status == 201) {
			t.Errorf("%s: explain %d", c.sources, status)
		}
	}
}

func TestOneOfManyCreates(t *testing.T) {
	s := velofluxserver.Start(t)
	const clients = 16
	statuses := make([]int, clients)
	var creating sync.WaitGroup
	for i := range clients {
		creating.Go(func() {
			statuses[i], _ = ask(t, s, "POST", "/pipelines", creation("p", "SELECT a FROM user", nop))
		})
	}
	creating.Wait()
	slices.Sort(statuses)
	want := append([]int{http.StatusCreated}, slices.Repeat([]int{http.StatusConflict}, clients-1)...)
	if diff := cmp.Diff(want, statuses); diff != "" {
		t.Error(diff)
	}
}

func TestRequests(t *testing.T) {
	s := velofluxserver.Start(t)
	const path = "/pipelines/%2e%2E%2fstreams%2Fuser/stop?mode=quick&x=%20"
	ask(t, s, "GET", "/streams", "")
	s.Reset()
	if status, body := ask(t, s, "POST", path, "{}"); status != http.StatusNotFound || body != "pipeline ../streams/user not found" {
		t.Errorf("%d %s", status, body)
	}
	got := s.Requests()
	if len(got) != 1 || got[0].Method != "POST" || got[0].Path != path || string(got[0].Body) != "{}" || got[0].Header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v", got)
	}
}

func TestRoutes(t *testing.T) {
	s := velofluxserver.Start(t)
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/streams/", 404, ""},
		{"GET", "/pipelines//explain", 404, ""},
		{"GET", "/pipelines/a/b", 404, ""},
		{"GET", "/nosuch", 404, ""},
		{"GET", "/streams/user", 405, "DELETE"},
		{"POST", "/functions", 405, "GET,HEAD"},
	} {
		request, _ := http.NewRequestWithContext(t.Context(), c.method, s.URL+c.path, http.NoBody)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != c.status || response.ContentLength != 0 || response.Header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, %d bytes, allow %q", c.method, c.path, response.StatusCode, response.ContentLength, response.Header.Get("Allow"))
		}
	}
}

func TestCatalogue(t *testing.T) {
	s := velofluxserver.Start(t)
	_, body := ask(t, s, "GET", "/functions", "")
	var all []struct{ Name, Kind string }
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		t.Fatal(err)
	}
	names, kinds := []string{}, map[string]int{}
	for _, f := range all {
		names = append(names, f.Name)
		kinds[f.Kind]++
	}
	if len(all) < 15 || !slices.IsSorted(names) || strings.Count(body, `"name":"isnull"`) != 2 || len(kinds) != 3 {
		t.Errorf("%v %v", names, kinds)
	}
	if status, body := ask(t, s, "GET", "/functions/describe/CEILING", ""); status != http.StatusOK || !strings.Contains(body, `"name":"ceil"`) {
		t.Errorf("%d %s", status, body)
	}
	_, body = ask(t, s, "GET", "/capabilities/syntax", "")
	var tree struct {
		Constructs []struct {
			Children []struct{ Semantics string }
		}
	}
	if err := json.Unmarshal([]byte(body), &tree); err != nil {
		t.Fatal(err)
	}
	long := []rune(strings.TrimSpace(tree.Constructs[4].Children[0].Semantics))
	if len(long) <= 240 || len(string(long[235:245])) < 20 {
		t.Errorf("around the 240th of %d characters stands %q", len(long), string(long[min(235, len(long)):min(245, len(long))]))
	}
}
