package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReference holds the pages of docs/reference to what the programs print of themselves, and their man pages to what groff takes.
func TestReference(t *testing.T) {
	entries, err := os.ReadDir(programs(t))
	if err != nil {
		t.Fatal(err)
	}
	groff, _ := exec.LookPath("groff")
	pages := map[string]bool{}
	for _, e := range entries {
		program := filepath.Join(programs(t), e.Name())
		got, err := exec.Command(program, "reference", "--as", "markdown").Output()
		if err != nil {
			t.Errorf("%s: %v", e.Name(), err)
			continue
		}
		file := filepath.Join("reference", e.Name()+".md")
		pages[file] = true
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil { //nolint:gosec // a page
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || string(want) != string(got) {
			t.Errorf("%s is not what the program prints (%v); go test ./docs -update writes it", file, err)
		}
		for _, command := range listedCommands(help(t, e.Name())) {
			if text := help(t, e.Name(), strings.Fields(command)...); !regexp.MustCompile(`(?m)^    .*\b` + e.Name() + ` `).MatchString(text) {
				t.Errorf("%s %s --help has no example", e.Name(), command)
			}
		}
		man, err := exec.Command(program, "reference").Output()
		if err != nil || !strings.HasPrefix(string(man), ".TH ") {
			t.Errorf("%s has no man page: %v", e.Name(), err)
		}
		if groff == "" {
			continue
		}
		cmd := exec.Command(groff, "-man", "-Tutf8", "-rLL=200n", "-ww")
		cmd.Stdin = strings.NewReader(string(man))
		var warnings strings.Builder
		cmd.Stderr = &warnings
		if _, err := cmd.Output(); err != nil || strings.Contains(strings.ReplaceAll(warnings.String(), "cannot adjust line", ""), "warning: ") {
			t.Errorf("%s: groff: %v %s", e.Name(), err, &warnings)
		}
	}
	written, err := filepath.Glob(filepath.Join("reference", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range written {
		if !pages[file] {
			t.Errorf("%s is of no program", file)
		}
	}
}
