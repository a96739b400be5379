package docs

import (
	"fmt"
	"maps"
	"testing"
)

// TestRulesOfWorkflowToolsHaveATest: the page has all criteria in order, and the tests that it names exist, in test/suite or beside the
// packages that offer workflows.
func TestRulesOfWorkflowToolsHaveATest(t *testing.T) {
	p := readPage(t, "workflow-tools.md")
	known := sessionTests(t) // with the clients of others
	for _, folder := range []string{"../test/suite", "../pkg/mcp/offer", "../pkg/mcp/source", "../pkg/mcp/suitetools"} {
		maps.Copy(known, testsIn(t, folder))
	}
	checkRules(t, p, map[string]numbered{"| case |": {"E", 7}}, known)
	rows := p.rows(t, "| criterion |")
	i := 0
	for requirement, criteria := range []int{4, 5, 5, 4, 4, 4, 5, 5} {
		for n := range criteria {
			id := fmt.Sprintf("%d.%d", requirement+1, n+1)
			if i >= len(rows) || rows[i][0] != id {
				t.Fatalf("row %d of the criteria is not %s", i+1, id)
			}
			names := spans(rows[i][2])
			if len(rows[i]) != 3 || rows[i][1] == "" || len(names) == 0 {
				t.Errorf("%s names no test", id)
			}
			for _, name := range names {
				if !known[name] {
					t.Errorf("%s: the page names %s, which is not such a test", id, name)
				}
			}
			i++
		}
	}
	if i != len(rows) {
		t.Errorf("there are %d criteria, not %d", len(rows), i)
	}
}
