package docs

import (
	"strings"
	"testing"
)

// TestConformance: each scenario of the conformance suite that does not pass has a reason. test/client/conformance.test.mjs compares the
// table with the suite.
func TestConformance(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range readPage(t, "conformance.md").rows(t, "| scenario |") {
		name := strings.Join(spans(row[0]), "")
		if seen[name] || name == "" {
			t.Errorf("the row %q", row)
		}
		seen[name] = true
		row = append(row, "", "", "") // empty cells at the end are cut off
		results, reason := strings.TrimSpace(row[1]+" "+row[2]), row[3]
		if bad := strings.Trim(strings.ReplaceAll(results, "yes", ""), " "); (bad != "" || !strings.Contains(results, "yes")) && reason == "" {
			t.Errorf("%s has the results %q and no reason", name, results)
		}
	}
	if len(seen) < 60 {
		t.Errorf("the page has %d scenarios", len(seen))
	}
}
