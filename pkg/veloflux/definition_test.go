package veloflux

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// TestDefinitionsThatAreRefused sends nothing to the Manager, which a large capacity would end.
func TestDefinitionsThatAreRefused(t *testing.T) {
	s := velofluxserver.Start(t)
	r := runtimeOf(t, s.URL, Options{})
	for _, tc := range []struct{ sql, options, path string }{
		{"SELECT a FROM user", `{"data_channel_capacity":9007199254740993}`, "options.data_channel_capacity"},
		{"SELECT a FROM user", `{"data_channel_capacity":10000000}`, "options.data_channel_capacity"},
		{"SELECT a FROM user", `{"data_channel_capacity":65537}`, "options.data_channel_capacity"},
		{"SELECT a FROM user", `{"data_channel_capacity":1e400}`, "options.data_channel_capacity"},
		{"SELECT a FROM user", `{"data_channel_capacity":16,"data_channel_capacity":65537}`, "options.data_channel_capacity"},
		{"SELECT a FROM user", `{"data_channel\u005fcapacity":99999}`, "options.data_channel_capacity"},
		{" \n\t", `{}`, "sql"},
		{"\u3000", `{}`, "sql"},
	} {
		for tool, more := range map[string]string{"pipelines.verify": "", "pipelines.create": `,"id":"p","sinks":[{"type":"nop"}]`} {
			e := refusedWith(t, r, CodeInvalidParams, tool, `{"sql":`+string(rawjson.Quote(tc.sql))+`,"options":`+tc.options+more+`}`)
			if e.Details["path"] != tc.path {
				t.Errorf("%s %+v: %+v", tool, tc, e)
			}
		}
	}
	if asked := steps(s); asked != "" {
		t.Errorf("asked %s", asked)
	}
	called(t, r, "pipelines.verify", `{"sql":"SELECT a FROM user","options":{"data_channel_capacity":65536}}`)
}

// TestSourcesSayHowAStreamIsRead asserts that sources reach the Manager in its own form.
func TestSourcesSayHowAStreamIsRead(t *testing.T) {
	s := velofluxserver.Start(t)
	r := runtimeOf(t, s.URL, Options{})
	const sources = `[{"stream":"user","input":{"mode":"on_change","on_change":{"columns":["a"]}}}]`
	called(t, r, "pipelines.create", `{"id":"p","sql":"SELECT a FROM user","sinks":[{"type":"nop"}],"sources":`+sources+`}`)
	var sent struct{ Sources json.RawMessage }
	if err := json.Unmarshal(s.Requests()[0].Body, &sent); err != nil || string(sent.Sources) != sources {
		t.Errorf("%v %s", err, sent.Sources)
	}
	for _, tool := range allTools() {
		if schema := string(tool.InputSchema); strings.Contains(schema, `"sources"`) && !strings.Contains(schema, `\"on_change\"`) {
			t.Errorf("%s does not describe the form of sources: %s", tool.Name, schema)
		}
	}
}
