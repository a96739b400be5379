package docs

import (
	"os/exec"
	"testing"
)

// nodePrograms is the page about programs as node types.
const nodePrograms = "node-programs.md"

// TestNodePrograms runs the examples of the page.
func TestNodePrograms(t *testing.T) {
	needs(t, "jq", "python3")
	t.Parallel()
	readPage(t, nodePrograms).run(t)
}

// needs skips a test without the tools it is about.
func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s here", tool)
		}
	}
}
