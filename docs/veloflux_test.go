package docs

import (
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// veloflux is the page about veloflux-mcp.
const veloflux = "veloflux.md"

// TestVeloflux runs the samples of the page.
func TestVeloflux(t *testing.T) {
	needs(t, "jq", "make")
	t.Parallel()
	readPage(t, veloflux).run(t)
}

// TestRulesOfVelofluxHaveATest: the table of rules is whole, and names tests of the package, the program and the suite.
func TestRulesOfVelofluxHaveATest(t *testing.T) {
	known := suiteTests(t)
	maps.Copy(known, testsIn(t, "../pkg/veloflux"))
	maps.Copy(known, testsIn(t, "../cmd/veloflux-mcp"))
	checkRules(t, readPage(t, veloflux), map[string]numbered{"| rule |": {"V", 28}}, known)
}

// TestVelofluxTables: the contract has a row for each flag with its variable, for each tool and for each resource.
func TestVelofluxTables(t *testing.T) {
	p := readPage(t, contracts)
	var flags []string
	for _, text := range regexp.MustCompile(`(?m)^ {2,6}(?:-\w, )?--`).Split(help(t, "veloflux-mcp", "serve"), -1) {
		name := regexp.MustCompile(`^[a-z-]+`).FindString(text)
		if m := regexp.MustCompile(`\$(VELOFLUX_\w+)`).FindStringSubmatch(text); m != nil {
			flags = append(flags, "--"+name, m[1])
		}
	}
	if len(flags) < 2*15 {
		t.Fatalf("the --help of serve tells of too few flags: %q", flags)
	}
	p.checkRows(t, "veloflux-mcp call", flags)
	p.checkRows(t, "veloflux-mcp tools", names(t, "tools", "name"))
	p.checkRows(t, "veloflux-mcp read", names(t, "resources", "uri"))
}

// checkRows looks for each word in the first two columns of a chapter's tables.
func (p *page) checkRows(t *testing.T, chapter string, words []string) {
	t.Helper()
	first := slices.IndexFunc(p.lines, func(line string) bool { return line == "### "+chapter })
	var cells string
	for _, line := range p.lines[first+1:] {
		if strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "### ") {
			break
		}
		if columns := strings.Split(line, " | "); len(columns) > 1 && strings.HasPrefix(line, "| ") {
			cells += strings.Join(columns[:2], " ") + "\n"
		}
	}
	for _, word := range words {
		if !regexp.MustCompile("`" + regexp.QuoteMeta(word) + "[` ]").MatchString(cells) {
			t.Errorf("%s: no table of %s has %s", p.name, chapter, word)
		}
	}
}

// names are one field of what a command of veloflux-mcp lists.
func names(t *testing.T, command, field string) (list []string) {
	t.Helper()
	out, err := exec.Command(filepath.Join(programs(t), "veloflux-mcp"), command).Output()
	var document map[string][]map[string]any
	if err == nil {
		err = json.Unmarshal(out, &document)
	}
	if err != nil || len(document[command]) == 0 {
		t.Fatalf("veloflux-mcp %s: %v\n%s", command, err, out)
	}
	for _, item := range document[command] {
		name, _ := item[field].(string)
		list = append(list, strings.Replace(name, "{?name}", "?name=STREAM", 1))
	}
	return list
}
