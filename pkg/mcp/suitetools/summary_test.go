package suitetools

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestSummariesSayWhatMatters: the text beside a document says how to go on and what is missing, and stays short.
func TestSummariesSayWhatMatters(t *testing.T) {
	const dependencies = `"dependencies":{"servers":[{"name":"hub","configured":false},{"name":"files","configured":true}],` +
		`"settings":[{"name":"HUB_TOKEN","required":true,"set":false},{"name":"PIN","required":false,"set":false},{"name":"KEY","required":true,"set":true}]}`
	long := strings.Repeat("long ", 2000)
	for _, c := range []struct {
		name, document   string
		summary          func(json.RawMessage) string
		facts, notFacts  []string
		mostBytesOfTexts int
	}{
		{"a workflow", `{"name":"deploy","description":"Deploy it","example":{"name":"deploy","inputs":{"where":"text"}},` + dependencies + `}`, described,
			[]string{"deploy", "Deploy it", `{"name":"deploy","inputs":{"where":"text"}}`, "hub", "HUB_TOKEN"}, []string{"files", "PIN", "KEY"}, 400},
		{"a faulty workflow", `{"name":"w","description":"Try","valid":false,"errors_total":122,"errors":[{"type":"validation_error","message":"wrong one"}]}`, described,
			[]string{"Workflow w", "122", "wrong one"}, []string{"execute"}, 100},
		{"a node type", `{"type":"shell","description":"Run it","inputs":[]}`, described, []string{"Node type shell", "Run it"}, []string{"execute"}, 100},
		{"a long one", `{"name":"w","description":"` + long + `","example":{"name":"w","inputs":{"a":"` + long + `"}},"truncated":true,"suggestions":["see limit 0"]}`, described,
			[]string{"Workflow w", "see limit 0"}, nil, 600},
		{"a saved one", `{"success":true,"name":"w","path":"/p/w.json",` + dependencies + `}`, saved, []string{"Saved as w", "/p/w.json", "hub", "HUB_TOKEN"}, []string{"PIN", "KEY"}, 300},
	} {
		text := c.summary(json.RawMessage(c.document))
		if len(text) > c.mostBytesOfTexts {
			t.Errorf("%s: %d bytes: %s", c.name, len(text), text)
		}
		for _, fact := range c.facts {
			if !strings.Contains(text, fact) {
				t.Errorf("%s: %q is not in %q", c.name, fact, text)
			}
		}
		for _, fact := range c.notFacts {
			if strings.Contains(text, fact) {
				t.Errorf("%s: %q is in %q", c.name, fact, text)
			}
		}
	}
}
