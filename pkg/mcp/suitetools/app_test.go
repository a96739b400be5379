package suitetools

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestTheAppKnowsTheToolsThatAreServed(t *testing.T) {
	for toolsets, want := range map[string]string{
		"":          "pflow-exec --quiet report --format json --app --tools=execute",
		"core,runs": "pflow-exec --quiet report --format json --app --tools=run_resume,run_cancel,execute",
		"workflows": "pflow-exec --quiet report --format json --app --tools=run_resume,run_cancel",
		"drafts":    "pflow-exec --quiet report --format json --app",
	} {
		f := newFakes(t)
		f.Program("pflow-exec", "echo page")
		names, err := ParseToolsets(toolsets)
		if err != nil {
			t.Fatal(err)
		}
		front := f.front()
		front.Toolsets = names
		content, err := front.Read(t.Context(), "ui://pflow/run")
		if err != nil || content.MIMEType != "text/html;profile=mcp-app" || content.Text != "page\n" {
			t.Errorf("%+v, %v", content, err)
		}
		meta, _ := json.Marshal(content.Meta)
		if string(meta) != `{"ui":{"csp":{"baseUriDomains":[],"connectDomains":[],"frameDomains":[],"resourceDomains":[]},"prefersBorder":true}}` {
			t.Errorf("%s", meta)
		}
		if got := f.Calls(); !slices.Equal(got, []string{want}) {
			t.Errorf("calls %q, not %q", got, want)
		}
	}
}

func TestFragmentsAreBounded(t *testing.T) {
	f := newFakes(t)
	f.Program("pflow-exec", "echo '<article>'")
	content, err := f.front().Read(t.Context(), "pflow://runs/last/fragment")
	if err != nil || content.MIMEType != "text/html" || content.Text != "<article>\n" || content.Meta != nil {
		t.Errorf("%+v, %v", content, err)
	}
	if got := f.Calls(); !slices.Equal(got, []string{"pflow-exec --quiet report --format json --fragment --max-bytes=524288 -- last"}) {
		t.Errorf("%q", got)
	}
}

// A model has no use for HTML.
func TestListsLeaveOutWhatIsForTheApp(t *testing.T) {
	for _, r := range newFakes(t).front().Resources() {
		if r.URI == "ui://pflow/run" || r.MIMEType == "text/html" {
			t.Errorf("%s is listed", r.URI)
		}
	}
}

func TestToolsThatTheAppShows(t *testing.T) {
	shown := map[string]bool{"execute": true, "run_status": true}
	for _, tool := range (&Front{Toolsets: []string{"core", "runs", "drafts", "servers", "veloflux"}}).Tools() {
		ui, _ := tool.Meta["ui"].(map[string]any)
		if is := ui["resourceUri"] == "ui://pflow/run"; is != shown[tool.Name] {
			t.Errorf("%s is shown by the App: %v", tool.Name, is)
		}
	}
}
