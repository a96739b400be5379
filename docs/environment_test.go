package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/process/environ"
)

// TestEnvironmentTable holds the table of environment.md to that of the package: of each variable in it, whether it passes to servers and to
// shared runs, and whether a node on another machine has that machine's.
func TestEnvironmentTable(t *testing.T) {
	page, err := os.ReadFile("environment.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed int
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 7 {
			continue
		}
		for _, m := range regexp.MustCompile("`([A-Z_]+)(\\*?)`").FindAllStringSubmatch(cells[1], -1) {
			name := m[1] + strings.Replace(m[2], "*", "ANY", 1)
			listed++
			kept, _ := environ.Passed([]string{name + "=x"})
			passes, ofMachine := len(kept) == 1, len(environ.OfMachine([]string{name + "=x"})) == 1
			if passes != (strings.TrimSpace(cells[3]) == "yes") || passes != (strings.TrimSpace(cells[4]) == "yes") || ofMachine != strings.HasPrefix(strings.TrimSpace(cells[5]), "those of that") {
				t.Errorf("%s passes %t and is of the machine %t, but the page says: %s", name, passes, ofMachine, line)
			}
		}
	}
	if listed < 35 {
		t.Errorf("the table names %d variables, want at least 35", listed)
	}
}
