package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestRooms: the table of rooms has every package under pkg/ and no other, with what internal/archtest lets it import.
func TestRooms(t *testing.T) {
	page, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("../internal/archtest/imports_test.go")
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\t"(pkg/[a-z]+)": +"([a-z ]*)",$`).FindAllStringSubmatch(string(rules), -1) {
		allowed[m[1]] = strings.ReplaceAll(m[2], " ", ", ")
	}
	listed := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(pkg/[a-z]+)` \\|.*\\| ([a-z, ]*)\\|$").FindAllStringSubmatch(string(page), -1) {
		listed[m[1]] = strings.TrimSpace(m[2])
	}
	rooms, err := os.ReadDir("../pkg")
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range rooms {
		name := "pkg/" + room.Name()
		imports, ok := listed[name]
		if !ok {
			t.Errorf("architecture.md has no row for %s", name)
		} else if imports != allowed[name] {
			t.Errorf("architecture.md: %s may import %q, by internal/archtest %q", name, imports, allowed[name])
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("architecture.md has a row for %s, which does not exist", name)
	}
}
