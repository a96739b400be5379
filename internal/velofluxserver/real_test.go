package velofluxserver

import (
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what a real Manager answers to the statements")

// sampled is a stream that some statements read, in addition to those of each server. Only some of its rows are kept.
const sampled = `{"name":"source_stream","type":"mqtt","schema":{"type":"json","props":{"columns":[{"name":"user_id","data_type":"int64"},{"name":"score","data_type":"float64"}]}},"props":{"broker_url":"tcp://127.0.0.1:1883","topic":"/yisa/data","qos":0},"shared":false,"decoder":{"type":"json","props":{}},"sampler":{"interval":"10s","strategy":{"type":"latest"}}}`

// TestStatementsOfARealManager compares the table of statements with the Manager at $VELOFLUX_REAL_URL, which must be one
// for tests: it gets the streams of this package.
func TestStatementsOfARealManager(t *testing.T) {
	manager := realManager{t, os.Getenv("VELOFLUX_REAL_URL")}
	if manager.url == "" {
		t.Skip("VELOFLUX_REAL_URL is not set; scripts/veloflux-real sets it")
	}
	for _, stream := range append(startStreams[:], sampled) {
		if status, text := manager.ask(http.MethodPost, "/streams", stream); status != http.StatusCreated && status != http.StatusConflict {
			t.Fatalf("%d %s", status, text)
		}
	}
	all := Statements()
	for i, want := range all {
		got := manager.statement(want)
		if diff := cmp.Diff(want, got); diff != "" && !*update {
			t.Errorf("%s: -recorded +real:\n%s", want.SQL, diff)
		}
		all[i] = got
	}
	if *update {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(all); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("data/statements.json", []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

type realManager struct {
	t   *testing.T
	url string
}

func (m realManager) ask(method, path, body string) (int, string) {
	m.t.Helper()
	request, err := http.NewRequestWithContext(m.t.Context(), method, m.url+path, strings.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		m.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// statement returns the Manager's answer to a statement. The streams are those that are recorded.
func (m realManager) statement(of Statement) Statement {
	m.t.Helper()
	const id = "__statement__"
	got := Statement{SQL: of.SQL, Eventtime: of.Eventtime, Streams: of.Streams}
	options := `{}`
	if of.Eventtime {
		options = `{"eventtime":{"enabled":true,"late_tolerance_ms":500}}`
	}
	status, text := m.ask(http.MethodPost, "/pipelines", `{"id":"`+id+`","sql":`+string(quoted(of.SQL))+`,"sinks":[{"type":"nop"}],"options":`+options+`}`)
	build := "failed to create pipeline " + id + ": pipeline build error: "
	switch {
	case status == http.StatusCreated:
		_, plans := m.ask(http.MethodGet, "/pipelines/"+id+"/explain", "")
		logical, physical, _ := strings.Cut(plans, "\n\nPhysical Plan Explain:\n")
		hide := strings.NewReplacer(id+"_sink_0, connector=nop", "{sink}, connector={connector}", id+"_sink_0", "{sink}", id, "{id}").Replace
		got.Logical, got.Physical = planLines(hide(logical)), planLines(hide(physical))
	case strings.HasPrefix(text, build):
		got.Build = strings.TrimPrefix(text, build)
	case strings.HasSuffix(text, " missing from storage"):
	default:
		got.Parse = strings.TrimPrefix(text, "parse pipeline "+id+" sql: ")
	}
	m.ask(http.MethodDelete, "/pipelines/"+id, "")
	return got
}

// planLines returns the lines of a drawn plan as the table has them.
func planLines(drawn string) (lines []string) {
	for line := range strings.Lines(drawn) {
		node, info, ok := strings.Cut(line, " | ")
		if !ok || strings.HasPrefix(node, "- id") {
			continue
		}
		lines = append(lines, strings.TrimRight(node, " ")+"|"+strings.TrimSpace(info))
	}
	return lines
}
