package docs

import (
	"maps"
	"testing"
)

// TestRulesOfFlowsHaveATest: the tables of the page are whole, and the tests that they name are in test/suite, in test/client, or beside
// the package that holds the rule.
func TestRulesOfFlowsHaveATest(t *testing.T) {
	p := readPage(t, "flows.md")
	known := sessionTests(t) // with the clients of others
	for _, folder := range []string{
		"../test/suite", "../pkg/share", "../pkg/share/output", "../pkg/share/sealed", "../pkg/share/store", "../pkg/mcp/mcphttp", "../pkg/mcp/flowhttp", "../pkg/mcp/suitetools/feed",
	} {
		maps.Copy(known, testsIn(t, folder))
	}
	checkRules(t, p, map[string]numbered{
		"| rule |":   {"R", 10},
		"| part |":   {"P", 8},
		"| output |": {"O", 7},
		"| limit |":  {"L", 13},
		"| stream |": {"S", 8},
		"| client |": {"K", 5},
		"| case |":   {"E", 20},
	}, known)
}
